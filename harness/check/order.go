package check

import (
	"fmt"
	"slices"
	"sort"
)

// last returns the last rank of g's log at which an ascending bound has the
// value it has at g: that is where the value comes from.
func (c *checker) last(column func(*bounds) Order, g uint32) uint32 {
	end := c.start[c.logAt(g)+1]
	return g + uint32(sort.Search(int(end-g), func(i int) bool { return column(&c.bounds[g+uint32(i)]) > column(&c.bounds[g]) })) - 1
}

func shown(b *bounds) Order { return b.shown }
func until(b *bounds) Order { return b.until }

// shows lists the read that shows a rank or one above it, and that rank.
func (c *checker) shows(g uint32) (proved uint32, out []op) {
	if o, ok := c.at(c.bounds[g].shown); ok {
		out = append(out, o)
	}
	return c.last(shown, g), out
}

// stores lists the operations that prove a rank, or one above it, stored and not
// hidden by until, and that rank. The rule is Atomic when not the answer to its
// append proves it but another of the append's entries.
func (c *checker) stores(g uint32) (rule Rule, proved uint32, out []op) {
	proved = c.last(until, g)
	e := c.bounds[proved].entry
	add := func(o op) {
		if !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	for _, event := range []Order{c.bounds[proved].until, c.entries[e].stored} {
		// They differ when the entry stayed hidden behind another append.
		if o, ok := c.at(event); ok {
			add(o)
		}
	}
	i := c.entries[e].owner
	if i == noOwner || i == manyOwners {
		if o := c.claimant(c.rowAt(proved)); len(o) > 0 {
			add(o[0])
		}
		return Fresh, proved, out
	}
	add(op{tableAppend, int(i)})
	if c.entries[e].stored < c.f.appends.returned[i] || c.f.appends.outcome[i] == Unknown {
		return Atomic, proved, out
	}
	return Fresh, proved, out
}

// judgeAppendOrder judges that no append began after a higher position of its
// log was visible.
func (c *checker) judgeAppendOrder() {
	for l := 1; l+1 < len(c.start); l++ {
		for g := c.start[l]; g < c.start[l+1]; g++ {
			e := c.bounds[g].entry
			if c.entries[e].first > min(c.bounds[g].shown, c.bounds[g].until) {
				c.tooLow(Log(l), g, e)
			}
		}
	}
	a := &c.f.appends
	for i := range a.len() {
		from, to := a.items(i)
		if a.outcome[i] != Stored || from == to {
			continue
		}
		for k := from; k < to; k++ {
			if g := c.rank[a.row[k]]; g != noRank && g > c.start[c.f.logOf(a.row[k])] && c.entries[a.entry[k]].owner == uint32(i) {
				c.report.appends[i] |= 1<<InOrder | 1<<Below
				break
			}
		}
	}
}

// tooLow reports an entry that was appended after its rank was visible.
func (c *checker) tooLow(l Log, g uint32, e Entry) {
	o := c.earliest(e)
	name, pos := c.f.logName[l], c.position(g)
	v := finding{op: o, log: l, got: fmt.Sprint(pos)}
	switch proved := c.last(shown, g); {
	case c.bounds[g].shown < c.entries[e].first && proved == g:
		read, _ := c.at(c.bounds[g].shown)
		if c.full(Known, read) {
			return
		}
		v.rule, v.op, v.others, v.positions = Known, read, []op{o}, []uint64{pos}
		v.expected = "only entries that an append to " + name + " may have stored"
		v.got = fmt.Sprintf("position %d, whose append had not begun", pos)
	case c.bounds[g].shown < c.entries[e].first:
		if c.full(Below, o) {
			return
		}
		_, v.others = c.shows(g)
		v.rule, v.positions = Below, []uint64{pos, c.position(proved)}
		v.expected = fmt.Sprintf("a position above %d of %s, which a read had shown before this append began", c.position(proved), name)
	default:
		if c.full(InOrder, o) {
			return
		}
		_, proved, v.others = c.stores(g)
		v.rule, v.positions = InOrder, []uint64{pos, c.position(proved)}
		v.expected = fmt.Sprintf("a position above %d of %s, which was stored before this append began", c.position(proved), name)
	}
	c.find(v)
}

// earliest returns the first append that may have stored an entry.
func (c *checker) earliest(e Entry) op {
	if i := c.entries[e].owner; i != noOwner && i != manyOwners {
		return op{tableAppend, int(i)}
	}
	o, _ := c.at(c.entries[e].first)
	return o
}

// judgeRecency judges that reads of the primary show what was visible before
// they began.
func (c *checker) judgeRecency() {
	p := &c.f.pages
	for i := range p.len() {
		if p.flags[i]&flagLag == 0 {
			c.judgePageRecency(op{tablePage, i})
		}
	}
	h := &c.f.heads
	for i := range h.len() {
		for _, head := range h.heads(i) {
			c.judgeHeadRecency(op{tableHead, i}, head.Log, head.Position, h.flags[i]&flagLag != 0, interval{h.invoked[i], h.returned[i]})
		}
	}
	c.judgeTargets()
}

// judgeHeadRecency judges one head of a read, or one target of a registration.
func (c *checker) judgeHeadRecency(o op, l Log, p uint64, lag bool, when interval) {
	g := c.start[l]
	if p != 0 {
		g = c.above(l, p)
		if g == c.start[l] || c.position(g-1) != p {
			return // what it names has no rank
		}
	}
	if lag {
		when.from = 0
	} else {
		if p != 0 {
			for _, r := range []Rule{Fresh, Forward} {
				if c.recent(g-1, when.from)&(1<<r) != 0 {
					c.hold(o, r)
				}
			}
		}
		c.lacks(o, l, g, when.from, false)
	}
	if p != 0 {
		c.judgeHeadMoment(o, l, g, when)
	}
}

func (c *checker) judgePageRecency(o op) {
	p, i := &c.f.pages, o.index
	rowFrom, rowTo := p.rows(i)
	if rowFrom < rowTo {
		if g := c.rank[p.row[rowFrom]]; g != noRank {
			c.report.pages[i] |= c.recent(g, p.invoked[i])
		}
	}
	if p.flags[i]&flagMore != 0 {
		return
	}
	filled := p.limit[i] > 0 && rowTo-rowFrom >= p.limit[i]
	from, to := p.spans(i)
	for s := from; s < to; s++ {
		c.lacks(o, p.spanLog[s], c.next[s], p.invoked[i], filled)
		if c.cut != nil {
			c.lacksMore(o, s)
		}
	}
}

// lacksMore judges a page that shows nothing above a position although one
// before it was cut there.
func (c *checker) lacksMore(o op, s uint32) {
	p, l := &c.f.pages, c.f.pages.spanLog[s]
	next := c.next[s]
	if next == unsound || next == c.start[l] || c.position(next-1) < p.spanPos[s] {
		return
	}
	top := next - 1
	if c.cut[top] >= p.invoked[o.index] || len(c.broken) > 0 && c.broken[o]&(1<<Forward) != 0 || c.full(Forward, o) {
		return
	}
	v := finding{rule: Forward, op: o, log: l, positions: []uint64{c.position(top)}, got: "a read without it",
		expected: fmt.Sprintf("an entry above %s: a read before this one began was cut there", c.describe(c.rowAt(top)))}
	if x, ok := c.at(c.cut[top]); ok {
		v.others = append(v.others, x)
	}
	c.find(v)
}

// recent returns the rules that a read which shows a rank upholds by it.
func (c *checker) recent(g uint32, invoked Order) (held uint32) {
	if c.bounds[g].until < invoked {
		held |= 1 << Fresh
	}
	if c.bounds[g].shown < invoked {
		held |= 1 << Forward
	}
	return held
}

// lacks judges a read of the primary that shows nothing of a log from rank g on.
// A full page that says nothing was cut is wrong in what it says, not in what it
// shows.
func (c *checker) lacks(o op, l Log, g uint32, invoked Order, filled bool) {
	if g >= c.start[l+1] {
		return
	}
	what := func() string { return fmt.Sprintf("position %d of %s", c.position(g), c.f.logName[l]) }
	v := finding{op: o, log: l, got: "a read without it"}
	switch {
	case c.bounds[g].until >= invoked && c.bounds[g].shown >= invoked:
		return
	case filled && !c.full(More, o):
		if c.bounds[g].shown < invoked {
			_, v.others = c.shows(g)
		} else {
			_, _, v.others = c.stores(g)
		}
		v.rule, v.positions = More, []uint64{c.position(g)}
		v.expected, v.got = "has_more true: "+what()+" was visible before this read began", "has_more false"
		c.find(v)
		return
	case filled:
		return
	}
	if c.bounds[g].shown < invoked && !c.full(Forward, o) {
		proved, others := c.shows(g)
		v.rule, v.others, v.positions = Forward, others, positions(c.position(g), c.position(proved))
		v.expected = what() + ", which a read had shown before this one began"
		if proved != g {
			v.expected = fmt.Sprintf("%s, which is below %d, which a read had shown before this one began", what(), c.position(proved))
		}
		c.find(v)
	}
	if c.bounds[g].until >= invoked || c.counts[Fresh] >= MostFindings && c.counts[Atomic] >= MostFindings && c.full(Fresh, o) {
		return
	}
	rule, proved, others := c.stores(g)
	if c.full(rule, o) {
		return
	}
	v.rule, v.others, v.positions = rule, others, positions(c.position(g), c.position(proved))
	v.expected = what() + ", which was stored before this read began"
	if proved != g {
		v.expected = fmt.Sprintf("%s, which is below %d, which was visible before this read began", what(), c.position(proved))
	}
	if rule == Atomic {
		v.expected += ": another part of its append had been shown"
	}
	c.find(v)
	if rule == Fresh {
		c.halfLost(v, g, invoked)
	}
}

// halfLost adds to a stale read that what it lacks is one part of an append of
// which another had been shown: not only is a write missing, but half of it.
func (c *checker) halfLost(v finding, g uint32, invoked Order) {
	e := c.bounds[g].entry
	i := c.entries[e].owner
	if i == noOwner || i == manyOwners {
		return
	}
	from, to := c.f.appends.items(int(i))
	for k := from; k < to; k++ {
		part := c.f.appends.entry[k]
		if part == e || c.entries[part].owner != i || !c.located(part) {
			continue
		}
		r := c.rank[c.f.entryRow[part]]
		if c.bounds[r].shown >= invoked || c.f.entryLog[part] == v.log && r >= g || c.full(Atomic, v.op) {
			continue
		}
		_, reads := c.shows(r)
		v.rule, v.others = Atomic, append(reads, op{tableAppend, int(i)})
		v.expected = fmt.Sprintf("%s beside its other part, %s, which a read had shown before this one began", c.describe(c.rowAt(g)), c.describe(c.rowAt(r)))
		v.got = "half of the append"
		c.find(v)
		return
	}
}

// positions lists two positions, or one when they are equal.
func positions(a, b uint64) []uint64 {
	if a == b {
		return []uint64{a}
	}
	return []uint64{a, b}
}
