package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// How a run owns a database on a server that it shares with others:
//
// The owner keeps one session connected to its database, and that session holds an advisory lock. Postgres keeps
// advisory locks apart by database, so the lock has to be taken inside the very database it protects; were it taken in
// the database of the given URL, two runs with different URLs would not see each other's locks. Death of the owner in
// any form ends the session and frees the lock. A sweep takes the same lock, inside the same database, and drops only
// while it holds it.

// lockClass is the first half of the lock's key; the second half is the database's oid. Keys of two halves and keys of
// one bigint never collide, and no subject is likely to use this number ("assy" in ASCII).
const lockClass = 0x61737379

const tryLock = `SELECT pg_try_advisory_lock($1::int4, oid::int8::bit(32)::int4) FROM pg_database WHERE datname = current_database()`

// errHeld says that another session holds the owner's lock: a live owner, or a sweep about to drop the database.
var errHeld = errors.New("another session holds the owner's lock")

// owner keeps the lock of one database. A nil owner is one that is not needed.
type owner struct {
	address  address
	log      *slog.Logger
	cancel   context.CancelFunc
	done     chan struct{}
	expected atomic.Bool // the database is being dropped by us: losing the session is no news
}

// takeOwnership connects to the database, takes its lock and keeps it until release.
func takeOwnership(ctx context.Context, a address, log *slog.Logger) (*owner, error) {
	conn, err := lockOnce(ctx, a)
	if err != nil {
		return nil, err
	}
	// The lock outlives the run's context: Drop and Close release it, once the database is gone.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o := &owner{address: a, log: log, cancel: cancel, done: make(chan struct{})}
	go o.keep(ctx, conn)
	return o, nil
}

// lockOnce returns a session that holds the lock, or errHeld.
func lockOnce(ctx context.Context, a address) (*pgx.Conn, error) {
	conn, err := a.connect(ctx, applicationOwner)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", a, err)
	}
	var locked bool
	err = conn.QueryRow(ctx, tryLock, lockClass).Scan(&locked)
	if err == nil && !locked {
		err = errHeld
	}
	if err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("taking the owner's lock of %s: %w", a, err)
	}
	return conn, nil
}

// isMissing recognises the answer that a database does not exist.
func isMissing(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "3D000" // invalid_catalog_name
}

// isGone recognises, besides isMissing, that a database was dropped while we were on our way into it.
func isGone(err error) bool {
	var pg *pgconn.PgError
	return isMissing(err) || errors.As(err, &pg) &&
		(pg.Code == "57P01" || // admin_shutdown: the drop ended our session
			pg.Code == "55006") // object_in_use: the drop is under way
}

// keep waits until the session ends, and takes the lock again if that was not our wish: a server that restarts, or
// somebody who ends all sessions, must not make the database look abandoned for longer than that.
func (o *owner) keep(ctx context.Context, conn *pgx.Conn) {
	defer close(o.done)
	const (
		patience = 10 * time.Second      // for one attempt; a server may be gone for good
		pause    = 50 * time.Millisecond // between attempts: the lock looks free meanwhile, so not long
	)
	for {
		if conn != nil {
			for {
				if _, err := conn.WaitForNotification(ctx); err != nil {
					break
				}
			}
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			_ = conn.Close(closing)
			cancel()
		}
		if ctx.Err() != nil || o.expected.Load() {
			return
		}
		try, cancel := context.WithTimeout(ctx, patience)
		var err error
		conn, err = lockOnce(try, o.address)
		cancel()
		if err == nil {
			continue
		}
		if isMissing(err) && ctx.Err() == nil && !o.expected.Load() {
			o.log.Error("somebody dropped the database of this run", "database", o.address.String())
			return
		}
		retry := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-retry.C:
		}
		retry.Stop()
	}
}

// expectLoss says that the database is about to be dropped by its owner.
func (o *owner) expectLoss() {
	if o != nil {
		o.expected.Store(true)
	}
}

// release ends the session and waits for that.
func (o *owner) release() {
	if o != nil {
		o.cancel()
		<-o.done
	}
}
