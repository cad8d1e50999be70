package postgres

import (
	"context"
	"fmt"
	"time"
)

// awaitAnswer waits until a starting server lets us in with our password. It gives up when ended reports that the
// server is no more, at the end of ctx, or after the timeout. It looks again after each pause.
func awaitAnswer(ctx context.Context, a address, timeout, pause time.Duration, ended func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it does not answer after %s", timeout))
	defer cancel()
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		conn, err := a.connect(ctx, applicationAdmin)
		if err == nil {
			return conn.Close(ctx)
		}
		if err := ended(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the server: %w (last try: %v)", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}
