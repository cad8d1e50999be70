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

// ActionKind is what one action of an identity update does.
type ActionKind uint8

// The four kinds of actions.
const (
	_ ActionKind = iota
	CreateInbox
	AddAssociation
	RevokeAssociation
	ChangeRecovery
)

var actionKindNames = [...]string{"", "create", "add", "revoke", "recover-by"}

// String returns the word that scenario files use.
func (k ActionKind) String() string {
	if k == 0 || int(k) >= len(actionKindNames) {
		return "invalid"
	}
	return actionKindNames[k]
}

// IdentityUpdate is the intent behind an identity update: who does what to
// whom, who signs it, and the one way in which it is wrong, if any.
type IdentityUpdate struct {
	// Inbox is the inbox it claims to be about.
	Inbox   InboxRef `json:"inbox"`
	Actions []Action `json:"actions"`
	// Second is the whole second of the client's time, which is part of the
	// signed text; Nanosecond is the rest, which is not.
	Second     int64  `json:"second"`
	Nanosecond uint32 `json:"nanosecond,omitempty"`
	// Flaw is what is wrong with the update as a whole; its signatures are over
	// the text that the flawed update has.
	Flaw UpdateFlaw `json:"flaw,omitempty"`
}

// Action is one action of an identity update.
type Action struct {
	Kind ActionKind `json:"kind"`
	// Subject is whom the action is about: the first identifier, the new
	// member, the revoked member, or the new recovery identifier.
	Subject Party `json:"subject"`
	// By signs for the side that allows it: the first identifier, an existing
	// member, or the recovery identifier.
	By Signing `json:"by"`
	// New signs for the new member of an add; the zero value is the subject itself.
	New  Signing    `json:"new"`
	Flaw ActionFlaw `json:"flaw,omitempty"`
}

// Signing is one signature: whose, and what is odd or wrong about it.
type Signing struct {
	Party Party         `json:"party"`
	Flaw  SignatureFlaw `json:"flaw,omitempty"`
	// Salt makes another valid signature of the same party over the same text,
	// where its scheme has more than one: passkeys and contracts.
	Salt uint32 `json:"salt,omitempty"`
}
