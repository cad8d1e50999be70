package gate_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"assay/harness/postgres/pgtest"
)

// BenchmarkPgbench compares the idle gate with a proxy that only copies and with
// no proxy, under pgbench with 8 clients. They take turns in short rounds, so
// that what else the machine does falls on all of them alike.
func BenchmarkPgbench(b *testing.B) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"builtin", nil},
		{"select", []string{"-S"}},
		{"select-prepared", []string{"-S", "-M", "prepared"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			db := pgtest.ForTest(b)
			g := open(b, db.URL())
			bare := tapTo(b, fmt.Sprintf("%s:%d", db.Host(), db.Port()), false)
			command(b, "pgbench", "-i", "-q", "-s", "8", db.URL())
			to := []string{with(b, db.URL(), "sslmode", "disable"), with(b, db.URLAt(bare.Addr().String()), "sslmode", "disable"), through(b, g, db.URL())}
			sums := make([]float64, len(to))
			rounds := 0
			for b.Loop() {
				for i := range to {
					at := (i + rounds) % len(to)
					sums[at] += tps(b, append(append([]string{"-n", "-c", "8", "-j", "2", "-T", "2"}, c.args...), to[at]))
				}
				rounds++
			}
			n := float64(rounds)
			b.ReportMetric(sums[0]/n, "direct-tps")
			b.ReportMetric(sums[1]/n, "bare-tps")
			b.ReportMetric(sums[2]/n, "gate-tps")
			b.ReportMetric(sums[2]/sums[1], "gate/bare")
			b.ReportMetric(sums[1]/sums[0], "bare/direct")
		})
	}
}

func tps(b *testing.B, args []string) float64 {
	b.Helper()
	out := command(b, "pgbench", args...)
	m := regexp.MustCompile(`tps = ([\d.]+) \(without`).FindStringSubmatch(out)
	if m == nil {
		b.Fatalf("pgbench says no tps: %s", out)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// BenchmarkStatement is the time that one statement of one client takes: the
// difference to direct is what the gate adds.
func BenchmarkStatement(b *testing.B) {
	db := pgtest.ForTest(b)
	g := open(b, db.URL())
	bare := tapTo(b, fmt.Sprintf("%s:%d", db.Host(), db.Port()), false)
	measure := func(b *testing.B, to string) {
		c, err := pgx.Connect(within(b), to)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close(context.Background())
		for b.Loop() {
			if _, err := c.Exec(context.Background(), "SELECT 1"); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("direct", func(b *testing.B) { measure(b, db.URL()) })
	b.Run("bare", func(b *testing.B) { measure(b, db.URLAt(bare.Addr().String())) })
	b.Run("gate", func(b *testing.B) { measure(b, through(b, g, db.URL())) })
	b.Run("gate-recording", func(b *testing.B) {
		defer g.Record(0).Stop()
		measure(b, through(b, g, db.URL()))
	})
}

// BenchmarkConnect opens and drops connections.
func BenchmarkConnect(b *testing.B) {
	db := pgtest.ForTest(b)
	g := open(b, db.URL())
	to := through(b, g, db.URL())
	var i int
	began := time.Now()
	for b.Loop() {
		if err := visit(g, to, i); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64(i)/time.Since(began).Seconds(), "connections/s")
	until(b, "no session to be left", func() bool { return len(g.Sessions()) == 0 })
}
