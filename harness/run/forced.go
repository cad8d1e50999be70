package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"assay/harness/gate"
	"assay/harness/schedule"
)

// Gated is a Running whose traffic with its database passes through a gate of ours.
type Gated interface {
	// Gate is nil when the subject was given no database.
	Gate() *gate.Gate
}

// Asynchronous is an operation that is over for its actor before the subject
// has done what it asks for, such as a frame on a stream: the actor may return
// before it comes to the point where it is held.
type Asynchronous interface{ Asynchronous() bool }

// Content is what a call's statements may be recognised by in the traffic of
// the subject with its database.
type Content struct {
	// Own are bytes that no other call of the session sends, such as an envelope.
	Own [][]byte
	// Shared are bytes that others may send too, such as a topic.
	Shared [][]byte
}

type announcing struct{}

// Announce tells whoever holds calls at points what the call that is about to
// be made is recognised by. A session says it just before it sends; without a
// schedule it does nothing.
func Announce(ctx context.Context, c Content) error {
	if f, ok := ctx.Value(announcing{}).(func(Content) error); ok {
		return f(c)
	}
	return nil
}

// stepLimit bounds how long one line of a schedule may take.
const stepLimit = 15 * time.Second

// forced is a script in progress whose order is forced at a gate.
type forced struct {
	ctx     context.Context // the schedule's own
	waiting sync.WaitGroup  // for whoever stops at a hold
	limit   time.Duration   // for one line
	file    string
	gate    *gate.Gate
	session Session
	actors  map[string]*party
	order   []*party
	trace   *gate.Recording
	unmet   *Unmet
	// expected is what it is to be stopped at, nil for whatever comes; stops is
	// what it was stopped at.
	expected []schedule.Stop
	stops    *[]schedule.Stop
}

// traced bounds the statements that are remembered of one schedule.
const traced = 10_000

// perform plays the steps of a script, each within its limit. Its error says
// which line could not be followed, and why.
func (f *forced) perform(ctx context.Context, script *schedule.Script) error {
	ctx, cancel := context.WithCancel(ctx)
	f.ctx, f.actors, f.trace = ctx, make(map[string]*party), f.gate.Record(traced)
	defer func() {
		// Whoever is still held goes on, and whoever still waits is given up.
		for _, p := range f.order {
			p.let()
		}
		cancel()
		for _, p := range f.order {
			<-p.done
			p.forget()
		}
		f.waiting.Wait()
		f.trace.Stop()
	}()
	for _, step := range script.Steps {
		if err := f.step(ctx, step); err != nil {
			return &Unmet{File: f.file, Line: step.Line, Err: err}
		}
	}
	for _, p := range f.order {
		p.let()
		if err := f.returned(ctx, p); err != nil {
			return &Unmet{File: f.file, Line: p.step.Line, Err: err}
		}
	}
	if f.unmet != nil {
		return f.unmet
	}
	return nil
}

func (f *forced) step(ctx context.Context, step schedule.Step) error {
	ctx, cancel := context.WithTimeoutCause(ctx, f.limit, fmt.Errorf("not within %s", f.limit))
	defer cancel()
	switch step.Engine {
	case schedule.Release:
		for _, name := range step.Actors {
			p := f.actors[name]
			if p.stop == nil {
				return fmt.Errorf("%s is not held", name)
			}
			if err := f.release(ctx, p, step); err != nil {
				return err
			}
		}
		return nil
	case schedule.Cut:
		for _, name := range step.Actors {
			p := f.actors[name]
			if p.stop == nil {
				return fmt.Errorf("%s is not held", name)
			}
			p.stop.cut()
			p.stop = nil
		}
		return nil
	case schedule.Wait:
		for _, name := range step.Actors {
			if err := f.returned(ctx, f.actors[name]); err != nil {
				return err
			}
		}
		return nil
	}
	return f.call(ctx, step)
}

// call begins an actor's call and lets it go as far as the line says.
func (f *forced) call(ctx context.Context, step schedule.Step) error {
	p := f.actors[step.Actor]
	if p == nil {
		p = &party{name: step.Actor}
		f.actors[step.Actor] = p
		f.order = append(f.order, p)
	} else {
		if err := f.returned(ctx, p); err != nil {
			return fmt.Errorf("its call of line %d: %w", p.step.Line, err)
		}
		p.forget()
		if p.stop != nil && step.Hold != nil {
			return fmt.Errorf("%s is held already, since line %d", p.name, p.step.Line)
		}
	}
	p.begin(f, step)
	return f.goes(ctx, p, step)
}

// release lets a held actor go on, as far as the line says.
func (f *forced) release(ctx context.Context, p *party, step schedule.Step) error {
	old := p.stop
	p.stop = nil
	if step.Hold != nil {
		if err := p.hold(f, *step.Hold); err != nil {
			return err
		}
	}
	old.release()
	if step.Hold == nil && step.Until == 0 {
		return nil
	}
	return f.goes(ctx, p, step)
}

// goes waits until an actor has gone as far as a line says.
func (f *forced) goes(ctx context.Context, p *party, step schedule.Step) error {
	switch {
	case step.Hold != nil:
		return f.held(ctx, p, *step.Hold)
	case step.AtMost > 0:
		return f.patient(ctx, p, step)
	case step.Until.Has(schedule.Blocked):
		return f.blocked(ctx, p, step.Until)
	}
	return f.returned(ctx, p)
}

