package gate_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"assay/harness/gate"
	"assay/harness/postgres/pgtest"
)

// table is a gate before a database with one empty table, and a session around
// the gate.
func table(t *testing.T) (g *gate.Gate, to string, beside *pgx.Conn) {
	t.Helper()
	db := pgtest.ForTest(t)
	g = open(t, db.URL())
	beside = connect(t, db.URL())
	exec(t, beside, "CREATE TABLE things (id int PRIMARY KEY)")
	return g, through(t, g, db.URL()), beside
}

const insert = "INSERT INTO things VALUES (1) /*point='insert'*/"

func TestAHoldBeforeKeepsTheStatementFromTheServer(t *testing.T) {
	g, to, beside := table(t)
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			exec(t, beside, "TRUNCATE things")
			c := connect(t, to, "default_query_exec_mode", mode)
			h := hold(t, g, gate.Rule{Point: "insert", Side: gate.Before})
			done := later(func() error { _, err := c.Exec(context.Background(), insert); return err })
			held := stopped(t, h)
			if n := number(t, beside, "SELECT count(*) FROM things"); n != 0 {
				t.Errorf("%d rows while it was held", n)
			}
			if held.Side != gate.Before || held.Statement.Point != "insert" {
				t.Errorf("held %+v", held)
			}
			held.Release()
			if err := await(t, "the insert", done); err != nil {
				t.Fatal(err)
			}
			if n := number(t, beside, "SELECT count(*) FROM things"); n != 1 {
				t.Errorf("%d rows after the release", n)
			}
		})
	}
}

func TestAHoldAfterKeepsTheAnswerFromTheClient(t *testing.T) {
	g, to, beside := table(t)
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			exec(t, beside, "TRUNCATE things")
			c := connect(t, to, "default_query_exec_mode", mode)
			h := hold(t, g, gate.Rule{Point: "insert", Side: gate.After})
			done := later(func() error { _, err := c.Exec(context.Background(), insert); return err })
			held := stopped(t, h)
			if n := number(t, beside, "SELECT count(*) FROM things"); n != 1 {
				t.Errorf("%d rows while the answer was held", n)
			}
			select {
			case err := <-done:
				t.Fatalf("the client has its answer: %v", err)
			default:
			}
			held.Release()
			if err := await(t, "the insert", done); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestCutBeforeCommitLosesItAndAfterCommitKeepsIt(t *testing.T) {
	g, to, beside := table(t)
	for _, side := range []gate.Side{gate.Before, gate.After} {
		t.Run(side.String(), func(t *testing.T) {
			exec(t, beside, "TRUNCATE things")
			c := connect(t, to)
			exec(t, c, "BEGIN")
			exec(t, c, insert)
			r := g.Record(10)
			defer r.Stop()
			h := hold(t, g, gate.Rule{Point: "commit", Side: side})
			done := later(func() error { _, err := c.Exec(context.Background(), "COMMIT /*point='commit'*/"); return err })
			held := stopped(t, h)
			held.Cut(gate.BothEnds)
			if err := await(t, "the cut client", done); err == nil {
				t.Error("the client was told of success")
			}
			await(t, "the session's end", held.Ended())
			want := map[gate.Side]int{gate.Before: 0, gate.After: 1}[side]
			if n := number(t, beside, "SELECT count(*) FROM things"); n != want {
				t.Errorf("%d rows, want %d", n, want)
			}
			if trace, _ := r.Trace(); len(trace) != 1 || !trace[0].Cut || len(trace[0].Stops) != 1 || trace[0].Replied != 0 {
				t.Errorf("trace %+v", trace)
			}
			held.Cut(gate.BothEnds)
			held.Release() // both do nothing any more
		})
	}
}

func TestWhoIsHeldBeforeAStatementCanBeHeldAfterItNext(t *testing.T) {
	g, to, beside := table(t)
	call := g.Call(gate.Claim{Name: "A", Content: [][]byte{[]byte("mine")}})
	defer call.End()
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			exec(t, beside, "TRUNCATE things")
			c := connect(t, to, "default_query_exec_mode", mode)
			before := hold(t, g, gate.Rule{Point: "insert", Side: gate.Before, Call: call})
			done := later(func() error {
				_, err := c.Exec(context.Background(), "INSERT INTO things SELECT length($1::text) - 3 /*point='insert'*/", "mine")
				return err
			})
			stopped(t, before)
			own := func(s gate.Statement) bool { return s.Contains([]byte("mine")) }
			after := hold(t, g, gate.Rule{Point: "insert", Side: gate.After, Call: call, Match: own})
			before.Release()
			stopped(t, after)
			if n := number(t, beside, "SELECT count(*) FROM things"); n != 1 {
				t.Errorf("%d rows while the answer is held", n)
			}
			after.Cut(gate.BothEnds)
			if err := await(t, "the cut client", done); err == nil {
				t.Error("the client was told of success")
			}
		})
	}
}

func TestACutOfTheClientLeavesTheServerInItsTransaction(t *testing.T) {
	g, to, beside := table(t)
	c := connect(t, to)
	exec(t, c, "BEGIN")
	h := hold(t, g, gate.Rule{Point: "insert", Side: gate.After})
	done := later(func() error { _, err := c.Exec(context.Background(), insert); return err })
	held := stopped(t, h)
	held.Cut(gate.ClientEnd)
	if err := await(t, "the client", done); err == nil {
		t.Error("the client was told of success")
	}
	open := func() bool {
		return number(t, beside, "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()") == 1
	}
	if !open() {
		t.Error("the server's transaction ended with the client")
	}
	held.Release()
	await(t, "the session's end", held.Ended())
	until(t, "the server's end of the transaction", func() bool { return !open() })
}

