package gate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"assay/harness/gate"
	"assay/harness/postgres/pgtest"
)

// modes are the ways in which pgx can send a statement.
var modes = map[string]string{"simple": "simple_protocol", "described": "describe_exec", "prepared": "cache_statement", "unnamed": "exec"}

func TestBytesArePassedOnUnchangedBothWays(t *testing.T) {
	db := pgtest.ForTest(t)
	for _, looking := range []string{"idle", "recording", "holding what never comes"} {
		t.Run(looking, func(t *testing.T) {
			behind := tapTo(t, fmt.Sprintf("%s:%d", db.Host(), db.Port()), true)
			g := open(t, db.URLAt(behind.Addr().String()))
			before := tapTo(t, g.Addr().String(), true)
			switch looking {
			case "recording":
				defer g.Record(1000).Stop()
			case "holding what never comes":
				defer hold(t, g, gate.Rule{Point: "never", Side: gate.After}).Release()
			}
			for name, mode := range modes {
				to := with(t, db.URLAt(before.Addr().String()), "default_query_exec_mode", mode, "sslmode", "disable")
				c := connect(t, to)
				exec(t, c, "DROP TABLE IF EXISTS things")
				exec(t, c, "CREATE TABLE things (id int, data bytea)")
				exec(t, c, "INSERT INTO things VALUES ($1, $2)", 1, bytes.Repeat([]byte(name), 5000))
				exec(t, c, "INSERT INTO things SELECT i, $1 FROM generate_series(2, 500) i", bytes.Repeat([]byte{7}, 3000))
				rows, err := c.Query(within(t), "SELECT id, data FROM things ORDER BY id")
				if err != nil {
					t.Fatal(err)
				}
				all, err := pgx.CollectRows(rows, pgx.RowToMap)
				if err != nil || len(all) != 500 {
					t.Fatalf("%d rows, %v", len(all), err)
				}
				if _, err := c.Exec(within(t), "SELECT 1/0"); sqlState(err) != "22012" {
					t.Fatalf("division by zero: %v", err)
				}
				if err := c.Close(within(t)); err != nil {
					t.Fatal(err)
				}
			}
			before.stop()
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			behind.stop()
			if !bytes.Equal(before.up, behind.up) {
				t.Errorf("the client sent %d bytes, the server got %d others", len(before.up), len(behind.up))
			}
			if !bytes.Equal(before.down, behind.down) {
				t.Errorf("the server sent %d bytes, the client got %d others", len(behind.down), len(before.down))
			}
			if len(before.down) < 4*500*3000 {
				t.Errorf("only %d bytes came back", len(before.down))
			}
		})
	}
}

func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestStatementsAreKnownInEveryProtocol(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			c := connect(t, through(t, g, db.URL()), "default_query_exec_mode", mode)
			r := g.Record(100)
			defer r.Stop()
			exec(t, c, "BEGIN")
			exec(t, c, "SELECT length($1::text) /*point='measure'*/", "hello")
			if _, err := c.Exec(within(t), "SELECT 1/$1::int", 0); sqlState(err) != "22012" {
				t.Fatal(err)
			}
			exec(t, c, "ROLLBACK")
			trace, missed := r.Trace()
			if len(trace) != 4 || missed != 0 {
				t.Fatalf("%d statements, %d missed: %+v", len(trace), missed, trace)
			}
			for i, want := range []struct {
				outcome, status, point string
				failed                 bool
			}{{"BEGIN", "T", "", false}, {"SELECT 1", "T", "measure", false}, {"22012", "E", "", true}, {"ROLLBACK", "I", "", false}} {
				e := trace[i]
				if e.Outcome != want.outcome || e.Status != want.status || e.Point != want.point || e.Failed != want.failed || e.Position != i+1 {
					t.Errorf("statement %d: got %+v, want %+v", i+1, e, want)
				}
				if e.Arrived > e.Sent || e.Sent > e.Answered || e.Answered > e.Replied || e.Replied == 0 {
					t.Errorf("statement %d: times out of order: %+v", i+1, e)
				}
				if e.Text == "" || e.PID == 0 {
					t.Errorf("statement %d: no text or process: %+v", i+1, e)
				}
			}
			if mode != "simple_protocol" && (len(trace[1].Values) != 1 || trace[1].Values[0].Bytes != 5) {
				t.Errorf("values %+v", trace[1].Values)
			}
		})
	}
}

