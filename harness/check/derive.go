package check

import (
	"cmp"
	"fmt"
	"slices"
)

// derive carries on what the rules before it found out: a page of several logs,
// or one that can only have been read while something hid the next entry, says
// more exactly when it was read, and so when others were stored. It is for what
// no single rule sees, and looks only when they found nothing.
func (c *checker) derive() {
	if len(c.report.Findings) > 0 {
		return
	}
	for range c.rounds() {
		if !c.tighten() {
			break
		}
		c.settle()
		if c.judgeDerived(); len(c.report.Findings) > 0 {
			return
		}
	}
}

// rounds bounds how often derive goes over the history, to at most some two
// million operations looked at: what only it finds is rare, and a history that
// large has simpler witnesses of the same fault.
func (c *checker) rounds() int {
	const effort = 1 << 21 // operations
	return min(effort/(c.f.Operations()+1), 32)
}

// tighten narrows the moments of reads, and carries that to what they show and
// lack.
func (c *checker) tighten() (changed bool) {
	p := &c.f.pages
	for i := range p.len() {
		if p.flags[i]&flagMore != 0 {
			continue
		}
		when, _, _, sound := c.moment(i)
		if !sound {
			continue
		}
		from, to := p.spans(i)
		for s := from; s < to; s++ {
			if c.spanShows(s) {
				when.to = c.hiddenUntil(p.spanLog[s], c.next[s], when)
			}
		}
		for s := from; s < to; s++ {
			next, l := c.next[s], p.spanLog[s]
			if c.spanShows(s) && when.to < c.bounds[next-1].shown {
				c.bounds[next-1].shown, changed = when.to, true
			}
			if next < c.start[l+1] && when.from > c.bounds[next].since {
				c.bounds[next].since, changed = when.from, true
			}
		}
	}
	h := &c.f.heads
	for i := range h.len() {
		for _, head := range h.heads(i) {
			if c.tightenHead(head.Log, head.Position, h.flags[i]&flagLag != 0, interval{h.invoked[i], h.returned[i]}) {
				changed = true
			}
		}
	}
	for _, m := range c.f.streams.moment {
		reg := c.f.streams.registration[m.stream]
		if m.kind == answered && c.tightenHead(reg.Log, m.position, reg.Lag, interval{reg.Invoked, m.at}) {
			changed = true
		}
	}
	return changed
}

func (c *checker) tightenHead(l Log, p uint64, lag bool, when interval) (changed bool) {
	if p == 0 {
		return false
	}
	g := c.above(l, p)
	if g == c.start[l] || c.position(g-1) != p {
		return false
	}
	if lag {
		when.from = 0
	}
	when.from = max(when.from, c.bounds[g-1].since)
	if g < c.start[l+1] {
		when.to = min(when.to, c.bounds[g].until, c.bounds[g].shown)
		when.to = c.hiddenUntil(l, g, when)
	}
	if when.to < c.bounds[g-1].shown {
		c.bounds[g-1].shown, changed = when.to, true
	}
	if g < c.start[l+1] && when.from > c.bounds[g].since {
		c.bounds[g].since, changed = when.from, true
	}
	return changed
}

// hiddenUntil returns before when a read that shows all below rank next, and not
// next, was made: before next was certainly stored, or while an append of
// unknown position was open.
func (c *checker) hiddenUntil(l Log, next uint32, when interval) Order {
	if next >= c.start[l+1] {
		return when.to
	}
	stored := c.entries[c.bounds[next].entry].stored
	if stored >= when.to {
		return when.to
	}
	hides := c.hide[c.hideFrom[l]:c.hideFrom[l+1]]
	k, _ := slices.BinarySearchFunc(hides, when.to, func(h interval, t Order) int { return cmp.Compare(h.from, t) })
	if k > 0 && hides[k-1].to > stored {
		stored = hides[k-1].to
	}
	return min(when.to, stored)
}

// judgeDerived judges every read and rank by the narrowed bounds.
func (c *checker) judgeDerived() {
	p := &c.f.pages
	for i := range p.len() {
		if p.flags[i]&flagMore != 0 {
			continue
		}
		from, to := p.spans(i)
		when, begin, end, sound := c.moment(i)
		if !sound {
			continue
		}
		for s := from; s < to; s++ {
			if c.spanShows(s) {
				if t := c.hiddenUntil(p.spanLog[s], c.next[s], when); t < when.to {
					when.to, end = t, c.next[s]
				}
			}
		}
		if when.from > when.to {
			c.noMoment(op{tablePage, i}, to-from > 1, begin, end, when)
		}
	}
	for l := 1; l+1 < len(c.start); l++ {
		for g := c.start[l]; g < c.start[l+1]; g++ {
			if to := min(c.bounds[g].shown, c.bounds[g].until); c.bounds[g].since > to {
				if o, ok := c.at(c.bounds[g].since); ok {
					c.noMoment(o, false, g, g, interval{c.bounds[g].since, to})
				}
			}
		}
	}
}

// noMoment reports a read, or an append, that fits nowhere among the others.
func (c *checker) noMoment(o op, several bool, begin, end uint32, when interval) {
	v := finding{rule: Forward, op: o, got: "none"}
	switch {
	case several:
		v.rule = Snapshot
	case o.table == tableAppend:
		v.rule = InOrder
	}
	if c.full(v.rule, o) {
		return
	}
	after, before := "it began", "it returned"
	if begin != noRank {
		v.log = c.logAt(begin)
		v.positions = append(v.positions, c.position(begin))
		after = c.describe(c.rowAt(begin)) + " became visible"
	}
	if end != noRank {
		v.log = c.logAt(end)
		v.positions = append(v.positions, c.position(end))
		before = c.describe(c.rowAt(end)) + " did"
	}
	v.expected = fmt.Sprintf("a moment after %s and before %s", after, before)
	for _, event := range []Order{when.from, when.to} {
		if x, ok := c.at(event); ok {
			v.others = append(v.others, x)
		}
	}
	v.others = append(v.others, c.links(when)...)
	c.find(v)
}

// links lists pages that carried one of two bounds from one log to another.
func (c *checker) links(when interval) (out []op) {
	const most = 4
	p := &c.f.pages
	for i := 0; i < p.len() && len(out) < most; i++ {
		if p.flags[i]&flagMore != 0 {
			continue
		}
		if w, _, _, sound := c.moment(i); sound && (w.from == when.from && w.from != p.invoked[i] || w.to == when.to && w.to != p.returned[i]) {
			out = append(out, op{tablePage, i})
		}
	}
	return out
}
