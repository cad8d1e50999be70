package check

import (
	"cmp"
	"slices"
)

// Run judges the facts. It is a pure function: equal facts give equal reports.
// It takes time in proportion to the facts, but for the sorting of what came
// out of order, and memory of some 40 bytes for each entry, row and page.
func Run(f *Facts) *Report {
	f.begin()
	c := &checker{f: f, report: &Report{facts: f}, broken: make(map[op]uint32), right: make(map[Entry]Row)}
	c.report.appends = make([]uint32, f.appends.len())
	c.report.pages = make([]uint32, f.pages.len())
	c.report.heads = make([]uint32, f.heads.len())
	c.report.streams = make([]uint32, len(f.streams.registration))

	// What every append and row says by itself.
	c.surveyAppends()
	c.judgeRows()
	c.judgeAcrossLogs()
	c.rankRows()
	c.judgeAnswers()

	// What every read says by itself, and what it says of when entries were visible.
	c.bound()
	c.readPages()
	c.readHeads()
	c.readStreams()

	// When everything was stored and visible, by sorting.
	c.settle()
	c.judgeAppendOrder()
	c.judgeRecency()
	c.judgeMoments()
	c.judgeSeries()
	c.judgeConditions()

	// What follows from all of this together.
	c.derive()
	c.judgeCircles()

	return c.conclude()
}

// checker is one run over one history.
type checker struct {
	f      *Facts
	report *Report
	broken map[op]uint32 // rules breached, by operation
	// byOrder has the operation of every event, once something asks.
	byOrder map[Order]op
	counts  [ruleEnd]int

	entries []entryState // by entry
	copied  []uint64     // bits, by entry: several appends may have stored it
	// right is the row that the first append to return was answered with, for
	// entries with several.
	right map[Entry]Row

	// flaw says, by row, why it takes no part in what follows.
	flaw []flaw

	// Ranks number the sound rows by log and position: those of log l are
	// start[l] to start[l+1]. rank is by row.
	start []uint32
	rank  []uint32

	bounds []bounds // by rank

	// cut is, by rank, the earliest read that was cut above it or one above it, nil
	// when there is none: something above was visible, of whatever position.
	cut []Order

	// next is, by span of a page, the rank of the first entry above the rows it
	// shows; unsound when its rows were in dispute.
	next []uint32

	// maybe is, by log, the earliest invocation of an append that may have stored
	// an entry of no known position; Never when there is none.
	maybe []Order
	// hide holds merged intervals, by log, in which an append of no known position
	// was open: those of log l are hideFrom[l] to hideFrom[l+1].
	hide     []interval
	hideFrom []uint32
	ghosts   map[Log][]ghost

	spare   []uint32 // scratch, as long as the longest column that words lent
	peak    []Order  // scratch, by rank of one log: the latest stored at or below it
	spanOf  []uint32 // scratch, by log: 1 + the span of the page at hand
	scratch []spanState
}

// entryState says when an entry can have been stored, and by whom.
type entryState struct {
	// first is the invocation of the first append that may have stored it, Never
	// when there is none; stored is the event by which it was certainly stored.
	first, stored Order
	// owner is the one append that can have stored it, or noOwner or manyOwners.
	owner uint32
}

// bounds says when a rank can have become visible. After settle each bound also
// speaks for what is above it (shown, until) or below it (since).
type bounds struct {
	pos uint64
	// shown is the earliest read that shows it.
	shown Order
	// until is the latest moment, by what appends were answered.
	until Order
	// since is the latest event before which it was not visible.
	since Order
	entry Entry
}

// Values of ranks that are none.
const (
	noRank  uint32 = 1<<32 - 1
	unsound uint32 = 1<<32 - 2
)

// flaw says what is wrong with a row. A row with a flaw was reported, or will
// be where it is claimed; what is in dispute proves nothing else.
type flaw uint8

const (
	// flawForeign: nobody may have stored the entry.
	flawForeign flaw = 1 << iota
	// flawMoved: the entry has another position as well.
	flawMoved
	// flawTaken: the position names another entry as well.
	flawTaken
	// flawMeta: the entry was answered with other metadata as well.
	flawMeta
	// flawElsewhere: the position names an entry of another log as well.
	flawElsewhere
	// flawDisputed: not this row but another of its entry or position is wrong.
	flawDisputed

	// unranked rows take no part in the order of positions.
	unranked = flawForeign | flawMoved | flawTaken | flawDisputed
	// claimed rows are findings wherever an answer or a read claims them.
	claimed = flawForeign | flawMoved | flawTaken | flawMeta | flawElsewhere
)

