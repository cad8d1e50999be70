// Package loose is the reference store without its safety net: it keeps no heads
// of topics, so that nothing notices when ids and commits run out of step, and
// each of its faults undoes one thing by which publishes are kept in order. Start
// with [Store].
//
// It exists for faulty backends. It does not promise that a fault shows: most
// take two publishes that meet.
package loose

import (
	"context"
	"fmt"
	"sync"

	"assay/impl/backend"
	"assay/impl/backend/store"
	"assay/impl/postgres"
)

// Faults say what is undone. The zero value is a store that behaves like the
// reference.
type Faults struct {
	// IDsFirst takes ids before the locks of topics.
	IDsFirst bool
	// NoTopicLock takes no lock of topics.
	NoTopicLock bool
	// OldSnapshot lets a transaction see only what had committed when it began,
	// before it waited for locks.
	OldSnapshot bool
	// NoUnique lets the database hold an envelope twice.
	NoUnique bool
	// Renumber gives a stored envelope a new id when a copy of it is inserted.
	Renumber bool
	// CachedIDs is how many ids a connection takes at once; 0 is one.
	CachedIDs int
}

// Store is the inner store with faults. A store of any other kind is returned
// as it is.
func Store(inner backend.Store, f Faults) backend.Store {
	s, ok := inner.(*store.Store)
	if !ok {
		return inner
	}
	return &loose{Store: s, faults: f}
}

type loose struct {
	*store.Store
	faults Faults
	mu     sync.Mutex // guards ready
	ready  bool       // the schema allows what the faults do
}

var statements = struct {
	insert, insertOver, heads, newest, newestFull, old, dropUnique, findCopies postgres.Statement
}{
	insert:     at(backend.PointInsert, insert+returning),
	insertOver: at(backend.PointInsert, insert+` ON CONFLICT (topic, message_hash) DO UPDATE SET sequence_id = excluded.sequence_id`+returning),
	heads: at(backend.PointHeads, `
SELECT coalesce((SELECT max(e.sequence_id) FROM envelope AS e WHERE e.topic = w.topic), 0)
FROM unnest($1::bytea[]) WITH ORDINALITY AS w (topic, place) ORDER BY w.place`),
	newest:     at(backend.PointNewest, newest+`NULL::bytea`+newestFrom),
	newestFull: at(backend.PointNewest, newest+`e.payload`+newestFrom),
	old:        at(backend.PointBegin, `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`),
	dropUnique: at("schema", `ALTER TABLE envelope DROP CONSTRAINT IF EXISTS envelope_identity`),
	findCopies: at("schema", `CREATE INDEX IF NOT EXISTS envelope_copies ON envelope (topic, message_hash)`),
}

const insert = `
INSERT INTO envelope (sequence_id, topic, message_hash, server_ns, expiry_ns, is_commit_or_proposal, payload)
SELECT i.sequence_id, i.topic, i.message_hash, now.ns, now.ns + nullif(i.retention_ns, 0), i.is_commit_or_proposal, i.payload
FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bigint[], $5::boolean[], $6::bytea[])
	AS i (sequence_id, topic, message_hash, retention_ns, is_commit_or_proposal, payload)
CROSS JOIN (SELECT (extract(epoch FROM current_timestamp) * 1000000)::bigint * 1000 AS ns) AS now
ORDER BY i.sequence_id`

const returning = `
RETURNING sequence_id, server_ns, coalesce(expiry_ns, 0), is_commit_or_proposal`

const newest = `
SELECT e.sequence_id, e.topic, e.message_hash, e.server_ns, coalesce(e.expiry_ns, 0), e.is_commit_or_proposal, `

const newestFrom = `
FROM unnest($1::bytea[]) AS w (topic)
CROSS JOIN LATERAL (SELECT * FROM envelope AS f WHERE f.topic = w.topic ORDER BY f.sequence_id DESC LIMIT 1) AS e`

func at(point backend.Point, sql string) postgres.Statement {
	return postgres.NewStatement(string(point), sql)
}

