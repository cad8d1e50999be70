package check

import (
	"fmt"
	"slices"
)

// describe writes a row for people.
func (c *checker) describe(r Row) string {
	return fmt.Sprintf("position %d of %s", c.f.rowPos[r], c.f.logName[c.f.logOf(r)])
}

// claim reports what is wrong with a row that an answer or a read claims.
func (c *checker) claim(o op, r Row, answer bool, events ...Order) {
	f := c.f
	e := f.rowEntry[r]
	l, p := f.entryLog[e], f.rowPos[r]
	v := finding{op: o, log: l, positions: []uint64{p}, events: events}
	switch fl := c.flaw[r]; {
	case fl&flawForeign != 0:
		c.claimForeign(v, e, p)
	case fl&flawMoved != 0 && !c.full(StoredOnce, o):
		right := c.rightRow(e)
		v.rule, v.others = StoredOnce, c.claimant(right)
		v.positions = []uint64{f.rowPos[right], p}
		v.expected = fmt.Sprintf("one position, %d, for the entry on %s", f.rowPos[right], f.logName[l])
		v.got = fmt.Sprintf("position %d as well", p)
		c.find(v)
	case fl&flawTaken != 0 && !c.full(OnePosition, o):
		v.rule, v.others = OnePosition, c.claimant(c.holder(l, p, e))
		v.expected = fmt.Sprintf("the entry that position %d of %s names elsewhere", p, f.logName[l])
		v.got = "another entry"
		c.find(v)
	case fl&flawMeta != 0:
		v.rule = ReadMetadata
		if answer {
			v.rule = SameMetadata
		}
		if !c.full(v.rule, o) {
			v.others = c.claimant(c.rightRow(e))
			v.expected = fmt.Sprintf("the metadata that position %d of %s has elsewhere", p, f.logName[l])
			v.got = "other metadata"
			c.find(v)
		}
	}
	if c.flaw[r]&flawElsewhere != 0 && !c.full(AcrossLogs, o) {
		other := c.elsewhere(r)
		v.rule, v.others, v.positions = AcrossLogs, c.claimant(other), []uint64{p}
		v.expected = fmt.Sprintf("a position of its own for an entry of %s", f.logName[l])
		v.got = fmt.Sprintf("%d, which names an entry of %s", p, f.logName[f.logOf(other)])
		c.find(v)
	}
}

// claimForeign reports a row whose entry no append may have stored.
func (c *checker) claimForeign(v finding, e Entry, p uint64) {
	a := &c.f.appends
	if c.full(Known, v.op) || c.full(NotRefused, v.op) {
		return
	}
	if k := slices.Index(a.entry, e); k >= 0 {
		v.rule, v.others = NotRefused, []op{{tableAppend, a.appendOf(k)}}
		v.expected = "nothing of an append that was refused"
		v.got = fmt.Sprintf("its entry, as position %d of %s", p, c.f.logName[v.log])
	} else {
		v.rule = Known
		v.expected = "only entries that an append to " + c.f.logName[v.log] + " may have stored"
		v.got = fmt.Sprintf("position %d, which names an entry that nobody appended", p)
	}
	c.find(v)
}

// holder returns a row of another entry at the position of a log.
func (c *checker) holder(l Log, p uint64, not Entry) Row {
	f := c.f
	for r := 1; r < len(f.rowPos); r++ {
		if f.rowPos[r] == p && f.logOf(Row(r)) == l && f.rowEntry[r] != not && c.flaw[r]&flawTaken == 0 {
			return Row(r)
		}
	}
	return 0
}

// elsewhere returns the first row of another log at the position of r.
func (c *checker) elsewhere(r Row) Row {
	f := c.f
	for q := 1; q < len(f.rowPos); q++ {
		if f.rowPos[q] == f.rowPos[r] && f.logOf(Row(q)) != f.logOf(r) {
			return Row(q)
		}
	}
	return 0
}

// claimant returns an operation that claims a row: the append that was answered
// with it, else a read that shows it.
func (c *checker) claimant(r Row) []op {
	f := c.f
	if r == 0 {
		return nil
	}
	if k := slices.Index(f.appends.row, r); k >= 0 {
		return []op{{tableAppend, f.appends.appendOf(k)}}
	}
	if k := slices.Index(f.pages.row, r); k >= 0 {
		i, exact := slices.BinarySearch(f.pages.rowFrom, uint32(k))
		for exact && i+1 < len(f.pages.rowFrom) && f.pages.rowFrom[i+1] == uint32(k) {
			i++
		}
		if !exact {
			i--
		}
		return []op{{tablePage, i}}
	}
	for i := range f.heads.len() {
		if slices.ContainsFunc(f.heads.heads(i), func(h Head) bool { return h.Row == r }) {
			return []op{{tableHead, i}}
		}
	}
	for _, m := range f.streams.moment {
		if m.row == r {
			return []op{{tableStream, int(m.stream)}}
		}
	}
	return nil
}
