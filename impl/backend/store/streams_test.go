package store_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"assay/harness/postgres/pgtest"
	"assay/impl/backend"
	"assay/impl/backend/store"
	"assay/impl/backend/stream"
	"assay/impl/postgres"
	"github.com/jackc/pgx/v5"
)

// opened is a store with its streams, on a database of its own.
type opened struct {
	t *testing.T
	*store.Store
	*store.Streams
	log stream.Log
	url string
}

func openStore(t *testing.T) *opened {
	t.Helper()
	o := postgres.Options{URL: pgtest.ForTest(t).URL(), MaxConnections: 8, StatementTimeout: 20 * time.Second, TransactionTimeout: 30 * time.Second, Application: "store-test"}
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	streams, err := s.Streams(t.Context(), o, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(streams.Close)
	return &opened{t: t, Store: s, Streams: streams, log: streams.Log(), url: o.URL}
}

// Topics are called by one letter.
func topic(letter byte) backend.Topic {
	return backend.Topic("\x01" + string(bytes.Repeat([]byte{letter}, 32)))
}

// insert opens a transaction that has stored one envelope of size bytes for each
// letter.
func (o *opened) insert(size int, letters string) (backend.Tx, []int64) {
	o.t.Helper()
	ctx := o.t.Context()
	tx, err := o.Begin(ctx)
	if err != nil {
		o.t.Fatal(err)
	}
	ids, err := tx.Allocate(ctx, len(letters))
	if err != nil {
		o.t.Fatal(err)
	}
	var rows []backend.Row
	for i, id := range ids {
		row := backend.Row{SequenceID: id, Payload: make([]byte, size)}
		row.Topic = topic(letters[i])
		copy(row.Hash[:], fmt.Sprint(id))
		rows = append(rows, row)
	}
	if _, err := tx.Insert(ctx, rows); err != nil {
		o.t.Fatal(err)
	}
	return tx, ids
}

func (o *opened) commit(tx backend.Tx) {
	o.t.Helper()
	if err := tx.Commit(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
}

// tail says what moved since a snapshot, as in "a7 b9".
func (o *opened) tail(since stream.Snapshot) (stream.Snapshot, string) {
	o.t.Helper()
	tail, err := o.log.Tail(o.t.Context(), since)
	if err != nil {
		o.t.Fatal(err)
	}
	var moved []string
	for _, p := range tail.Moved {
		moved = append(moved, fmt.Sprintf("%c%d", p.Topic[1], p.After))
	}
	slices.Sort(moved)
	return tail.Snapshot, fmt.Sprint(moved)
}

func TestATailTellsOfEachTransactionOnceWhateverItsIds(t *testing.T) {
	o := openStore(t)
	since, moved := o.tail("")
	if moved != "[]" {
		t.Errorf("without a snapshot %s moved", moved)
	}
	expect := func(what, want string) {
		t.Helper()
		if since, moved = o.tail(since); moved != want {
			t.Errorf("%s: %s moved, not %s", what, moved, want)
		}
	}
	expect("nothing was stored", "[]")
	early, _ := o.insert(1, "a")
	late, _ := o.insert(1, "bbc")
	expect("nothing was committed", "[]")
	o.commit(late)
	expect("the higher ids committed", "[b3 c4]")
	expect("nothing happened since", "[]")
	o.commit(early)
	expect("the lower id committed", "[a1]")
	expect("nothing happened since that", "[]")
	gone, _ := o.insert(1, "d")
	gone.Rollback(t.Context())
	expect("a transaction rolled back", "[]")
}

// A standby does not say which transactions are running: from there everything
// from the oldest on is told again, and nothing is left out.
func TestATailFromAStandbysSnapshotLeavesNothingOut(t *testing.T) {
	o := openStore(t)
	early, _ := o.insert(1, "a")
	late, _ := o.insert(1, "b")
	o.commit(late)
	since, _ := o.tail("")
	var xmin, xmax, rest string
	parts := bytes.SplitN([]byte(since), []byte(":"), 3)
	xmin, xmax, rest = string(parts[0]), string(parts[1]), string(parts[2])
	if rest == "" {
		t.Fatalf("the snapshot %s has no running transaction", since)
	}
	o.commit(early)
	if _, moved := o.tail(stream.Snapshot("standby " + xmin + ":" + xmax + ":")); moved != "[a1 b2]" {
		t.Errorf("%s moved", moved)
	}
	for _, bad := range []stream.Snapshot{"nonsense", "1:2", "standby "} {
		if _, err := o.log.Tail(t.Context(), bad); err == nil {
			t.Errorf("snapshot %q was accepted", bad)
		}
	}
}

func TestHeadsComeInTheOrderAsked(t *testing.T) {
	o := openStore(t)
	tx, _ := o.insert(1, "aab")
	o.commit(tx)
	heads, err := o.Heads(t.Context(), []backend.Topic{topic('b'), topic('z'), topic('a')})
	if err != nil || !slices.Equal(heads, []int64{3, 0, 2}) {
		t.Errorf("heads are %v, %v", heads, err)
	}
}

func TestPagesKeepToTheirBudget(t *testing.T) {
	o := openStore(t)
	const large = 900_000
	tx, _ := o.insert(large, "abababab")
	o.commit(tx)
	tx, _ = o.insert(1, "ccccc")
	o.commit(tx)
	at := func(letter byte, after int64) backend.Position {
		return backend.Position{Topic: topic(letter), After: after}
	}
	for _, test := range []struct {
		name  string
		from  []backend.Position
		rows  int
		bytes int64
		want  string
		cut   int
	}{
		{"the budget ends in the first topic", []backend.Position{at('a', 0), at('b', 0)}, 64, 2 << 20, "[a1 a3]", 0},
		{"the budget ends between two topics", []backend.Position{at('a', 3), at('b', 0)}, 64, 2*large + 600, "[a5 a7]", 1},
		{"one envelope comes although it is too large", []backend.Position{at('b', 4), at('a', 0)}, 64, 10, "[b6]", 0},
		{"rows of each topic are bounded", []backend.Position{at('c', 0), at('z', 0), at('b', 4)}, 2, 8 << 20, "[c9 c10 b6 b8]", 3},
		{"above a cursor", []backend.Position{at('c', 11)}, 64, 8 << 20, "[c12 c13]", 1},
		{"nothing is there", []backend.Position{at('c', 13), at('z', 0)}, 64, 8 << 20, "[]", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			page, err := o.Page(t.Context(), test.from, test.rows, test.bytes)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, e := range page.Entries {
				got = append(got, fmt.Sprintf("%c%d", e.Topic[1], e.SequenceID))
				if len(e.Payload) == 0 || e.ServerNS == 0 || e.Hash == (backend.Hash{}) {
					t.Errorf("envelope %d lacks something", e.SequenceID)
				}
			}
			if fmt.Sprint(got) != test.want || page.Cut != test.cut {
				t.Errorf("got %v, cut at %d; want %s, cut at %d", got, page.Cut, test.want, test.cut)
			}
		})
	}
}

func TestACommitWakesWhoListensAndAKilledConnectionIsSaid(t *testing.T) {
	o := openStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	woken := make(chan struct{}, 100)
	ended := make(chan error, 1)
	go func() { ended <- o.log.Listen(ctx, func() { woken <- struct{}{} }) }()
	expect := func(what string) {
		t.Helper()
		select {
		case <-woken:
		case err := <-ended:
			t.Fatalf("%s: listening ended: %v", what, err)
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: nobody was woken", what)
		}
	}
	expect("it began to listen")
	tx, _ := o.insert(1, "a")
	o.commit(tx)
	expect("a transaction committed")
	conn, err := pgx.Connect(t.Context(), o.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'store-test-listen' AND datname = current_database()`); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case <-woken:
			continue
		case err := <-ended:
			if err == nil {
				t.Error("listening ended without an error")
			}
		case <-time.After(20 * time.Second):
			t.Error("nobody noticed that the connection is gone")
		}
		return
	}
}
