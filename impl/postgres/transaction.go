package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Tx is an open transaction at READ COMMITTED: every statement sees what had
// committed when it began. It belongs to one goroutine, and ends with exactly
// one of Commit and Rollback; after Commit, Rollback does nothing.
type Tx struct {
	conn     *pgxpool.Conn
	deadline time.Time
}

// Begin opens a transaction. Its budget runs from here.
func (p *Pool) Begin(ctx context.Context) (*Tx, error) {
	conn, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	tx := &Tx{conn: conn, deadline: time.Now().Add(p.budget)}
	if err := tx.command(ctx, "begin", p.begin, ""); err != nil {
		interrupted(conn)
		release(conn)
		return nil, err
	}
	return tx, nil
}

// Run runs one statement and calls scan, which may be nil, for each row.
func (t *Tx) Run(ctx context.Context, s Statement, scan func(pgx.Rows) error, args ...any) error {
	limited, cancel := context.WithDeadline(ctx, t.deadline)
	defer cancel()
	return run(ctx, limited, t.conn, s, scan, args)
}

// Commit ends the transaction. On an error of a kind other than Invariant its
// outcome is unknown.
func (t *Tx) Commit(ctx context.Context) error {
	err := t.command(ctx, "commit", "/*point='commit'*/ COMMIT", "COMMIT")
	if err != nil {
		interrupted(t.conn)
	}
	release(t.conn)
	t.conn = nil
	return err
}

// Rollback ends the transaction and forgets what it did. It does so even when
// ctx has ended, and has no error: a connection on which it fails is closed,
// which rolls back too.
func (t *Tx) Rollback(ctx context.Context) {
	if t.conn == nil {
		return
	}
	if conn := t.conn.Conn(); !conn.IsClosed() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelWait)
		defer cancel()
		if _, err := conn.PgConn().Exec(ctx, "/*point='rollback'*/ ROLLBACK").ReadAll(); err != nil {
			interrupted(t.conn)
		}
	}
	release(t.conn)
	t.conn = nil
}

// command sends a command without arguments; want is the tag that the server
// must answer with, if it matters.
func (t *Tx) command(ctx context.Context, point, sql, want string) error {
	limited, cancel := context.WithDeadline(ctx, t.deadline)
	defer cancel()
	results, err := t.conn.Conn().PgConn().Exec(limited, sql).ReadAll()
	if err == nil && want != "" && results[len(results)-1].CommandTag.String() != want {
		err = fmt.Errorf("%w: it answered %s", errAborted, results[len(results)-1].CommandTag)
	}
	return classify(ctx, point, err)
}
