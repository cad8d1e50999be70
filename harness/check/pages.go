package check

import (
	"fmt"
	"slices"
	"sort"
)

// spanState is what a page shows of one of its logs while its rows are read.
type spanState struct {
	log   Log
	after uint64
	// last is the position of the last row, and top its rank or that of the last
	// row that has one.
	last  uint64
	top   uint32
	count uint32
	sound bool
}

// bound makes room for what reads say of when positions were visible.
func (c *checker) bound() {
	logs := len(c.f.logName)
	c.spanOf = make([]uint32, logs)
	c.next = make([]uint32, len(c.f.pages.spanLog))
	c.maybes()
}

// above returns the rank of the first entry of a log above a position.
func (c *checker) above(l Log, p uint64) uint32 {
	from, to := c.start[l], c.start[l+1]
	if from == to || c.bounds[to-1].pos <= p {
		return to // the usual case: a cursor at the head
	}
	return from + uint32(sort.Search(int(to-from), func(i int) bool { return c.bounds[from+uint32(i)].pos > p }))
}

// position returns the position of a rank.
func (c *checker) position(g uint32) uint64 { return c.bounds[g].pos }

// rowAt returns a row of a rank: one of those that say so.
func (c *checker) rowAt(g uint32) Row { return c.f.entryRow[c.bounds[g].entry] }

// logAt returns the log of a rank.
func (c *checker) logAt(g uint32) Log { return c.f.entryLog[c.bounds[g].entry] }

// readPages judges every page by itself, and notes what it shows and lacks.
func (c *checker) readPages() {
	p := &c.f.pages
	for i := range p.len() {
		c.readPage(op{tablePage, i})
	}
}

func (c *checker) readPage(o op) {
	f, p, i := c.f, &c.f.pages, o.index
	spanFrom, spanTo := p.spans(i)
	rowFrom, rowTo := p.rows(i)
	states := c.scratch[:0]
	for s := spanFrom; s < spanTo; s++ {
		states = append(states, spanState{log: p.spanLog[s], after: p.spanPos[s], top: noRank, sound: true})
		c.spanOf[p.spanLog[s]] = s - spanFrom + 1
	}
	c.scratch = states
	sound := true
	var held uint32
	if rowTo > rowFrom {
		held = 1<<Asked | 1<<Ascending | 1<<Once | 1<<Prefix | 1<<Known | 1<<NotRefused | 1<<ReadMetadata | 1<<OnePosition
	}
	for _, r := range p.row[rowFrom:rowTo] {
		l := f.logOf(r)
		s := c.spanOf[l]
		if s == 0 {
			c.strange(o, r, "a log that it asks for")
			sound = false
			continue
		}
		if !c.readRow(o, r, &states[s-1]) {
			states[s-1].sound, sound = false, false
		}
	}
	more := p.flags[i]&flagMore != 0
	if limit := p.limit[i]; limit > 0 {
		if rowTo-rowFrom == limit {
			held |= 1 << Limit
			if !more && p.flags[i]&flagLag == 0 {
				held |= 1 << More
			}
		}
		if rowTo-rowFrom > limit {
			c.find(finding{rule: Limit, op: o, log: p.spanLog[spanFrom], expected: fmt.Sprintf("at most %d rows", limit), got: fmt.Sprint(rowTo - rowFrom)})
		}
	}
	for k := range states {
		s := &states[k]
		c.spanOf[s.log] = 0
		c.next[spanFrom+uint32(k)] = unsound
		if s.top != noRank {
			c.bounds[s.top].shown = min(c.bounds[s.top].shown, p.returned[i])
		}
		if !s.sound || !sound {
			continue
		}
		next := s.top + 1
		if s.top == noRank {
			next = c.above(s.log, s.after)
		}
		c.next[spanFrom+uint32(k)] = next
		if !more && p.flags[i]&flagLag == 0 && next < c.start[s.log+1] {
			c.bounds[next].since = max(c.bounds[next].since, p.invoked[i])
		}
	}
	if more {
		c.readMore(o, sound, rowTo-rowFrom)
	}
	c.report.pages[i] |= held
}

