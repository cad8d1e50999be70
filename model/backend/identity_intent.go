package backend

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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

// ParsePartyKind reads the word that String writes.
func ParsePartyKind(s string) (PartyKind, error) {
	for i := 1; i < len(partyKindNames); i++ {
		if partyKindNames[i] == s {
			return PartyKind(i), nil
		}
	}
	return 0, fmt.Errorf("party kind %q is unknown: use wallet, installation, passkey or contract", s)
}

// Party is somebody who can be a member of an inbox. Its key derives from the
// run's seed and nonce, from its kind and from its name; two parties of one
// name and different kinds have nothing in common.
type Party struct {
	Kind PartyKind `json:"kind"`
	// Name holds letters, digits, '-', '_' and '.'.
	Name string `json:"name"`
	// Behaviour says what a contract's code does; Plainly for every other kind.
	Behaviour Behaviour `json:"behaviour,omitempty"`
}

// that stands between a contract's name and its behaviour.
const that = " that "

// String returns "wallet w1" or "contract c1 that reverts".
func (p Party) String() string {
	s := p.Kind.String() + " " + p.Name
	if p.Behaviour != Plainly {
		s += that + string(p.Behaviour)
	}
	return s
}

// ParseParty reads what String writes.
func ParseParty(s string) (Party, error) {
	head, behaviour, _ := strings.Cut(s, that)
	kind, name, ok := strings.Cut(head, " ")
	if !ok {
		return Party{}, fmt.Errorf("party %q has no name: write a kind and a name, such as wallet w1", s)
	}
	k, err := ParsePartyKind(kind)
	if err != nil {
		return Party{}, fmt.Errorf("party %q: %w", s, err)
	}
	p := Party{Kind: k, Name: name, Behaviour: Behaviour(behaviour)}
	return p, p.Check()
}

// Check says what keeps p from being a party, if anything does.
func (p Party) Check() error {
	switch {
	case p.Kind < Wallet || p.Kind > Contract:
		return fmt.Errorf("party %q has no kind", p.Name)
	case p.Name == "" || strings.ContainsFunc(p.Name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.')
	}):
		return fmt.Errorf("party name %q: use letters, digits, '-', '_' and '.'", p.Name)
	case p.Behaviour != Plainly && p.Kind != Contract:
		return fmt.Errorf("%s %s cannot have behaviour %q: only contracts have code", p.Kind, p.Name, p.Behaviour)
	case !slices.Contains(Behaviours(), p.Behaviour):
		return fmt.Errorf("contract %s has unknown behaviour %q: use one of %q", p.Name, p.Behaviour, Behaviours())
	}
	return nil
}

// Log is the topic of the party's key packages. It is an installation's; other
// parties have none. The welcome topic of the same name has the same identifier.
func (p Party) Log() Log { return Log{Kind: KeyPackage, Name: p.String()} }

// Behaviour is what the code of a contract wallet does when it is asked
// whether a signature is its owner's. Two contracts of one name and different
// behaviour are two contracts.
type Behaviour string

// The behaviours of contract wallets.
const (
	// Plainly checks the owner's ECDSA signature over the hash it is given.
	Plainly Behaviour = ""
	// Always says yes.
	Always Behaviour = "says yes to everything"
	// Never says no, with a zero-padded answer.
	Never Behaviour = "says no to everything"
	// Toggled says yes until its switch is thrown, and no from that block on.
	Toggled Behaviour = "says yes until it is switched"
	// Reverts fails the call.
	Reverts Behaviour = "reverts"
	// Short says yes in fewer than the 32 bytes of an answer.
	Short Behaviour = "answers in four bytes"
	// Dirty says yes and has a byte set behind its answer's first four.
	Dirty Behaviour = "says yes with a dirty tail"
	// Counterfactual is not deployed; its signatures carry what deploys it.
	// Deployed, it checks its owner's signature.
	Counterfactual Behaviour = "is not deployed yet"
)

// Behaviours lists every behaviour.
func Behaviours() []Behaviour {
	return []Behaviour{Plainly, Always, Never, Toggled, Reverts, Short, Dirty, Counterfactual}
}

// InboxRef names an inbox by who creates it: its id follows from the creator's
// identifier and the nonce. Nothing says that the creator ever creates it.
type InboxRef struct {
	Creator Party  `json:"creator"`
	Nonce   uint64 `json:"nonce,omitempty"`
}

// String returns "wallet w1/0".
func (r InboxRef) String() string { return r.Creator.String() + "/" + strconv.FormatUint(r.Nonce, 10) }

// Log is the inbox's topic under its canonical name, which is String's. Reads
// and updates of the inbox name this log.
func (r InboxRef) Log() Log { return Log{Kind: Identity, Name: r.String()} }