func TestPipelinedUnitsAreToldApart(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	c := connect(t, through(t, g, db.URL()))
	r := g.Record(1000)
	defer r.Stop()
	p := c.PgConn().StartPipeline(within(t))
	for i := range 50 {
		p.SendQueryParams(fmt.Sprintf("SELECT %d, $1::text", i), [][]byte{[]byte("x")}, nil, nil, nil)
		if err := p.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	trace, _ := r.Trace()
	if len(trace) != 50 {
		t.Fatalf("%d statements", len(trace))
	}
	for i, e := range trace {
		if e.Text != fmt.Sprintf("SELECT %d, $1::text", i) || e.Outcome != "SELECT 1" || e.Status != "I" {
			t.Errorf("statement %d: %+v", i, e)
		}
	}

	// Several statements before one Sync are one unit.
	batch := new(pgx.Batch)
	for range 3 {
		batch.Queue("SELECT $1::int", 1)
	}
	if err := c.SendBatch(within(t), batch).Close(); err != nil {
		t.Fatal(err)
	}
	trace, _ = r.Trace()
	if last := trace[len(trace)-1]; last.Part != 3 || last.Parts != 3 || last.Outcome != "SELECT 1" {
		t.Errorf("the last of a batch: %+v", last)
	}
}

func TestStatementsPreparedBeforeAnybodyLookedAreKnownByText(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	c := connect(t, through(t, g, db.URL()))
	if _, err := c.Prepare(within(t), "early", "SELECT $1::int + 1 /*point='sum'*/"); err != nil {
		t.Fatal(err)
	}
	h := hold(t, g, gate.Rule{Point: "sum", Side: gate.Before})
	got := later(func() (n int) { _ = c.QueryRow(context.Background(), "early", 41).Scan(&n); return n })
	held := stopped(t, h)
	if held.Statement.Text != "SELECT $1::int + 1 /*point='sum'*/" {
		t.Errorf("stopped at %+v", held.Statement)
	}
	held.Release()
	if n := await(t, "the answer", got); n != 42 {
		t.Errorf("got %d", n)
	}
}

// raw is a client that sends what a test says.
type raw struct {
	net.Conn
	*pgproto3.Frontend
}

// login takes over the connection of a session that pgx has opened.
func login(t testing.TB, to string) *raw {
	t.Helper()
	c, err := pgconn.Connect(within(t), to)
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Conn.Close() })
	if err := h.Conn.SetDeadline(deadline(t)); err != nil {
		t.Fatal(err)
	}
	return &raw{h.Conn, h.Frontend}
}

func (r *raw) say(t testing.TB, messages ...pgproto3.FrontendMessage) {
	t.Helper()
	for _, m := range messages {
		r.Send(m)
	}
	if err := r.Frontend.Flush(); err != nil {
		t.Fatal(err)
	}
}

// hear reads until a message of this kind, and names all that came.
func (r *raw) hear(t testing.TB, last string) (heard string) {
	t.Helper()
	for {
		m, err := r.Receive()
		if err != nil {
			t.Fatalf("after %q: %v", heard, err)
		}
		name := strings.TrimPrefix(fmt.Sprintf("%T", m), "*pgproto3.")
		heard += name + " "
		if name == last {
			return heard
		}
	}
}

func TestAPrefixSentAheadIsPassedOn(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	for _, ahead := range []struct {
		name string
		end  pgproto3.FrontendMessage
		last string
	}{{"with Flush", &pgproto3.Flush{}, "RowDescription"}, {"with Sync", &pgproto3.Sync{}, "ReadyForQuery"}} {
		for _, name := range []string{"", "named"} {
			t.Run(ahead.name+" "+name, func(t *testing.T) {
				c := login(t, through(t, g, db.URL()))
				h := hold(t, g, gate.Rule{Point: "ahead", Side: gate.Before})
				c.say(t, &pgproto3.Parse{Name: name, Query: "SELECT 1 /*point='ahead'*/"}, &pgproto3.Describe{ObjectType: 'S', Name: name}, ahead.end)
				c.hear(t, ahead.last)
				c.say(t, &pgproto3.Bind{PreparedStatement: name}, &pgproto3.Execute{}, &pgproto3.Sync{})
				held := stopped(t, h)
				held.Release()
				if got := c.hear(t, "ReadyForQuery"); got != "BindComplete DataRow CommandComplete ReadyForQuery " {
					t.Errorf("got %s", got)
				}
			})
		}
	}
}