// patient waits as goes does, and no longer than the line says.
func (f *forced) patient(ctx context.Context, p *party, step schedule.Step) error {
	short, cancel := context.WithTimeout(ctx, step.AtMost)
	defer cancel()
	if step.Until.Has(schedule.Blocked) {
		if err := f.blocked(short, p, step.Until); err == nil || short.Err() == nil {
			return err
		}
		return context.Cause(ctx)
	}
	select {
	case <-p.done:
		return f.returned(ctx, p)
	case <-short.Done():
		return context.Cause(ctx)
	}
}

// held waits until an actor stops at its hold.
func (f *forced) held(ctx context.Context, p *party, h schedule.Hold) error {
	over := p.done
	if p.asynchronous() {
		over = nil
	}
	select {
	case <-p.announced:
	case <-over:
		return fmt.Errorf("%s returned before it came to %s", p.name, h)
	case <-ctx.Done():
		return fmt.Errorf("%s did not send: %w", p.name, context.Cause(ctx))
	}
	select {
	case <-p.stop.came:
		return f.stopped(p, h)
	case <-over:
	case <-ctx.Done():
		return fmt.Errorf("%s did not come to %s: %w%s", p.name, h, context.Cause(ctx), f.waitsFor(p))
	}
	select {
	case <-p.stop.came: // both came at once
		return f.stopped(p, h)
	default:
		return fmt.Errorf("%s returned before it came to %s%s", p.name, h, p.stop.missed())
	}
}

// stopped notes where an actor stopped. When it is known where it stopped before,
// another statement ends the schedule: it never guesses.
func (f *forced) stopped(p *party, h schedule.Hold) error {
	now := schedule.Stop{Actor: p.name, Hold: h.String(), Statement: p.stop.held.Statement.Digest}
	n := len(*f.stops)
	*f.stops = append(*f.stops, now)
	if f.expected == nil {
		return nil
	}
	if n >= len(f.expected) {
		return fmt.Errorf("incompatible: %s, where nothing more was held when the violation was found", now)
	}
	if f.expected[n] != now {
		return fmt.Errorf("incompatible: %s, not %s as when the violation was found", now, f.expected[n])
	}
	return nil
}

// returned waits until an actor's call is over, and holds the outcome against
// what its line expects.
func (f *forced) returned(ctx context.Context, p *party) error {
	limit, cancel := context.WithTimeoutCause(ctx, f.limit, fmt.Errorf("not within %s", f.limit))
	defer cancel()
	select {
	case <-p.done:
	case <-limit.Done():
		return fmt.Errorf("%s did not return: %w%s", p.name, context.Cause(limit), f.waitsFor(p))
	}
	if !p.asynchronous() {
		// Somebody who has returned lays no claim to what begins after.
		p.forget()
	}
	if p.err != nil {
		return p.err
	}
	if p.step.Expect == nil || p.met {
		return nil
	}
	p.met = true
	if err := f.session.Meets(p.step.Expect, p.outcome); err != nil && f.unmet == nil {
		f.unmet = &Unmet{File: f.file, Line: p.step.Line, Err: err}
	}
	return nil
}

// blocked waits until the database says that an actor waits for one that a hold
// stops, or until it has returned where that is as good.
func (f *forced) blocked(ctx context.Context, p *party, until schedule.Until) error {
	const between = time.Millisecond
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			if until.Has(schedule.Returned) {
				return f.returned(ctx, p)
			}
			return fmt.Errorf("%s returned and did not wait for a lock", p.name)
		default:
		}
		by, err := f.blockers(ctx, p)
		if err != nil {
			return err
		}
		if by != "" {
			return nil
		}
		select {
		case <-p.done:
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s neither returned nor came to wait for a lock of somebody who is held: %w", p.name, context.Cause(ctx))
		}
	}
}

// blockers names the held actors that an actor waits for, at first hand or
// behind others that wait; "" for none.
func (f *forced) blockers(ctx context.Context, p *party) (string, error) {
	id := f.sessionOf(p)
	if id == 0 {
		return "", nil
	}
	byPID := make(map[uint32]uint64)
	for _, s := range f.gate.Sessions() {
		byPID[s.PID] = s.ID
	}
	heldAt := make(map[uint32]string)
	for _, other := range f.order {
		if pid := other.heldBy(); pid != 0 {
			heldAt[pid] = other.name
		}
	}
	var names []string
	seen := map[uint64]bool{}
	for next := []uint64{id}; len(next) > 0; next = next[1:] {
		if seen[next[0]] {
			continue
		}
		seen[next[0]] = true
		w, err := f.gate.Blocked(ctx, next[0])
		if err != nil {
			if next[0] == id && ctx.Err() == nil {
				return "", nil // its connection is over: it will return
			}
			return "", err
		}
		for _, pid := range w.By {
			if name := heldAt[pid]; name != "" {
				names = append(names, name)
			} else if behind := byPID[pid]; behind != 0 {
				next = append(next, behind)
			}
		}
	}
	return strings.Join(names, " and "), nil
}

// waitsFor says in a message whom an actor waits for, "" for nobody.
func (f *forced) waitsFor(p *party) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	by, err := f.blockers(ctx, p)
	if err != nil || by == "" {
		return ""
	}
	return fmt.Sprintf("; it waits for a lock that %s keeps", by)
}

// sessionOf finds the database session in which an actor's latest statement
// ran, 0 when none is known to be its own.
func (f *forced) sessionOf(p *party) uint64 {
	entries, _ := f.trace.Trace()
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Call == p.label() {
			return entries[i].ID
		}
	}
	return 0
}

// errNoGate says that nothing can be held.
var errNoGate = errors.New("the subject's database traffic does not pass through a gate: nothing can be held")
