package run

import (
	"context"
	"fmt"
	"reflect"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"assay/harness/gate"
	"assay/harness/postgres/pgtest"
	"assay/harness/schedule"
	"github.com/jackc/pgx/v5/pgxpool"
)

// words is a language whose operations and expectations are their own text.
type words struct{}

func (words) Operation(verb, arguments string) (schedule.Operation, error) {
	return strings.TrimSpace(verb + " " + arguments), nil
}
func (words) Expectation(text string) (schedule.Expectation, error) { return text, nil }

// logSession is a backend of one table in one session: "append W" locks the log,
// takes a position and commits; "loose W" does not lock; "read" reads.
type logSession struct{ pool *pgxpool.Pool }

func (l logSession) Close() error { return nil }

func (l logSession) Meets(expect schedule.Expectation, outcome any) error {
	if expect != outcome {
		return fmt.Errorf("got %q, want %q", outcome, expect)
	}
	return nil
}

func (l logSession) Perform(ctx context.Context, _ string, op schedule.Operation) (any, error) {
	verb, word, _ := strings.Cut(op.(string), " ")
	if verb == "silent" {
		return "nothing was sent", nil
	}
	if err := Announce(ctx, Content{Shared: [][]byte{[]byte("the log")}}); err != nil {
		return nil, err
	}
	if verb == "read" {
		var all string
		err := l.pool.QueryRow(ctx, "/*point='read'*/ SELECT coalesce(string_agg(word, ' ' ORDER BY id), '') FROM log WHERE name = $1", "the log").Scan(&all)
		return all, err
	}
	tx, err := l.pool.Begin(ctx)
	if err != nil {
		return err.Error(), nil
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if verb == "append" {
		if _, err := tx.Exec(ctx, "/*point='lock'*/ SELECT pg_advisory_xact_lock(1)"); err != nil {
			return "lost", nil
		}
	}
	for _, w := range strings.Split(word, "+") {
		if _, err := tx.Exec(ctx, "/*point='insert'*/ INSERT INTO log (name, word) VALUES ('the log', $1)", w); err != nil {
			return "lost", nil
		}
	}
	if _, err := tx.Exec(ctx, "/*point='commit'*/ COMMIT"); err != nil {
		return "lost", nil
	}
	return "stored", nil
}

func newLog(t *testing.T) (*gate.Gate, logSession) {
	t.Helper()
	database := pgtest.ForTest(t).URL()
	g, err := gate.New(gate.Config{Listen: "127.0.0.1:0", Database: database})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(context.Background()) }()
	url, err := g.URL(database)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pool.Close()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	if _, err := pool.Exec(t.Context(), "CREATE TABLE log (id bigserial PRIMARY KEY, name text, word text)"); err != nil {
		t.Fatal(err)
	}
	return g, logSession{pool}
}

