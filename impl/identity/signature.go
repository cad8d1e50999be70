package identity

import (
	"context"
	"fmt"
)

// Signature is one signature of an update before it is verified:
// [AddressSignature], [ContractSignature], [InstallationSignature],
// [DelegatedSignature] or [PasskeySignature].
type Signature interface {
	// verify says what the signature proves about the signed text.
	verify(ctx context.Context, m message, wallets WalletVerifier) (Signed, *Error)
}

// Scheme is how a party signed. The zero value is no scheme.
type Scheme uint8

// The schemes, numbered as the wire numbers the arms of Signature.
const (
	ByAddressKey      Scheme = 1 // EIP-191 text, recoverable secp256k1
	ByContract        Scheme = 2 // ERC-1271 or ERC-6492, asked on chain
	ByInstallationKey Scheme = 3 // Ed25519ph with a context
	ByDelegatedKey    Scheme = 4 // legacy: a key that a wallet once vouched for
	ByPasskey         Scheme = 5 // WebAuthn assertion, P-256
)

// Signed is what a verified signature proves.
type Signed struct {
	// By is the signer. Invariant: its kind follows from the scheme (the first,
	// second and fourth speak for addresses, the third for installations, the
	// last for passkeys), so a signature of the wrong sort for a party is
	// always the signature of another party and needs no rule of its own.
	By     Identifier
	Scheme Scheme
	Chain  ChainID
	// Used is the key under which this signature is remembered once its
	// update is stored. Invariant: any two encodings of one signature that
	// verify have the same key, or a stored signature could be sent again.
	Used string
}

// ChainID is the number of the chain a contract wallet lives on, or none. A
// member that joined through a contract on one chain cannot act through the
// same address on another, nor through a plain key.
type ChainID struct {
	Known  bool
	Number uint64
}

// String is the number, or a word for none.
func (c ChainID) String() string {
	if !c.Known {
		return "no chain"
	}
	return fmt.Sprintf("chain %d", c.Number)
}

// message is what the signers of one update signed, in the forms that the
// schemes need.
type message struct {
	text   string
	eip191 [32]byte
}

func newMessage(text string) message {
	return message{text: text, eip191: personalHash(text)}
}
