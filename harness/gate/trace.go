package gate

import (
	"slices"
	"strings"
	"time"

	"assay/harness/gate/wire"
)

// Entry is what became of one statement. Times are since the gate began; 0 is
// never.
type Entry struct {
	Statement
	// Arrived is when its unit had come, Sent when the server was given it,
	// Answered when the server was done with it, Replied when the client was
	// given that.
	Arrived  time.Duration `json:"arrived"`
	Sent     time.Duration `json:"sent,omitempty"`
	Answered time.Duration `json:"answered,omitempty"`
	Replied  time.Duration `json:"replied,omitempty"`
	// Outcome is the server's command tag, or the SQLSTATE of its error.
	Outcome string `json:"outcome,omitempty"`
	// Failed says that it was an error.
	Failed bool `json:"failed,omitempty"`
	// Status is what the server said of the transaction afterwards: I for
	// none, T for open, E for failed.
	Status string `json:"status,omitempty"`
	// Stops are the holds it was stopped at.
	Stops []Stop `json:"stops,omitempty"`
	// Cut says that it was cut where it was stopped.
	Cut bool `json:"cut,omitempty"`

	tx *transaction
}

// Stop is a time spent at a hold.
type Stop struct {
	Hold  string        `json:"hold"`
	From  time.Duration `json:"from"`
	Until time.Duration `json:"until,omitempty"` // 0 while it lasts
}

// Recording collects what happens while it is on.
type Recording struct {
	gate *Gate

	// Under the gate's lock.
	entries []*Entry
	limit   int
	missed  int
	on      bool
}

// Record begins a recording of at most limit statements.
func (g *Gate) Record(limit int) *Recording {
	r := &Recording{gate: g, limit: limit, on: true}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.recordings = append(g.recordings, r)
	g.watching.Add(1)
	return r
}

// Trace returns what was recorded so far, in the order of arrival, and how many
// statements came after the recording was full. A transaction that showed only
// later whose it is has that call's name throughout.
func (r *Recording) Trace() (entries []Entry, missed int) {
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	entries = make([]Entry, len(r.entries))
	for i, e := range r.entries {
		entries[i] = *e
		entries[i].PID = e.PID
		entries[i].Stops = slices.Clone(e.Stops)
		entries[i].own(e.tx)
	}
	return entries, r.missed
}

// Stop ends the recording; what it holds stays.
func (r *Recording) Stop() {
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	if r.on {
		r.on = false
		r.gate.recordings = slices.DeleteFunc(r.gate.recordings, func(o *Recording) bool { return o == r })
		r.gate.watching.Add(-1)
	}
}

// own names whose the statement is.
func (s *Statement) own(tx *transaction) {
	s.Call, s.By = "", tx.by
	if tx.call != nil {
		s.Call = tx.call.Name()
	}
}

// textLimit bounds what is kept of a statement's text, in bytes. Digest and
// points are of the whole.
const textLimit = 64 << 10

// looked is what a hold sees of the statements of a unit that have come.
type looked struct {
	statements []Statement
	// kept are the same without what does not outlive the unit's passage.
	kept []Statement
}

// decide looks at the statements of a unit that have come: what they are, whose
// they are, and which holds stop them before the server sees them.
func (g *Gate) decide(s *session, u *unit, piece []wire.Execution) (l looked, before []match) {
	if len(piece) == 0 {
		return looked{}, nil
	}
	p := &s.requests.place
	if s.requests.early == nil {
		p.enter(s)
	}
	p.seen = u.seq
	now := g.now()
	l.statements = make([]Statement, len(piece))
	for i, x := range piece {
		l.statements[i] = p.next(s, g.points, x)
		l.statements[i].Part, l.statements[i].Parts = i+1, len(piece)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, st := range l.statements {
		g.attribute(p.tx, st)
	}
	for i := range l.statements {
		l.statements[i].own(p.tx)
	}
	l.kept = slices.Clone(l.statements)
	for i := range l.kept {
		// Its values are in a buffer that goes on, and a long text is not needed.
		k := &l.kept[i]
		k.execution, k.plain = wire.Execution{}, ""
		if len(k.Text) > textLimit {
			k.Text = strings.Clone(k.Text[:textLimit])
		}
		e := &Entry{Statement: *k, Arrived: now, tx: p.tx}
		u.entries = append(u.entries, e)
		for _, r := range g.recordings {
			if len(r.entries) < r.limit {
				r.entries = append(r.entries, e)
			} else {
				r.missed++
			}
		}
	}
	return l, g.matching(l, Before, p.tx)
}

// matching are the holds of a side that stop a unit, with the statement that
// each stops at: the unit is held as one. The gate's lock is held.
func (g *Gate) matching(l looked, side Side, tx *transaction) (out []match) {
	for _, h := range g.holds {
		if h.rule.Side != side {
			continue
		}
		for i, st := range l.statements {
			if h.matches(st, tx) {
				out = append(out, match{h, l.kept[i]})
				break
			}
		}
	}
	return out
}

// sent notes that the server is given what is there of a unit, and returns the
// holds that stop its answer. They are looked for as late as this so that who is
// held before a statement can be held after it next.
func (g *Gate) sent(s *session, u *unit, l looked) (after []match) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range u.entries {
		if e.Sent == 0 {
			e.Sent = g.now()
		}
	}
	return g.matching(l, After, s.requests.place.tx)
}

// answered notes the end of the n-th statement of a unit. The simple protocol
// may answer one text with several ends: the last counts, and an error for all.
func (g *Gate) answered(u *unit, n int, m wire.Message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(u.entries) == 0 {
		return
	}
	e := u.entries[min(n, len(u.entries)-1)]
	e.Answered = g.now()
	switch m.Kind {
	case wire.CommandComplete:
		e.Outcome = wire.ReadTag(m.Body)
	case wire.ErrorResponse:
		e.Outcome, e.Failed = wire.ReadState(m.Body), true
	}
}

// finished notes how the unit left the transaction.
func (g *Gate) finished(u *unit, status []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range u.entries {
		e.Status = string(status)
	}
}

// replied notes that the client has the answer.
func (g *Gate) replied(u *unit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range u.entries {
		e.Replied = g.now()
	}
}
