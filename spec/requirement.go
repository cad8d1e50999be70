package spec

import "strings"

// Requirement is one numbered rule of a specification.
type Requirement struct {
	ID ID `json:"id"`
	// Section is the number of the section that states the rule, as in "5.1".
	Section string `json:"section"`
	// Title is a few words, for lists.
	Title string `json:"title"`
	// Statement is the rule in this project's own words, complete enough to
	// judge by.
	Statement string `json:"statement"`
	Level     Level  `json:"level"`
	// Binds is whom the rule binds. A verdict on a subject speaks for the
	// subject's part alone.
	Binds PartySet `json:"binds"`
	// DecidedBy lists alternatives: a run that was given every access of any
	// one of them can decide the requirement. Invariant: it is empty exactly
	// when Undecidable is not.
	DecidedBy []AccessSet `json:"decided_by,omitempty"`
	// Undecidable says why no access decides the requirement.
	Undecidable string `json:"undecidable,omitempty"`
	// LimitsOfEvidence says what a verdict of satisfied does not cover: the
	// part of the rule that nobody outside the subject sees.
	LimitsOfEvidence string `json:"limits_of_evidence,omitempty"`
	// Notes says how the rule is read where its specification leaves room, and
	// what it leaves free.
	Notes string `json:"notes,omitempty"`
}

// Decidable reports whether a run with this access can decide the requirement.
// It promises nothing about whether a scenario tries.
func (r Requirement) Decidable(have AccessSet) bool {
	for _, need := range r.DecidedBy {
		if have.Contains(need) {
			return true
		}
	}
	return false
}

// OutOfReach says why a run with this access cannot decide the requirement, in
// words for a report. It is empty exactly when Decidable is true.
func (r Requirement) OutOfReach(have AccessSet) string {
	if r.Decidable(have) {
		return ""
	}
	if len(r.DecidedBy) == 0 {
		return r.Undecidable
	}
	return "needs " + alternatives(r.DecidedBy) + "; this run has " + have.String()
}

// alternatives joins access sets as a reader would: "wire+chain or replica".
func alternatives(list []AccessSet) string { return strings.Join(words(list), " or ") }

// Limit is one number of a specification or of its configuration: a bound that
// requests are held to, a default, or an interval.
type Limit struct {
	// Name is the last part of Key, and unique in its catalogue.
	Name string `json:"name"`
	// Key is the full configuration key, as in "limits.max_query_topics".
	Key string `json:"key"`
	// Default is the value that holds when nobody configures another, in Unit.
	Default uint64 `json:"default"`
	// Ceiling is the highest value that configuration may set; 0 means that
	// the specification sets none.
	Ceiling uint64 `json:"ceiling,omitempty"`
	// Unit is what is counted: "bytes", "topics", "milliseconds".
	Unit string `json:"unit"`
	// PublishedAs is the field in which a server tells its clients the value,
	// as a path inside the configuration response; empty when it does not.
	PublishedAs string `json:"published_as,omitempty"`
	// Section is where the specification states the number. When it is empty
	// the number comes from a known implementation, and no verdict rests on it.
	Section string `json:"section,omitempty"`
	// Requirements are the ids of the rules that rest on the limit.
	Requirements []ID `json:"requirements,omitempty"`
	// Meaning says what the limit bounds, and how a value is to be read.
	Meaning string `json:"meaning"`
}

// Published reports whether clients can read the limit from the server.
func (l Limit) Published() bool { return l.PublishedAs != "" }

// Term is one word of the vocabulary.
type Term struct {
	Word    string `json:"word"`
	Meaning string `json:"meaning"`
}

// Section is one numbered part of a specification.
type Section struct {
	Number string `json:"number"`
	Title  string `json:"title"`
}

// Retired is an id that a specification once gave and gives no more. It is
// never reused, and nothing is decided about it.
type Retired struct {
	ID     ID     `json:"id"`
	Reason string `json:"reason"`
}