func TestACutOfTheServerLeavesTheClientWaiting(t *testing.T) {
	g, to, beside := table(t)
	c := connect(t, to)
	h := hold(t, g, gate.Rule{Point: "insert", Side: gate.Before})
	done := later(func() error { _, err := c.Exec(context.Background(), insert); return err })
	held := stopped(t, h)
	pid := held.Statement.PID
	held.Cut(gate.ServerEnd)
	until(t, "the server's process to be gone", func() bool {
		return number(t, beside, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid) == 0
	})
	select {
	case err := <-done:
		t.Fatalf("the client knows: %v", err)
	default:
	}
	held.Release()
	if err := await(t, "the client", done); err == nil {
		t.Error("the client was told of success")
	}
}

func TestADelayLetsGoByItself(t *testing.T) {
	g, to, _ := table(t)
	c := connect(t, to)
	const delay = 50 * time.Millisecond
	r := g.Record(10)
	defer r.Stop()
	hold(t, g, gate.Rule{Point: "insert", Side: gate.Before, Delay: delay})
	exec(t, c, insert)
	trace, _ := r.Trace()
	if len(trace) != 1 || len(trace[0].Stops) != 1 || trace[0].Stops[0].Until-trace[0].Stops[0].From < delay {
		t.Errorf("trace %+v", trace)
	}
}

func TestHoldsThatCannotMeanAnythingAreRefused(t *testing.T) {
	g := open(t, "postgres://nobody@127.0.0.1:1/none")
	for name, r := range map[string]gate.Rule{"no side": {Point: "a"}, "nothing named": {Side: gate.After}} {
		if _, err := g.Hold(r); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	h := hold(t, g, gate.Rule{Point: "a", Side: gate.After})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := h.Stopped(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	h.Release()
	if _, err := h.Stopped(within(t)); err == nil {
		t.Error("a released hold stopped somebody")
	}
}

func TestTimesCountsUnits(t *testing.T) {
	g, to, _ := table(t)
	h := hold(t, g, gate.Rule{Point: "read", Side: gate.Before, Times: 2})
	c := connect(t, to)
	done := later(func() error {
		for range 3 {
			if _, err := c.Exec(context.Background(), "SELECT 1 /*point='read'*/"); err != nil {
				return err
			}
		}
		return nil
	})
	for range 2 {
		stopped(t, h).Release()
	}
	if err := await(t, "three reads", done); err != nil {
		t.Fatal(err)
	}
	if p := h.Passed(); p != (gate.Passed{}) {
		t.Errorf("passed %+v", p)
	}
}

func TestALongAnswerFlowsAndItsEndWaits(t *testing.T) {
	g, to, _ := table(t)
	c := connect(t, to)
	h := hold(t, g, gate.Rule{Point: "long", Side: gate.After})
	rows, err := c.Query(within(t), "SELECT repeat('x', 1000) FROM generate_series(1, 20000) /*point='long'*/")
	if err != nil {
		t.Fatal(err)
	}
	// Twenty megabytes are not kept: rows come before the release.
	for range 10_000 {
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
	}
	rest := later(func() (n int) {
		for rows.Next() {
			n++
		}
		return n
	})
	held := stopped(t, h)
	select {
	case <-rest:
		t.Error("the end came before the release")
	default:
	}
	held.Release()
	if n := await(t, "the rest", rest); rows.Err() != nil || n != 10_000 {
		t.Errorf("%d rows more, %v", n, rows.Err())
	}
}

func TestAClientThatGoesWhileItIsHeldIsNoticed(t *testing.T) {
	g, to, beside := table(t)
	for _, side := range []gate.Side{gate.Before, gate.After} {
		t.Run(side.String(), func(t *testing.T) {
			exec(t, beside, "TRUNCATE things")
			c := login(t, to)
			h := hold(t, g, gate.Rule{Point: "insert", Side: side})
			c.say(t, &pgproto3.Query{String: insert})
			held := stopped(t, h)
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			await(t, "the session's end", held.Ended())
			until(t, "no session to be left", func() bool { return len(g.Sessions()) == 0 })
		})
	}
}

func TestAServerThatGoesIsNoticedByHeldAndIdleClients(t *testing.T) {
	g, to, beside := table(t)
	idle, c := connect(t, to), connect(t, to)
	h := hold(t, g, gate.Rule{Point: "insert", Side: gate.Before})
	done := later(func() error { _, err := c.Exec(context.Background(), insert); return err })
	held := stopped(t, h)
	exec(t, beside, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	await(t, "the held session's end", held.Ended())
	if err := await(t, "the held client", done); err == nil {
		t.Error("the client was told of success")
	}
	// The idle one hears the server's farewell, then the end of the connection.
	if err := idle.PgConn().Conn().SetReadDeadline(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, idle.PgConn().Conn()); errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		t.Errorf("the idle client was not told: %v", err)
	}
	until(t, "no session to be left", func() bool { return len(g.Sessions()) == 0 })
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func TestClosingTheGateEndsWhoIsHeld(t *testing.T) {
	g, to, _ := table(t)
	c := connect(t, to)
	h := hold(t, g, gate.Rule{Point: "insert", Side: gate.Before})
	done := later(func() error { _, err := c.Exec(context.Background(), insert); return err })
	stopped(t, h)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if err := await(t, "the held client", done); err == nil {
		t.Error("the client was told of success")
	}
}
