package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"assay/impl/backend"
	"assay/impl/postgres"
)

// Begin implements [backend.Store].
func (s *Store) Begin(ctx context.Context) (backend.Tx, error) {
	t, err := s.pool.Begin(ctx)
	if err != nil {
		return nil, translate(err)
	}
	return &tx{t: t, announcer: s.announcer}, nil
}

// tx implements [backend.Tx].
type tx struct {
	t         *postgres.Tx
	announcer *announcer
}

func (x *tx) LockIdentity(ctx context.Context) error {
	return translate(x.t.Run(ctx, statements.lockIdentity, nil))
}

func (x *tx) Lock(ctx context.Context, keys []int64) error {
	return translate(x.t.Run(ctx, statements.lock, nil, keys))
}

func (x *tx) Recheck(ctx context.Context, keys []backend.Key) ([]backend.Known, error) {
	return lookup(keys, func(scan func(pgx.Rows) error, args ...any) error {
		return x.t.Run(ctx, statements.recheck, scan, args...)
	})
}

func (x *tx) Heads(ctx context.Context, topics []backend.Topic) ([]int64, error) {
	return x.numbers(ctx, statements.heads, len(topics), wire(topics))
}

func (x *tx) Allocate(ctx context.Context, n int) ([]int64, error) {
	return x.numbers(ctx, statements.allocate, n, int64(n))
}

// numbers reads one column of exactly n numbers.
func (x *tx) numbers(ctx context.Context, s postgres.Statement, n int, args ...any) ([]int64, error) {
	out := make([]int64, 0, n)
	err := x.t.Run(ctx, s, func(rows pgx.Rows) error {
		var v int64
		err := rows.Scan(&v)
		out = append(out, v)
		return err
	}, args...)
	if err == nil && len(out) != n {
		return nil, conflict(s, "%d rows came back, not %d", len(out), n)
	}
	return out, translate(err)
}

func (x *tx) Insert(ctx context.Context, rows []backend.Row) ([]backend.Stored, error) {
	n := len(rows)
	ids, retention := make([]int64, n), make([]int64, n)
	topics, hashes, payloads := make([][]byte, n), make([][]byte, n), make([][]byte, n)
	flags := make([]bool, n)
	for i := range rows {
		r := &rows[i]
		ids[i], topics[i], hashes[i] = r.SequenceID, []byte(r.Topic), r.Hash[:]
		retention[i], flags[i], payloads[i] = r.Retention.Nanoseconds(), r.CommitOrProposal, r.Payload
	}
	stored := make([]backend.Stored, 0, n)
	moved := true
	err := x.t.Run(ctx, statements.insert, func(r pgx.Rows) error {
		var s backend.Stored
		err := r.Scan(&s.SequenceID, &s.ServerNS, &s.ExpiryNS, &s.CommitOrProposal, &moved)
		stored = append(stored, s)
		return err
	}, ids, topics, hashes, retention, flags, payloads)
	if err != nil {
		return nil, translate(err)
	}
	if !moved {
		return nil, conflict(statements.insert, "the head of a topic did not move up")
	}
	if len(stored) != n {
		return nil, conflict(statements.insert, "%d rows came back, not %d", len(stored), n)
	}
	for i := range stored {
		// Both are ascending by id.
		if stored[i].SequenceID != ids[i] {
			return nil, conflict(statements.insert, "id %d came back in place of %d", stored[i].SequenceID, ids[i])
		}
	}
	return stored, nil
}

func (x *tx) Project(ctx context.Context, changes []backend.Association) error {
	n := len(changes)
	identifiers, kinds, inboxes := make([]string, n), make([]int16, n), make([][]byte, n)
	ids, revoked := make([]int64, n), make([]bool, n)
	for i := range changes {
		c := &changes[i]
		identifiers[i], kinds[i], inboxes[i], ids[i], revoked[i] = c.Identifier, c.Kind, c.Inbox[:], c.SequenceID, c.Revoked
	}
	return translate(x.t.Run(ctx, statements.project, nil, identifiers, kinds, inboxes, ids, revoked))
}

func (x *tx) Commit(ctx context.Context) error {
	err := translate(x.t.Commit(ctx))
	// Also after an error, which may hide a commit.
	x.announcer.stored()
	return err
}

func (x *tx) Rollback(ctx context.Context) { x.t.Rollback(ctx) }

func conflict(s postgres.Statement, format string, args ...any) error {
	return &backend.StoreError{Kind: backend.Conflict, Point: backend.Point(s.Point()), Err: fmt.Errorf(format, args...)}
}
