package learn_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"assay/harness/gate"
	"assay/harness/gate/learn"
	"assay/harness/postgres/pgtest"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m, func() error { return goleak.Find() }))
}

// play runs statements through a gate; a statement's arguments follow a bar.
func play(t *testing.T, points *gate.Points, setup string, modes []string, statements ...[2]string) (trace []gate.Entry) {
	t.Helper()
	db := pgtest.ForTest(t)
	g, err := gate.New(gate.Config{Listen: "127.0.0.1:0", Database: db.URL(), Points: points})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(context.Background()) }()
	defer func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		<-served
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	direct, err := pgx.Connect(ctx, db.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close(ctx)
	if _, err := direct.Exec(ctx, setup); err != nil {
		t.Fatal(err)
	}
	to, err := g.URL(db.URL())
	if err != nil {
		t.Fatal(err)
	}
	r := g.Record(1000)
	defer r.Stop()
	for _, mode := range modes {
		c, err := pgx.Connect(ctx, to+"&default_query_exec_mode="+mode)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for _, s := range statements {
				if _, err := c.Exec(ctx, s[0]); err != nil {
					t.Fatalf("%s: %v", s[0], err)
				}
			}
		}
		_ = c.Close(ctx)
	}
	trace, _ = r.Trace()
	return trace
}

func TestALearnedFileNamesTheSameStatementsAgain(t *testing.T) {
	for _, c := range []struct {
		name, setup string
		statements  [][2]string // text, and the point that it is
	}{
		{
			"a backend whose insert takes the id",
			"CREATE TABLE log (id bigserial PRIMARY KEY, topic text, hash text); CREATE TABLE migrations (n int)",
			[][2]string{
				{"begin", "begin"},
				{"INSERT INTO migrations VALUES (7)", ""},
				{"commit", "commit"},
				{"begin", "begin"},
				{"INSERT INTO log (topic, hash) VALUES ('a', 'it''s a secret'), ('b', 'another') RETURNING id", "publish.insert"},
				{"commit", "commit"},
				{"SELECT id, hash FROM log WHERE topic = 'a' AND id > 17 ORDER BY id LIMIT 100", "query.page"},
				{"SELECT id, hash FROM log WHERE topic = 'a' ORDER BY id DESC LIMIT 1", "newest.read"},
				{"LISTEN news", "listen"},
				{"SET statement_timeout = 5000", ""},
			},
		},
		{
			"a backend that locks and looks again",
			"CREATE SEQUENCE ids; CREATE TABLE envelopes (id bigint PRIMARY KEY, topic text, hash text)",
			[][2]string{
				{"SELECT id FROM envelopes WHERE hash = 'h'", "publish.lookup"},
				{"BEGIN ISOLATION LEVEL READ COMMITTED", "begin"},
				{"SELECT id, hash FROM envelopes WHERE topic = 'a' ORDER BY id", "publish.history"},
				{"SELECT pg_advisory_xact_lock(hashtext('a'))", "publish.lock"},
				{"SELECT id FROM envelopes WHERE hash = 'h'", "publish.recheck"},
				{"SELECT nextval('ids')", "publish.allocate"},
				{"INSERT INTO envelopes (id, topic, hash) SELECT coalesce(max(id), 0) + 1, 'a', 'h' FROM envelopes", "publish.insert"},
				{"COMMIT", "commit"},
				{"BEGIN ISOLATION LEVEL READ COMMITTED", "begin"},
				{"SELECT pg_advisory_xact_lock(hashtext('a'))", "publish.lock"},
				{"ROLLBACK", ""}, // given up behind the lock
				{"SELECT max(id) FROM envelopes WHERE topic = 'a'", "newest.read"},
				{"SELECT id, topic, hash FROM envelopes WHERE topic = 'a' AND id > 3 ORDER BY id LIMIT 10", "query.page"},
			},
		},
		{
			"an object mapper that quotes names and counts in a row",
			`CREATE TABLE "counters" ("topic" text PRIMARY KEY, "n" bigint); INSERT INTO "counters" VALUES ('a', 0);
			 CREATE TABLE "Messages" ("id" bigserial, "seq" bigint, "topic" text)`,
			[][2]string{
				{"START TRANSACTION", "begin"},
				{`SELECT "Messages"."id" FROM "Messages" WHERE "Messages"."topic" = 'a'`, "publish.lookup"},
				{`SELECT "n" FROM "counters" WHERE "topic" = 'a' FOR UPDATE`, "publish.lock"},
				{`SELECT "Messages"."id" FROM "Messages" WHERE "Messages"."topic" = 'a'`, "publish.recheck"},
				{`UPDATE "counters" SET "n" = "n" + 1 WHERE "topic" = 'a' RETURNING "n"`, "publish.allocate"},
				{`INSERT INTO "Messages" ("seq", "topic") VALUES (1, 'a')`, "publish.insert"},
				{"COMMIT", "commit"},
				{"BEGIN READ ONLY", "begin"},
				{`SELECT "Messages".* FROM "Messages" WHERE "Messages"."topic" = 'a' AND "Messages"."seq" > 0 ORDER BY "Messages"."seq" ASC LIMIT 5`, "query.page"},
				{"COMMIT", "commit"},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			modes := []string{"simple_protocol", "cache_statement"}
			file := learn.File(play(t, nil, c.setup, modes, c.statements...), 3)
			points, err := gate.ParsePoints("learned.yaml", []byte(file))
			if err != nil {
				t.Fatalf("%v\n%s", err, file)
			}
			for i, e := range play(t, points, c.setup, modes, c.statements...) {
				if want := c.statements[i%len(c.statements)]; e.Text != want[0] || e.Point != want[1] {
					t.Errorf("%q is %q, want %q", e.Text, e.Point, want[1])
				}
			}
			for _, value := range []string{"secret", "another", "17", "5000"} {
				if strings.Contains(file, value) {
					t.Errorf("the file holds the value %s", value)
				}
			}
			if !strings.Contains(file, "# 3 statements came after the recording was full") {
				t.Error("the file does not say what it misses")
			}
			unnamed := slices.ContainsFunc(c.statements, func(s [2]string) bool { return s[1] == "" })
			if strings.Contains(file, "# Not recognised:") != unnamed {
				t.Error("what was not recognised is not listed")
			}
			if t.Failed() {
				t.Log(file)
			}
		})
	}
}

func TestNothingToLearnIsSaid(t *testing.T) {
	file := learn.File(nil, 0)
	if !strings.Contains(file, "# No statement was recognised") {
		t.Error(file)
	}
	if _, err := gate.ParsePoints("f", []byte(file)); err == nil {
		t.Error("a file without points was taken")
	}
}
