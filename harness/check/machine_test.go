package check

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// The second opinion: the same rules of the game, told to a general checker as a
// machine with states. An append takes two steps: it takes its positions, and
// later it stores everything or nothing. What is below the lowest position taken
// and not settled is visible. A read is one step.

// step is the input of one step.
type step struct {
	op    int
	kind  string // take, settle, page, head
	o     *hop
	row   hrow   // of a head
	claim []hrow // of an append: the row of each entry that anything claims; pos 0 for none
}

// seen is the state of the machine. It is a value; steps copy it.
type seen struct {
	text    string             // what key returns, once it was asked
	stored  []cell             // in no order
	pending map[int][]hrow     // by append: positions taken
	blind   map[int][]blind    // by append: logs on which it may hold any position
	gone    []int              // appends whose clients gave up
	top     map[string]float64 // by log: the highest position that was visible
}

// blind is a log on which an append may hold any position, until its client has
// given up and its entry is stored when that is named, else until it settles.
type blind struct{ log, entry string }

// left is the append whose client gave up.
func (m machine) left(s *seen, in *step) []*seen {
	n := s.clone()
	n.gone = append(n.gone, in.op)
	return []*seen{n.advance(m.logs)}
}

// cell is a stored entry. A ghost has an entry that no read may show.
type cell struct {
	log, entry, meta string
	pos              float64
}

func (s *seen) clone() *seen {
	n := &seen{stored: slices.Clone(s.stored), gone: slices.Clone(s.gone), pending: make(map[int][]hrow), blind: make(map[int][]blind), top: make(map[string]float64)}
	for k, v := range s.pending {
		n.pending[k] = v
	}
	for k, v := range s.blind {
		n.blind[k] = v
	}
	for k, v := range s.top {
		n.top[k] = v
	}
	return n
}

func (s *seen) key() string {
	if s.text != "" {
		return s.text
	}
	var parts []string
	for _, c := range s.stored {
		parts = append(parts, fmt.Sprint("s", c))
	}
	slices.Sort(s.gone)
	parts = append(parts, fmt.Sprint("g", s.gone))
	for k, v := range s.pending {
		parts = append(parts, fmt.Sprint("p", k, v))
	}
	for k, v := range s.blind {
		parts = append(parts, fmt.Sprint("b", k, v))
	}
	for k, v := range s.top {
		parts = append(parts, fmt.Sprint("t", k, v))
	}
	sort.Strings(parts)
	s.text = "|" + strings.Join(parts, ";")
	return s.text
}

func (s *seen) find(log, entry string) *cell {
	for i := range s.stored {
		if s.stored[i].log == log && s.stored[i].entry == entry {
			return &s.stored[i]
		}
	}
	return nil
}

func (s *seen) isBlind(log string) bool {
	for op, logs := range s.blind {
		for _, b := range logs {
			if b.log == log && (b.entry == "" || s.find(b.log, b.entry) == nil || !slices.Contains(s.gone, op)) {
				return true
			}
		}
	}
	return false
}

// full returns what may be visible of a log, ascending: all that is stored below
// the lowest position taken.
func (s *seen) full(log string) []cell {
	low := 1e18
	for _, rows := range s.pending {
		for _, r := range rows {
			if r.log == log && s.find(r.log, r.entry) == nil {
				low = min(low, float64(r.pos))
			}
		}
	}
	var out []cell
	for _, c := range s.stored {
		if c.log == log && c.pos < low {
			out = append(out, c)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].pos < out[j].pos })
	return out
}

// advance makes visible what nothing can hide.
func (s *seen) advance(logs []string) *seen {
	for _, l := range logs {
		if !s.isBlind(l) {
			if f := s.full(l); len(f) > 0 {
				s.top[l] = max(s.top[l], f[len(f)-1].pos)
			}
		}
	}
	return s
}

// machine makes the model for one history: it needs to know which logs and
// positions there are.
type machine struct {
	many bool
	logs []string
	// at has the positions of each log that anything names, cursors too, and bare those that are
	// named without an entry; ghosts are entries that nobody shows.
	at, bare map[string][]uint64
	ghosts   []string
	// copied has the entries that several appends name.
	copied map[string]bool
	// hinted is true when some read speaks of an entry without showing it: a page
	// that says it was cut, or a head that names a bare position. Else it is never
	// of use that an append stores entries none of which anything shows.
	hinted bool
}

func (m machine) step(s *seen, in *step) (out []*seen) {
	switch in.kind {
	case "take":
		return m.take(s, in)
	case "settle":
		return m.settle(s, in)
	case "left":
		return m.left(s, in)
	case "head":
		return m.head(s, in)
	default:
		return m.page(s, in)
	}
}

