package gate_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
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

// BenchmarkStatement is the time that one statement of one client takes without a
// proxy, through one that only copies, and through the gate, idle and while it
// looks at every statement. They take turns statement by statement; the medians
// are compared, which what else the machine does moves little.
func BenchmarkStatement(b *testing.B) {
	db := pgtest.ForTest(b)
	idle, looking := open(b, db.URL()), open(b, db.URL())
	defer looking.Record(0).Stop()
	bare := tapTo(b, fmt.Sprintf("%s:%d", db.Host(), db.Port()), false)
	names := []string{"direct", "bare", "gate", "looking"}
	conns := []*pgx.Conn{
		connect(b, db.URL()), connect(b, db.URLAt(bare.Addr().String())),
		connect(b, through(b, idle, db.URL())), connect(b, through(b, looking, db.URL())),
	}
	took := make([][]time.Duration, len(conns))
	rounds := 0
	for b.Loop() {
		for i := range conns {
			at := (i + rounds) % len(conns)
			began := time.Now()
			if _, err := conns[at].Exec(context.Background(), "SELECT $1::int", rounds); err != nil {
				b.Fatal(err)
			}
			took[at] = append(took[at], time.Since(began))
		}
		rounds++
	}
	micro := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	median := make([]time.Duration, len(conns))
	for i := range took {
		slices.Sort(took[i])
		median[i] = took[i][len(took[i])/2]
		b.ReportMetric(micro(median[i]), names[i]+"-µs")
	}
	for i := 1; i < len(conns); i++ {
		b.ReportMetric(micro(median[i]-median[0]), names[i]+"-adds-µs")
	}
}

// BenchmarkCopy carries 1 GiB by COPY, each way, and says how much memory there
// was meanwhile.
func BenchmarkCopy(b *testing.B) {
	const lines, line = 1 << 20, 1 << 10
	db := pgtest.ForTest(b)
	g := open(b, db.URL())
	c := connect(b, through(b, g, db.URL()))
	exec(b, c, "CREATE UNLOGGED TABLE lines (line text)")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	b.Run("in", func(b *testing.B) {
		b.SetBytes(lines * line)
		text := []byte(strings.Repeat("z", line-1) + "\n")
		for b.Loop() {
			exec(b, c, "TRUNCATE lines")
			peak := peaking()
			tag, err := c.PgConn().CopyFrom(ctx, &repeated{line: text, left: lines}, "COPY lines FROM STDIN")
			if err != nil || tag.RowsAffected() != lines {
				b.Fatalf("%v, %v", tag, err)
			}
			b.ReportMetric(peak(), "MiB-heap")
		}
	})
	b.Run("out", func(b *testing.B) {
		b.SetBytes(lines * line)
		for b.Loop() {
			peak := peaking()
			var n countingWriter
			if tag, err := c.PgConn().CopyTo(ctx, &n, "COPY lines TO STDOUT"); err != nil || n != lines*line {
				b.Fatalf("%v, %d bytes, %v", tag, n, err)
			}
			b.ReportMetric(peak(), "MiB-heap")
		}
	})
}

// repeated is the same line again and again.
type repeated struct {
	line []byte
	left int
	at   int
}

func (r *repeated) Read(b []byte) (n int, err error) {
	for n < len(b) && r.left > 0 {
		k := copy(b[n:], r.line[r.at:])
		n += k
		if r.at += k; r.at == len(r.line) {
			r.at = 0
			r.left--
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// peaking watches the heap until its result is called, which is the most that
// was in use, in MiB.
func peaking() func() float64 {
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		var top uint64
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			top = max(top, m.HeapInuse)
			select {
			case <-tick.C:
			case <-stop:
				most <- top
				return
			}
		}
	}()
	return func() float64 { close(stop); return float64(<-most) / (1 << 20) }
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
