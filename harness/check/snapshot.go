package check

import "fmt"

// judgeSnapshots judges pages of several logs: there is one moment at which the
// logs were as the page shows them.
func (c *checker) judgeSnapshots() {
	p := &c.f.pages
	for i := range p.len() {
		from, to := p.spans(i)
		if to-from < 2 || p.flags[i]&flagMore != 0 {
			continue
		}
		c.judgeSnapshot(op{tablePage, i}, from, to)
	}
}

// judgeSnapshot judges one complete page of several logs.
func (c *checker) judgeSnapshot(o op, from, to uint32) {
	p, i := &c.f.pages, o.index
	if c.broken[o] != 0 {
		return
	}
	earliest, latest := p.invoked[i], p.returned[i]
	if p.flags[i]&flagLag != 0 {
		earliest = 0
	}
	begin, end := noRank, noRank // the ranks that say so
	for s := from; s < to; s++ {
		next, l := c.next[s], p.spanLog[s]
		if next == unsound {
			return
		}
		if next > c.start[l] && c.position(next-1) > p.spanPos[s] && c.since[next-1] > earliest {
			earliest, begin = c.since[next-1], next-1
		}
		if next < c.start[l+1] && min(c.until[next], c.shown[next]) < latest {
			latest, end = min(c.until[next], c.shown[next]), next
		}
	}
	rowFrom, rowTo := p.rows(i)
	if earliest > latest {
		if !c.full(Snapshot, o) {
			c.twoMoments(o, begin, end)
		}
		return
	}
	if rowFrom == rowTo {
		return
	}
	c.report.pages[i] |= 1 << Snapshot
	for _, r := range p.row[rowFrom:rowTo] {
		c.judgeParts(o, r, from, to, interval{earliest, latest})
	}
}

// twoMoments reports a page that shows one log later than another.
func (c *checker) twoMoments(o op, begin, end uint32) {
	v := finding{rule: Snapshot, op: o, got: "one without the other"}
	shown, lacking := "", ""
	if begin != noRank {
		v.log = c.f.logOf(c.row[begin])
		v.positions = append(v.positions, c.position(begin))
		if x, ok := c.at(c.since[begin]); ok {
			v.others = append(v.others, x)
		}
		v.others = append(v.others, c.claimant(c.row[begin])...)
		shown = c.describe(c.row[begin])
	}
	if end != noRank {
		v.positions = append(v.positions, c.position(end))
		if c.shown[end] <= c.until[end] {
			_, others := c.shows(end)
			v.others = append(v.others, others...)
		} else {
			_, _, others := c.stores(end)
			v.others = append(v.others, others...)
		}
		lacking = c.describe(c.row[end])
	}
	v.expected = fmt.Sprintf("one moment: %s, which became visible first, beside %s", lacking, shown)
	v.got = fmt.Sprintf("%s without %s", shown, lacking)
	c.find(v)
}

// judgeParts judges that a page which shows one part of an append shows its
// parts on the other logs too, unless they can have been hidden then.
func (c *checker) judgeParts(o op, r Row, spanFrom, spanTo uint32, when interval) {
	a, f := &c.f.appends, c.f
	e := f.rowEntry[r]
	i := c.owner[e]
	if i == noOwner || i == manyOwners || c.rank[r] == noRank {
		return
	}
	from, to := a.items(int(i))
	if to-from < 2 {
		return
	}
	for k := from; k < to; k++ {
		part := a.entry[k]
		if f.entryLog[part] == f.entryLog[e] {
			continue
		}
		for s := spanFrom; s < spanTo; s++ {
			if f.pages.spanLog[s] == f.entryLog[part] {
				c.judgePart(o, e, part, s, when)
			}
		}
	}
}

// judgePart judges that a page shows one part of an append whose other part, on
// another log, it does show.
func (c *checker) judgePart(o op, shows, part Entry, s uint32, when interval) {
	f := c.f
	l := f.entryLog[part]
	next := c.next[s]
	r := f.entryRow[part]
	if r == 0 || c.rank[r] == noRank || f.rowPos[r] <= f.pages.spanPos[s] {
		return
	}
	g := c.rank[r]
	if g < next {
		c.report.pages[o.index] |= 1 << Atomic
		return
	}
	for k := next; k < g; k++ {
		e := f.rowEntry[c.row[k]]
		if c.first[e] < when.to && c.stored[e] > when.from {
			return // a lower append may have been open
		}
	}
	for _, h := range c.hide[c.hideFrom[l]:c.hideFrom[l+1]] {
		if h.from < when.to && h.to > when.from {
			return
		}
	}
	if !c.full(Atomic, o) {
		c.find(finding{rule: Atomic, op: o, log: l, positions: []uint64{f.rowPos[r]}, others: []op{{tableAppend, int(c.owner[shows])}},
			expected: fmt.Sprintf("%s beside its other part, %s", c.describe(r), c.describe(f.entryRow[shows])), got: "half of the append"})
	}
}
