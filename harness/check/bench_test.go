package check

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// The load of the benchmarks. Half of the operations are appends: 90 in 100 of
// one entry, 8 of two entries on two logs, 2 retries of an entry that was
// appended before; a tenth of them have an unknown outcome, and half of those
// were stored. Half are reads: 8 in 10 pages of one log that follow the head, 1
// in 10 pages of two logs, 1 in 10 head reads. On each log a page begins 0 to 5
// entries below the head, evenly, and it has a limit of 4: 0, 1, 2 or 3 rows and
// not cut in a sixth of the cases each, 4 rows in the rest, half of them cut. 50
// clients, one log for every 200 operations, at least 4, the first ones hot.

// load makes a legal history of ordered logs: a simulated primary on which
// every operation takes effect at one moment of its interval.
// It has room for exactly what it holds, as it has when a reader counts first.
func load(clients, operations int, seed uint64) *Facts {
	if operations > 1_000_000 {
		share := func(percent int) int { return operations/100*percent + 10_000 }
		return loadInto(Sizes{Logs: operations / 200, Entries: share(53), Rows: share(51), Appends: share(50), Items: share(54),
			Pages: share(45), Spans: share(50), PageRows: share(100), HeadReads: share(5), Heads: share(5)}, clients, operations, seed)
	}
	f := loadInto(Sizes{}, clients, operations, seed)
	return loadInto(Sizes{Logs: len(f.logName), Entries: len(f.entryLog), Rows: len(f.rowPos), Appends: f.appends.len(), Items: len(f.appends.entry),
		Pages: f.pages.len(), Spans: len(f.pages.spanLog), PageRows: len(f.pages.row), HeadReads: f.heads.len(), Heads: len(f.heads.head)}, clients, operations, seed)
}

func loadInto(sizes Sizes, clients, operations int, seed uint64) *Facts {
	r := rand.New(rand.NewPCG(seed, 3))
	logs := max(4, operations/200)
	f := New(sizes)
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
				from := max(0, len(stored[l])-r.IntN(6))
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
			// A small history is measured beside others of its size, so that what the
			// runtime keeps for itself is not counted as its own.
			before := heap()
			all := make([]*Facts, max(1, 100_000/n))
			for i := range all {
				all[i] = load(50, n, uint64(i+1))
			}
			facts := (heap() - before) / uint64(len(all))
			f := all[0]
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
			runtime.KeepAlive(all)
		})
	}
}

// BenchmarkBesidePorcupine measures both checkers on the same histories: appends
// of one entry and pages of one log, all outcomes known and nothing hidden, so
// that the model that porcupine searches with stays the simplest possible.
// Of 50 clients porcupine is given 20 seconds for each history.
func BenchmarkBesidePorcupine(b *testing.B) {
	for _, clients := range []int{10, 50} {
		for _, n := range []int{100, 200, 500, 1000, 2000} {
			b.Run(fmt.Sprintf("clients=%d/operations=%d", clients, n), func(b *testing.B) {
				h := plainLoad(clients, n)
				f := h.facts()
				var check, other time.Duration
				gaveUp := 0
				for range b.N {
					const runs = 100
					begun := processorTime()
					for range runs {
						if r := Run(f); len(r.Findings) > 0 {
							b.Fatal(h.verdict(r))
						}
					}
					check += (processorTime() - begun) / runs
					begun = processorTime()
					switch plainOpinion(h, 20*time.Second) {
					case porcupine.Unknown:
						gaveUp++
					case porcupine.Illegal:
						b.Fatal("porcupine calls a legal history illegal")
					}
					other += processorTime() - begun
				}
				b.ReportMetric(float64(check.Microseconds())/float64(b.N), "check-cpu-µs")
				b.ReportMetric(float64(other.Microseconds())/float64(b.N), "porcupine-cpu-µs")
				b.ReportMetric(float64(other)/float64(check), "times-faster")
				b.ReportMetric(float64(gaveUp)/float64(b.N), "gave-up")
			})
		}
	}
}

// plainLoad makes a legal history in which every operation takes effect at one
// moment, on one log: reads show it from the reader's cursor.
func plainLoad(clients, operations int) hist {
	r := rand.New(rand.NewPCG(uint64(clients), uint64(operations)))
	type slot struct {
		op       int
		open     bool
		happened bool
		cursor   int
	}
	var h hist
	var stored []hrow
	slots := make([]slot, clients)
	now := 0
	for started := 0; started < operations || slices.ContainsFunc(slots, func(s slot) bool { return s.open }); {
		s := &slots[r.IntN(clients)]
		switch {
		case !s.open && started < operations:
			started++
			now++
			s.open, s.happened, s.op = true, false, len(h.ops)
			if r.IntN(2) == 0 {
				h.ops = append(h.ops, hop{kind: "append", from: now, outcome: "ok", entries: []string{fmt.Sprint("a.e", started)}})
			} else {
				after := uint64(0)
				if s.cursor > 0 {
					after = stored[s.cursor-1].pos
				}
				h.ops = append(h.ops, hop{kind: "page", from: now, spans: []hspan{{"a", after}}})
			}
		case s.open && !s.happened:
			s.happened = true
			if o := &h.ops[s.op]; o.kind == "append" {
				row := hrow{log: "a", entry: o.entries[0][2:], pos: uint64(len(stored) + 1)}
				stored = append(stored, row)
				o.rows = []hrow{row}
			} else {
				o.rows = slices.Clone(stored[s.cursor:])
				s.cursor = len(stored)
			}
		case s.open:
			now++
			h.ops[s.op].to, s.open = now, false
		}
	}
	return h
}

// plainOpinion asks porcupine with the straightforward model: the state is the
// log, an append adds a row above the last, a page shows all above its cursor.
func plainOpinion(h hist, timeout time.Duration) porcupine.CheckResult {
	model := porcupine.Model{
		Init: func() interface{} { return []hrow(nil) },
		Step: func(s, input, output interface{}) (bool, interface{}) {
			log, o := s.([]hrow), input.(*hop)
			if o.kind == "append" {
				if n := len(log); n > 0 && log[n-1].pos >= o.rows[0].pos {
					return false, log
				}
				return true, append(slices.Clone(log), o.rows[0])
			}
			var shown []hrow
			for _, r := range log {
				if r.pos > o.spans[0].after {
					shown = append(shown, r)
				}
			}
			return slices.Equal(shown, o.rows), log
		},
		Equal: func(a, b interface{}) bool { return slices.Equal(a.([]hrow), b.([]hrow)) },
	}
	invoked, returned := h.orders()
	var ops []porcupine.Operation
	for i := range h.ops {
		ops = append(ops, porcupine.Operation{ClientId: i, Input: &h.ops[i], Call: int64(invoked[i]), Return: int64(returned[i])})
	}
	return porcupine.CheckOperationsTimeout(model, ops, timeout)
}
