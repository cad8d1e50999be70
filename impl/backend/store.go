package backend

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"
)

// Point names one statement: a place where a request meets other requests, and
// where an actor of a schedule can be held. The same names tag the SQL.
type Point string

// The points, in the order in which a publish and then the reads reach them.
// Some are skipped: see [Publisher.Commit].
const (
	PointLookup       Point = "publish.lookup"
	PointHistory      Point = "publish.history"
	PointBegin        Point = "begin"
	PointLockIdentity Point = "publish.lock-identity"
	PointLock         Point = "publish.lock"
	PointRecheck      Point = "publish.recheck"
	PointHeads        Point = "publish.heads"
	PointAllocate     Point = "publish.allocate"
	PointInsert       Point = "publish.insert"
	PointProject      Point = "publish.project"
	PointCommit       Point = "commit"
	PointRollback     Point = "rollback"

	PointQuery         Point = "query.page"
	PointNewest        Point = "newest.read"
	PointLookupInboxes Point = "lookup.read"
)

// Store is the database as the pipeline sees it: one method is one statement,
// and a statement of its own sees everything that had committed when it began.
// Errors are *[StoreError]. Methods may be called from many goroutines.
type Store interface {
	// Lookup finds which of keys are stored. It answers by index into keys, in
	// any order, leaving out what is not there.
	Lookup(ctx context.Context, keys []Key) ([]Known, error)
	// History returns every envelope of an identity topic, ascending.
	History(ctx context.Context, topic Topic) ([]Entry, error)
	// Begin opens a transaction at READ COMMITTED: each of its statements sees
	// what had committed when that statement began.
	Begin(ctx context.Context) (Tx, error)
	// Query reads one page (section 6): the envelopes above each position, the
	// lowest sequence ids first, at most limit of them, and whether there were
	// more. Positions name no topic twice. When the payloads of the page exceed
	// maxBytes they are left out and the page says so.
	Query(ctx context.Context, from []Position, limit int, maxBytes int64) (Page, error)
	// Newest reads the newest envelope of each topic that has one (section 7),
	// with payloads only if asked for them; maxBytes is as in Query. Topics
	// repeat no topic.
	Newest(ctx context.Context, topics []Topic, payloads bool, maxBytes int64) (Page, error)
	// Inboxes finds the inbox with the latest association of each identifier
	// that has not been revoked (API-122), leaving out those without one.
	Inboxes(ctx context.Context, identifiers []Identifier) ([]Resolved, error)
}

// Tx is an open transaction. It belongs to one request. Locks that it takes are
// held until it ends.
type Tx interface {
	// LockIdentity takes the one lock that all writers of identity updates
	// share (API-014).
	LockIdentity(ctx context.Context) error
	// Lock takes the locks of topics in the order given, which must be
	// ascending and the same for everybody, or writers deadlock. Behind them it
	// takes the shared side of the allocation barrier.
	Lock(ctx context.Context, keys []int64) error
	// Recheck is Lookup again, and sees what committed while locks were waited
	// for (API-035).
	Recheck(ctx context.Context, keys []Key) ([]Known, error)
	// Heads returns the highest sequence id of each topic in order, 0 for an
	// empty one.
	Heads(ctx context.Context, topics []Topic) ([]int64, error)
	// Allocate takes n new sequence ids, ascending. They are gone for good,
	// also if the transaction fails (API-013).
	Allocate(ctx context.Context, n int) ([]int64, error)
	// Insert stores rows and moves the heads of their topics, which must go up.
	// It answers with what it assigned, in the order of rows.
	Insert(ctx context.Context, rows []Row) ([]Stored, error)
	// Project applies what identity updates change in the lookup of inboxes.
	Project(ctx context.Context, changes []Association) error
	// Commit ends the transaction. After an error other than of kind Conflict
	// nobody knows its outcome.
	Commit(ctx context.Context) error
	// Rollback ends a transaction that did not commit, whatever became of ctx,
	// and does nothing after Commit.
	Rollback(ctx context.Context)
}

// Hash is the message hash: SHA-256 of the stored bytes.
type Hash [sha256.Size]byte

// Key is what makes two envelopes the same envelope (API-033).
type Key struct {
	Topic Topic
	Hash  Hash
}

// Stored is what the backend assigned to an envelope when it stored it.
type Stored struct {
	SequenceID int64
	// ServerNS is the start of the storing transaction, nanoseconds since 1970.
	ServerNS int64
	// ExpiryNS is the earliest time of deletion, 0 for never.
	ExpiryNS         int64
	CommitOrProposal bool
}

// Known is a key that was found: Index is its place among those asked for.
type Known struct {
	Index int
	Stored
}

// Row is an envelope to store under an allocated id.
type Row struct {
	Key
	SequenceID int64
	// Retention is the time from storing to earliest deletion, 0 for never.
	Retention        time.Duration
	CommitOrProposal bool
	// Payload holds the canonical bytes, which Hash is the hash of.
	Payload []byte
}

// Entry is a stored envelope as a read returns it.
type Entry struct {
	Key
	Stored
	// Payload is nil where it was not asked for.
	Payload []byte
}

// Position is a topic and the sequence id above which to read it.
type Position struct {
	Topic Topic
	After int64
}

// Page is what one read statement found.
type Page struct {
	Entries []Entry
	// More says that entries matched beyond the limit.
	More bool
	// TooLarge says that payloads were left out for their size.
	TooLarge bool
}

// Association is one change of the lookup from identifier to inbox.
type Association struct {
	// Identifier is normalized by kind (API-122).
	Identifier string
	// Kind is the wire number of the identifier's kind.
	Kind int16
	// Inbox is the 32-byte id.
	Inbox [32]byte
	// SequenceID is the id of the identity update that says so.
	SequenceID int64
	// Revoked tells the end of an association from its beginning.
	Revoked bool
}

// StoreErrorKind says what a failed statement means to the caller.
type StoreErrorKind uint8

// The kinds; the zero value is none.
const (
	// Unavailable: try again later.
	Unavailable StoreErrorKind = iota + 1
	// Timeout: a statement or transaction took longer than it may.
	Timeout
	// Conflict: the store refused what the pipeline believed right. This is
	// never read as "a duplicate, so success" (API-036).
	Conflict
	// Canceled: the caller went away.
	Canceled
)

func (k StoreErrorKind) String() string {
	switch k {
	case Unavailable:
		return "unavailable"
	case Timeout:
		return "timeout"
	case Conflict:
		return "conflict"
	case Canceled:
		return "canceled"
	}
	return fmt.Sprintf("unknown kind %d", uint8(k))
}

// StoreError is a failed statement.
type StoreError struct {
	Kind  StoreErrorKind
	Point Point
	// Err may quote rows and addresses; it goes to the log and not to clients.
	Err error
}

func (e *StoreError) Error() string { return fmt.Sprintf("%s: %v: %v", e.Point, e.Kind, e.Err) }

// Unwrap returns the store's own error.
func (e *StoreError) Unwrap() error { return e.Err }