// readRow judges one row against those before it on its log.
func (c *checker) readRow(o op, r Row, s *spanState) bool {
	f := c.f
	pos := f.rowPos[r]
	if c.flaw[r]&claimed != 0 {
		c.claim(o, r, false)
	}
	switch {
	case pos <= s.after:
		c.strange(o, r, fmt.Sprintf("only positions above %d", s.after))
		return false
	case s.count > 0 && pos == s.last:
		c.find(finding{rule: Once, op: o, log: s.log, positions: []uint64{pos}, expected: fmt.Sprintf("position %d of %s once", pos, f.logName[s.log]), got: "a second time"})
		return false
	case s.count > 0 && pos < s.last:
		c.find(finding{rule: Ascending, op: o, log: s.log, positions: []uint64{s.last, pos}, expected: fmt.Sprintf("a position above %d of %s", s.last, f.logName[s.log]), got: fmt.Sprint(pos)})
		return false
	}
	s.last = pos
	s.count++
	g := c.rank[r]
	if g == noRank {
		return false
	}
	missing := g
	switch {
	case s.top != noRank && g != s.top+1:
		missing = s.top + 1
	case s.top == noRank && g > c.start[s.log] && c.position(g-1) > s.after:
		missing = c.above(s.log, s.after)
	}
	s.top = g
	// A page is not to blame for what was appended below its rows after it returned.
	for missing < g && c.entries[c.bounds[missing].entry].first > f.pages.returned[o.index] {
		missing++
	}
	if missing == g || !s.sound {
		return s.sound
	}
	from, to := f.pages.rows(o.index)
	if slices.ContainsFunc(f.pages.row[from:to], func(r Row) bool { return c.rank[r] == missing }) {
		return false // it is there, out of order
	}
	if !c.full(Prefix, o) {
		c.find(finding{rule: Prefix, op: o, log: s.log, positions: []uint64{c.position(missing), pos}, others: c.claimant(c.rowAt(missing)),
			expected: fmt.Sprintf("position %d before %d of %s", c.position(missing), pos, f.logName[s.log]), got: "a read without it"})
	}
	return false
}

// strange reports a row that the page did not ask for.
func (c *checker) strange(o op, r Row, expected string) {
	if !c.full(Asked, o) {
		c.find(finding{rule: Asked, op: o, log: c.f.logOf(r), positions: []uint64{c.f.rowPos[r]}, expected: expected, got: c.describe(r)})
	}
}

// readMore judges a page that says it was cut, as far as one page can: it must
// be full, and something above it must be able to exist.
func (c *checker) readMore(o op, sound bool, rows uint32) {
	p, i := &c.f.pages, o.index
	from, to := p.spans(i)
	if from == to {
		return
	}
	if rows < p.limit[i] || rows == 0 {
		c.find(finding{rule: More, op: o, log: p.spanLog[from], expected: "has_more false: the limit was not reached", got: fmt.Sprintf("has_more true with %d rows", rows)})
		return
	}
	if !sound {
		return
	}
	possible, only := 0, noRank
	for s := from; s < to; s++ {
		l := p.spanLog[s]
		if c.maybe[l] < p.returned[i] {
			possible += 2 // something of no known position may be above
		}
		if g := c.next[s]; g < c.start[l+1] && c.entries[c.bounds[g].entry].first < p.returned[i] {
			possible++
			only = g
		}
	}
	switch possible {
	case 0:
		c.find(finding{rule: More, op: o, log: p.spanLog[from], expected: "has_more false: nothing above the page can have been stored", got: "has_more true"})
	case 1:
		// Only this one can be what the page was cut before.
		c.hold(o, More)
		c.bounds[only].shown = min(c.bounds[only].shown, p.returned[i])
	default:
		if only != noRank {
			c.hold(o, More)
		}
		if top := c.next[from] - 1; to-from == 1 {
			if c.cut == nil {
				c.cut = make([]Order, len(c.bounds))
				for g := range c.cut {
					c.cut[g] = Never
				}
			}
			c.cut[top] = min(c.cut[top], p.returned[i])
		}
	}
}
