package identity

import (
	"context"
	"slices"
	"strings"

	"assay/spec/gen/xmtp/identity/associations"
)

// Config is what a Validator is made of.
type Config struct {
	// Rules is ReferenceRules, or a copy with a deliberate fault.
	Rules Rules
	// Wallets is asked about contract signatures. Nil knows no chain.
	Wallets WalletVerifier
	// MaxWalletSignatures is how many contract signatures one new update may
	// carry (API-044: 100). Stored updates were counted when they came.
	MaxWalletSignatures int
	// Remember is for how many updates the result of verification is kept, so
	// that a long history is not verified again for every update after it;
	// none if it is zero. Updates with contract signatures are never kept:
	// only the chain can say whether they still hold.
	Remember int
}

// Validator validates identity updates. Several goroutines may use it.
type Validator struct {
	config Config
	memory *memory
}

// NewValidator makes a Validator of its parts.
func NewValidator(c Config) *Validator {
	return &Validator{config: c, memory: newMemory(c.Remember)}
}

// Change is what an accepted update means for lookups: the members that can
// be looked up after it and could not before, and the other way round. It
// compares the states before and after the whole update, so what an update
// adds and revokes again leaves no trace. Both lists are sorted.
type Change struct {
	InboxID string
	Added   []LookupKey
	Removed []LookupKey
}

// Validate decides whether update applies to an inbox whose stored updates are
// history, oldest first and complete (API-043). The error is an *[Error].
//
// Every signature of the history is verified along with the update's own. So
// an inbox with a contract among its signers can answer Unavailable although
// the update itself has no contract signature.
func (v *Validator) Validate(ctx context.Context, history []*associations.IdentityUpdate, update *associations.IdentityUpdate) (Change, error) {
	if n := CountWalletSignatures(update); n > v.config.MaxWalletSignatures {
		return Change{}, refuse(TooLarge, RuleWalletSignatures, "%d contract signatures, at most %d are allowed", n, v.config.MaxWalletSignatures)
	}
	all := append(slices.Clip(history), update)
	at := func(i int, e *Error) *Error {
		if i < len(history) {
			return e.atStored(i)
		}
		return e
	}

	// Each stage runs over the whole history before the next begins: what does
	// not parse is said before what does not verify, and that before what is
	// not allowed.
	decoded := make([]remembered, len(all))
	for i, wire := range all {
		var err *Error
		if decoded[i], err = v.decode(wire); err != nil {
			return Change{}, at(i, err)
		}
	}
	verified := make([]Verified, len(all))
	for i, d := range decoded {
		var err *Error
		if verified[i], err = v.verify(ctx, d); err != nil {
			return Change{}, at(i, err)
		}
	}
	var state *State
	var before map[LookupKey]struct{}
	for i, u := range verified {
		if i == len(history) {
			before = state.projected()
		}
		var err *Error
		if state, err = v.config.Rules.advance(state, u); err != nil {
			return Change{}, at(i, err)
		}
	}
	after := state.projected()
	return Change{
		InboxID: state.InboxID(),
		Added:   missing(after, before),
		Removed: missing(before, after),
	}, nil
}

// missing lists what is in a and not in b.
func missing(a, b map[LookupKey]struct{}) []LookupKey {
	var keys []LookupKey
	for key := range a {
		if _, ok := b[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(x, y LookupKey) int {
		if x.Kind != y.Kind {
			return int(x.Kind) - int(y.Kind)
		}
		return strings.Compare(x.Text, y.Text)
	})
	return keys
}

// Verify verifies every signature of an update over the text of its own
// fields. The error is an *[Error] of class InvalidSignature or Unavailable.
func (r Rules) Verify(ctx context.Context, u Update, wallets WalletVerifier) (Verified, error) {
	v, err := r.verify(ctx, u, wallets)
	if err != nil {
		return Verified{}, err
	}
	return v, nil
}

func (r Rules) verify(ctx context.Context, u Update, wallets WalletVerifier) (Verified, *Error) {
	m := newMessage(r.Text(u))
	v := Verified{InboxID: u.InboxID, TimestampNS: u.TimestampNS, Steps: make([]Step, len(u.Actions))}
	for i, a := range u.Actions {
		if ctx.Err() != nil {
			// A megabyte of signatures takes a second: stop when nobody waits.
			e := refuse(Unavailable, RuleVerifiedInTime, "verification was given up").atAction(i)
			e.cause = context.Cause(ctx)
			return Verified{}, e
		}
		step := Step{Verb: a.Verb, Subject: a.Subject, Nonce: a.Nonce}
		var err *Error
		if step.By, err = a.By.verify(ctx, m, wallets); err != nil {
			return Verified{}, err.atAction(i)
		}
		if a.Joining != nil {
			if step.Joining, err = a.Joining.verify(ctx, m, wallets); err != nil {
				return Verified{}, err.atAction(i)
			}
		}
		v.Steps[i] = step
	}
	return v, nil
}
