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
	// Do makes it happen and returns when the subject answers again. Calls go on
	// meanwhile, to be hit by it, until it says that the subject is gone; then no
	// new ones begin before it returns.
	Do func(ctx context.Context, gone func()) error
}

// PerformDisturbed is Perform with a disturbance.
func (m Mix) PerformDisturbed(ctx context.Context, s *Session, l run.Load, d Disturbance) error {
	every := max(1, len(l.Actors)*l.Operations/(d.Times+1))
	u := &disturber{disturbance: d, every: every}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	u.ctx, u.cancel = ctx, cancel
	err := m.perform(ctx, s, l, u)
	u.running.Wait()
	return errors.Join(u.failed(), err)
}

// disturber counts operations and disturbs.
type disturber struct {
	disturbance Disturbance
	every       int
	// ctx is the mix's own: a disturbance goes on when the actors have finished,
	// so that the subject is back for whoever comes next.
	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup

	mu       sync.Mutex // guards the rest
	finished int
	times    int
	busy     bool          // a disturbance is going on
	back     chan struct{} // not nil while the subject is gone; closed when it is back
	err      error
}

// done counts an operation of any actor, starts a disturbance when it is due,
// and waits while the subject is gone.
func (u *disturber) done(ctx context.Context) error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	u.finished++
	if u.finished%u.every == 0 && u.times < u.disturbance.Times && !u.busy {
		u.times++
		u.busy = true
		u.running.Go(u.disturb)
	}
	back := u.back
	u.mu.Unlock()
	if back == nil {
		return nil
	}
	select {
	case <-back:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (u *disturber) disturb() {
	back := make(chan struct{})
	err := u.disturbance.Do(u.ctx, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.back = back
	})
	if err != nil {
		err = fmt.Errorf("disturb the subject: %w", err)
		u.cancel(err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.err = errors.Join(u.err, err)
	u.busy, u.back = false, nil
	close(back)
}

func (u *disturber) failed() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}
