package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// spell prints a value in every way fmt knows.
func spell(v any) string { return fmt.Sprintf(" %v %+v %#v %s ", v, v, v, v) }

// givenTo opens the shared server as a given one, without the first sweep being of interest.
func givenTo(t *testing.T) (*Server, *pgx.Conn) {
	t.Helper()
	given, admin := givenServer(t)
	return open(t, Options{URL: given}), admin
}

func TestASweepDropsTheDatabaseOfAKilledRunAndNoOther(t *testing.T) {
	given, admin := givenServer(t)
	mine := open(t, Options{URL: given})
	kept, err := mine.CreateDatabase(t.Context(), "kept")
	if err != nil {
		t.Fatal(err)
	}
	live := startOtherRun(t, helperTask{URL: given})
	dead := startOtherRun(t, helperTask{URL: given})
	dead.kill(t)
	if !databaseExists(t, admin, dead.Database) {
		t.Fatal("a killed run cannot have dropped its database")
	}
	awaitFree(t, admin, dead.Database)

	started := time.Now()
	later := open(t, Options{URL: given})
	t.Logf("opened and swept in %s", time.Since(started))
	if databaseExists(t, admin, dead.Database) {
		t.Error("the dead run's database is still there")
	}
	if !databaseExists(t, admin, live.Database) || !databaseExists(t, admin, kept.Name()) {
		t.Error("a live run's database was dropped")
	}
	live.interrupt(t)
	if databaseExists(t, admin, live.Database) {
		t.Error("a run ended by Ctrl-C left its database")
	}
	if err := later.Close(); err != nil {
		t.Fatal(err)
	}
}

// awaitFree waits until Postgres has noticed that a killed process's sessions are over.
func awaitFree(t *testing.T, admin *pgx.Conn, database string) {
	t.Helper()
	eventually(t, "nobody is connected to "+database, func() bool { return sessions(t, admin, database) == 0 })
}

func sessions(t *testing.T, admin *pgx.Conn, database string) (n int) {
	t.Helper()
	if err := admin.QueryRow(context.Background(), `SELECT count(*) FROM pg_stat_activity WHERE datname = $1`, database).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestASweepTouchesOnlyDatabasesNamedByUs(t *testing.T) {
	s, admin := givenTo(t)
	for _, name := range []string{"assay", "assay_run", "assay_run_x", "assay_run_production_data", "assay_run_x_0123456789abcdeg", "assay_run_x_0123456789abcdef_old", "Assay_run_x_0123456789abcdef"} {
		quoted := pgx.Identifier{name}.Sanitize()
		if _, err := admin.Exec(t.Context(), `CREATE DATABASE `+quoted+` TEMPLATE template0`); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if _, err := admin.Exec(context.Background(), `DROP DATABASE `+quoted); err != nil {
				t.Errorf("it was swept: %v", err)
			}
		}()
	}
	sweepDatabases(t.Context(), s)
}

