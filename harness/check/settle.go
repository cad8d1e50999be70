package check

import (
	"cmp"
	"slices"
)

// interval is the time from one event to another.
type interval struct{ from, to Order }

// maybes finds, by log, the first append that may have stored an entry whose
// position nobody has told.
func (c *checker) maybes() {
	a := &c.f.appends
	c.maybe = make([]Order, len(c.f.logName))
	for l := range c.maybe {
		c.maybe[l] = Never
	}
	for i := range a.len() {
		if a.outcome[i] != Unknown {
			continue
		}
		from, to := a.items(i)
		for k := from; k < to; k++ {
			if e := a.entry[k]; !c.located(e) {
				l := c.f.entryLog[e]
				c.maybe[l] = min(c.maybe[l], a.invoked[i])
			}
		}
	}
}

// hiding returns when an append may have held a position on the log of one of
// its entries that is not the entry's own: one that was refused did while it was
// open, one whose entry nobody has shown until it is certainly settled, and a
// copy of an entry that was stored beside it while it was open. A copy of what
// was stored before it began is found at once and takes no position.
func (c *checker) hiding(i int, e Entry) (interval, bool) {
	a, s := &c.f.appends, &c.entries[e]
	switch a.outcome[i] {
	case Refused, Contended:
		return interval{a.invoked[i], a.returned[i]}, true
	case Unknown:
		if !c.located(e) {
			return interval{a.invoked[i], s.stored}, true
		}
		// How long it went on after its client gave up nobody knows; that its entry
		// is stored is taken to settle it.
		return interval{a.invoked[i], max(s.stored, a.returned[i])}, c.isCopied(e) && a.invoked[i] < s.stored
	}
	return interval{a.invoked[i], a.returned[i]}, !c.located(e) || c.isCopied(e) && a.invoked[i] < s.stored
}

// isCopied reports whether several appends that were not refused name an entry.
func (c *checker) isCopied(e Entry) bool { return c.copied[e/64]&(1<<(e%64)) != 0 }

// findHides finds, by log, when an append was open that may have held an unknown
// position: one below any that was not yet visible.
func (c *checker) findHides() {
	a := &c.f.appends
	logs := len(c.f.logName)
	c.hide = c.hide[:0]
	type held struct {
		log Log
		interval
	}
	each := func(visit func(held)) {
		for i := range a.len() {
			from, to := a.items(i)
			for k := from; k < to; k++ {
				if when, ok := c.hiding(i, a.entry[k]); ok {
					visit(held{c.f.entryLog[a.entry[k]], when})
				}
			}
		}
	}
	n := 0
	each(func(held) { n++ })
	all := make([]held, 0, n)
	each(func(v held) { all = append(all, v) })
	slices.SortFunc(all, func(a, b held) int { return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.from, b.from)) })
	if c.hideFrom == nil {
		c.hideFrom = make([]uint32, logs+1)
	}
	c.hide = slices.Grow(c.hide, len(all))
	at := 0
	for l := range logs {
		c.hideFrom[l] = uint32(len(c.hide))
		for ; at < len(all) && all[at].log == Log(l); at++ {
			if n := len(c.hide); n > int(c.hideFrom[l]) && all[at].from <= c.hide[n-1].to {
				c.hide[n-1].to = max(c.hide[n-1].to, all[at].to)
			} else {
				c.hide = append(c.hide, all[at].interval)
			}
		}
	}
	c.hideFrom[logs] = uint32(len(c.hide))
}

// located reports whether an entry has a position that is not in dispute.
func (c *checker) located(e Entry) bool {
	r := c.f.entryRow[e]
	return r != 0 && c.rank[r] != noRank
}

// settle finds when every entry was certainly stored, and from that until when
// it can have stayed hidden.
func (c *checker) settle() {
	// What is shown was stored, and so was all below it.
	for l := 1; l+1 < len(c.start); l++ {
		earliest := Never
		for g := int(c.start[l+1]) - 1; g >= int(c.start[l]); g-- {
			earliest = min(earliest, c.bounds[g].shown)
			c.bounds[g].shown = earliest
			e := c.bounds[g].entry
			c.entries[e].stored = min(c.entries[e].stored, earliest)
		}
		if c.cut != nil {
			earliest = Never
			for g := int(c.start[l+1]) - 1; g >= int(c.start[l]); g-- {
				earliest = min(earliest, c.cut[g])
				c.cut[g] = earliest
			}
		}
	}
	c.spreadStored()
	c.findOwners()
	c.spreadStored()
	c.findHides()
	for l := 1; l+1 < len(c.start); l++ {
		c.unhide(Log(l))
	}
	c.ghosts = nil
	c.findGhosts()
}

