package run

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"

	"assay/harness/gate"
	"assay/harness/schedule"
)

// party is an actor of a schedule, with its latest call.
type party struct {
	name string
	step schedule.Step
	// number counts its calls, so that a statement of an earlier one is not
	// taken for one of this.
	number int

	// announced is closed when the session has said what the call is recognised
	// by, just before it sends.
	announced chan struct{}
	once      *sync.Once
	call      *gate.Call
	content   Content
	// stop is where it is to be held, nil for nowhere.
	stop *stop

	// done is closed when the call is over; outcome and err are set then.
	done    chan struct{}
	outcome any
	err     error
	met     bool // the outcome was held against the expectation
}

// label names the call at the gate.
func (p *party) label() string { return p.name + strconv.Itoa(p.number) }

func (p *party) asynchronous() bool {
	a, ok := p.step.Operation.(Asynchronous)
	return ok && a.Asynchronous()
}

// begin makes the call that a line says.
func (p *party) begin(f *forced, step schedule.Step) {
	p.step, p.met, p.outcome, p.err = step, false, nil, nil
	p.number++
	p.announced, p.once, p.done = make(chan struct{}), new(sync.Once), make(chan struct{})
	if !p.asynchronous() {
		p.stop = nil // what is held otherwise is held beside this step
	}
	ctx := context.WithValue(f.ctx, announcing{}, func(c Content) error { return p.announce(f, c) })
	done := p.done
	if step.Hold != nil {
		p.stop = newStop()
	}
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				p.err = fmt.Errorf("line %d panicked: %v\n%s", step.Line, v, debug.Stack())
			}
		}()
		p.outcome, p.err = f.session.Perform(ctx, step.Actor, step.Operation)
	}()
}

// announce tells the gate what the call is recognised by. What another call
// sends too is no sign of this one.
func (p *party) announce(f *forced, c Content) error {
	var err error
	p.once.Do(func() {
		defer close(p.announced)
		p.content = c
		own := Content{Own: c.Own}
		for _, other := range f.order {
			if other != p {
				own.Own = without(own.Own, other.content.Own)
			}
		}
		p.call = f.gate.Call(gate.Claim{Name: p.label(), Content: own.Own, Admission: !p.asynchronous()})
		if p.step.Hold != nil {
			err = p.stop.put(f, p, *p.step.Hold)
		}
	})
	return err
}

func without(all, known [][]byte) (out [][]byte) {
	for _, b := range all {
		same := false
		for _, k := range known {
			same = same || bytes.Equal(b, k)
		}
		if !same {
			out = append(out, b)
		}
	}
	return out
}

// hold sets where an actor that goes on stops next.
func (p *party) hold(f *forced, h schedule.Hold) error {
	p.stop = newStop()
	return p.stop.put(f, p, h)
}

// let lets the actor go on from where it is held.
func (p *party) let() {
	if p.stop != nil {
		p.stop.release()
		p.stop = nil
	}
}

// forget stops telling the call's statements from others'.
func (p *party) forget() {
	if p.call != nil {
		p.call.End()
		p.call = nil
	}
}

// heldBy is the server's process in which the actor is held, 0 for none.
func (p *party) heldBy() uint32 {
	if p.stop == nil {
		return 0
	}
	select {
	case <-p.stop.came:
		return p.stop.held.Statement.PID
	default:
		return 0
	}
}

// stop is one hold of one actor. A statement within a transaction is known to
// be the actor's by its transaction; one outside of any by what it carries.
type stop struct {
	came chan struct{} // closed when the actor stopped; held is set then
	held *gate.Held

	mu    sync.Mutex
	holds []*gate.Hold
	over  bool
	once  sync.Once
}

func newStop() *stop { return &stop{came: make(chan struct{})} }

// put puts the hold in force.
func (s *stop) put(f *forced, p *party, h schedule.Hold) error {
	side, err := gate.ParseSide(string(h.Side))
	if err != nil {
		return err
	}
	nth := func(is func(gate.Statement) bool) func(gate.Statement) bool {
		seen := 0
		return func(st gate.Statement) bool {
			if !is(st) {
				return false
			}
			seen++
			return seen == h.Nth
		}
	}
	content := p.content
	rules := []gate.Rule{
		{Point: h.Point, Side: side, Call: p.call, Match: nth(func(gate.Statement) bool { return true })},
		{Point: h.Point, Side: side, Match: nth(func(st gate.Statement) bool {
			return st.Call == "" && st.Position == 0 && carries(st, content)
		})},
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rules {
		hold, err := f.gate.Hold(r)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", h, p.name, err)
		}
		s.holds = append(s.holds, hold)
		f.waiting.Go(func() {
			held, err := hold.Stopped(f.ctx)
			if err != nil {
				return // released, or the schedule is over
			}
			first := false
			s.once.Do(func() {
				s.held, first = held, true
				close(s.came)
			})
			if !first {
				held.Release()
			}
		})
	}
	return nil
}

func carries(st gate.Statement, c Content) bool {
	for _, needles := range [][][]byte{c.Own, c.Shared} {
		for _, n := range needles {
			if st.Contains(n) {
				return true
			}
		}
	}
	return false
}

// release lets the actor go on; nobody stops there any more.
func (s *stop) release() { s.end((*gate.Hold).Release) }

// cut closes both ends of the connection on which the actor is held.
func (s *stop) cut() { s.end(func(h *gate.Hold) { h.Cut(gate.BothEnds) }) }

func (s *stop) end(how func(*gate.Hold)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.over = true
	for _, h := range s.holds {
		how(h)
	}
}

// missed says in a message what went by the hold, "" for nothing.
func (s *stop) missed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all gate.Passed
	for _, h := range s.holds {
		n := h.Passed()
		all.Others += n.Others
		all.Unattributed += n.Unattributed
	}
	if all.Unattributed > 0 {
		return fmt.Sprintf("; %d statements at that point could not be said to be anybody's", all.Unattributed)
	}
	return ""
}