// play performs a script and returns the error's text, "" for none.
func play(t *testing.T, g *gate.Gate, l logSession, text string, limit time.Duration) string {
	t.Helper()
	s, err := schedule.Parse("f.txt", "# Shows something.\ndecides API-011\n"+text, words{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.pool.Exec(t.Context(), "TRUNCATE log RESTART IDENTITY"); err != nil {
		t.Fatal(err)
	}
	var stops []schedule.Stop
	if err := (&forced{gate: g, session: l, file: "f.txt", limit: limit, stops: &stops}).perform(t.Context(), s); err != nil {
		return err.Error()
	}
	return ""
}

func TestAScheduleHappensAsItIsWritten(t *testing.T) {
	g, l := newLog(t)
	for name, text := range map[string]string{
		"who waits for a lock is known to wait": `
A: append one   hold after insert   expect stored
B: append two   until blocked       expect stored
R: read         expect
release A
wait A B
R: read         expect one two`,
		"whoever waits behind one that waits is known too": `
A: append one     hold before commit
B: append two     until blocked
C: append three   until blocked
release A
wait C A B
R: read           expect one two three`,
		"a lower id commits last": `
A: loose one    hold before commit
B: loose two    until blocked or returned   expect stored
R: read         expect two
release A until returned
R: read         expect one two`,
		"the second time at a point": `
A: loose one+two    hold before insert 2
B: loose three
release A hold after commit
R: read             expect one three two
release A`,
		"a reader is held outside of any transaction": `
R: read         hold before read   expect one
A: append one
release R until returned`,
		"a reader is held with its answer": `
R: read         hold after read    expect
A: append one
release R until returned
R: read         expect one`,
		"a cut after the commit": `
A: append one   hold after commit   expect lost
cut A
wait A
R: read         expect one`,
		"a cut before the commit": `
A: append one   hold before commit   expect lost
cut A
wait A
B: append two
R: read         expect two`,
		"somebody who returned lays no claim": `
R: read
A: append one   hold after insert
release A until returned
R: read
A: append two   hold before commit
R: read         expect one
release A until returned`,
		"nobody waits for ever for what cannot be seen": `
A: append one   hold after insert
B: append two   until returned or 20ms
C: loose three  until blocked or returned or 20ms
release A
wait A B C
R: read         expect one three two`,
		"an actor that nobody released goes on at the end": `
A: append one   hold before commit   expect stored`,
	} {
		// An expectation of nothing is written as no word.
		text = strings.ReplaceAll(text, "expect\n", "\n")
		t.Run(name, func(t *testing.T) {
			for range 20 {
				if err := play(t, g, l, text, 10*time.Second); err != "" {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestAScheduleThatCannotBeFollowedSaysWhereAndWhy(t *testing.T) {
	g, l := newLog(t)
	// The gate's own connection is opened by the first who waits for a lock.
	if err := play(t, g, l, "A: append one   hold after insert\nB: append two   until blocked", 10*time.Second); err != "" {
		t.Fatal(err)
	}
	const soon = time.Second
	for text, want := range map[string]string{
		"A: append one   hold before nowhere":                                  "f.txt:3: did not get where it meant to go: A returned before it came to hold before nowhere",
		"A: append one   hold before insert 2":                                 "f.txt:3: did not get where it meant to go: A returned before it came to hold before insert 2",
		"A: append one   hold after insert\nB: append two":                     "f.txt:4: did not get where it meant to go: B did not return: not within 1s; it waits for a lock that A keeps",
		"A: append one   hold after insert\nB: loose two   until blocked":      "f.txt:4: did not get where it meant to go: B returned and did not wait for a lock",
		"A: append one   hold after insert\nB: append two   hold after commit": "f.txt:4: did not get where it meant to go: B did not come to hold after commit: not within 1s; it waits for a lock that A keeps",
		"A: append one\nrelease A":                                             "f.txt:4: did not get where it meant to go: A is not held",
		"A: append one\ncut A":                                                 "f.txt:4: did not get where it meant to go: A is not held",
		"A: append one   expect lost\nrelease A":                               "f.txt:4: did not get where it meant to go: A is not held",
		"A: append one   hold after commit\nR: read   expect two":              `f.txt:4: did not get where it meant to go: got "one", want "two"`,
		"A: silent   hold before insert":                                       "f.txt:3: did not get where it meant to go: A returned before it came to hold before insert",
		"A: append one   hold before commit\nA: append two":                    "f.txt:4: did not get where it meant to go: its call of line 3: A did not return: not within 1s",
	} {
		if got := play(t, g, l, text, soon); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestAReplayStopsAtTheSameStatementsOrIsIncompatible(t *testing.T) {
	g, l := newLog(t)
	s, err := schedule.Parse("f.txt", "# Shows something.\ndecides API-011\nA: append one   hold after insert\nrelease A hold after commit\n", words{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(expected []schedule.Stop) ([]schedule.Stop, error) {
		var stops []schedule.Stop
		err := (&forced{gate: g, session: l, file: "f.txt", limit: 5 * time.Second, stops: &stops, expected: expected}).perform(t.Context(), s)
		return stops, err
	}
	first, err := run(nil)
	if err != nil || len(first) != 2 || first[0].Actor != "A" || first[0].Hold != "hold after insert" || first[0].Statement == "" {
		t.Fatalf("%v, %v", first, err)
	}
	if again, err := run(first); err != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("%v, %v", again, err)
	}
	other := []schedule.Stop{first[0], {Actor: "A", Hold: "hold after commit", Statement: "another"}}
	if _, err := run(other); err == nil || !strings.Contains(err.Error(), "f.txt:4: did not get where it meant to go: incompatible: A hold after commit at statement") {
		t.Errorf("another statement: %v", err)
	}
	if _, err := run(first[:1]); err == nil || !strings.Contains(err.Error(), "incompatible") {
		t.Errorf("one stop more: %v", err)
	}
}

// What is held in one schedule must not be held in the next, and nothing may
// run on.
func TestASchedulesHoldsEndWithIt(t *testing.T) {
	g, l := newLog(t)
	_ = play(t, g, l, "A: append one   hold before insert\nB: append two   until blocked\nR: read   hold before nowhere", 200*time.Millisecond)
	var stacks strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"run.(*forced)", "run.(*party)", "run.(*stop)"} {
		if strings.Contains(stacks.String(), of) {
			t.Errorf("something of %s runs on:\n%s", of, stacks.String())
		}
	}
	if got := play(t, g, l, "A: append one   expect stored\nB: append two   expect stored\nR: read   until returned   expect one two\nA: read   hold before read", time.Second); got != "" {
		t.Error(got)
	}
}

func TestContentOfOthersIsNoSign(t *testing.T) {
	a, b, c := []byte("a"), []byte("b"), []byte("c")
	if got := without([][]byte{a, b, c}, [][]byte{[]byte("b"), []byte("d")}); !reflect.DeepEqual(got, [][]byte{a, c}) {
		t.Errorf("got %q", got)
	}
}
