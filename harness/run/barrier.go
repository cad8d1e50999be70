package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// Barrier lets the actors of one load meet, again and again: nobody goes on
// before everybody who still takes part has come. It makes collisions likely
// without a clock.
type Barrier struct {
	mu      sync.Mutex
	parties int
	waiting int
	open    chan struct{} // closed when the meeting that is being gathered is complete
}

// NewBarrier returns a barrier for n parties.
func NewBarrier(n int) *Barrier { return &Barrier{parties: n, open: make(chan struct{})} }

// Wait returns when every party waits, or with the cause when ctx ends.
func (b *Barrier) Wait(ctx context.Context) error {
	b.mu.Lock()
	b.waiting++
	open := b.open
	b.release()
	b.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Leave takes a party that does not wait out of every later meeting.
func (b *Barrier) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parties--
	b.release()
}

// release opens the gate when the last party has come. b.mu is held.
func (b *Barrier) release() {
	if b.waiting > 0 && b.waiting >= b.parties {
		close(b.open)
		b.open = make(chan struct{})
		b.waiting = 0
	}
}

// Together runs the numbered actors at the same time, started by one barrier,
// and returns what went wrong with any of them. The first error ends the others.
func Together(ctx context.Context, actors []int, do func(ctx context.Context, actor int, b *Barrier) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := NewBarrier(len(actors))
	errs := make([]error, len(actors))
	var wait sync.WaitGroup
	for i, a := range actors {
		wait.Go(func() {
			defer b.Leave()
			defer func() {
				if v := recover(); v != nil {
					errs[i] = fmt.Errorf("actor %d panicked: %v\n%s", a, v, debug.Stack())
					cancel(errs[i])
				}
			}()
			if err := b.Wait(ctx); err != nil {
				errs[i] = err
				return
			}
			if err := do(ctx, a, b); err != nil {
				errs[i] = fmt.Errorf("actor %d: %w", a, err)
				cancel(errs[i])
			}
		})
	}
	wait.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause // what ended the rest, not how the rest ended
	}
	return errors.Join(errs...)
}
