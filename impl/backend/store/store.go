// Package store is the backend's store in SQL, on Postgres 15 or newer.
//
// Start with [Open], which also brings the schema up to date. The statements are
// in sql.go, each under the name of its point; this file only carries values to
// and from them.
//
// It promises what [backend.Store] asks for: one method is one statement. It does
// not check what the pipeline has checked, but the schema's constraints turn a
// mistake of the pipeline into an error of kind Conflict.
package store

import (
	"context"
	"embed"
	"errors"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"assay/impl/backend"
	"assay/impl/postgres"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store implements [backend.Store]. Make one with Open.
type Store struct {
	pool      *postgres.Pool
	announcer *announcer
}

// Open connects and migrates. Several servers may open one database at once.
func Open(ctx context.Context, o postgres.Options) (*Store, error) {
	pool, err := postgres.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err == nil {
		err = postgres.Migrate(ctx, pool, "backend", files)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	s := &Store{pool: pool}
	s.announcer = announce(s)
	return s, nil
}

// Close closes the store's connections, waiting for those in use.
func (s *Store) Close() {
	s.announcer.close()
	s.pool.Close()
}

// Lookup implements [backend.Store].
func (s *Store) Lookup(ctx context.Context, keys []backend.Key) ([]backend.Known, error) {
	return lookup(keys, func(scan func(pgx.Rows) error, args ...any) error {
		return s.pool.Read(ctx, statements.lookup, scan, args...)
	})
}

// runner runs one statement, in a transaction or not.
type runner func(scan func(pgx.Rows) error, args ...any) error

func lookup(keys []backend.Key, run runner) ([]backend.Known, error) {
	topics, hashes := make([][]byte, len(keys)), make([][]byte, len(keys))
	for i := range keys {
		topics[i], hashes[i] = []byte(keys[i].Topic), keys[i].Hash[:]
	}
	var known []backend.Known
	err := run(func(rows pgx.Rows) error {
		var k backend.Known
		var ordinal int64
		err := rows.Scan(&ordinal, &k.SequenceID, &k.ServerNS, &k.ExpiryNS, &k.CommitOrProposal)
		k.Index = int(ordinal) - 1
		known = append(known, k)
		return err
	}, topics, hashes)
	return known, translate(err)
}

// History implements [backend.Store].
func (s *Store) History(ctx context.Context, topic backend.Topic) ([]backend.Entry, error) {
	var entries []backend.Entry
	err := s.pool.Read(ctx, statements.history, func(rows pgx.Rows) error {
		e := backend.Entry{Key: backend.Key{Topic: topic}}
		err := rows.Scan(&e.SequenceID, &e.Payload)
		entries = append(entries, e)
		return err
	}, []byte(topic))
	return entries, translate(err)
}

// Query implements [backend.Store].
func (s *Store) Query(ctx context.Context, from []backend.Position, limit int, maxBytes int64) (backend.Page, error) {
	topics, after := make([][]byte, len(from)), make([]int64, len(from))
	for i, p := range from {
		topics[i], after[i] = []byte(p.Topic), p.After
	}
	var page backend.Page
	err := s.pool.Read(ctx, statements.query, func(rows pgx.Rows) error {
		return scanEntry(rows, &page, true)
	}, topics, after, int64(limit), maxBytes)
	return page, translate(err)
}

// Newest implements [backend.Store].
func (s *Store) Newest(ctx context.Context, topics []backend.Topic, payloads bool, maxBytes int64) (backend.Page, error) {
	statement, args := statements.newest, []any{wire(topics)}
	if payloads {
		statement, args = statements.newestFull, append(args, maxBytes)
	}
	var page backend.Page
	err := s.pool.Read(ctx, statement, func(rows pgx.Rows) error {
		return scanEntry(rows, &page, payloads)
	}, args...)
	return page, translate(err)
}

// scanEntry adds a row to page. With payloads it has two columns more: the
// payload, which is NULL when all of them together are too large, and whether
// there is more.
func scanEntry(rows pgx.Rows, page *backend.Page, payloads bool) error {
	var e backend.Entry
	var topic, hash []byte
	columns := []any{&e.SequenceID, &topic, &hash, &e.ServerNS, &e.ExpiryNS, &e.CommitOrProposal, &e.Payload, &page.More}
	if !payloads {
		columns = columns[:6]
	}
	if err := rows.Scan(columns...); err != nil {
		return err
	}
	e.Topic = backend.Topic(topic)
	copy(e.Hash[:], hash)
	page.TooLarge = page.TooLarge || payloads && e.Payload == nil
	page.Entries = append(page.Entries, e)
	return nil
}

// Inboxes implements [backend.Store].
func (s *Store) Inboxes(ctx context.Context, identifiers []backend.Identifier) ([]backend.Resolved, error) {
	texts, kinds := make([]string, len(identifiers)), make([]int16, len(identifiers))
	for i, id := range identifiers {
		texts[i], kinds[i] = id.Text, id.Kind
	}
	var found []backend.Resolved
	err := s.pool.Read(ctx, statements.inboxes, func(rows pgx.Rows) error {
		var place int64
		var inbox []byte
		if err := rows.Scan(&place, &inbox); err != nil {
			return err
		}
		r := backend.Resolved{Index: int(place) - 1}
		copy(r.Inbox[:], inbox)
		found = append(found, r)
		return nil
	}, texts, kinds)
	return found, translate(err)
}

func wire(topics []backend.Topic) [][]byte {
	out := make([][]byte, len(topics))
	for i, t := range topics {
		out[i] = []byte(t)
	}
	return out
}

// translate gives a failure the kind that the pipeline knows.
func translate(err error) error {
	if err == nil {
		return nil
	}
	failed, ok := errors.AsType[*postgres.Error](err)
	if !ok {
		return &backend.StoreError{Kind: backend.Unavailable, Err: err}
	}
	kind := backend.Unavailable
	switch failed.Kind {
	case postgres.Timeout:
		kind = backend.Timeout
	case postgres.Invariant:
		kind = backend.Conflict
	case postgres.Canceled:
		kind = backend.Canceled
	}
	return &backend.StoreError{Kind: kind, Point: backend.Point(failed.Point), Err: failed.Err}
}
