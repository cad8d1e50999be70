package identity

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// LookupKey is the form under which an identifier is projected and looked up:
// within its kind, and with the letter case taken out (API-122).
type LookupKey struct {
	Kind Kind // Ethereum or Passkey
	Text string
}

// LookupKey returns the key under which the identifier can be found, and
// false for an installation, which cannot.
func (id Identifier) LookupKey() (LookupKey, bool) {
	switch id.Kind {
	case Ethereum:
		return LookupKey{Ethereum, lookupAddress(id.Value)}, true
	case Passkey:
		return LookupKey{Passkey, id.Text()}, true
	default:
		return LookupKey{}, false
	}
}

// NormalizeLookup turns one entry of an inbox-id lookup into its key (API-122).
// The kind is the wire's number; unspecified is looked up as Ethereum, and the
// answer still echoes what was sent.
//
// Any text may be asked for as an address: nonsense is found nowhere. A passkey
// must be hexadecimal, and a kind must be known; otherwise the error says so.
func NormalizeLookup(kind int32, text string) (LookupKey, error) {
	switch kind {
	case kindUnspecified, int32(Ethereum):
		return LookupKey{Ethereum, lookupAddress(text)}, nil
	case int32(Passkey):
		key, err := hex.DecodeString(text)
		if err != nil {
			return LookupKey{}, errors.New("a passkey identifier must be hexadecimal without prefix")
		}
		return LookupKey{Passkey, hex.EncodeToString(key)}, nil
	default:
		return LookupKey{}, fmt.Errorf("identifier kind %d is unknown; use 1 for an ethereum address or 2 for a passkey", kind)
	}
}

// kindUnspecified is the wire's zero, which has always meant an address.
const kindUnspecified = 0

// lookupAddress lowers an address. Every address that can be a member is
// printable ASCII; any other text becomes the empty one, which is nobody's, so
// that bytes a database cannot hold (a NUL, broken UTF-8) never reach it.
func lookupAddress(text string) string {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return ""
		}
	}
	return strings.ToLower(text)
}