// Newest reads the rows with the highest ids.
func (s *loose) Newest(ctx context.Context, topics []backend.Topic, payloads bool, maxBytes int64) (backend.Page, error) {
	statement := statements.newest
	if payloads {
		statement = statements.newestFull
	}
	var page backend.Page
	var size int64
	err := s.Pool().Read(ctx, statement, func(rows postgres.Rows) error {
		var e backend.Entry
		var topic, hash []byte
		if err := rows.Scan(&e.SequenceID, &topic, &hash, &e.ServerNS, &e.ExpiryNS, &e.CommitOrProposal, &e.Payload); err != nil {
			return err
		}
		e.Topic = backend.Topic(topic)
		copy(e.Hash[:], hash)
		size += int64(len(e.Payload))
		page.Entries = append(page.Entries, e)
		return nil
	}, wire(topics))
	page.TooLarge = payloads && size > maxBytes
	return page, store.Failed(err)
}

// prepare makes the schema allow what the faults do, once.
func (s *loose) prepare(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready {
		return nil
	}
	var todo []postgres.Statement
	if s.faults.NoUnique {
		todo = append(todo, statements.dropUnique, statements.findCopies)
	}
	if n := s.faults.CachedIDs; n > 0 {
		todo = append(todo, at("schema", fmt.Sprintf(`ALTER SEQUENCE envelope_sequence CACHE %d`, n)))
	}
	for _, statement := range todo {
		if err := s.Pool().Read(ctx, statement, nil); err != nil {
			return store.Failed(err)
		}
	}
	s.ready = true
	return nil
}

// Begin opens a transaction with the faults.
func (s *loose) Begin(ctx context.Context) (backend.Tx, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	inner, err := s.Store.Begin(ctx)
	if err != nil {
		return nil, err
	}
	t := &tx{Tx: inner, on: store.Transaction(inner), faults: s.faults}
	if s.faults.OldSnapshot {
		if err := t.on.Run(ctx, statements.old, nil); err != nil {
			inner.Rollback(ctx)
			return nil, store.Failed(err)
		}
	}
	return t, nil
}

// tx is a transaction with faults.
type tx struct {
	backend.Tx
	on     *postgres.Tx
	faults Faults
	early  []int64 // ids taken before the locks
}

// ahead is how many ids are taken before the locks; a request that needs more
// takes them when they are due.
const ahead = 8

func (t *tx) Lock(ctx context.Context, keys []int64) error {
	if t.faults.IDsFirst {
		var err error
		if t.early, err = t.Tx.Allocate(ctx, ahead); err != nil {
			return err
		}
	}
	if t.faults.NoTopicLock {
		keys = nil
	}
	return t.Tx.Lock(ctx, keys)
}

func (t *tx) Allocate(ctx context.Context, n int) ([]int64, error) {
	if n <= len(t.early) {
		return t.early[:n], nil
	}
	return t.Tx.Allocate(ctx, n)
}

func (t *tx) Heads(ctx context.Context, topics []backend.Topic) ([]int64, error) {
	var heads []int64
	err := t.on.Run(ctx, statements.heads, func(rows postgres.Rows) error {
		var v int64
		err := rows.Scan(&v)
		heads = append(heads, v)
		return err
	}, wire(topics))
	return heads, store.Failed(err)
}

func (t *tx) Insert(ctx context.Context, rows []backend.Row) ([]backend.Stored, error) {
	n := len(rows)
	ids, retention, flags := make([]int64, n), make([]int64, n), make([]bool, n)
	topics, hashes, payloads := make([][]byte, n), make([][]byte, n), make([][]byte, n)
	for i := range rows {
		r := &rows[i]
		ids[i], topics[i], hashes[i] = r.SequenceID, []byte(r.Topic), r.Hash[:]
		retention[i], flags[i], payloads[i] = r.Retention.Nanoseconds(), r.CommitOrProposal, r.Payload
	}
	statement := statements.insert
	if t.faults.Renumber {
		statement = statements.insertOver
	}
	stored := make([]backend.Stored, 0, n)
	err := t.on.Run(ctx, statement, func(r postgres.Rows) error {
		var s backend.Stored
		err := r.Scan(&s.SequenceID, &s.ServerNS, &s.ExpiryNS, &s.CommitOrProposal)
		stored = append(stored, s)
		return err
	}, ids, topics, hashes, retention, flags, payloads)
	if err != nil {
		return nil, store.Failed(err)
	}
	if len(stored) != n {
		return nil, &backend.StoreError{Kind: backend.Conflict, Point: backend.PointInsert, Err: fmt.Errorf("%d rows came back, not %d", len(stored), n)}
	}
	return stored, nil
}

func wire(topics []backend.Topic) [][]byte {
	out := make([][]byte, len(topics))
	for i, t := range topics {
		out[i] = []byte(t)
	}
	return out
}
