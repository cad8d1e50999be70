// Package model holds the words in which a verdict is argued: what an
// assertion, a judgement and a breach are, and the event that every history is
// made of. The rules of one specification live in a package of the suite's
// name below this one (start with model/backend, func Judge).
//
// Everything here is a value. Nothing in this package or below it does I/O,
// reads a clock, starts a goroutine or sees a byte of the wire: rules judge
// intents and observations, never encodings.
package model

import (
	"fmt"
	"time"

	"assay/spec"
)

// Basis says where an expectation comes from. Only Spec can make a violation;
// a difference from any other basis is a note.
type Basis uint8

const (
	_ Basis = iota
	// Spec is the text of the specification under test.
	Spec
	// Companion is a related specification that is not ours to verify.
	Companion
	// Upstream is the behaviour of one known implementation.
	Upstream
	// Binding is a choice of wire form that this project made.
	Binding
)

var basisNames = [...]string{"", "spec", "companion", "upstream", "binding"}

// String returns the word used in result files, or "invalid".
func (b Basis) String() string {
	if b == 0 || int(b) >= len(basisNames) {
		return "invalid"
	}
	return basisNames[b]
}

// ParseBasis reads the word that String writes.
func ParseBasis(s string) (Basis, error) {
	for i := 1; i < len(basisNames); i++ {
		if basisNames[i] == s {
			return Basis(i), nil
		}
	}
	return 0, fmt.Errorf("basis %q is unknown: use spec, companion, upstream or binding", s)
}

// MarshalText and UnmarshalText write and read the word of String.
func (b Basis) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Basis) UnmarshalText(t []byte) (err error) {
	*b, err = ParseBasis(string(t))
	return err
}

// Assertion is one thing a rule checks. Every assertion of a suite is declared
// once, by name, with the requirement it is evidence for; a rule cannot judge
// without naming one.
type Assertion struct {
	// Name is unique within a suite, in kebab-case: "duplicate-keeps-metadata".
	Name string
	// Requirement is the requirement that this assertion is evidence for.
	Requirement spec.ID
	// Basis says what the expectation rests on.
	Basis Basis
}

// String names the assertion for people: "API-033 duplicate-keeps-metadata".
func (a Assertion) String() string { return string(a.Requirement) + " " + a.Name }

// Breach is one observation that no legal outcome explains.
type Breach struct {
	// Expected and Got say, in a reader's words, what was legal and what was
	// seen. They never contain raw bytes of a subject, only escaped, bounded text.
	Expected, Got string
	// Events are the indices of the history events that together prove the
	// breach, ascending; the event that shows it is the last.
	Events []int
}

// Judgement is one evaluation of one assertion on one call.
type Judgement struct {
	Assertion Assertion
	// Call is the number of the call that was judged.
	Call int
	// Needs names the positive witness without which a held assertion proves
	// nothing ("call:query", "topic:group g"); "" when the observation is its
	// own witness. A breach needs no witness.
	Needs string
	// Breach is nil when the assertion held.
	Breach *Breach
	// Doubt, when not empty, says why this call could not be judged; such a
	// judgement is neither for nor against the subject.
	Doubt string
}

// Held reports whether the judgement counts as an observation in favour,
// given that its witness was seen.
func (j Judgement) Held() bool { return j.Breach == nil && j.Doubt == "" }

// Judged is everything that judging one history yields.
type Judged struct {
	Judgements []Judgement
	// Witnesses are the positive observations of the history, by the names
	// that Judgement.Needs uses.
	Witnesses map[string]bool
	// Unimplemented maps a call's name to the number of times the subject
	// answered that it has no such call.
	Unimplemented map[string]int
	// Remarks are observations worth a note that no assertion covers, by
	// requirement: which legal variant a subject shows, for instance.
	Remarks []Remark
}

// Remark is a note about a subject: never for or against it.
type Remark struct {
	Requirement spec.ID
	Basis       Basis
	Text        string
}

// Breaches returns the judgements that were breached, in order.
func (j Judged) Breaches() []Judgement {
	var out []Judgement
	for _, v := range j.Judgements {
		if v.Breach != nil {
			out = append(out, v)
		}
	}
	return out
}

// Phase tells the events of a call apart: an invoke, any number of messages
// either way, a return.
type Phase uint8

const (
	_ Phase = iota
	// Invoke is the moment before the request leaves.
	Invoke
	// Return is the moment after the answer, or the lack of one, is known.
	Return
	// Mark is something that happened beside the calls: a crash, a cut, a restart.
	Mark
	// Send is the moment before one more message of an open call leaves.
	Send
	// Receive is the moment after a message of an open call arrived.
	Receive
)

var phaseNames = [...]string{"", "invoke", "return", "mark", "send", "receive"}

// String returns the word used in history files, or "invalid".
func (p Phase) String() string {
	if p == 0 || int(p) >= len(phaseNames) {
		return "invalid"
	}
	return phaseNames[p]
}

// ParsePhase reads the word that String writes.
func ParsePhase(s string) (Phase, error) {
	for i := 1; i < len(phaseNames); i++ {
		if phaseNames[i] == s {
			return Phase(i), nil
		}
	}
	return 0, fmt.Errorf("phase %q is unknown: use invoke, return, mark, send or receive", s)
}

// Event is one line of a history.
type Event struct {
	// Index is the position in the history, from 0. Invariant: if event a
	// happened before event b in real time as the harness saw it, a's index is lower.
	Index int
	Phase Phase
	// At is the time since the history began, on a monotonic clock.
	At time.Duration
	// Actor is the name of the client that makes the call; its calls do not overlap.
	Actor string
	// Call is the call's number; all events of the call share it. Marks have 0.
	Call int
	// Value is the suite's own value: a call for Invoke, a return for Return, a
	// message of a stream for Send and Receive.
	Value any
}
