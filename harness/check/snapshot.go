package check

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// judgeMoments judges, of every page that was not cut, that there is one moment
// at which its logs were as it shows them.
func (c *checker) judgeMoments() {
	p := &c.f.pages
	for i := range p.len() {
		if p.flags[i]&flagMore == 0 {
			c.judgeMoment(op{tablePage, i})
		}
	}
}

func (c *checker) judgeMoment(o op) {
	p, i := &c.f.pages, o.index
	from, to := p.spans(i)
	when, begin, end, sound := c.moment(i)
	if !sound || len(c.broken) > 0 && c.broken[o] != 0 {
		return // what it lacks is reported
	}
	if when.from > when.to {
		if to-from > 1 && !c.full(Snapshot, o) {
			c.twoMoments(o, begin, end)
		}
		return
	}
	for s := from; s < to; s++ {
		if c.spanShows(s) {
			c.settled(o, p.spanLog[s], c.next[s], when)
		}
		if c.ghosts != nil {
			c.judgeGhosts(o, c.spanView(s), when)
		}
	}
	rowFrom, rowTo := p.rows(i)
	if rowFrom < rowTo && to-from > 1 {
		c.report.pages[i] |= 1 << Snapshot
	}
	for _, r := range p.row[rowFrom:rowTo] {
		c.judgeParts(o, r, from, to, when)
	}
}

// moment returns when a page that was not cut can have been read: after what it
// shows became visible, and before what it lacks did. begin and end are the
// ranks that say so, if any.
func (c *checker) moment(i int) (when interval, begin, end uint32, sound bool) {
	p := &c.f.pages
	from, to := p.spans(i)
	when = interval{p.invoked[i], p.returned[i]}
	if p.flags[i]&flagLag != 0 {
		when.from = 0
	}
	begin, end = noRank, noRank
	for s := from; s < to; s++ {
		next, l := c.next[s], p.spanLog[s]
		if next == unsound {
			return when, begin, end, false
		}
		if c.spanShows(s) && c.bounds[next-1].since > when.from {
			when.from, begin = c.bounds[next-1].since, next-1
		}
		if next < c.start[l+1] && min(c.bounds[next].until, c.bounds[next].shown) < when.to {
			when.to, end = min(c.bounds[next].until, c.bounds[next].shown), next
		}
	}
	return when, begin, end, true
}

// spanShows reports whether a page that was not cut shows rows of a span.
func (c *checker) spanShows(s uint32) bool {
	next := c.next[s]
	return next > c.start[c.f.pages.spanLog[s]] && c.position(next-1) > c.f.pages.spanPos[s]
}

// settled judges the first entry above those that a read shows. All below it had
// ended at that moment, so nothing but an append of unknown position can have
// hidden it, if it was stored.
func (c *checker) settled(o op, l Log, next uint32, when interval) {
	if next >= c.start[l+1] {
		return
	}
	e := c.bounds[next].entry
	if c.entries[e].stored >= when.from || c.mayHide(l, when) || c.full(Fresh, o) {
		return
	}
	v := finding{rule: Fresh, op: o, log: l, positions: []uint64{c.position(next)}, got: "a read without it",
		expected: fmt.Sprintf("%s, which was stored before, and which nothing below it hides: all that is was shown", c.describe(c.rowAt(next)))}
	if x, ok := c.at(c.entries[e].stored); ok {
		v.others = append(v.others, x)
	}
	if i := c.entries[e].owner; i != noOwner && i != manyOwners {
		v.others = append(v.others, op{tableAppend, int(i)})
	}
	c.find(v)
}

// mayHide reports whether an append of unknown position was open on a log at
// some moment of an interval.
func (c *checker) mayHide(l Log, when interval) bool {
	hides := c.hide[c.hideFrom[l]:c.hideFrom[l+1]]
	k, _ := slices.BinarySearchFunc(hides, when.from, func(h interval, t Order) int { return cmp.Compare(h.to, t) })
	for ; k < len(hides) && hides[k].from < when.to; k++ {
		if hides[k].to > when.from {
			return true
		}
	}
	return false
}