// ParseInbox reads what String writes.
func ParseInbox(s string) (InboxRef, error) {
	party, nonce, ok := strings.Cut(s, "/")
	if !ok {
		return InboxRef{}, fmt.Errorf("inbox %q has no nonce: write its creator and the nonce, such as wallet w1/0", s)
	}
	p, err := ParseParty(party)
	if err != nil {
		return InboxRef{}, fmt.Errorf("inbox %q: %w", s, err)
	}
	n, err := strconv.ParseUint(nonce, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != nonce {
		return InboxRef{}, fmt.Errorf("inbox %q: the nonce is a decimal number below 2^64", s)
	}
	return InboxRef{Creator: p, Nonce: n}, nil
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

// ParseActionKind reads the word that String writes.
func ParseActionKind(s string) (ActionKind, error) {
	for i := 1; i < len(actionKindNames); i++ {
		if actionKindNames[i] == s {
			return ActionKind(i), nil
		}
	}
	return 0, fmt.Errorf("action %q is unknown: use create, add, revoke or recover-by", s)
}

// IdentityUpdate is the intent behind an identity update: who does what to
// whom, who signs it, and the one way in which it is odd or wrong, if any.
//
// All its signatures are over one text, which follows from the inbox, the whole
// second and, action by action, its kind and subject. Signatures are
// deterministic: the same party, text, salt, flaw and variant give the same bytes,
// so an update that differs in Nanosecond alone carries the same signatures.
type IdentityUpdate struct {
	// Inbox is the inbox it claims to be about.
	Inbox   InboxRef `json:"inbox"`
	Actions []Action `json:"actions"`
	// Second is the whole second of the client's time, which is part of the
	// signed text; Nanosecond, below 10^9, is the rest, which is not. Together
	// they fit the 64 bits of the field; a negative time is in its upper half.
	Second     int64  `json:"second"`
	Nanosecond uint32 `json:"nanosecond,omitempty"`
	// Flaw is what is wrong with the update as a whole.
	Flaw UpdateFlaw `json:"flaw,omitempty"`
	// Variant is what is odd about it.
	Variant UpdateVariant `json:"variant,omitempty"`
}

// Action is one action of an identity update.
type Action struct {
	Kind ActionKind `json:"kind"`
	// Subject is whom the action is about: the first identifier, the new
	// member, the revoked member, or the new recovery identifier. The nonce of
	// a create is that of the update's inbox.
	Subject Party `json:"subject"`
	// By signs for the side that allows it: the first identifier, an existing
	// member, or the recovery identifier. A create without a party is signed by
	// its subject.
	By Signing `json:"by,omitzero"`
	// New signs for the new member of an add. Without a party it is the subject.
	New     Signing       `json:"new,omitzero"`
	Flaw    ActionFlaw    `json:"flaw,omitempty"`
	Variant ActionVariant `json:"variant,omitempty"`
}

// Allowing is By with its party filled in.
func (a Action) Allowing() Signing { return a.By.or(a.Subject, a.Kind == CreateInbox) }

// Joining is New with its party filled in. Only an add has one.
func (a Action) Joining() (Signing, bool) {
	return a.New.or(a.Subject, true), a.Kind == AddAssociation
}

// Signings are the signatures of the action in the order of their fields.
func (a Action) Signings() []Signing {
	out := []Signing{a.Allowing()}
	if s, ok := a.Joining(); ok {
		out = append(out, s)
	}
	return out
}

// Signing is one signature: whose, and what is odd or wrong about it.
type Signing struct {
	Party   Party            `json:"party,omitzero"`
	Flaw    SignatureFlaw    `json:"flaw,omitempty"`
	Variant SignatureVariant `json:"variant,omitempty"`
	// Salt makes another valid signature of the same party over the same text,
	// where its scheme has more than one: passkeys and contracts.
	Salt uint32 `json:"salt,omitempty"`
	// Chain and Block are of signatures that a contract is asked about.
	Chain Chain `json:"chain,omitempty"`
	Block Block `json:"block,omitempty"`
}

func (s Signing) or(p Party, allowed bool) Signing {
	if s.Party == (Party{}) && allowed {
		s.Party = p
	}
	return s
}

// OnChain reports whether the signature is one that a contract, or what stands
// in its place, is asked about (API-044).
func (s Signing) OnChain() bool { return s.Party.Kind == Contract || s.Variant == AsContract }

// Chain is the chain that a contract signature names.
type Chain string

// The chains. A subject that was given the run's chain has a route to the first,
// and one to the second only where its configuration says so too: both lead to
// the same node.
const (
	RunChain    Chain = ""
	SecondRoute Chain = "second route to the same node"
	NoRoute     Chain = "chain without a route"
	CosmosChain Chain = "chain of another namespace"
	WordyChain  Chain = "chain whose reference is no number"
	PaddedChain Chain = "chain whose number is padded"
)

// Chains lists every chain.
func Chains() []Chain {
	return []Chain{RunChain, SecondRoute, NoRoute, CosmosChain, WordyChain, PaddedChain}
}

// Block is the block at which a contract is to be asked.
type Block string

// The blocks. Each is fixed once it was named, so that equal intents stay equal
// while the chain grows.
const (
	// AtDeployment is a block at which the contract has its code.
	AtDeployment Block = ""
	// AfterDeployment is the block after it.
	AfterDeployment Block = "one block later"
	// AfterSwitch is a block at which a Toggled contract has been switched.
	AfterSwitch Block = "after the switch"
	// AboveHead is far above every block of the chain.
	AboveHead Block = "above the head"
	// Genesis is block 0, which is long ago by its timestamp.
	Genesis Block = "block 0"
	// Newest leaves the block out; only a verification request can.
	Newest Block = "newest"
)

// Blocks lists every block.
func Blocks() []Block {
	return []Block{AtDeployment, AfterDeployment, AfterSwitch, AboveHead, Genesis, Newest}
}

// MarshalText and UnmarshalText make histories say "wallet" instead of a number.
func (k PartyKind) MarshalText() ([]byte, error) { return wordOf(partyKindNames[:], int(k)) }

// UnmarshalText reads the word that MarshalText writes.
func (k *PartyKind) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*k = 0
		return nil
	}
	*k, err = ParsePartyKind(string(b))
	return err
}

// MarshalText writes the word of scenario files.
func (k ActionKind) MarshalText() ([]byte, error) { return wordOf(actionKindNames[:], int(k)) }

// UnmarshalText reads the word that MarshalText writes.
func (k *ActionKind) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*k = 0
		return nil
	}
	*k, err = ParseActionKind(string(b))
	return err
}

func wordOf(words []string, i int) ([]byte, error) {
	if i >= len(words) {
		return nil, fmt.Errorf("value %d has no word", i)
	}
	return []byte(words[i]), nil
}
