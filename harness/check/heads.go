package check

import "fmt"

// readHeads judges every head read by itself, and notes what it shows.
func (c *checker) readHeads() {
	h := &c.f.heads
	for i := range h.len() {
		for _, head := range h.heads(i) {
			c.readHead(op{tableHead, i}, head)
		}
	}
}

func (c *checker) readHead(o op, head Head) {
	h, i := &c.f.heads, o.index
	lag := h.flags[i]&flagLag != 0
	if head.Position == 0 {
		if g := c.start[head.Log]; !lag && g < c.start[head.Log+1] {
			c.bounds[g].since = max(c.bounds[g].since, h.invoked[i])
		}
		return
	}
	held := uint32(1<<Known | 1<<OnePosition)
	g := noRank
	switch {
	case head.Row != 0:
		held |= 1<<ReadMetadata | 1<<NotRefused
		if c.flaw[head.Row]&claimed != 0 {
			c.claim(o, head.Row, false)
		}
		g = c.rank[head.Row]
	default:
		g = c.named(o, head.Log, head.Position, head.Meta, h.returned[i])
	}
	c.report.heads[i] |= held
	if g == noRank {
		return
	}
	c.bounds[g].shown = min(c.bounds[g].shown, h.returned[i])
	if next := g + 1; !lag && next < c.start[head.Log+1] {
		c.bounds[next].since = max(c.bounds[next].since, h.invoked[i])
	}
}

// named finds the rank of a position that a read names without showing its
// entry, and reports a position that nobody can have been given.
func (c *checker) named(o op, l Log, p, meta uint64, at Order) uint32 {
	f := c.f
	next := c.above(l, p)
	if next > c.start[l] && c.position(next-1) == p {
		g := next - 1
		if r := c.rowAt(g); meta != 0 && f.rowMeta[r] != meta && f.entryAll[f.rowEntry[r]] == nil && !c.full(ReadMetadata, o) {
			c.find(finding{rule: ReadMetadata, op: o, log: l, positions: []uint64{p}, others: c.claimant(r),
				expected: fmt.Sprintf("the metadata that position %d of %s has elsewhere", p, f.logName[l]), got: "other metadata"})
		}
		return g
	}
	if c.maybe[l] > at && !c.full(Known, o) && !c.disputed(l, p) {
		c.find(finding{rule: Known, op: o, log: l, positions: []uint64{p}, events: []Order{at},
			expected: "a position that an append to " + f.logName[l] + " may have been given", got: fmt.Sprintf("%d, which is none", p)})
	}
	return noRank
}

// disputed reports whether some row of the log has the position, sound or not.
func (c *checker) disputed(l Log, p uint64) bool {
	for r := 1; r < len(c.f.rowPos); r++ {
		if c.f.rowPos[r] == p && c.f.logOf(Row(r)) == l {
			return true
		}
	}
	return false
}
