package identity

import (
	"fmt"
	"strconv"
	"strings"
)

// AccountID names a contract wallet in the form of CAIP-10: a chain, as CAIP-2
// writes it, and an address on that chain.
type AccountID struct {
	// Chain is namespace:reference, for example eip155:1. Chains are routed
	// by this text and nothing else.
	Chain   string
	Address string
}

// ParseAccountID splits namespace:reference:address. It checks the shape that
// CAIP-10 gives to any chain, not that the chain is an Ethereum one or that
// the address is twenty bytes: those are questions for whoever is asked.
func ParseAccountID(text string) (AccountID, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return AccountID{}, fmt.Errorf("account id has %d parts, not namespace:reference:address", len(parts))
	}
	for i, part := range []struct {
		name     string
		min, max int
		allowed  func(byte) bool
	}{
		{"namespace", 3, 8, func(c byte) bool { return c == '-' || isDigit(c) || 'a' <= c && c <= 'z' }},
		{"reference", 1, 32, func(c byte) bool { return c == '-' || c == '_' || isAlphanumeric(c) }},
		{"address", 1, 128, func(c byte) bool { return c == '-' || c == '.' || c == '%' || isAlphanumeric(c) }},
	} {
		text := parts[i]
		if len(text) < part.min || len(text) > part.max {
			return AccountID{}, fmt.Errorf("the %s of an account id has %d to %d characters, not %d", part.name, part.min, part.max, len(text))
		}
		for _, c := range []byte(text) {
			if !part.allowed(c) {
				return AccountID{}, fmt.Errorf("the %s of an account id has no place for %+q", part.name, rune(c))
			}
		}
	}
	return AccountID{Chain: parts[0] + ":" + parts[1], Address: parts[2]}, nil
}

// String is the CAIP-10 text.
func (a AccountID) String() string { return a.Chain + ":" + a.Address }

// ChainNumber is the chain's number, when it is one of Ethereum's.
func (a AccountID) ChainNumber() (uint64, bool) {
	digits, ok := strings.CutPrefix(a.Chain, "eip155:")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, false
	}
	return n, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlphanumeric(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
