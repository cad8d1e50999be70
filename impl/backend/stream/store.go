package stream

import (
	"context"

	"assay/impl/backend"
)

// The statements of subscriptions.
const (
	PointHead   backend.Point = "stream.head"
	PointPage   backend.Point = "stream.page"
	PointTail   backend.Point = "stream.tail"
	PointListen backend.Point = "stream.listen"
	PointNotify backend.Point = "stream.notify"
)

// Reads are the statements that sessions make. They may go to a replica
// (API-018), but all of them, and those of the Log, to one: what one statement
// saw, every later one sees. Methods may be called from many goroutines.
type Reads interface {
	// Heads returns the highest visible sequence id of each topic in order, 0
	// for an empty one.
	Heads(ctx context.Context, topics []backend.Topic) ([]int64, error)
	// Page reads what is above positions, the lowest ids of each topic first: at
	// most rows of each, and maxBytes altogether, but at least one envelope if
	// there is any. Positions name no topic twice.
	Page(ctx context.Context, from []backend.Position, rows int, maxBytes int64) (EntryPage, error)
}

// EntryPage is a page as the store returns it; Cut is as in [Page].
type EntryPage struct {
	Entries []backend.Entry
	Cut     int
}

// Log are the statements of the feed.
type Log interface {
	Reads
	// Tail returns which topics have envelopes that became visible after a
	// snapshot, and the snapshot that this was seen in. It may return more
	// topics than that, and never fewer. With the zero Snapshot it returns a
	// snapshot alone.
	Tail(ctx context.Context, since Snapshot) (Tail, error)
	// Listen calls wake once it listens, and then soon after envelopes were
	// stored, by whichever server. It returns when it no longer hears. A wake-up
	// may be lost; that costs time and nothing else.
	Listen(ctx context.Context, wake func()) error
}

// Snapshot says which transactions were visible. The zero value is none.
type Snapshot string

// Tail is what moved between two snapshots.
type Tail struct {
	Snapshot Snapshot
	// Moved has each topic with the highest of its new ids. The position's
	// After is that id.
	Moved []backend.Position
	// Overflow says that more topics moved than are listed.
	Overflow bool
}

// readPage reads a page and encodes its envelopes.
func readPage(ctx context.Context, reads Reads, r ReadPage) (Page, error) {
	found, err := reads.Page(ctx, r.From, r.Rows, r.Bytes)
	if err != nil {
		return Page{}, err
	}
	page := Page{Rows: make([]Row, len(found.Entries)), Cut: found.Cut}
	for i, e := range found.Entries {
		wire, err := backend.EncodeEntry(e)
		if err != nil {
			return Page{}, err
		}
		page.Rows[i] = Row{Topic: e.Topic, ID: e.SequenceID, Wire: wire}
	}
	return page, nil
}
