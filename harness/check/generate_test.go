package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
)

// world is a small system that behaves: it makes legal histories by doing what
// an ordered-log service does, one step of one client at a time.
type world struct {
	r       *rand.Rand
	now     int
	next    uint64 // of the one sequence
	logs    []string
	stored  map[string][]hrow // by log, ascending
	pending map[string][]uint64
	past    []map[string][]hrow // what was visible at each moment, for replicas
	h       hist
	names   int
	used    []string // entries that were appended before
}

// client is one client's operation under way.
type client struct {
	busy  bool
	stage int
	op    int // index in h.ops
	rows  []hrow
	plan  string // of an append: ok, refused, or for unknown: lost, late, never
}

func generate(seed uint64, clients, ops int) hist {
	w := &world{r: rand.New(rand.NewPCG(seed, 11)), next: 10, logs: []string{"a", "b", "c"}[:1+int(seed%3)],
		stored: make(map[string][]hrow), pending: make(map[string][]uint64)}
	cs := make([]client, clients)
	w.remember()
	for started := 0; ; {
		c := &cs[w.r.IntN(clients)]
		switch {
		case !c.busy && started < ops:
			started++
			w.invoke(c)
		case c.busy:
			w.step(c)
		case started >= ops && !slices.ContainsFunc(cs, func(c client) bool { return c.busy }):
			return w.h
		}
		w.remember()
	}
}

func (w *world) tick() int { w.now++; return w.now }

func (w *world) visible(log string) []hrow {
	low := uint64(1 << 62)
	for _, p := range w.pending[log] {
		low = min(low, p)
	}
	var out []hrow
	for _, r := range w.stored[log] {
		if r.pos < low {
			out = append(out, r)
		}
	}
	return out
}

func (w *world) remember() {
	m := make(map[string][]hrow)
	for _, l := range w.logs {
		m[l] = w.visible(l)
	}
	w.past = append(w.past, m)
}

func (w *world) invoke(c *client) {
	o := hop{from: w.tick()}
	c.busy, c.stage, c.rows = true, 0, nil
	switch n := w.r.IntN(10); {
	case n < 5:
		o.kind = "append"
		for range 1 + w.r.IntN(2)*w.r.IntN(2) {
			e := fmt.Sprintf("%s.e%d", w.logs[w.r.IntN(len(w.logs))], w.names)
			if len(w.used) > 0 && w.r.IntN(6) == 0 {
				e = w.used[w.r.IntN(len(w.used))]
			}
			w.names++
			w.used = append(w.used, e)
			o.entries = append(o.entries, e)
		}
		c.plan = []string{"ok", "ok", "ok", "ok", "ok", "ok", "ok", "refused", "lost", "late", "never", "ok"}[w.r.IntN(12)]
	case n < 9:
		o.kind, o.lag = "page", w.r.IntN(5) == 0
		for _, l := range w.logs {
			if len(o.spans) > 0 && w.r.IntN(2) == 0 {
				continue
			}
			s := hspan{log: l}
			if w.r.IntN(2) == 0 {
				s.after = uint64(9 + w.r.IntN(int(w.next-9)+1))
			}
			o.spans = append(o.spans, s)
		}
		o.limit = []int{0, 0, 1, 2, 3}[w.r.IntN(5)]
	default:
		o.kind, o.lag = "heads", w.r.IntN(3) > 0
	}
	w.h.ops = append(w.h.ops, o)
	c.op = len(w.h.ops) - 1
}

func (w *world) step(c *client) {
	o := &w.h.ops[c.op]
	c.stage++
	switch {
	case o.kind == "append":
		w.stepAppend(c, o)
	case c.stage == 1:
		view := w.past[len(w.past)-1]
		if o.lag {
			view = w.past[w.r.IntN(len(w.past))]
		}
		w.read(o, view)
	default:
		o.to, c.busy = w.tick(), false
	}
}

func (w *world) read(o *hop, view map[string][]hrow) {
	if o.kind == "heads" {
		for _, l := range w.logs {
			r := hrow{log: l}
			if v := view[l]; len(v) > 0 {
				r = v[len(v)-1]
			}
			o.rows = append(o.rows, r)
		}
		return
	}
	for _, s := range o.spans {
		for _, r := range view[s.log] {
			if r.pos > s.after {
				o.rows = append(o.rows, r)
			}
		}
	}
	sort.Slice(o.rows, func(i, j int) bool { return o.rows[i].pos < o.rows[j].pos })
	if o.limit > 0 && len(o.rows) > o.limit {
		o.rows, o.more = o.rows[:o.limit], true
	}
}

