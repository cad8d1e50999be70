package check

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// The load of the benchmarks. Half of the operations are appends: 90 in 100 of
// one entry, 8 of two entries on two logs, 2 retries of an entry that was
// appended before; a tenth of them have an unknown outcome, and half of those
// were stored. Half are reads: 8 in 10 pages of one log that follow the head, 1
// in 10 pages of two logs, 1 in 10 head reads. A page begins 0 to 6 entries
// below the head, evenly, and has a limit of 4: 2.3 rows on average, a third of
// the pages empty or of one row, a third cut. 50 clients, one log for every 200
// operations, at least 4.
const loadMix = "50% appends (1/10 unknown), 50% reads of 0 to 4 rows"

// load makes a legal history of ordered logs: a simulated primary on which
// every operation takes effect at one moment of its interval.
func load(clients, operations int, seed uint64) *Facts {
	r := rand.New(rand.NewPCG(seed, 3))
	logs := max(4, operations/200)
	f := New(Sizes{Logs: logs, Entries: operations * 53 / 100, Rows: operations * 51 / 100, Appends: operations * 51 / 100, Items: operations * 56 / 100,
		Pages: operations * 46 / 100, Spans: operations * 51 / 100, PageRows: operations, HeadReads: operations * 6 / 100, Heads: operations * 6 / 100})
	f.OneSequence = true
	names := make([]Log, logs)
	stored := make([][]Row, logs)
	for i := range names {
		names[i] = f.Log(fmt.Sprint("log", i), 0)
	}
	type open struct {
		kind      int
		invoked   Order
		entries   []Entry
		rows      []Row
		lost, did bool
		page      Page
		heads     Heads
	}
	slots := make([]open, clients)
	now, position, call := Order(0), uint64(0), 0
	effect := func(o *open) {
		switch o.kind {
		case 1:
			if o.did {
				for _, e := range o.entries {
					l := int(f.entryLog[e]) - 1
					row := f.entryRow[e]
					if row == 0 {
						position++
						row = f.Row(e, position, uint64(e)*7919+1)
						stored[l] = append(stored[l], row)
					}
					o.rows = append(o.rows, row)
				}
			}
		case 2:
			left := int(o.page.Limit)
			for k := range o.page.Spans {
				l := int(o.page.Spans[k].Log) - 1
				from := max(0, len(stored[l])-r.IntN(7))
				if from > 0 {
					o.page.Spans[k].After = f.rowPos[stored[l][from-1]]
				}
				for _, row := range stored[l][from:] {
					if left == 0 {
						o.page.More = true
						break
					}
					o.page.Rows = append(o.page.Rows, row)
					left--
				}
			}
		case 3:
			for k := range o.heads.Heads {
				h := &o.heads.Heads[k]
				if s := stored[h.Log-1]; len(s) > 0 {
					h.Row = s[len(s)-1]
					h.Position = f.rowPos[h.Row]
				}
			}
		}
	}
	pick := func() Log {
		// A few logs are hot: the square of an even choice.
		x := r.Float64()
		return names[int(x*x*float64(logs))]
	}
	var recent []Entry
	for started := 0; started < operations || slices.ContainsFunc(slots, func(o open) bool { return o.kind != 0 }); {
		o := &slots[r.IntN(clients)]
		switch {
		case o.kind == 0 && started < operations:
			started++
			now++
			*o = open{invoked: now, entries: o.entries[:0], rows: o.rows[:0], page: Page{Spans: o.page.Spans[:0], Rows: o.page.Rows[:0]}, heads: Heads{Heads: o.heads.Heads[:0]}}
			n := r.IntN(100)
			switch {
			case n < 50:
				o.kind = 1
				switch {
				case n < 1 && len(recent) > 0:
					o.entries = append(o.entries, recent[r.IntN(len(recent))])
				case n < 5:
					a := pick()
					o.entries = append(o.entries, f.Entry(a), f.Entry(names[int(a)%logs]))
				default:
					o.entries = append(o.entries, f.Entry(pick()))
				}
				if len(recent) < 64 {
					recent = append(recent, o.entries[0])
				} else {
					recent[started%64] = o.entries[0]
				}
				o.lost = r.IntN(10) == 0
				o.did = !o.lost || r.IntN(2) == 0
			case n < 95:
				o.kind = 2
				o.page.Limit = 4
				a := pick()
				o.page.Spans = append(o.page.Spans, Span{Log: a})
				if n < 55 {
					o.page.Spans = append(o.page.Spans, Span{Log: names[int(a)%logs]})
				}
			default:
				o.kind = 3
				o.heads.Heads = append(o.heads.Heads, Head{Log: pick()})
			}
			if r.IntN(2) == 0 {
				effect(o)
				o.kind += 10
			}
		case o.kind >= 10:
			now++
			call++
			switch o.kind - 10 {
			case 1:
				a := Append{Call: call, Invoked: o.invoked, Returned: now, Outcome: Stored, Entries: o.entries, Rows: o.rows}
				if o.lost {
					a.Outcome, a.Rows = Unknown, nil
				}
				f.Append(a)
			case 2:
				o.page.Call, o.page.Invoked, o.page.Returned = call, o.invoked, now
				f.Page(o.page)
			case 3:
				o.heads.Call, o.heads.Invoked, o.heads.Returned = call, o.invoked, now
				f.Heads(o.heads)
			}
			o.kind = 0
		case o.kind != 0:
			effect(o)
			o.kind += 10
		}
	}
	return f
}

// processorTime is what this process has used of all cores, which other
// processes do not lengthen as they do the time on the wall.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heap returns the live heap after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkCheck measures Run on histories of 50 clients. It reports the time
// for an operation, and the bytes an operation takes: those of the facts, and
// all that Run allocates, as if it kept it to the end.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprintf("operations=%d", n), func(b *testing.B) {
			before := heap()
			f := load(50, n, 1)
			facts := heap() - before
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			allocated := m.TotalAlloc
			procs := runtime.GOMAXPROCS(1)
			defer runtime.GOMAXPROCS(procs)
			b.ResetTimer()
			cpu := processorTime()
			for range b.N {
				if r := Run(f); len(r.Findings) > 0 {
					b.Fatalf("a legal history: %+v", r.Findings[0])
				}
			}
			b.StopTimer()
			cpu = processorTime() - cpu
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
			b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N)/float64(n), "cpu-ns/operation")
			b.ReportMetric(float64(facts)/float64(n), "facts-B/operation")
			b.ReportMetric(float64(facts+(m.TotalAlloc-allocated)/uint64(b.N))/float64(n), "B/operation")
			runtime.KeepAlive(f)
		})
	}
}
