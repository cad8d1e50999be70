package gate_test

import (
	"context"
	"fmt"
	"os"
	process "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/harness/gate"
	"assay/harness/postgres/pgtest"
)

// tool is a program of Postgres's own; a machine that can start a server for
// these tests has them.
func tool(t testing.TB, name string) string {
	t.Helper()
	if path, err := process.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // the pattern is right
	if len(found) == 0 {
		t.Fatalf("%s is not found: install the client programs and contrib package of Postgres", name)
	}
	return found[len(found)-1]
}

// command runs a tool against a database.
func command(t testing.TB, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	c := process.CommandContext(ctx, tool(t, name), args...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

func TestPostgresOwnToolsWorkThroughTheGate(t *testing.T) {
	for _, watched := range []bool{false, true} {
		t.Run(fmt.Sprint("watched ", watched), func(t *testing.T) {
			db := pgtest.ForTest(t)
			g := open(t, db.URL(), func(c *gate.Config) { c.TLS = certificate(t) })
			plain, secure := with(t, through(t, g, db.URL()), "sslmode", "disable"), through(t, g, db.URL())
			if watched {
				defer g.Record(100_000).Stop()
			}
			out := command(t, "psql", "-X", "-A", "-t", secure, "-c", `CREATE TABLE t AS SELECT i, repeat('y', i) s FROM generate_series(1, 2000) i`, "-c", `SELECT count(*) FROM t`, "-c", `\d t`)
			if !strings.Contains(out, "2000\n") || !strings.Contains(out, "i|integer") {
				t.Errorf("psql: %s", out)
			}
			dump := dumped(command(t, "pg_dump", secure))
			if dump != dumped(command(t, "pg_dump", db.URL())) || len(dump) < 2000*1000 {
				t.Errorf("pg_dump through the gate differs from one around it: %d bytes", len(dump))
			}
			command(t, "pgbench", "-i", "-q", plain)
			for _, mode := range []string{"simple", "extended", "prepared"} {
				out := command(t, "pgbench", "-n", "-M", mode, "-c", "4", "-t", "50", plain)
				if !strings.Contains(out, "number of transactions actually processed: 200/200") {
					t.Errorf("pgbench -M %s: %s", mode, out)
				}
			}
		})
	}
}

// dumped is a dump without the lines that newer programs draw at random.
func dumped(s string) string {
	return regexp.MustCompile(`(?m)^\\(un)?restrict .*$`).ReplaceAllString(s, "")
}
