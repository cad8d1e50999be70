// Package history holds what a run observed: calls, returns and their order.
// Start with Recorder, which appends, and History, which judges read.
//
// A history is append-only. It promises that events are in the order in which
// the harness saw them happen; it does not check that their values make sense,
// which is the business of a suite's model. Package history/file reads and
// writes histories; nothing here does I/O.
package history

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"assay/model"
)

// Header says where a history comes from.
type Header struct {
	Suite    string `json:"suite"`
	Scenario string `json:"scenario,omitempty"`
	// Session tells the histories of one scenario apart; "" when it has one.
	Session string `json:"session,omitempty"`
	Seed    uint64 `json:"seed"`
	Nonce   string `json:"nonce,omitempty"`
	Subject string `json:"subject,omitempty"`
}

// History is a header and its events in order.
type History struct {
	Header Header
	Events []model.Event
}

// Calls returns the number of invocations in the history.
func (h *History) Calls() int {
	n := 0
	for _, e := range h.Events {
		if e.Phase == model.Invoke {
			n++
		}
	}
	return n
}

// Without returns a copy that lacks the given calls; indices are renumbered.
func (h *History) Without(drop map[int]bool) *History {
	out := &History{Header: h.Header, Events: make([]model.Event, 0, len(h.Events))}
	for _, e := range h.Events {
		if e.Phase != model.Mark && drop[e.Call] {
			continue
		}
		e.Index = len(out.Events)
		out.Events = append(out.Events, e)
	}
	return out
}

// Recorder appends events from many actors at once. Each actor writes to its
// own log; the only thing actors share is one atomic counter, so recording
// adds no lock to the calls it observes. The zero value is not usable; call
// NewRecorder.
type Recorder struct {
	header Header
	now    func() time.Duration
	order  atomic.Int64
	calls  atomic.Int64

	mu     sync.Mutex // guards actors (not their events)
	actors map[string]*Actor
}

// NewRecorder starts an empty history. now returns the time since the run
// began on a monotonic clock; it is handed in so that a test can own time.
func NewRecorder(h Header, now func() time.Duration) *Recorder {
	return &Recorder{header: h, now: now, actors: make(map[string]*Actor)}
}

// Actor is one client's own log. Its methods must not be called concurrently
// with each other: the calls of one actor do not overlap.
type Actor struct {
	r      *Recorder
	name   string
	events []ordered
}

type ordered struct {
	order int64
	event model.Event
}

// Actor returns the log of the named actor, creating it at first use.
func (r *Recorder) Actor(name string) *Actor {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.actors[name]
	if a == nil {
		a = &Actor{r: r, name: name}
		r.actors[name] = a
	}
	return a
}

// Invoke records that a call is about to be made and returns its number,
// counted from 1.
func (a *Actor) Invoke(value any) (call int) {
	call = int(a.r.calls.Add(1))
	a.append(model.Event{Phase: model.Invoke, Actor: a.name, Call: call, Value: value})
	return call
}

// Return records what came of the call.
func (a *Actor) Return(call int, value any) {
	a.append(model.Event{Phase: model.Return, Actor: a.name, Call: call, Value: value})
}

// Send records that one more message of the open call is about to leave.
func (a *Actor) Send(call int, value any) {
	a.append(model.Event{Phase: model.Send, Actor: a.name, Call: call, Value: value})
}

// Receive records that a message of the open call arrived.
func (a *Actor) Receive(call int, value any) {
	a.append(model.Event{Phase: model.Receive, Actor: a.name, Call: call, Value: value})
}

// Mark records something beside the calls.
func (a *Actor) Mark(value any) {
	a.append(model.Event{Phase: model.Mark, Actor: a.name, Value: value})
}

func (a *Actor) append(e model.Event) {
	// The counter is read after the call's own effects, so that the order of
	// two events never contradicts real time: an invoke is numbered before the
	// request leaves, a return after the answer came.
	e.At = a.r.now()
	a.events = append(a.events, ordered{order: a.r.order.Add(1), event: e})
}

// History returns everything recorded so far, in order. It must not run
// concurrently with recording; a call without a return stays open.
func (r *Recorder) History() *History {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []ordered
	for _, a := range r.actors {
		all = append(all, a.events...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].order < all[j].order })
	h := &History{Header: r.header, Events: make([]model.Event, len(all))}
	for i, o := range all {
		o.event.Index = i
		h.Events[i] = o.event
	}
	return h
}

// Validate reports the first event that no history can hold: an unordered
// index, a return without its invoke, two returns of one call, a message of a
// call that is not open, an actor whose calls overlap.
func (h *History) Validate() error {
	type state struct {
		actor    string
		returned bool
	}
	calls := make(map[int]*state)
	open := make(map[string]int)
	for i, e := range h.Events {
		if e.Index != i {
			return fmt.Errorf("event %d has index %d: indices count up from 0", i, e.Index)
		}
		switch e.Phase {
		case model.Mark:
		case model.Invoke:
			if calls[e.Call] != nil {
				return fmt.Errorf("event %d invokes call %d a second time", i, e.Call)
			}
			if c, ok := open[e.Actor]; ok {
				return fmt.Errorf("event %d: actor %q invokes call %d while its call %d is open", i, e.Actor, e.Call, c)
			}
			calls[e.Call] = &state{actor: e.Actor}
			open[e.Actor] = e.Call
		case model.Return:
			c := calls[e.Call]
			switch {
			case c == nil:
				return fmt.Errorf("event %d returns call %d, which was never invoked", i, e.Call)
			case c.returned:
				return fmt.Errorf("event %d returns call %d a second time", i, e.Call)
			case c.actor != e.Actor:
				return fmt.Errorf("event %d: actor %q returns call %d of actor %q", i, e.Actor, e.Call, c.actor)
			}
			c.returned = true
			delete(open, e.Actor)
		case model.Send, model.Receive:
			c := calls[e.Call]
			switch {
			case c == nil || c.returned:
				return fmt.Errorf("event %d is a message of call %d, which is not open", i, e.Call)
			case c.actor != e.Actor:
				return fmt.Errorf("event %d: actor %q has a message of call %d of actor %q", i, e.Actor, e.Call, c.actor)
			}
		default:
			return fmt.Errorf("event %d has phase %v: use invoke, return, mark, send or receive", i, e.Phase)
		}
	}
	return nil
}
