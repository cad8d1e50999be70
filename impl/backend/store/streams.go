package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"assay/impl/backend"
	"assay/impl/backend/stream"
	"assay/impl/postgres"
)

// Streams has the statements of subscriptions. It implements [stream.Reads] for
// the sessions on a pool that they share, and its Log is for the feed, which has
// a connection of its own: sessions that wait for a connection must not keep it
// from telling them.
type Streams struct {
	reads
	own  *postgres.Pool
	feed *postgres.Pool
	url  string
	// application names the program in pg_stat_activity.
	application string
	// replica says that the database is a standby, where nobody can listen.
	replica bool
}

// reads are the statements that sessions and feed have in common.
type reads struct{ pool *postgres.Pool }

// Streams opens what subscriptions read with. replicaURL names a standby to read
// from, "" the primary that the store is on; o is as for Open. Close it before
// the store.
func (s *Store) Streams(ctx context.Context, o postgres.Options, replicaURL string) (*Streams, error) {
	x := &Streams{reads: reads{s.pool}, url: o.URL, application: o.Application, replica: replicaURL != ""}
	if x.replica {
		o.URL, x.url = replicaURL, replicaURL
		pool, err := postgres.Open(ctx, o)
		if err != nil {
			return nil, err
		}
		x.own, x.pool = pool, pool
	}
	o.MaxConnections = 1
	o.Application += "-feed"
	feed, err := postgres.Open(ctx, o)
	if err != nil {
		x.closeOwn()
		return nil, err
	}
	x.feed = feed
	return x, nil
}

// Close closes the connections.
func (x *Streams) Close() {
	x.feed.Close()
	x.closeOwn()
}

func (x *Streams) closeOwn() {
	if x.own != nil {
		x.own.Close()
	}
}

// Log returns the statements of the feed.
func (x *Streams) Log() stream.Log { return &feedLog{reads: reads{x.feed}, from: x} }

// Heads implements [stream.Reads].
func (r reads) Heads(ctx context.Context, topics []backend.Topic) ([]int64, error) {
	heads := make([]int64, 0, len(topics))
	err := r.pool.Read(ctx, streaming.heads, func(rows pgx.Rows) error {
		var head int64
		err := rows.Scan(&head)
		heads = append(heads, head)
		return err
	}, wire(topics))
	if err == nil && len(heads) != len(topics) {
		return nil, conflict(streaming.heads, "%d heads came back, not %d", len(heads), len(topics))
	}
	return heads, translate(err)
}

// Page implements [stream.Reads].
func (r reads) Page(ctx context.Context, from []backend.Position, limit int, maxBytes int64) (stream.EntryPage, error) {
	topics, after := make([][]byte, len(from)), make([]int64, len(from))
	for i, p := range from {
		topics[i], after[i] = []byte(p.Topic), p.After
	}
	page := stream.EntryPage{Cut: len(from)}
	err := r.pool.Read(ctx, streaming.page, func(rows pgx.Rows) error {
		var e backend.Entry
		var place, cut int64
		var hash []byte
		if err := rows.Scan(&place, &cut, &e.SequenceID, &hash, &e.ServerNS, &e.ExpiryNS, &e.CommitOrProposal, &e.Payload); err != nil {
			return err
		}
		e.Topic = from[place-1].Topic
		copy(e.Hash[:], hash)
		page.Entries = append(page.Entries, e)
		page.Cut = int(cut) - 1
		return nil
	}, topics, after, int64(limit), maxBytes)
	return page, translate(err)
}

// feedLog implements [stream.Log].
type feedLog struct {
	reads
	from *Streams
}

// tailTopics is how many moved topics a tail lists.
const tailTopics = 50_000

// Tail implements [stream.Log].
func (l *feedLog) Tail(ctx context.Context, since stream.Snapshot) (stream.Tail, error) {
	var tail stream.Tail
	if since == "" {
		err := l.pool.Read(ctx, streaming.snapshot, func(rows pgx.Rows) error {
			return scanSnapshot(rows, &tail)
		})
		return tail, translate(err)
	}
	from, also, err := invisible(since)
	if err != nil {
		return tail, &backend.StoreError{Kind: backend.Conflict, Point: stream.PointTail, Err: err}
	}
	err = l.pool.Read(ctx, streaming.tail, func(rows pgx.Rows) error {
		var topic []byte
		var head int64
		if err := scanSnapshot(rows, &tail, &topic, &head); err != nil {
			return err
		}
		if topic != nil {
			tail.Moved = append(tail.Moved, backend.Position{Topic: backend.Topic(topic), After: head})
		}
		return nil
	}, from, also, int64(tailTopics+1))
	if len(tail.Moved) > tailTopics {
		tail.Moved, tail.Overflow = tail.Moved[:tailTopics], true
	}
	return tail, translate(err)
}

// A snapshot is remembered as the server writes it, xmin:xmax:running, with a
// "standby " in front when it is of one.
const onStandby = "standby "

func scanSnapshot(rows pgx.Rows, tail *stream.Tail, more ...any) error {
	var snapshot string
	var standby bool
	if err := rows.Scan(append([]any{&snapshot, &standby}, more...)...); err != nil {
		return err
	}
	if standby {
		snapshot = onStandby + snapshot
	}
	tail.Snapshot = stream.Snapshot(snapshot)
	return nil
}

// invisible says which transactions a snapshot did not show: all from one number
// on, and some below it. A standby does not say which transactions are running,
// so there everything from the oldest running one on counts; the feed knows what
// it has told already.
func invisible(s stream.Snapshot) (from string, also []string, err error) {
	text, standby := strings.CutPrefix(string(s), onStandby)
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return "", nil, fmt.Errorf("snapshot %.60q is not made of three parts", text)
	}
	if standby {
		return parts[0], []string{}, nil
	}
	also = []string{}
	if parts[2] != "" {
		also = strings.Split(parts[2], ",")
	}
	return parts[1], also, nil
}