func TestASweepLeavesTheDatabasesOfOtherRoles(t *testing.T) {
	given, admin := givenServer(t)
	createRole(t, admin, "first_team", "CREATEDB")
	createRole(t, admin, "second_team", "CREATEDB")
	const name = "assay_run_x_0123456789abcdef"
	if _, err := admin.Exec(t.Context(), `CREATE DATABASE `+name+` TEMPLATE template0 OWNER first_team`); err != nil {
		t.Fatal(err)
	}
	second := open(t, Options{URL: withUser(t, given, "second_team", "secret")})
	if !databaseExists(t, admin, name) {
		t.Error("another role's database was dropped")
	}
	first := open(t, Options{URL: withUser(t, given, "first_team", "secret")})
	if databaseExists(t, admin, name) {
		t.Error("the role's own database is still there")
	}
	for _, s := range []*Server{first, second} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The lock must meet the sweep although the two connect by URLs with different databases: advisory locks of two
// databases never meet.
func TestALiveRunIsSeenFromAURLWithAnotherDatabase(t *testing.T) {
	s, admin := givenTo(t)
	d, err := s.CreateDatabase(t.Context(), "seen")
	if err != nil {
		t.Fatal(err)
	}
	other := Server{log: s.log}
	other.address = s.address.at("template1")
	sweepDatabases(t.Context(), &other)
	if !databaseExists(t, admin, d.Name()) {
		t.Error("a live run's database was dropped")
	}
}

func TestALostOwnerSessionIsReplaced(t *testing.T) {
	s, admin := givenTo(t)
	d, err := s.CreateDatabase(t.Context(), "lost")
	if err != nil {
		t.Fatal(err)
	}
	const ownerSession = `SELECT pid FROM pg_stat_activity a WHERE datname = $1 AND application_name = $2
		AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND locktype = 'advisory' AND granted)`
	var pid, next int
	if err := admin.QueryRow(t.Context(), ownerSession, d.Name(), applicationOwner).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend($1)`, pid); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another session holds the owner's lock", func() bool {
		err := admin.QueryRow(t.Context(), ownerSession, d.Name(), applicationOwner).Scan(&next)
		return err == nil && next != pid
	})
	sweepDatabases(t.Context(), s)
	if !databaseExists(t, admin, d.Name()) {
		t.Error("the database was dropped though its owner lives")
	}
}

func TestAnOwnerWhoseDatabaseIsDroppedByOthersEnds(t *testing.T) {
	s, admin := givenTo(t)
	d, err := s.CreateDatabase(t.Context(), "taken")
	if err != nil {
		t.Fatal(err)
	}
	if err := dropDatabase(t.Context(), admin, d.Name()); err != nil {
		t.Fatal(err)
	}
	<-d.owner.done
	if err := d.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestOfTwoSweepsOneGetsTheDatabase(t *testing.T) {
	s, admin := givenTo(t)
	const rounds, sweepers = 5, 4
	for round := range rounds {
		name := fmt.Sprintf("assay_run_race_%016x", round)
		if _, err := admin.Exec(t.Context(), `CREATE DATABASE `+name+` TEMPLATE template0`); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for range sweepers {
			group.Go(func() {
				conn, err := s.Admin(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close(context.Background())
				if _, err := sweepDatabase(context.Background(), s, conn, name); err != nil {
					t.Errorf("a sweep beside another failed: %v", err)
				}
			})
		}
		group.Wait()
		if databaseExists(t, admin, name) {
			t.Fatalf("%s is still there", name)
		}
	}
}

func TestSweepsNeverTakeADatabaseThatARunWasGiven(t *testing.T) {
	s, _ := givenTo(t)
	ctx, stop := context.WithCancel(t.Context())
	var sweepers, makers sync.WaitGroup
	for range 2 {
		sweepers.Go(func() {
			for ctx.Err() == nil {
				sweepDatabases(ctx, s)
			}
		})
	}
	for maker := range 2 {
		makers.Go(func() {
			const rounds = 6
			for range rounds {
				d, err := s.CreateDatabase(t.Context(), fmt.Sprint("maker ", maker))
				if err != nil {
					t.Errorf("creating beside sweeps: %v", err)
					return
				}
				conn, err := pgx.Connect(t.Context(), d.URL())
				if err != nil {
					t.Errorf("a live database was dropped: %v", err)
					return
				}
				if _, err := conn.Exec(t.Context(), `CREATE TABLE t AS SELECT generate_series(1, 10)`); err != nil {
					t.Errorf("a live database was dropped: %v", err)
				}
				_ = conn.Close(t.Context())
				if err := d.Drop(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	makers.Wait()
	stop()
	sweepers.Wait()
}

// The window between creation and lock is small in real life; here a sweep is sure to be in it.
func TestAnOwnerThatComesAfterTheSweepIsToldSo(t *testing.T) {
	s, admin := givenTo(t)
	const name = "assay_run_late_0123456789abcdef"
	if _, err := admin.Exec(t.Context(), `CREATE DATABASE `+name+` TEMPLATE template0`); err != nil {
		t.Fatal(err)
	}
	sweep, err := lockOnce(t.Context(), s.address.at(name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takeOwnership(t.Context(), s.address.at(name), slog.New(slog.DiscardHandler)); !errors.Is(err, errHeld) {
		t.Errorf("while the sweep holds the lock: %v, want errHeld", err)
	}
	if err := dropDatabase(t.Context(), admin, name); err != nil {
		t.Fatal(err)
	}
	_ = sweep.Close(t.Context())
	if _, err := takeOwnership(t.Context(), s.address.at(name), slog.New(slog.DiscardHandler)); !isGone(err) {
		t.Errorf("after the sweep: %v, want one that says it is gone", err)
	}
}
