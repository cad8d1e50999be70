package identity

import (
	"encoding/hex"
	"fmt"
)

// Kind says what sort of party an identifier names. The zero value names none.
type Kind uint8

// The three sorts of party that can be members of an inbox. The first two
// have the numbers of the wire's IdentifierKind, which has none for an
// installation: an installation can neither create an inbox nor recover one.
const (
	Ethereum     Kind = 1
	Passkey      Kind = 2
	Installation Kind = 3
)

// String returns the word used in messages.
func (k Kind) String() string {
	switch k {
	case Ethereum:
		return "ethereum address"
	case Passkey:
		return "passkey"
	case Installation:
		return "installation"
	default:
		return fmt.Sprintf("unknown kind %d", uint8(k))
	}
}

// Identifier names one party. Two identifiers are the same party exactly when
// they are ==: nothing is normalised, so the compressed and the uncompressed
// encoding of one passkey are two parties, and a checksummed address is
// another party than the lowercase one.
type Identifier struct {
	Kind Kind
	// Value is the address text as it was carried for an Ethereum address,
	// and the raw key bytes for a passkey or an installation.
	Value string
}

// EthereumAddress names the party behind an address, text kept as it is.
func EthereumAddress(text string) Identifier { return Identifier{Ethereum, text} }

// PasskeyKey names the holder of a passkey by its SEC1 encoded key. A relying
// party is no part of the name.
func PasskeyKey(key []byte) Identifier { return Identifier{Passkey, string(key)} }

// InstallationKey names an installation by its Ed25519 public key.
func InstallationKey(key []byte) Identifier { return Identifier{Installation, string(key)} }

// Text is the identifier as the signed text and the inbox id show it: an
// address as carried, a key as lowercase hex without prefix.
func (id Identifier) Text() string {
	if id.Kind == Ethereum {
		return id.Value
	}
	return hex.EncodeToString([]byte(id.Value))
}

// String describes the identifier for a message.
func (id Identifier) String() string { return id.Kind.String() + " " + quote(id.Text()) }

// quote makes text from a peer fit for a message: escaped, and cut after the
// length of the longest honest value, an uncompressed P-256 key in hex.
func quote(text string) string {
	const longest = 2 * 65
	if len(text) > longest {
		return fmt.Sprintf("%+q... (%d bytes)", text[:longest], len(text))
	}
	return fmt.Sprintf("%+q", text)
}

// hasAddressShape reports whether text is 0x and 40 hexadecimal digits of any
// case.
func hasAddressShape(text string) bool {
	if len(text) != 42 || text[0] != '0' || text[1] != 'x' {
		return false
	}
	for _, c := range []byte(text[2:]) {
		if !isHexDigit(c) {
			return false
		}
	}
	return true
}

func isHexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
