package backend

import "fmt"

// PartyKind is how a party proves who it is.
type PartyKind uint8

// The kinds of parties. The zero value is no party.
const (
	_ PartyKind = iota
	// Wallet is an Ethereum key pair; it signs EIP-191 messages.
	Wallet
	// Installation is an Ed25519 key pair.
	Installation
	// Passkey is a P-256 key pair behind WebAuthn.
	Passkey
	// Contract is a smart contract wallet on the run's chain.
	Contract
)

var partyKindNames = [...]string{"", "wallet", "installation", "passkey", "contract"}

// String returns the word that scenario files use.
func (k PartyKind) String() string {
	if k == 0 || int(k) >= len(partyKindNames) {
		return "invalid"
	}
	return partyKindNames[k]
}

// Party is somebody who can be a member of an inbox. Its key derives from the
// run's seed and nonce and from its name.
type Party struct {
	Kind PartyKind `json:"kind"`
	Name string    `json:"name"`
	// Behaviour says what a contract's code does; Plainly for every other kind.
	Behaviour Behaviour `json:"behaviour,omitempty"`
}

// String returns "wallet w1".
func (p Party) String() string { return p.Kind.String() + " " + p.Name }

// ParsePartyKind reads the word that String writes.
func ParsePartyKind(s string) (PartyKind, error) {
	for i := 1; i < len(partyKindNames); i++ {
		if partyKindNames[i] == s {
			return PartyKind(i), nil
		}
	}
	return 0, fmt.Errorf("party kind %q is unknown: use wallet, installation, passkey or contract", s)
}

// Behaviour is what the code of a contract wallet does when it is asked
// whether a signature is its owner's.
type Behaviour string

// The behaviours of contract wallets.
const (
	// Plainly checks the owner's ECDSA signature over the hash it is given.
	Plainly Behaviour = ""
	// Always says yes.
	Always Behaviour = "says yes to everything"
	// Never says no.
	Never Behaviour = "says no to everything"
	// Toggled says yes until its switch is thrown, and no from that block on.
	Toggled Behaviour = "says yes until it is switched"
	// Reverts fails the call.
	Reverts Behaviour = "reverts"
	// Counterfactual is not deployed; its signatures carry what deploys it.
	Counterfactual Behaviour = "is not deployed yet"
)

// InboxRef names an inbox by who creates it: its id follows from the creator's
// identifier and the nonce.
type InboxRef struct {
	Creator Party  `json:"creator"`
	Nonce   uint64 `json:"nonce,omitempty"`
}
