package store

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"assay/harness/postgres/pgtest"
	"assay/impl/postgres"
)

// patience bounds what a statement of these tests may take.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m, func() error { return goleak.Find() }))
}

// A plan is made when a connection first meets a statement, which can be before
// there is a single envelope. It must be the plan for a million of them.
func TestStatementsProbeIndexesFromTheFirstEnvelopeOn(t *testing.T) {
	s, err := Open(t.Context(), postgres.Options{URL: pgtest.ForTest(t).URL(), MaxConnections: 1,
		StatementTimeout: patience, TransactionTimeout: 2 * patience})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, test := range []struct {
		statement postgres.Statement
		types     string
		arguments string
	}{
		{statements.lookup, "bytea[], bytea[]", "'{}', '{}'"},
		{statements.history, "bytea", `'\x02'`},
		{statements.query, "bytea[], bigint[], bigint, bigint", "'{}', '{}', 100, 1000"},
		{statements.newest, "bytea[]", "'{}'"},
		{statements.newestFull, "bytea[], bigint", "'{}', 1000"},
		{statements.heads, "bytea[]", "'{}'"},
		{statements.inboxes, "text[], smallint[]", "'{}', '{}'"},
		{streaming.heads, "bytea[]", "'{}'"},
		{streaming.page, "bytea[], bigint[], bigint, bigint", "'{}', '{}', 64, 1000"},
		{streaming.tail, "text, text[], bigint", "'1', '{}', 1000"},
	} {
		t.Run(test.statement.Point(), func(t *testing.T) {
			prepare := postgres.NewStatement("test", "PREPARE probe ("+test.types+") AS "+test.statement.String())
			if err := s.pool.Read(t.Context(), prepare, nil); err != nil {
				t.Fatal(err)
			}
			var plan strings.Builder
			err := s.pool.Read(t.Context(), postgres.NewStatement("test", "EXPLAIN EXECUTE probe ("+test.arguments+")"), func(rows pgx.Rows) error {
				var line string
				err := rows.Scan(&line)
				plan.WriteString(line + "\n")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(plan.String(), "Seq Scan") || !strings.Contains(plan.String(), "Index") {
				t.Errorf("the plan scans a table:\n%s", plan.String())
			}
			if err := s.pool.Read(t.Context(), postgres.NewStatement("test", "DEALLOCATE probe"), nil); err != nil {
				t.Fatal(err)
			}
		})
	}
}