// twoMoments reports a page that shows one log later than another.
func (c *checker) twoMoments(o op, begin, end uint32) {
	v := finding{rule: Snapshot, op: o, got: "one without the other"}
	shown, lacking := "", ""
	if begin != noRank {
		v.log = c.logAt(begin)
		v.positions = append(v.positions, c.position(begin))
		if x, ok := c.at(c.bounds[begin].since); ok {
			v.others = append(v.others, x)
		}
		v.others = append(v.others, c.claimant(c.rowAt(begin))...)
		shown = c.describe(c.rowAt(begin))
	}
	if end != noRank {
		v.positions = append(v.positions, c.position(end))
		if c.bounds[end].shown <= c.bounds[end].until {
			_, others := c.shows(end)
			v.others = append(v.others, others...)
		} else {
			_, _, others := c.stores(end)
			v.others = append(v.others, others...)
		}
		lacking = c.describe(c.rowAt(end))
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
	i := c.entries[e].owner
	if i == noOwner || i == manyOwners || c.rank[r] == noRank {
		return
	}
	from, to := a.items(int(i))
	if to-from < 2 {
		return
	}
	for k := from; k < to; k++ {
		part := a.entry[k]
		if part == e {
			continue
		}
		for s := spanFrom; s < spanTo; s++ {
			if f.pages.spanLog[s] == f.entryLog[part] {
				c.judgePart(o, e, part, c.spanView(s), when)
			}
		}
	}
}

// view is what a read shows of one log: from above a position up to a rank.
type view struct {
	log   Log
	after uint64
	next  uint32 // the first rank it does not show
	shows bool   // false when it shows none
}

func (c *checker) spanView(s uint32) view {
	p := &c.f.pages
	return view{log: p.spanLog[s], after: p.spanPos[s], next: c.next[s], shows: c.spanShows(s)}
}

// judgePart judges that a read which shows one part of an append shows another,
// unless it was hidden then.
func (c *checker) judgePart(o op, shows, part Entry, v view, when interval) {
	f := c.f
	g := c.start[v.log+1] // where an entry of no known position may be at most
	r := f.entryRow[part]
	switch {
	case c.located(part):
		if f.rowPos[r] <= v.after {
			return
		}
		if g = c.rank[r]; g < v.next {
			c.hold(o, Atomic)
			return
		}
	case r != 0 || v.after > c.floor(part):
		return // in dispute, or perhaps not above the cursor
	}
	if c.openBelow(v, g, when) || c.mayHideBut(v.log, when, c.entries[shows].owner) || c.full(Atomic, o) {
		return
	}
	x := finding{rule: Atomic, op: o, log: v.log, others: []op{{tableAppend, int(c.entries[shows].owner)}}, got: "half of the append"}
	if r != 0 {
		x.positions = []uint64{f.rowPos[r]}
		x.expected = fmt.Sprintf("%s beside its other part, %s", c.describe(r), c.describe(f.entryRow[shows]))
	} else {
		x.expected = fmt.Sprintf("all entries of the append beside the one it shows, %s", c.describe(f.entryRow[shows]))
	}
	c.find(x)
}

// openBelow reports whether an append may have been open, at some moment of an
// interval, at a position below rank g that the read does not show.
func (c *checker) openBelow(v view, g uint32, when interval) bool {
	low := c.start[v.log]
	if v.shows {
		low = v.next
	}
	for k := g; k > low; {
		k--
		e := c.bounds[k].entry
		if c.entries[e].first < when.to && c.entries[e].stored > when.from {
			return true
		}
	}
	return false
}

// mayHideBut is mayHide without one append.
func (c *checker) mayHideBut(l Log, when interval, but uint32) bool {
	if !c.mayHide(l, when) {
		return false
	}
	a := &c.f.appends
	for i := range a.len() {
		if uint32(i) == but || a.invoked[i] >= when.to {
			continue
		}
		from, to := a.items(i)
		for k := from; k < to; k++ {
			if c.f.entryLog[a.entry[k]] != l {
				continue
			}
			if h, ok := c.hiding(i, a.entry[k]); ok && h.from < when.to && h.to > when.from {
				return true
			}
		}
	}
	return false
}

// ghost is an entry that was certainly stored, because another entry of its
// append was shown, and that nothing has shown.
type ghost struct {
	entry Entry
	until Order // when nothing can have hidden it any longer
}

// mostGhosts bounds how many ghosts are followed: each costs a look at its whole
// log. Those past it excuse what they would have shown, and accuse nobody.
const mostGhosts = 256

// findGhosts finds them, by log.
func (c *checker) findGhosts() {
	a := &c.f.appends
	found := 0
	for i := 0; i < a.len() && found < mostGhosts; i++ {
		if a.outcome[i] != Unknown {
			continue
		}
		from, to := a.items(i)
		for k := from; k < to; k++ {
			e := a.entry[k]
			if c.f.entryRow[e] != 0 || c.entries[e].stored == Never {
				continue
			}
			l := c.f.entryLog[e]
			end := c.entries[e].stored
			for before := Order(0); before != end; {
				before = end
				for _, h := range c.hide[c.hideFrom[l]:c.hideFrom[l+1]] {
					if h.from <= end {
						end = max(end, h.to)
					}
				}
				for g := c.start[l]; g < c.start[l+1]; g++ {
					if x := c.bounds[g].entry; c.entries[x].first <= end {
						end = max(end, c.entries[x].stored)
					}
				}
			}
			if c.ghosts == nil {
				c.ghosts = make(map[Log][]ghost)
			}
			c.ghosts[l] = append(c.ghosts[l], ghost{e, end})
			found++
		}
	}
}

// floor returns a position that an entry of no known position is above: what was
// visible before its first append began.
func (c *checker) floor(e Entry) uint64 {
	l := c.f.entryLog[e]
	from, to := c.start[l], c.start[l+1]
	n := uint32(sort.Search(int(to-from), func(i int) bool {
		g := from + uint32(i)
		return min(c.bounds[g].shown, c.bounds[g].until) >= c.entries[e].first
	}))
	if n == 0 {
		return 0
	}
	return c.position(from + n - 1)
}

// judgeGhosts judges that a page shows what was certainly stored on its log.
func (c *checker) judgeGhosts(o op, v view, when interval) {
	for _, g := range c.ghosts[v.log] {
		if g.until >= when.from || v.after > c.floor(g.entry) || c.full(Atomic, o) {
			continue
		}
		x := finding{rule: Atomic, op: o, log: v.log, got: "a read without it",
			expected: fmt.Sprintf("an entry of %s whose append was stored before: another part of it had been shown", c.f.logName[v.log])}
		if by, ok := c.at(c.entries[g.entry].stored); ok {
			x.others = append(x.others, by)
		}
		x.others = append(x.others, c.earliest(g.entry))
		c.find(x)
	}
}

// judgeHeadMoment judges that there is a moment at which a position was the
// newest of a log: g is the first rank above it.
func (c *checker) judgeHeadMoment(o op, l Log, g uint32, when interval) {
	if g == c.start[l] || len(c.broken) > 0 && c.broken[o] != 0 {
		return
	}
	when.from = max(when.from, c.bounds[g-1].since)
	if when.from > when.to {
		return // another rule says why
	}
	c.settled(o, l, g, when)
	e := c.bounds[g-1].entry
	i := c.entries[e].owner
	if i == noOwner || i == manyOwners {
		return
	}
	from, to := c.f.appends.items(int(i))
	for k := from; k < to; k++ {
		if part := c.f.appends.entry[k]; part != e && c.f.entryLog[part] == l {
			c.judgePart(o, e, part, view{log: l, after: c.position(g - 1), next: g, shows: true}, when)
		}
	}
}
