package identity

import "fmt"

// Class says which answer a refused update deserves (API-040, API-043,
// API-044). The zero value is no class.
type Class uint8

// The classes, in the order in which validation can meet them.
const (
	// Malformed: a part of the update has no domain form (MALFORMED_PAYLOAD).
	Malformed Class = iota + 1
	// TooLarge: more wallet signatures than one update may carry.
	TooLarge
	// InvalidSignature: a signature verifies under no reading (INVALID_SIGNATURE).
	InvalidSignature
	// Unavailable: a wallet could not be asked; the same bytes may pass later.
	Unavailable
	// InvalidUpdate: the signatures are good, the step is not allowed
	// (INVALID_IDENTITY_UPDATE).
	InvalidUpdate
)

// String returns the word used in messages.
func (c Class) String() string {
	switch c {
	case Malformed:
		return "malformed"
	case TooLarge:
		return "too large"
	case InvalidSignature:
		return "invalid signature"
	case Unavailable:
		return "unavailable"
	case InvalidUpdate:
		return "invalid update"
	default:
		return fmt.Sprintf("unknown class %d", uint8(c))
	}
}

// Rule names one rule in words, the same in messages, tables and tests.
type Rule string

// The rules that are not preconditions of an action (those are with [Rules]).
const (
	RuleDecodes               Rule = "every field has a domain form"
	RuleWalletSignatures      Rule = "an update carries a bounded number of contract signatures"
	RuleAddressSignature      Rule = "an address signature recovers"
	RuleContractSignature     Rule = "a contract accepts its signature"
	RuleInstallationSignature Rule = "an installation signature verifies"
	RuleDelegatedSignature    Rule = "a delegated signature and its voucher verify"
	RulePasskeySignature      Rule = "a passkey assertion verifies"
	RuleVerifiedInTime        Rule = "verification ends before its deadline"
	RuleInboxRemains          Rule = "an update leaves an inbox"
	RuleInboxMatches          Rule = "the inbox is the one the update names"
)

// Error is why an update was refused. Its text is safe to send to the
// publisher: what came from outside is quoted and cut, and no address of a
// chain node appears.
type Error struct {
	Class Class
	// Rule names the one rule that decided.
	Rule Rule
	// Stored is the position in the history (from 0) of the stored update
	// that failed, and -1 when it was the new update.
	Stored int
	// Action is the index of the action, and -1 for the update as a whole.
	Action int
	// Detail says what was found.
	Detail string

	cause error
}

// Error says where, what and which rule.
func (e *Error) Error() string {
	where := "identity update"
	if e.Stored >= 0 {
		where = fmt.Sprintf("stored identity update %d", e.Stored)
	}
	if e.Action >= 0 {
		where = fmt.Sprintf("%s, action %d", where, e.Action)
	}
	return fmt.Sprintf("%s: %s (%s)", where, e.Detail, e.Rule)
}

// Unwrap returns the wallet verifier's error behind an Unavailable one.
func (e *Error) Unwrap() error { return e.cause }

// refuse builds an Error of the new update as a whole; callers that know an
// action or a stored position set it.
func refuse(class Class, rule Rule, format string, args ...any) *Error {
	return &Error{Class: class, Rule: rule, Stored: -1, Action: -1, Detail: fmt.Sprintf(format, args...)}
}

// atAction returns a copy that names the action, unless one is named already.
func (e *Error) atAction(i int) *Error {
	c := *e
	if c.Action < 0 {
		c.Action = i
	}
	return &c
}

// atStored returns a copy that names the position in the history.
func (e *Error) atStored(i int) *Error {
	c := *e
	c.Stored = i
	return &c
}
