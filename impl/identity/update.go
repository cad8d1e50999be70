package identity

import "fmt"

// Update is one identity update in domain form, its signatures not yet looked
// at. [Decode] makes it; nobody changes it afterwards.
type Update struct {
	// InboxID is the field verbatim, upper-case digits and all: it is signed.
	InboxID string
	// TimestampNS is the client's time. It is signed in whole seconds only,
	// recorded with the members the update adds, and never compared with a clock.
	TimestampNS uint64
	Actions     []Action
}

// Verb says what an action does. The zero value does nothing.
type Verb uint8

// The verbs, numbered as the wire numbers the arms of IdentityAction.
const (
	// Create opens an inbox. Subject becomes its first member and its
	// recovery identifier.
	Create Verb = 1
	// Add makes Subject a member. Both sides sign: one that may add, and
	// Subject itself.
	Add Verb = 2
	// Revoke removes Subject and the installations it added.
	Revoke Verb = 3
	// ChangeRecovery hands the recovery role to Subject, who signs nothing
	// and need not be a member.
	ChangeRecovery Verb = 4
)

// String returns the word used in messages.
func (v Verb) String() string {
	switch v {
	case Create:
		return "create inbox"
	case Add:
		return "add member"
	case Revoke:
		return "revoke member"
	case ChangeRecovery:
		return "change recovery"
	default:
		return fmt.Sprintf("unknown verb %d", uint8(v))
	}
}

// Action is one step of an update.
type Action struct {
	Verb    Verb
	Subject Identifier
	// Nonce is Create's. It is not signed: only the inbox id binds it.
	Nonce uint64
	// By is the signature of the party that allows the step.
	By Signature
	// Joining is Add's second signature, Subject's own. Nil for other verbs.
	Joining Signature
}
