package gate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"assay/harness/gate"
	"assay/harness/postgres/pgtest"
)

// parked is a gate with the right to alter, two sessions through it, and one
// around it.
func parked(t *testing.T, setup string) (g *gate.Gate, a, b, beside *pgx.Conn, ids [2]uint64) {
	t.Helper()
	db := pgtest.ForTest(t)
	g = open(t, db.URL(), func(c *gate.Config) { c.Alter = true })
	beside = connect(t, db.URL())
	exec(t, beside, setup)
	a, b = connect(t, through(t, g, db.URL())), connect(t, through(t, g, db.URL()))
	for _, s := range g.Sessions() {
		switch s.PID {
		case a.PgConn().PID():
			ids[0] = s.ID
		case b.PgConn().PID():
			ids[1] = s.ID
		}
	}
	return g, a, b, beside, ids
}

// installed counts what parkings leave in a database.
const installed = "SELECT (SELECT count(*) FROM pg_proc WHERE proname LIKE 'assay_park%') + (SELECT count(*) FROM pg_trigger WHERE tgname LIKE '~assay_park%')"

func TestTheRaceInsideOfInsertWhereNotExistsHappensEveryTime(t *testing.T) {
	g, a, b, beside, ids := parked(t, "CREATE TABLE things (name text)")
	const once = "INSERT INTO things SELECT 'x' WHERE NOT EXISTS (SELECT FROM things WHERE name = 'x')"
	const rounds = 50
	happened := 0
	for range rounds {
		exec(t, beside, "TRUNCATE things")
		p, err := g.ParkInserts(within(t), "things", ids[0])
		if err != nil {
			t.Fatal(err)
		}
		done := later(func() error { _, err := a.Exec(context.Background(), once); return err })
		if err := p.Await(within(t), ids[0]); err != nil {
			t.Fatal(err)
		}
		exec(t, b, once) // is not parked, and commits
		if err := p.Release(within(t)); err != nil {
			t.Fatal(err)
		}
		if err := await(t, "the parked insert", done); err != nil {
			t.Fatal(err)
		}
		if number(t, beside, "SELECT count(*) FROM things") == 2 {
			happened++
		}
	}
	if happened != rounds {
		t.Errorf("it happened %d times of %d", happened, rounds)
	}
	if n := number(t, beside, installed); n != 0 {
		t.Errorf("%d things were left behind", n)
	}
}

func TestASequenceParksWhoTakesItsNextValue(t *testing.T) {
	g, a, b, beside, ids := parked(t, "CREATE SEQUENCE ids START 5 CACHE 3; CREATE TABLE things (id bigint DEFAULT nextval('ids'), name text)")
	p, err := g.ParkSequence(within(t), "ids")
	if err != nil {
		t.Fatal(err)
	}
	done := later(func() error {
		_, err := a.Exec(context.Background(), "INSERT INTO things (name) VALUES ('a')")
		return err
	})
	if err := p.Await(within(t), ids[0]); err != nil {
		t.Fatal(err)
	}
	exec(t, b, "SELECT count(*) FROM things") // nothing else waits
	if err := p.Release(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := await(t, "the parked insert", done); err != nil {
		t.Fatal(err)
	}
	if n := number(t, beside, "SELECT id FROM things"); n != 5 {
		t.Errorf("the first id is %d", n)
	}
	if n := number(t, beside, "SELECT seqcache FROM pg_sequence"); n != 3 {
		t.Errorf("the cache is %d", n)
	}
}

func TestAParkingThatIsInUseIsOpenedAtOnceAndRemovedAtTheEnd(t *testing.T) {
	g, a, _, beside, ids := parked(t, "CREATE TABLE things (name text)")
	p, err := g.ParkInserts(within(t), "things")
	if err != nil {
		t.Fatal(err)
	}
	exec(t, a, "BEGIN")
	done := later(func() error { _, err := a.Exec(context.Background(), "INSERT INTO things VALUES ('a')"); return err })
	if err := p.Await(within(t), ids[0]); err != nil {
		t.Fatal(err)
	}
	// The transaction stays open, so the trigger cannot go yet.
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := p.Release(ctx); err == nil {
		t.Error("the trigger was removed under an open transaction")
	}
	if err := await(t, "the parked insert", done); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if n := number(t, beside, installed); n != 0 {
		t.Errorf("%d things were left behind", n)
	}
}

func TestWhatAKilledGateLeftIsSweptByTheNext(t *testing.T) {
	g, _, _, beside, _ := parked(t, `CREATE TABLE things (name text);
		CREATE FUNCTION assay_park_999999999() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		CREATE TRIGGER "~assay_park_999999999" BEFORE INSERT ON things FOR EACH ROW EXECUTE FUNCTION assay_park_999999999()`)
	p, err := g.ParkInserts(within(t), "things")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Release(within(t)); err != nil {
		t.Fatal(err)
	}
	if n := number(t, beside, installed); n != 0 {
		t.Errorf("%d things were left behind", n)
	}
}

func TestParkingNeedsTheRightAndSomethingToPark(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	if _, err := g.ParkInserts(within(t), "things"); err == nil || !strings.Contains(err.Error(), "was not given the right") {
		t.Errorf("got %v", err)
	}
	g = open(t, db.URL(), func(c *gate.Config) { c.Alter = true })
	if _, err := g.ParkInserts(within(t), "nothing; DROP"); err == nil || !strings.Contains(err.Error(), "no table") {
		t.Errorf("got %v", err)
	}
	if _, err := g.ParkSequence(within(t), "nothing"); err == nil || !strings.Contains(err.Error(), "no sequence") {
		t.Errorf("got %v", err)
	}
	if _, err := g.ParkInserts(within(t), "pg_class", 99); err == nil || !strings.Contains(err.Error(), "session 99 is over") {
		t.Errorf("got %v", err)
	}
}