func (m machine) take(s *seen, in *step) []*seen {
	n := s.clone()
	var hides []blind
	for _, r := range in.claim {
		if m.copied[r.log+"."+r.entry] && s.find(r.log, r.entry) == nil && in.o.outcome != "refused" {
			// A copy may find out late that it is one.
			b := blind{log: r.log}
			if in.o.outcome == "unknown" {
				b.entry = r.entry
			}
			hides = append(hides, b)
		}
		switch {
		case in.o.outcome == "refused" || r.pos == 0:
			hides = append(hides, blind{log: r.log})
		case s.find(r.log, r.entry) != nil:
		case float64(r.pos) <= s.top[r.log]:
			if in.o.outcome == "ok" {
				return nil // it would appear below what was visible
			}
			n.pending[in.op] = append(slices.Clone(n.pending[in.op]), hrow{log: "", pos: 1}) // cannot be stored
		default:
			n.pending[in.op] = append(slices.Clone(n.pending[in.op]), r)
		}
	}
	if n.pending[in.op] == nil {
		n.pending[in.op] = []hrow{}
	}
	if hides != nil {
		n.blind[in.op] = hides
	}
	return []*seen{n.advance(m.logs)}
}

func (m machine) settle(s *seen, in *step) []*seen {
	taken, began := s.pending[in.op]
	if !began {
		return nil
	}
	dropped := s.clone()
	delete(dropped.pending, in.op)
	delete(dropped.blind, in.op)
	var out []*seen
	if in.o.outcome != "ok" {
		out = append(out, dropped.clone().advance(m.logs))
	}
	if in.o.outcome == "refused" || slices.ContainsFunc(taken, func(r hrow) bool { return r.log == "" }) {
		return out
	}
	if !m.hinted && !slices.ContainsFunc(in.claim, func(r hrow) bool { return r.pos > 0 }) {
		return out
	}
	worlds := []*seen{dropped}
	for i, r := range in.claim {
		var next []*seen
		for _, w := range worlds {
			next = append(next, m.store(w, r, in.o.outcome == "ok" && r != hrow{}, i)...)
		}
		worlds = next
	}
	for _, w := range worlds {
		out = append(out, w.advance(m.logs))
	}
	return out
}

// store adds one entry; a duplicate must be answered with what is stored.
func (m machine) store(s *seen, r hrow, answered bool, i int) []*seen {
	if c := s.find(r.log, r.entry); c != nil {
		if answered && (c.pos != float64(r.pos) || c.meta != r.meta) {
			return nil
		}
		return []*seen{s}
	}
	at := []float64{float64(r.pos)}
	if r.pos == 0 {
		at = m.gaps(r)
	}
	var out []*seen
	for _, p := range at {
		if p <= s.top[r.log] || slices.ContainsFunc(s.stored, func(c cell) bool { return c.pos == p && (!m.many || c.log == r.log) }) {
			continue
		}
		n := s.clone()
		n.stored = append(n.stored, cell{r.log, r.entry, r.meta, p})
		out = append(out, n)
	}
	return out
}

// gaps returns the positions that an entry nobody shows may have.
func (m machine) gaps(r hrow) []float64 {
	own := float64(slices.Index(m.ghosts, r.log+"."+r.entry)+1) / float64(len(m.ghosts)+1)
	out := []float64{own}
	for _, p := range m.at[r.log] {
		out = append(out, float64(p)+own)
	}
	for _, p := range m.bare[r.log] {
		out = append(out, float64(p))
	}
	return out
}

// reveal returns the state after a read showed a log up to a position, if it can.
func (m machine) reveal(s *seen, log string, shown []cell, after float64, exact bool) *seen {
	full := s.full(log)
	var visible []cell
	for _, c := range full {
		if c.pos > after {
			visible = append(visible, c)
		}
	}
	if len(shown) > len(visible) || !slices.Equal(visible[:len(shown)], shown) {
		return nil
	}
	n := s
	if k := len(shown); k > 0 {
		n = s.clone()
		n.top[log] = max(n.top[log], shown[k-1].pos)
	}
	if exact && len(shown) < len(visible) {
		if !s.isBlind(log) || visible[len(shown)].pos <= s.top[log] {
			return nil
		}
	}
	return n
}

func cellOf(r hrow) cell { return cell{r.log, r.entry, r.meta, float64(r.pos)} }

func (m machine) head(s *seen, in *step) []*seen {
	full := s.full(in.row.log)
	if in.row.pos == 0 {
		if n := m.reveal(s, in.row.log, nil, 0, true); n != nil {
			return []*seen{n}
		}
		return nil
	}
	for i, c := range full {
		if c.pos == float64(in.row.pos) {
			if in.row.entry != "" && c != cellOf(in.row) {
				return nil
			}
			if n := m.reveal(s, in.row.log, full[:i+1], 0, true); n != nil {
				return []*seen{n}
			}
		}
	}
	return nil
}

func (m machine) page(s *seen, in *step) []*seen {
	o := in.o
	if o.limit > 0 && len(o.rows) > o.limit || o.more && len(o.rows) < o.limit || o.more && len(o.rows) == 0 {
		return nil
	}
	by := make(map[string][]cell)
	for _, r := range o.rows {
		by[r.log] = append(by[r.log], cellOf(r))
	}
	n := s
	asked := 0
	for _, sp := range o.spans {
		asked += len(by[sp.log])
		if n = m.reveal(n, sp.log, by[sp.log], float64(sp.after), !o.more); n == nil {
			return nil
		}
	}
	if asked != len(o.rows) {
		return nil
	}
	if !o.more {
		return []*seen{n}
	}
	// Something above must be visible: it already was, or it is now.
	var out []*seen
	for _, sp := range o.spans {
		var above []cell
		for _, c := range n.full(sp.log) {
			if c.pos > float64(sp.after) {
				above = append(above, c)
			}
		}
		if k := len(by[sp.log]); k < len(above) {
			x := n.clone()
			x.top[sp.log] = max(x.top[sp.log], above[k].pos)
			out = append(out, x)
		}
	}
	return out
}

