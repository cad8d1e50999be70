package pgtest_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"assay/harness/postgres/pgtest"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m, func() error { return goleak.Find() }))
}

func TestEachTestGetsAnEmptyDatabaseOfItsOwnOnOneSharedServer(t *testing.T) {
	ctx := t.Context()
	first, second := pgtest.ForTest(t), pgtest.ForTest(t)
	if first.Name() == second.Name() {
		t.Fatalf("both databases are called %s", first.Name())
	}
	if first.Server() != second.Server() {
		t.Fatal("the databases are on two servers")
	}
	conn, err := pgx.Connect(ctx, first.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(ctx, `CREATE TABLE t (x int)`); err != nil {
		t.Fatal(err)
	}
	other, err := pgx.Connect(ctx, second.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.Background())
	var tables int
	if err := other.QueryRow(ctx, `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`).Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables != 0 {
		t.Fatalf("the second database is not empty: %d tables", tables)
	}
}

func TestADatabaseIsGoneOnceItsTestHasEnded(t *testing.T) {
	var name string
	t.Run("a test that leaves a connection open", func(t *testing.T) {
		d := pgtest.ForTest(t)
		name = d.Name()
		conn, err := pgx.Connect(context.Background(), d.URL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
	})
	admin, err := pgtest.Server(t).Admin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	var there bool
	if err := admin.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&there); err != nil {
		t.Fatal(err)
	}
	if there {
		t.Fatalf("database %s is still there", name)
	}
}
