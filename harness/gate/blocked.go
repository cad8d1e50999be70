package gate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// side is the gate's own connection, beside all sessions.
type side struct {
	config *pgx.ConnConfig
	mu     sync.Mutex
	conn   *pgx.Conn
	closed bool
}

// with lends the connection, opening it when there is none.
func (s *side) with(ctx context.Context, use func(*pgx.Conn) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errGateEnded
	}
	if s.conn == nil || s.conn.IsClosed() {
		config := s.config.Copy()
		config.RuntimeParams["application_name"] = "assay gate"
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return fmt.Errorf("the gate's own connection to the database: %w", err)
		}
		s.conn = conn
	}
	return use(s.conn)
}

func (s *side) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.conn.Close(ctx)
	s.conn = nil
	return err
}

// Wait is what the server says of a session at one moment.
type Wait struct {
	// By are the server processes that it waits for, directly: those that hold
	// what it wants, and those before it in the queue. Empty when it waits for
	// no lock.
	By []uint32
	// State, Kind and Event are pg_stat_activity's state, wait_event_type and
	// wait_event.
	State, Kind, Event string
}

// Blocked reports whether it waits for a lock.
func (w Wait) Blocked() bool { return len(w.By) > 0 }

// Blocked asks the server whether a session waits for a lock, and whose.
func (g *Gate) Blocked(ctx context.Context, id uint64) (Wait, error) {
	g.mu.Lock()
	s := g.live[id]
	g.mu.Unlock()
	if s == nil {
		return Wait{}, fmt.Errorf("gate: session %d is over", id)
	}
	pid := s.pid.Load()
	if pid == 0 {
		return Wait{}, fmt.Errorf("gate: the server has not yet named the process of session %d", id)
	}
	var w Wait
	err := g.side.with(ctx, func(c *pgx.Conn) error {
		var by []int32
		err := c.QueryRow(ctx, `SELECT pg_blocking_pids($1), coalesce(max(state), ''), coalesce(max(wait_event_type), ''), coalesce(max(wait_event), '')
			FROM pg_stat_activity WHERE pid = $1`, int32(pid)).Scan(&by, &w.State, &w.Kind, &w.Event)
		for _, p := range by {
			w.By = append(w.By, uint32(p))
		}
		return err
	})
	if err != nil {
		return Wait{}, fmt.Errorf("gate: asking whom session %d waits for: %w", id, err)
	}
	return w, nil
}

// ErrReturned says that what was to be blocked returned instead.
var ErrReturned = errors.New("it returned without waiting for a lock")

// AwaitBlocked waits until a session waits for a lock. It asks the server again
// and again until ctx ends, or until returned is closed, which is ErrReturned;
// nil is never.
func (g *Gate) AwaitBlocked(ctx context.Context, id uint64, returned <-chan struct{}) (Wait, error) {
	const between = 2 * time.Millisecond
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		w, err := g.Blocked(ctx, id)
		if err != nil || w.Blocked() {
			return w, err
		}
		select {
		case <-returned:
			return w, ErrReturned
		case <-ctx.Done():
			return w, fmt.Errorf("gate: session %d did not come to wait for a lock: %w: it is %s, waiting for %s %s", id, context.Cause(ctx), w.State, w.Kind, w.Event)
		case <-tick.C:
		}
	}
}