func (w *world) stepAppend(c *client, o *hop) {
	switch c.stage {
	case 1: // take positions
		for i, e := range o.entries {
			if w.find(e) != nil || slices.Contains(o.entries[:i], e) || c.plan == "never" {
				continue
			}
			r, _ := parseRow(fmt.Sprintf("%s@%d", e, w.next))
			w.next += 1 + uint64(w.r.IntN(2)*w.r.IntN(2))
			c.rows = append(c.rows, r)
			w.pending[r.log] = append(w.pending[r.log], r.pos)
		}
	case 2: // the answer to a lost one may come before it settles
		switch {
		case c.plan == "late" || c.plan == "lost" && w.r.IntN(2) == 0 || c.plan == "never":
			o.outcome, o.to = "unknown", w.tick()
			if w.r.IntN(2) == 0 {
				o.to = 0
			}
		default:
			w.settle(c, o)
		}
	case 3:
		switch {
		case c.plan == "late":
			w.settle(c, o)
			c.busy = false
		case o.outcome == "unknown":
			w.release(c)
			c.busy = false
		case c.plan == "lost":
			o.outcome, o.to, c.busy = "unknown", w.tick(), false
		case c.plan == "refused":
			o.outcome, o.partial, o.to, c.busy = "refused", true, w.tick(), false
		default:
			o.outcome, o.to, c.busy = "ok", w.tick(), false
			for _, e := range o.entries {
				o.rows = append(o.rows, *w.find(e))
			}
		}
	}
}

func (w *world) release(c *client) {
	for _, r := range c.rows {
		p := w.pending[r.log]
		if i := slices.Index(p, r.pos); i >= 0 {
			w.pending[r.log] = slices.Delete(slices.Clone(p), i, i+1)
		}
	}
}

func (w *world) settle(c *client, o *hop) {
	w.release(c)
	if c.plan == "refused" {
		return
	}
	for _, r := range c.rows {
		if w.find(r.log+"."+r.entry) == nil {
			w.stored[r.log] = append(slices.Clone(w.stored[r.log]), r)
			sort.Slice(w.stored[r.log], func(i, j int) bool { return w.stored[r.log][i].pos < w.stored[r.log][j].pos })
		}
	}
	// What was a duplicate of one that was since dropped must be stored now.
	for _, e := range o.entries {
		if w.find(e) == nil {
			r, _ := parseRow(fmt.Sprintf("%s@%d", e, w.next))
			w.next++
			w.stored[r.log] = append(slices.Clone(w.stored[r.log]), r)
		}
	}
}

func (w *world) find(e string) *hrow {
	for _, l := range w.logs {
		for i, r := range w.stored[l] {
			if r.log+"."+r.entry == e {
				return &w.stored[l][i]
			}
		}
	}
	return nil
}

// corrupt changes a history in two to six places. It knows no rule: it swaps,
// drops, repeats and shifts events and values wherever they are.
func corrupt(h hist, r *rand.Rand) hist {
	out := hist{many: h.many}
	for _, o := range h.ops {
		o.rows, o.spans, o.entries = slices.Clone(o.rows), slices.Clone(o.spans), slices.Clone(o.entries)
		out.ops = append(out.ops, o)
	}
	for range 2 + r.IntN(5) {
		if len(out.ops) == 0 {
			return out
		}
		i, j := r.IntN(len(out.ops)), r.IntN(len(out.ops))
		o, other := &out.ops[i], &out.ops[j]
		switch r.IntN(8) {
		case 0: // drop an event
			out.ops = slices.Delete(out.ops, i, i+1)
		case 1: // shift an event
			d := r.IntN(9) - 4
			o.from = max(1, o.from+d)
			if o.to != 0 {
				o.to = max(o.from+1, o.to+d)
			}
		case 2: // swap when two events happened
			o.from, o.to, other.from, other.to = other.from, other.to, o.from, o.to
		case 3: // shift one end
			if o.to != 0 {
				o.to = max(o.from+1, o.to+r.IntN(9)-4)
			} else {
				o.from = max(1, o.from+r.IntN(9)-4)
			}
		default:
			corruptValue(o, other, r)
		}
	}
	return out
}

// corruptValue changes what one operation was answered.
func corruptValue(o, other *hop, r *rand.Rand) {
	if len(o.rows) == 0 {
		o.more = !o.more && o.kind == "page" && r.IntN(4) == 0
		return
	}
	k := r.IntN(len(o.rows))
	ok := o.kind == "append"
	switch n := r.IntN(6); {
	case n == 0 && !ok && o.kind == "page": // drop a value
		o.rows = slices.Delete(o.rows, k, k+1)
	case n == 1 && o.kind == "page": // repeat a value
		o.rows = slices.Insert(o.rows, k, o.rows[k])
	case n == 2: // shift a value
		if o.rows[k].pos > 1 {
			o.rows[k].pos += uint64(r.IntN(3)) - 1
		}
	case n == 3 && len(other.rows) > 0: // swap two values
		m := r.IntN(len(other.rows))
		if o.rows[k].pos == 0 || other.rows[m].pos == 0 {
			return
		}
		if ok || other.kind == "append" || o.kind != other.kind || o.kind == "heads" {
			o.rows[k].pos, other.rows[m].pos = other.rows[m].pos, o.rows[k].pos
		} else {
			o.rows[k], other.rows[m] = other.rows[m], o.rows[k]
		}
	case n == 4 && o.kind == "page":
		o.more = !o.more
	case n == 5 && len(o.spans) > 0:
		s := r.IntN(len(o.spans))
		o.spans[s].after += uint64(r.IntN(3))
	}
}