// opinion asks porcupine about a history.
func opinion(h hist, timeout time.Duration) porcupine.CheckResult {
	ops, m := operations(h)
	model := porcupine.NondeterministicModel{
		Init: func() []interface{} {
			return []interface{}{(&seen{}).clone()}
		},
		Step: func(state, input, output interface{}) []interface{} {
			var out []interface{}
			for _, n := range m.step(state.(*seen), input.(*step)) {
				out = append(out, n)
			}
			return out
		},
		Equal: func(a, b interface{}) bool { return a.(*seen).key() == b.(*seen).key() },
	}
	return porcupine.CheckOperationsTimeout(model.ToModel(), ops, timeout)
}

// operations turns a history into steps with intervals.
func operations(h hist) ([]porcupine.Operation, machine) {
	m := machine{many: h.many, at: make(map[string][]uint64), bare: make(map[string][]uint64)}
	claims := make(map[string]hrow)
	note := func(r hrow) {
		if r.log != "" && !slices.Contains(m.logs, r.log) {
			m.logs = append(m.logs, r.log)
		}
		if r.pos > 0 {
			m.at[r.log] = append(m.at[r.log], r.pos)
		}
		if _, ok := claims[r.log+"."+r.entry]; !ok && r.entry != "" && r.pos > 0 {
			claims[r.log+"."+r.entry] = r
		}
	}
	for i := range h.ops { // what appends were answered comes first
		if h.ops[i].kind == "append" {
			for _, r := range h.ops[i].rows {
				note(r)
			}
		}
	}
	for i := range h.ops {
		for _, r := range h.ops[i].rows {
			note(r)
		}
		for _, e := range h.ops[i].entries {
			l, _, _ := strings.Cut(e, ".")
			note(hrow{log: l})
		}
	}
	// Entries that nobody shows may be anywhere between the others of their log, or
	// at a position that only a head names. Each has an offset of its own, so that
	// the order of two in one gap, which nothing can tell, is tried once.
	for _, o := range h.ops {
		for _, e := range o.entries {
			if _, ok := claims[e]; !ok && o.outcome == "unknown" && !slices.Contains(m.ghosts, e) {
				m.ghosts = append(m.ghosts, e)
			}
		}
		for _, s := range o.spans {
			m.at[s.log] = append(m.at[s.log], s.after)
		}
		m.hinted = m.hinted || o.more && len(o.rows) > 0 && len(o.rows) >= o.limit
		for _, r := range o.rows {
			if r.entry == "" && r.pos > 0 {
				m.hinted = true
				m.bare[r.log] = append(m.bare[r.log], r.pos)
			}
		}
	}
	for l := range m.at {
		slices.Sort(m.at[l])
		m.at[l] = slices.Compact(m.at[l])
	}
	m.copied = make(map[string]bool)
	named := make(map[string]int)
	for i, o := range h.ops {
		for _, e := range o.entries {
			if o.kind != "append" || o.outcome == "refused" {
				continue
			}
			if first, ok := named[e]; ok && first != i {
				m.copied[e] = true
			} else {
				named[e] = i
			}
		}
	}
	invoked, returned := h.orders()
	end := int64(4 * (len(h.ops) + 1))
	var out []porcupine.Operation
	add := func(i int, in *step, from, to int64) {
		out = append(out, porcupine.Operation{ClientId: len(out), Input: in, Call: from, Return: to})
	}
	for i := range h.ops {
		o := &h.ops[i]
		from, to := int64(invoked[i]), int64(returned[i])
		if returned[i] == Never || o.kind == "append" && o.outcome == "unknown" {
			to = end
		}
		switch o.kind {
		case "append":
			in := step{op: i, o: o}
			for k, e := range o.entries {
				r := claims[e]
				if o.outcome == "ok" {
					r = o.rows[k]
				}
				if r.log == "" {
					l, name, _ := strings.Cut(e, ".")
					r = hrow{log: l, entry: name}
				}
				in.claim = append(in.claim, r)
			}
			take, settle := in, in
			take.kind, settle.kind = "take", "settle"
			add(i, &take, from, to)
			add(i, &settle, from, to)
			if o.outcome == "unknown" && returned[i] != Never {
				add(i, &step{op: i, kind: "left", o: o}, int64(returned[i]), int64(returned[i]))
			}
		case "page":
			if o.lag {
				from = 0
			}
			add(i, &step{op: i, kind: "page", o: o}, from, to)
		case "heads":
			if o.lag {
				from = 0
			}
			for _, r := range o.rows {
				add(i, &step{op: i, kind: "head", o: o, row: r}, from, to)
			}
		}
	}
	return out, m
}
