package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Rule says which statements are held, and where. What it leaves empty matches
// all.
type Rule struct {
	Point string
	Side  Side
	// Call limits it to statements that are known to be this call's.
	Call *Call
	// Match looks at the statement itself. It is called under the gate's lock:
	// it must be quick and call nothing of the gate.
	Match func(Statement) bool
	// Times is how many units are held; 0 is one, below 0 all.
	Times int
	// Delay lets each go on by itself after this long; 0 is never.
	Delay time.Duration
}

// Hold is a rule in force.
type Hold struct {
	gate *Gate
	rule Rule

	// Under the gate's lock.
	left     int // below 0 for no end
	ended    bool
	stopped  []*Held
	reported int
	passed   Passed
	changed  chan struct{} // closed when one more has stopped
}

// Passed counts the units at a hold's point that it did not stop.
type Passed struct {
	// Others were known to be another call's, or refused by Match.
	Others int
	// Unattributed were not known to be anybody's: whether one was the named
	// call's own nobody can say.
	Unattributed int
}

// Hold puts a rule in force. It applies to units that begin after it returned,
// and one with the side After to those whose request is held then: so who is held
// before a commit can be held after it next.
func (g *Gate) Hold(r Rule) (*Hold, error) {
	if r.Side != Before && r.Side != After {
		return nil, fmt.Errorf("gate: a hold at %q has no side: want before or after", r.Point)
	}
	if r.Point == "" && r.Match == nil && r.Call == nil {
		return nil, errors.New("gate: a hold that names neither point nor call and has no Match would hold everything")
	}
	h := &Hold{gate: g, rule: r, left: r.Times, changed: make(chan struct{})}
	if h.left == 0 {
		h.left = 1
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds = append(g.holds, h)
	g.watching.Add(1)
	return h, nil
}

// String names the hold in a message.
func (h *Hold) String() string {
	s := fmt.Sprintf("%s %s", h.rule.Side, h.rule.Point)
	if h.rule.Call != nil {
		s += " of call " + h.rule.Call.Name()
	}
	return s
}

// Stopped waits until one more session is stopped there and returns it: each
// once, in the order in which they came. ctx bounds the wait.
func (h *Hold) Stopped(ctx context.Context) (*Held, error) {
	for {
		h.gate.mu.Lock()
		if h.reported < len(h.stopped) {
			held := h.stopped[h.reported]
			h.reported++
			h.gate.mu.Unlock()
			return held, nil
		}
		passed, ended, changed := h.passed, h.ended, h.changed
		h.gate.mu.Unlock()
		if ended {
			return nil, fmt.Errorf("gate: the hold %s was released before a session stopped there", h)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("gate: no session stopped %s: %w: at that point %d statements of others and %d that nobody could be named for passed",
				h, context.Cause(ctx), passed.Others, passed.Unattributed)
		}
	}
}

// Passed counts what went by the hold.
func (h *Hold) Passed() Passed {
	h.gate.mu.Lock()
	defer h.gate.mu.Unlock()
	return h.passed
}

// Release ends the hold and lets everybody go on who is stopped there.
func (h *Hold) Release() {
	for _, held := range h.finish() {
		held.Release()
	}
}

// Cut ends the hold and cuts everybody who is stopped there.
func (h *Hold) Cut(e Ends) {
	for _, held := range h.finish() {
		held.Cut(e)
	}
}

func (h *Hold) finish() []*Held {
	h.gate.mu.Lock()
	defer h.gate.mu.Unlock()
	if !h.ended {
		h.ended = true
		h.wake()
		h.gate.holds = slices.DeleteFunc(h.gate.holds, func(o *Hold) bool { return o == h })
		h.gate.watching.Add(-1)
	}
	return slices.Clone(h.stopped)
}

// wake tells who waits in Stopped to look again. The gate's lock is held.
func (h *Hold) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// matches reports whether the hold stops a statement. The gate's lock is held.
func (h *Hold) matches(s Statement, tx *transaction) bool {
	if h.ended || h.left == 0 || h.rule.Point != "" && h.rule.Point != s.Point {
		return false
	}
	switch {
	case h.rule.Call != nil && tx.call == nil:
		h.passed.Unattributed++
		return false
	case h.rule.Call != nil && tx.call != h.rule.Call, h.rule.Match != nil && !h.rule.Match(s):
		h.passed.Others++
		return false
	}
	return true
}

// Ends are the ends of a session that Cut closes.
type Ends uint8

// The ends. With one of them the other stays as it is, and knows nothing, until
// Release: a client that waits for an answer that cannot come, or a server that
// keeps the locks of a client that is gone.
const (
	ClientEnd Ends = 1 << iota
	ServerEnd
	BothEnds = ClientEnd | ServerEnd
)

// Held is one session that stopped.
type Held struct {
	// Statement is what it stopped at.
	Statement Statement
	// Side is where.
	Side Side
	// At is when, since the gate began.
	At time.Duration

	session *session
	entries []*Entry
	once    sync.Once
	let     chan struct{}
	cut     bool // under the session's lock
}

// Release lets the session go on; after a Cut of one end it closes the other.
func (h *Held) Release() {
	h.once.Do(func() { close(h.let) })
	h.session.mu.Lock()
	cut := h.cut
	h.session.mu.Unlock()
	if cut {
		h.session.end(errCut)
	}
}

// Cut closes one end of the session or both. What is held there never arrives.
// It does nothing to a session that was released.
func (h *Held) Cut(e Ends) {
	h.session.mu.Lock()
	select {
	case <-h.let:
		h.session.mu.Unlock()
		return
	default:
		h.cut = true
		h.session.mu.Unlock()
	}
	g := h.session.gate
	g.mu.Lock()
	for _, entry := range h.entries {
		entry.Cut = true
	}
	g.mu.Unlock()
	switch e {
	case ClientEnd:
		h.session.sever(h.session.client, &h.session.clientCut)
	case ServerEnd:
		h.session.sever(h.session.server, &h.session.serverCut)
	default:
		h.session.end(errCut)
	}
}

// Ended is closed when the session is over, for whatever reason.
func (h *Held) Ended() <-chan struct{} { return h.session.ended }

// stop parks the session at each hold in turn, and reports whether it goes on.
func (s *session) stop(holds []match, u *unit, side Side) bool {
	for _, m := range holds {
		held := s.gate.park(s, m, u, side)
		if held == nil {
			continue
		}
		var timer <-chan time.Time
		if m.hold.rule.Delay > 0 {
			t := time.NewTimer(m.hold.rule.Delay)
			defer t.Stop()
			timer = t.C
		}
		select {
		case <-held.let:
		case <-s.ended:
			return false
		case <-timer:
			held.Release()
		}
		s.mu.Lock()
		cut := held.cut
		s.mu.Unlock()
		s.gate.unpark(u, held)
		if cut {
			return false
		}
	}
	return true
}

// match is a statement that a hold stops.
type match struct {
	hold      *Hold
	statement Statement
}

// park counts the session as stopped; nil when the hold has ended or has all
// that it wants.
func (g *Gate) park(s *session, m match, u *unit, side Side) *Held {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := m.hold
	if h.ended || h.left == 0 {
		return nil
	}
	h.left--
	held := &Held{Statement: m.statement, Side: side, At: g.now(), session: s, entries: u.entries, let: make(chan struct{})}
	h.stopped = append(h.stopped, held)
	for _, e := range u.entries {
		e.Stops = append(e.Stops, Stop{Hold: h.String(), From: held.At})
	}
	h.wake()
	return held
}

func (g *Gate) unpark(u *unit, held *Held) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range u.entries {
		e.Stops[len(e.Stops)-1].Until = g.now()
	}
}