// words returns a scratch column of zeros, which the next call takes back.
func (c *checker) words(n int) []uint32 {
	if cap(c.spare) < n {
		c.spare = make([]uint32, n)
		return c.spare
	}
	clear(c.spare[:n])
	return c.spare[:n]
}

// table tells the kinds of operations apart.
type table uint8

const (
	tableAppend table = iota
	tablePage
	tableHead
	tableStream
)

// op is one operation: a row of one of the tables of Facts.
type op struct {
	table table
	index int
}

func (c *checker) times(o op) (invoked, returned Order, call int) {
	switch o.table {
	case tableAppend:
		a := &c.f.appends
		return a.invoked[o.index], a.returned[o.index], int(a.call[o.index])
	case tablePage:
		p := &c.f.pages
		return p.invoked[o.index], p.returned[o.index], int(p.call[o.index])
	case tableHead:
		h := &c.f.heads
		return h.invoked[o.index], h.returned[o.index], int(h.call[o.index])
	default:
		r := c.f.streams.registration[o.index]
		return r.Invoked, Never, r.Call
	}
}

// at returns the operation that an event belongs to. It is only for telling
// why, so the table it needs is made when first asked.
func (c *checker) at(e Order) (op, bool) {
	if c.byOrder == nil {
		c.byOrder = make(map[Order]op)
		f := c.f
		for t, columns := range [...][2][]Order{{f.appends.invoked, f.appends.returned}, {f.pages.invoked, f.pages.returned}, {f.heads.invoked, f.heads.returned}} {
			for _, column := range columns {
				for i, e := range column {
					c.byOrder[e] = op{table(t), i}
				}
			}
		}
		for i, r := range f.streams.registration {
			c.byOrder[r.Invoked] = op{tableStream, i}
		}
		for _, m := range f.streams.moment {
			c.byOrder[m.at] = op{tableStream, int(m.stream)}
		}
	}
	o, ok := c.byOrder[e]
	return o, ok && e != Never
}

// hold notes that a rule held on an operation.
func (c *checker) hold(o op, r Rule) {
	switch o.table {
	case tableAppend:
		c.report.appends[o.index] |= 1 << r
	case tablePage:
		c.report.pages[o.index] |= 1 << r
	case tableHead:
		c.report.heads[o.index] |= 1 << r
	default:
		c.report.streams[o.index] |= 1 << r
	}
}

// finding is a breach before it is written down.
type finding struct {
	rule      Rule
	op        op
	log       Log
	positions []uint64
	// others are the operations that prove it beside op, and events single moments.
	others        []op
	events        []Order
	expected, got string
}

// full reports whether a finding of the rule on the operation would be listed,
// and counts it when not: the texts of findings cost more than the rules. An
// operation breaches a rule once.
func (c *checker) full(r Rule, o op) bool {
	if c.broken[o]&(1<<r) != 0 {
		return true
	}
	if c.counts[r] >= MostFindings {
		c.broken[o] |= 1 << r
		c.report.Suppressed++
		return true
	}
	return false
}

func (c *checker) find(v finding) {
	if c.full(v.rule, v.op) {
		return
	}
	c.broken[v.op] |= 1 << v.rule
	c.counts[v.rule]++
	_, _, call := c.times(v.op)
	proof := slices.Clone(v.events)
	for _, o := range append(v.others, v.op) {
		invoked, returned, _ := c.times(o)
		proof = append(proof, invoked)
		if returned != Never {
			proof = append(proof, returned)
		}
	}
	slices.Sort(proof)
	c.report.Findings = append(c.report.Findings, Finding{Rule: v.rule, Call: call, Log: v.log, Positions: v.positions,
		Proof: slices.Compact(proof), Expected: v.expected, Got: v.got})
}

func (c *checker) conclude() *Report {
	for o, rules := range c.broken {
		switch o.table {
		case tableAppend:
			c.report.appends[o.index] &^= rules
		case tablePage:
			c.report.pages[o.index] &^= rules
		case tableHead:
			c.report.heads[o.index] &^= rules
		default:
			c.report.streams[o.index] &^= rules
		}
	}
	slices.SortStableFunc(c.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Rule, b.Rule))
	})
	return c.report
}
