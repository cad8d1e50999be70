package gate_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"assay/harness/gate"
)

// transact runs one transaction that carries a payload.
func transact(c *pgx.Conn, statements ...string) error {
	for _, s := range append(append([]string{"BEGIN"}, statements...), "COMMIT /*point='commit'*/") {
		if _, err := c.Exec(context.Background(), s); err != nil {
			return err
		}
	}
	return nil
}

func TestAHoldForACallStopsOnlyItsOwnStatement(t *testing.T) {
	g, to, _ := table(t)
	for _, c := range []struct {
		name      string
		claim     gate.Claim
		statement string
		by        gate.Reason
	}{
		{"content in the text", gate.Claim{Content: [][]byte{[]byte("mine-alone")}}, "SELECT 'mine-alone'", gate.ByContent},
		{"content in hex", gate.Claim{Content: [][]byte{{0xde, 0xad, 0xbe, 0xef, 0x55}}}, `SELECT '\xdeadbeef55'::bytea`, gate.ByContent},
		{"comment", gate.Claim{Comment: [2]string{"call", "a b"}}, "SELECT 1 /*call='a%20b',other='x'*/", gate.ByComment},
		{"application", gate.Claim{Application: "mine"}, "SELECT 1", gate.ByApplication},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.claim.Name = "A"
			call := g.Call(c.claim)
			defer call.End()
			mine, other := connect(t, to, "application_name", "mine"), connect(t, to, "application_name", "theirs")
			h := hold(t, g, gate.Rule{Point: "commit", Side: gate.Before, Call: call})
			if err := transact(other, "SELECT 'theirs'"); err != nil {
				t.Fatal(err)
			}
			done := later(func() error { return transact(mine, c.statement) })
			held := stopped(t, h)
			if held.Statement.Call != "A" || held.Statement.By != c.by || held.Statement.Application != "mine" {
				t.Errorf("stopped at %+v", held.Statement)
			}
			if p := h.Passed(); p != (gate.Passed{Unattributed: 1}) {
				t.Errorf("passed %+v", p)
			}
			held.Release()
			if err := await(t, "the transaction", done); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestABoundValueTellsWhoseATransactionIs(t *testing.T) {
	g, to, _ := table(t)
	call := g.Call(gate.Claim{Name: "A", Content: [][]byte{[]byte("a-needle")}})
	defer call.End()
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			c := connect(t, to, "default_query_exec_mode", mode)
			r := g.Record(10)
			defer r.Stop()
			exec(t, c, "BEGIN")
			exec(t, c, "SELECT $1::bytea", []byte("here is a-needle in it"))
			exec(t, c, "COMMIT")
			exec(t, c, "SELECT 1")
			trace, _ := r.Trace()
			for i, want := range []string{"A", "A", "A", ""} {
				if trace[i].Call != want {
					t.Errorf("statement %d is of %q, want %q", i, trace[i].Call, want)
				}
			}
		})
	}
}

func TestAdmissionClaimsTheNextTransactionOnce(t *testing.T) {
	g, to, _ := table(t)
	call := g.Call(gate.Claim{Name: "A", Admission: true})
	defer call.End()
	r := g.Record(100)
	defer r.Stop()
	c := connect(t, to)
	exec(t, c, "SELECT 1") // begins no transaction
	for range 2 {
		if err := transact(c, "SELECT 2"); err != nil {
			t.Fatal(err)
		}
	}
	call.Admit()
	if err := transact(c); err != nil {
		t.Fatal(err)
	}
	trace, _ := r.Trace()
	for i, want := range []string{"", "A", "A", "A", "", "", "", "A", "A"} {
		if trace[i].Call != want || (want != "") != (trace[i].By == gate.ByAdmission) {
			t.Errorf("statement %d is of %q by %q, want %q", i, trace[i].Call, trace[i].By, want)
		}
	}
}

func TestWhatTwoCallsClaimIsNobodys(t *testing.T) {
	g, to, _ := table(t)
	a := g.Call(gate.Claim{Name: "A", Content: [][]byte{[]byte("for-a")}})
	defer a.End()
	b := g.Call(gate.Claim{Name: "B", Content: [][]byte{[]byte("for-b")}})
	defer b.End()
	r := g.Record(10)
	defer r.Stop()
	h := hold(t, g, gate.Rule{Point: "commit", Side: gate.Before, Call: a})
	if err := transact(connect(t, to), "SELECT 'for-a'", "SELECT 'for-b'"); err != nil {
		t.Fatal(err)
	}
	trace, _ := r.Trace()
	for i, e := range trace {
		if e.Call != "" || e.By != gate.Disputed {
			t.Errorf("statement %d is of %q by %q", i, e.Call, e.By)
		}
	}
	if p := h.Passed(); p != (gate.Passed{Unattributed: 1}) {
		t.Errorf("passed %+v", p)
	}
}

func TestContentOutweighsAdmission(t *testing.T) {
	g, to, _ := table(t)
	a := g.Call(gate.Claim{Name: "A", Admission: true})
	defer a.End()
	b := g.Call(gate.Claim{Name: "B", Content: [][]byte{[]byte("for-b")}})
	defer b.End()
	r := g.Record(10)
	defer r.Stop()
	if err := transact(connect(t, to), "SELECT 'for-b'"); err != nil {
		t.Fatal(err)
	}
	trace, _ := r.Trace()
	for _, e := range trace {
		if e.Call != "B" || e.By != gate.ByContent {
			t.Errorf("%s is of %q by %q", e.Text, e.Call, e.By)
		}
	}
}

func TestBlockedIsReadFromTheServer(t *testing.T) {
	g, to, _ := table(t)
	first, second := connect(t, to), connect(t, to)
	exec(t, first, "BEGIN")
	exec(t, first, insert)
	sessions := g.Sessions()
	if len(sessions) != 2 {
		t.Fatalf("%+v", sessions)
	}
	w, err := g.Blocked(within(t), sessions[1].ID)
	if err != nil || w.Blocked() {
		t.Fatalf("%+v, %v", w, err)
	}
	done := later(func() error { _, err := second.Exec(context.Background(), insert); return err })
	w, err = g.AwaitBlocked(within(t), sessions[1].ID, nil)
	if err != nil || len(w.By) != 1 || w.By[0] != sessions[0].PID || w.Kind != "Lock" {
		t.Fatalf("%+v, %v", w, err)
	}
	exec(t, first, "COMMIT")
	if err := await(t, "the second insert", done); sqlState(err) != "23505" {
		t.Errorf("got %v", err)
	}
}

func TestAwaitBlockedSaysWhyItGivesUp(t *testing.T) {
	g, to, _ := table(t)
	connect(t, to)
	id := g.Sessions()[0].ID
	returned := make(chan struct{})
	close(returned)
	if _, err := g.AwaitBlocked(within(t), id, returned); !errors.Is(err, gate.ErrReturned) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := g.AwaitBlocked(ctx, id, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := g.Blocked(within(t), id+7); err == nil {
		t.Error("a session that never was is blocked")
	}
}