func TestAPipelineWithFlushIsHeldAndAnswered(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	c := login(t, through(t, g, db.URL()))
	h := hold(t, g, gate.Rule{Point: "flushed", Side: gate.After})
	c.say(t, &pgproto3.Parse{Query: "SELECT 1 /*point='flushed'*/"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Flush{})
	held := stopped(t, h)
	held.Release()
	c.hear(t, "CommandComplete")
	c.say(t, &pgproto3.Sync{})
	c.hear(t, "ReadyForQuery")
}

func TestCopyPassesBothWays(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	for _, watched := range []bool{false, true} {
		t.Run(fmt.Sprint("watched ", watched), func(t *testing.T) {
			c := connect(t, through(t, g, db.URL()))
			exec(t, c, "CREATE TEMP TABLE lines (line text)")
			var r *gate.Recording
			if watched {
				r = g.Record(100)
				defer r.Stop()
			}
			in := strings.Repeat("some text that fills a line\n", 200_000)
			tag, err := c.PgConn().CopyFrom(within(t), strings.NewReader(in), "COPY lines FROM STDIN")
			if err != nil || tag.RowsAffected() != 200_000 {
				t.Fatalf("%v, %v", tag, err)
			}
			var out countingWriter
			tag, err = c.PgConn().CopyTo(within(t), &out, "COPY lines TO STDOUT")
			if err != nil || tag.RowsAffected() != 200_000 || int(out) != len(in) {
				t.Fatalf("%v, %d bytes, %v", tag, out, err)
			}
			// By the extended protocol, and a failure.
			if n, err := c.CopyFrom(within(t), pgx.Identifier{"lines"}, []string{"line"}, pgx.CopyFromRows([][]any{{"a"}, {"b"}})); err != nil || n != 2 {
				t.Fatalf("%d rows, %v", n, err)
			}
			if _, err := c.PgConn().CopyFrom(within(t), failing{}, "COPY lines FROM STDIN"); err == nil {
				t.Error("a broken copy succeeded")
			}
			if n := number(t, c, "SELECT count(*) FROM lines"); n != 200_002 {
				t.Errorf("%d lines", n)
			}
			if watched {
				trace, _ := r.Trace()
				if trace[0].Outcome != "COPY 200000" || trace[1].Outcome != "COPY 200000" || trace[len(trace)-1].Outcome != "SELECT 1" {
					t.Errorf("trace %+v", trace)
				}
			}
		})
	}
}

type countingWriter int

func (w *countingWriter) Write(b []byte) (int, error) {
	*w += countingWriter(len(b))
	return len(b), nil
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestNotificationsPass(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	listener, speaker := connect(t, through(t, g, db.URL())), connect(t, through(t, g, db.URL()))
	exec(t, listener, "LISTEN news")
	defer g.Record(10).Stop()
	exec(t, speaker, "SELECT pg_notify('news', 'hello')")
	n, err := listener.WaitForNotification(within(t))
	if err != nil || n.Payload != "hello" {
		t.Fatalf("%+v, %v", n, err)
	}
	// One that comes while an answer is held comes with it, and is not lost.
	h := hold(t, g, gate.Rule{Point: "slow", Side: gate.After})
	done := later(func() error { _, err := listener.Exec(context.Background(), "SELECT 1 /*point='slow'*/"); return err })
	held := stopped(t, h)
	exec(t, speaker, "SELECT pg_notify('news', 'again')")
	held.Release()
	if err := await(t, "the answer", done); err != nil {
		t.Fatal(err)
	}
	if n, err = listener.WaitForNotification(within(t)); err != nil || n.Payload != "again" {
		t.Fatalf("%+v, %v", n, err)
	}
}

func TestCancelRequestsReachTheServer(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	c := connect(t, through(t, g, db.URL()))
	done := later(func() error { _, err := c.Exec(context.Background(), "SELECT pg_sleep(60)"); return err })
	other := connect(t, db.URL())
	until(t, "the statement to run", func() bool {
		return number(t, other, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == 1
	})
	if err := c.PgConn().CancelRequest(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := await(t, "the cancelled statement", done); sqlState(err) != "57014" {
		t.Errorf("got %v", err)
	}
}
