package postgres

import (
	"context"
	"fmt"
	"time"
)

// waiting says how long a starting server is waited for.
type waiting struct {
	timeout time.Duration // for all
	try     time.Duration // for one connection: a packet filter may swallow it
	pause   time.Duration // before the next look

	// ended reports, if there is no other way to see it, that the server is no more and that waiting is in vain.
	ended func(context.Context) error
}

// awaitAnswer waits until a starting server lets us in with our password at one of the addresses, and returns that
// address.
func awaitAnswer(ctx context.Context, w waiting, addresses ...address) (address, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, w.timeout, fmt.Errorf("it does not answer after %s", w.timeout))
	defer cancel()
	ticker := time.NewTicker(w.pause)
	defer ticker.Stop()
	for {
		var last error
		for _, a := range addresses {
			try, cancel := context.WithTimeout(ctx, w.try)
			conn, err := a.connect(try, applicationAdmin)
			if err == nil {
				err = conn.Close(try)
			}
			cancel()
			if err == nil {
				return a, nil
			}
			last = err
		}
		if w.ended != nil && ctx.Err() == nil {
			if err := w.ended(ctx); err != nil {
				return address{}, err
			}
		}
		select {
		case <-ctx.Done():
			return address{}, fmt.Errorf("waiting for the server: %w (last try: %v)", context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}