// findOwners looks again at entries that several appends name: one that began
// only after the entry was stored did not store it.
func (c *checker) findOwners() {
	a := &c.f.appends
	again := false
	for e := range c.entries {
		if c.entries[e].owner == manyOwners {
			c.entries[e].owner, again = noOwner, true
		}
	}
	if !again {
		return
	}
	for i := range a.len() {
		if a.outcome[i] == Refused || a.outcome[i] == Contended {
			continue
		}
		from, to := a.items(i)
		for k := from; k < to; k++ {
			e := a.entry[k]
			if a.invoked[i] > c.entries[e].stored {
				continue
			}
			switch c.entries[e].owner {
			case noOwner, uint32(i):
				c.entries[e].owner = uint32(i)
			default:
				c.entries[e].owner = manyOwners
			}
		}
	}
}

// spreadStored carries what proves one entry of an append stored to the others:
// an append is atomic.
func (c *checker) spreadStored() {
	a := &c.f.appends
	for i := range a.len() {
		from, to := a.items(i)
		if to-from < 2 || a.outcome[i] == Refused || a.outcome[i] == Contended {
			continue
		}
		earliest := Never
		for k := from; k < to; k++ {
			if c.entries[a.entry[k]].owner == uint32(i) {
				earliest = min(earliest, c.entries[a.entry[k]].stored)
			}
		}
		if earliest == Never {
			continue
		}
		for k := from; k < to; k++ {
			c.entries[a.entry[k]].stored = min(c.entries[a.entry[k]].stored, earliest)
		}
	}
}

// unhide computes until, by rank of one log: the end of the longest chain of
// appends, each open when the one before it ended and each at a lower or an
// unknown position, that begins when the entry was certainly stored.
func (c *checker) unhide(l Log) {
	from, to := c.start[l], c.start[l+1]
	hides := c.hide[c.hideFrom[l]:c.hideFrom[l+1]]
	c.peak = slices.Grow(c.peak[:0], int(to-from))
	// The append at or below g that ends last.
	last := interval{Never, 0}
	for g := from; g < to; g++ {
		e := c.bounds[g].entry
		if s := c.entries[e].stored; s > last.to || s == last.to && c.entries[e].first < last.from {
			last = interval{c.entries[e].first, s}
		}
		c.peak = append(c.peak, last.to)
		end := c.entries[e].stored
		if end < last.to || len(hides) > 0 {
			end = c.chain(from, g, end, last, hides)
		}
		if c.entries[e].stored == c.bounds[g].shown {
			end = Never // only reads prove it, and shown says what they prove
		}
		c.bounds[g].until = end
	}
	earliest := Never
	for g := int(to) - 1; g >= int(from); g-- {
		earliest = min(earliest, c.bounds[g].until)
		c.bounds[g].until = earliest
	}
	latest := Order(0)
	for g := from; g < to; g++ {
		latest = max(latest, c.bounds[g].since)
		c.bounds[g].since = latest
	}
}

// farthest bounds how far chain looks back for appends that end late but began
// too late to be reached at once. Past it the entry counts as hidden for good:
// the bound can excuse a breach in a history of many, and never make one.
const farthest = 1 << 16

// chain follows appends that hide rank g from end on. last is the one at or
// below g that ends last.
func (c *checker) chain(from, g uint32, end Order, last interval, hides []interval) Order {
	for {
		before := end
		if k, _ := slices.BinarySearchFunc(hides, end, func(h interval, t Order) int { return cmp.Compare(h.to, t) }); k < len(hides) && hides[k].from <= end {
			end = max(end, hides[k].to)
		}
		switch {
		case last.to <= end:
		case last.from <= end:
			end = last.to
		default:
			for k := g; k > from && c.peak[k-1-from] > end; {
				k--
				if g-k > farthest {
					return Never
				}
				if e := c.bounds[k].entry; c.entries[e].first <= end {
					end = max(end, c.entries[e].stored)
				}
			}
		}
		if end == before || end == Never {
			return end
		}
	}
}
