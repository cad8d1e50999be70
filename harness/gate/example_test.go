package gate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"assay/harness/gate"
	"assay/harness/postgres"
)

// Two publishes on one topic, with the first held before its commit: does the
// second wait for it, and what remains when the first loses its client after the
// server has taken the commit?
func ExampleGate() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	server, err := postgres.Open(ctx, postgres.Options{})
	must(err)
	defer server.Close()
	db, err := server.CreateDatabase(ctx, "example")
	must(err)
	g, err := gate.New(gate.Config{Listen: "127.0.0.1:0", Database: db.URL()})
	must(err)
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	to, err := g.URL(db.URL()) // what a backend is given as its database
	must(err)

	// publish is the backend: its statements carry tags, its inserts a payload.
	publish := func(payload string) <-chan error {
		out := make(chan error, 1)
		go func() {
			out <- func() error {
				c, err := pgx.Connect(ctx, to)
				if err != nil {
					return err
				}
				defer c.Close(context.Background())
				for _, s := range []string{
					"/*point='begin'*/ BEGIN",
					"/*point='publish.lock'*/ SELECT pg_advisory_xact_lock(7)",
					"/*point='publish.insert'*/ INSERT INTO log (payload) VALUES ('" + payload + "')",
					"/*point='commit'*/ COMMIT",
				} {
					if _, err := c.Exec(ctx, s); err != nil {
						return err
					}
				}
				return nil
			}()
		}()
		return out
	}
	c, err := pgx.Connect(ctx, db.URL())
	must(err)
	defer c.Close(context.Background())
	_, err = c.Exec(ctx, "CREATE TABLE log (id bigserial, payload text)")
	must(err)

	// A is known by what it inserts, B by coming next: it is let in alone.
	recording := g.Record(100)
	a := g.Call(gate.Claim{Name: "A", Content: [][]byte{[]byte("from-a")}})
	before, err := g.Hold(gate.Rule{Call: a, Point: "commit", Side: gate.Before})
	must(err)
	aDone := publish("from-a")
	held, err := before.Stopped(ctx)
	must(err)
	fmt.Println("A is held", held.Side, held.Statement.Point, "by", held.Statement.By)

	b := g.Call(gate.Claim{Name: "B", Admission: true})
	locking, err := g.Hold(gate.Rule{Call: b, Point: "publish.lock", Side: gate.Before})
	must(err)
	bDone := publish("from-b")
	second, err := locking.Stopped(ctx)
	must(err)
	locking.Release() // only to learn which session it is
	wait, err := g.AwaitBlocked(ctx, second.Statement.ID, nil)
	must(err)
	fmt.Println("B waits for A:", wait.By[0] == held.Statement.PID)

	after, err := g.Hold(gate.Rule{Call: a, Point: "commit", Side: gate.After})
	must(err)
	before.Release()
	_, err = after.Stopped(ctx)
	must(err)
	after.Cut(gate.BothEnds) // the server has committed, and A will not know
	fmt.Println("A was told:", <-aDone == nil)
	fmt.Println("B was told:", <-bDone == nil)
	rows, err := c.Query(ctx, "SELECT payload FROM log ORDER BY id")
	must(err)
	stored, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(err)
	fmt.Println("stored:", stored)

	entries, _ := recording.Trace()
	for _, e := range entries {
		if len(e.Stops) > 0 {
			fmt.Println(e.Call, e.Point, e.Stops[len(e.Stops)-1].Hold, "cut:", e.Cut)
		}
	}
	a.End()
	b.End()
	must(g.Close())
	must(<-served)
	// Output:
	// A is held before commit by content
	// B waits for A: true
	// A was told: false
	// B was told: true
	// stored: [from-a from-b]
	// A commit after commit of call A cut: true
	// B publish.lock before publish.lock of call B cut: false
}
