package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"assay/harness/run"
)

// Disturbance is what happens to a subject, or to the way there, in the middle
// of a mix.
type Disturbance struct {
	// Times is how often it happens, spread evenly over the operations of all
	// actors: when it happens follows from what was done and not from a clock.
	Times int
	// Do makes it happen and returns when the subject answers again. Calls that
	// are under way meanwhile are hit by it; no new ones begin until it is over.
	Do func(ctx context.Context) error
}

// PerformDisturbed is Perform with a disturbance.
func (m Mix) PerformDisturbed(ctx context.Context, s *Session, l run.Load, d Disturbance) error {
	every := max(1, len(l.Actors)*l.Operations/(d.Times+1))
	u := &disturber{disturbance: d, every: every, over: make(chan struct{})}
	close(u.over)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	u.cancel = cancel
	err := m.perform(ctx, s, l, u)
	u.running.Wait()
	return errors.Join(u.failed(), err)
}

// disturber counts operations and disturbs.
type disturber struct {
	disturbance Disturbance
	every       int
	cancel      context.CancelCauseFunc
	running     sync.WaitGroup

	mu       sync.Mutex // guards the rest
	finished int
	times    int
	over     chan struct{} // closed while nothing is going on
	err      error
}

// done counts an operation of any actor, starts a disturbance when it is due,
// and waits for the end of one that another actor started. The actor that
// starts it goes on: its next call is hit with those of the others.
func (u *disturber) done(ctx context.Context) error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	u.finished++
	over := u.over
	if u.finished%u.every == 0 && u.times < u.disturbance.Times && isOver(over) {
		u.times++
		mine := make(chan struct{})
		u.over = mine
		u.running.Go(func() { u.disturb(ctx, mine) })
		u.mu.Unlock()
		return nil
	}
	u.mu.Unlock()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func isOver(over chan struct{}) bool {
	select {
	case <-over:
		return true
	default:
		return false
	}
}

func (u *disturber) disturb(ctx context.Context, over chan struct{}) {
	defer close(over)
	if err := u.disturbance.Do(ctx); err != nil {
		err = fmt.Errorf("disturb the subject: %w", err)
		u.mu.Lock()
		u.err = err
		u.mu.Unlock()
		u.cancel(err)
	}
}

func (u *disturber) failed() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}
