package check

import "fmt"

// Rule is one thing that holds of every legal history of ordered logs.
type Rule uint8

// The rules. What each says is in its comment; a suite says which requirement
// it decides.
const (
	_ Rule = iota
	// OnePosition: a position of a log names one entry, everywhere.
	OnePosition
	// AcrossLogs: a position names an entry of one log only (Facts.OneSequence).
	AcrossLogs
	// StoredOnce: an entry has one position.
	StoredOnce
	// SameMetadata: every append of an entry is answered with the same metadata.
	SameMetadata
	// Collapsed: equal entries of one append are answered with one row.
	Collapsed
	// ReadMetadata: a read shows the metadata that the append was answered with.
	ReadMetadata
	// Known: a read shows only entries that some append may have stored before it.
	Known
	// NotRefused: nothing of a refused append is ever shown.
	NotRefused
	// Asked: a page shows only entries of its logs, above its cursors.
	Asked
	// Ascending: the rows of one log ascend within a page.
	Ascending
	// Once: a page shows a row once.
	Once
	// Limit: a page holds no more rows than its limit.
	Limit
	// More: a page says that it was cut exactly when more matched.
	More
	// Prefix: no entry is missing below one that is shown.
	Prefix
	// Fresh: a read of the primary shows what had returned before it began.
	Fresh
	// Forward: a read of the primary shows what a read had shown before it began.
	Forward
	// Below: nothing appears below what was visible before its append began.
	Below
	// InOrder: of two appends to a log, one after the other, the later is above.
	InOrder
	// Snapshot: a page shows all its logs at one moment.
	Snapshot
	// Atomic: no read shows a part of an append and provably lacks another.
	Atomic
	// Series: positions over all logs of a series follow the order of commits.
	Series
	// OneWinner: of appends that exclude each other, one is stored.
	OneWinner
	// Contention: an append loses a race only when another commits beside it.
	Contention
	// Alike: an append of nothing but entries that were stored before it began, or
	// while it ran and nothing else happened to their logs, is answered as stored.
	Alike
	// StreamAscending: a registration delivers ascending positions above its cursor.
	StreamAscending
	// StreamGap: a registration delivers every entry above its cursor.
	StreamGap
	// StreamEarly: nothing is delivered before the registration is acknowledged.
	StreamEarly
	// StreamLate: nothing is delivered after its removal is acknowledged.
	StreamLate
	// StreamTarget: a target is 0 or a head that existed, fixed when captured.
	StreamTarget
	// StreamAnswer: a registration is acknowledged once.
	StreamAnswer

	ruleEnd
)

var ruleNames = [ruleEnd]string{
	OnePosition: "position-names-one-entry", AcrossLogs: "position-is-unique-across-logs", StoredOnce: "entry-has-one-position",
	SameMetadata: "duplicate-keeps-metadata", Collapsed: "equal-entries-share-a-row", ReadMetadata: "read-repeats-metadata",
	Known: "read-shows-what-was-appended", NotRefused: "refused-append-stays-out", Asked: "page-answers-what-was-asked",
	Ascending: "page-ascends", Once: "page-shows-a-row-once", Limit: "page-keeps-its-limit", More: "has-more-is-true",
	Prefix: "read-is-a-prefix", Fresh: "read-shows-what-had-returned", Forward: "reads-do-not-go-backwards",
	Below: "nothing-appears-below-what-was-visible", InOrder: "appends-follow-real-time", Snapshot: "page-has-one-snapshot",
	Atomic: "append-is-atomic", Series: "series-follows-commit-order", OneWinner: "one-winner", Contention: "contention-has-a-cause",
	Alike:           "copy-succeeds-as-well",
	StreamAscending: "stream-ascends", StreamGap: "stream-has-no-gap", StreamEarly: "stream-waits-for-its-answer",
	StreamLate: "stream-ends-with-its-removal", StreamTarget: "target-was-a-head", StreamAnswer: "registration-is-answered-once",
}

// Rules lists every rule.
func Rules() []Rule {
	var out []Rule
	for r := Rule(1); r < ruleEnd; r++ {
		out = append(out, r)
	}
	return out
}

// String returns the rule's name in kebab-case, or "invalid".
func (r Rule) String() string {
	if r == 0 || r >= ruleEnd {
		return "invalid"
	}
	return ruleNames[r]
}

// ParseRule reads the name that String writes.
func ParseRule(s string) (Rule, error) {
	for r := Rule(1); r < ruleEnd; r++ {
		if ruleNames[r] == s {
			return r, nil
		}
	}
	return 0, fmt.Errorf("rule %q is unknown: use one of %v", s, ruleNames[1:])
}

// Finding is one breach of one rule, with the few events that prove it.
type Finding struct {
	Rule Rule
	// Call is the call whose answer shows the breach.
	Call int
	Log  Log
	// Positions are those the breach is about, as the sentence names them.
	Positions []uint64
	// Proof lists the events that together prove it, ascending.
	Proof []Order
	// Expected and Got say what was legal and what was seen.
	Expected, Got string
}

// Report is what Run found.
type Report struct {
	// Findings are sorted by call, then rule. A rule reports at most MostFindings
	// of them; the rest are counted in Suppressed.
	Findings   []Finding
	Suppressed int

	facts *Facts
	// held has the rules that held on each operation, as bits, by table.
	appends, pages, heads, streams []uint32
}

// MostFindings is how many findings of one rule a report lists: enough to see a
// pattern, few enough to read.
const MostFindings = 16

// Held calls visit for every rule that was evaluated on a call and held, with
// something on hand to hold for: a page without rows shows no prefix. The order
// is fixed: appends, pages, head reads and registrations as they were added.
func (r *Report) Held(visit func(call int, rule Rule)) {
	table := func(masks []uint32, call func(i int) int) {
		for i, m := range masks {
			for rule := Rule(1); m != 0 && rule < ruleEnd; rule++ {
				if m&(1<<rule) != 0 {
					visit(call(i), rule)
				}
			}
		}
	}
	f := r.facts
	table(r.appends, func(i int) int { return int(f.appends.call[i]) })
	table(r.pages, func(i int) int { return int(f.pages.call[i]) })
	table(r.heads, func(i int) int { return int(f.heads.call[i]) })
	table(r.streams, func(i int) int { return f.streams.registration[i].Call })
}
