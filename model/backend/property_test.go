package backend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"assay/model"
)

// Two thousand sessions of concurrent clients with a correct server: nothing in
// them is a breach, whatever got lost, aborted, hidden or delayed.
func TestNoSessionWithACorrectServerIsCalledABreach(t *testing.T) {
	const each = 20 // of a hundred checks
	rapid.Check(t, func(t *rapid.T) {
		for range each {
			h := session(func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) })
			if j := h.judged(); len(j.Breaches()) > 0 {
				t.Fatalf("a correct server breaches\n%s\nin\n%s", explain(j), h.print())
			}
		}
	})
}

func TestNoUniformlyDrawnSessionIsCalledABreach(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	proved := make(map[string]int)
	for i := range 2000 {
		h := session(func(n int, _ string) int { return random.IntN(n) })
		j := h.judged()
		if len(j.Breaches()) > 0 {
			t.Fatalf("session %d: a correct server breaches\n%s\nin\n%s", i, explain(j), h.print())
		}
		for _, v := range j.Judgements {
			if v.Held() && (v.Needs == "" || j.Witnesses[v.Needs]) {
				proved[v.Assertion.Name]++
			}
		}
	}
	// The sessions are worth something only when the rules had something to judge.
	for _, a := range []model.Assertion{prefixHole, prefixLate, ownWrite, duplicateMeta, copySucceeds, retryWorks, landsWhole, atomicRefusal, storedOnce, queryUnion, hasMore, limitTotal,
		coalesced, nothingOmitted, newestHighest, newestPresent, publishLimit, aboveHeadEmpty} {
		if proved[a.Name] < 5 {
			t.Errorf("%s was proved %d times in 2000 sessions: they hardly reach it", a, proved[a.Name])
		}
	}
}

func TestJudgingTheSameHistoryTwiceGivesTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		h := session(func(n int, _ string) int { return random.IntN(n) })
		if a, b := h.judged(), h.judged(); !reflect.DeepEqual(a, b) {
			t.Fatalf("two judgements of one history differ:\n%+v\n%+v", a, b)
		}
	}
}

func TestEachAssertionIsJudgedOnceForACall(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		h := session(func(n int, _ string) int { return random.IntN(n) })
		type key struct {
			name string
			call int
		}
		seen := make(map[key]bool)
		for _, v := range h.judged().Judgements {
			k := key{v.Assertion.Name, v.Call}
			if seen[k] {
				t.Fatalf("%s is judged twice on call %d", v.Assertion, v.Call)
			}
			seen[k] = true
		}
	}
}

// distortions each change one thing in an answer, and report whether there was
// such a thing to change.
func distortions() map[string]func(r *Return, c choose) bool {
	some := func(f func(m *Meta)) func(r *Return, c choose) bool {
		return func(r *Return, c choose) bool {
			switch {
			case r.Publish != nil && len(r.Publish.Metas) > 0:
				f(&r.Publish.Metas[c(len(r.Publish.Metas), "meta")])
			case r.Query != nil && len(r.Query.Rows) > 0:
				f(&r.Query.Rows[c(len(r.Query.Rows), "row")].Meta)
			case r.Newest != nil && len(r.Newest.Rows) > 0:
				f(&r.Newest.Rows[c(len(r.Newest.Rows), "row")].Meta)
			default:
				return false
			}
			return true
		}
	}
	page := func(f func(p *Page, i int) bool) func(r *Return, c choose) bool {
		return func(r *Return, c choose) bool {
			return r.Query != nil && len(r.Query.Rows) > 0 && f(r.Query, c(len(r.Query.Rows), "row"))
		}
	}
	detail := func(f func(d *Detail) bool) func(r *Return, c choose) bool {
		return func(r *Return, _ choose) bool { return len(r.Details) > 0 && f(&r.Details[0]) }
	}
	ok := func(r *Return) bool { return r.Lost == Answered && r.Code == OK }
	return map[string]func(r *Return, c choose) bool{
		"another sequence id":  some(func(m *Meta) { m.Sequence++ }),
		"a lower sequence id":  some(func(m *Meta) { m.Sequence -= 4 }),
		"another server time":  some(func(m *Meta) { m.ServerNS++ }),
		"another hash":         some(func(m *Meta) { m.Hash = "x" + m.Hash[1:] }),
		"a short hash":         some(func(m *Meta) { m.Hash = m.Hash[1:] }),
		"another topic":        some(func(m *Meta) { m.Topic = m.Topic[:len(m.Topic)-1] + "!" }),
		"another expiry":       some(func(m *Meta) { m.ExpiryNS++ }),
		"the other flag":       some(func(m *Meta) { m.CommitOrProposal = !m.CommitOrProposal }),
		"a page without a row": page(func(p *Page, i int) bool { p.Rows = slices.Delete(p.Rows, i, i+1); return true }),
		"a page with a row twice": page(func(p *Page, i int) bool {
			p.Rows = slices.Insert(p.Rows, i, p.Rows[i])
			return true
		}),
		"a page with another payload": page(func(p *Page, i int) bool { p.Rows[i].Identity[3]++; return true }),
		"a page without an envelope": page(func(p *Page, i int) bool {
			p.Rows[i].HasEnvelope, p.Rows[i].Identity = false, Digest{}
			return true
		}),
		"two rows of a page exchanged": page(func(p *Page, i int) bool {
			if i == 0 || p.Rows[i].Meta.Topic != p.Rows[i-1].Meta.Topic {
				return false
			}
			p.Rows[i], p.Rows[i-1] = p.Rows[i-1], p.Rows[i]
			return true
		}),
		"the other has_more": func(r *Return, _ choose) bool {
			if r.Query == nil {
				return false
			}
			r.Query.HasMore = !r.Query.HasMore
			return true
		},
		"a publish without an entry": func(r *Return, c choose) bool {
			if r.Publish == nil || len(r.Publish.Metas) == 0 {
				return false
			}
			i := c(len(r.Publish.Metas), "entry")
			r.Publish.Metas = slices.Delete(r.Publish.Metas, i, i+1)
			return true
		},
		"two entries of a publish exchanged": func(r *Return, _ choose) bool {
			if r.Publish == nil || len(r.Publish.Metas) < 2 || r.Publish.Metas[0] == r.Publish.Metas[1] {
				return false
			}
			m := r.Publish.Metas
			m[0], m[1] = m[1], m[0]
			return true
		},
		"a newest read without a result": func(r *Return, c choose) bool {
			if r.Newest == nil || len(r.Newest.Rows) == 0 {
				return false
			}
			i := c(len(r.Newest.Rows), "result")
			r.Newest.Rows = slices.Delete(r.Newest.Rows, i, i+1)
			return true
		},
		"a newest read in the other mode": func(r *Return, c choose) bool {
			if r.Newest == nil || len(r.Newest.Rows) == 0 {
				return false
			}
			row := &r.Newest.Rows[c(len(r.Newest.Rows), "result")]
			row.HasEnvelope = !row.HasEnvelope
			return true
		},
		"INVALID_ARGUMENT for OK": func(r *Return, _ choose) bool {
			was := ok(r)
			*r = Return{Code: InvalidArgument, Text: "no"}
			return was
		},
		"INTERNAL for OK": func(r *Return, _ choose) bool {
			was := ok(r)
			*r = Return{Code: Internal, Text: "no"}
			return was
		},
		"OK for INVALID_ARGUMENT": func(r *Return, _ choose) bool {
			was := r.Code == InvalidArgument
			*r = Return{Publish: &Published{}, Query: &Page{}, Newest: &Heads{}}
			return was
		},
		"an index of one more": detail(func(d *Detail) bool {
			if d.Index == nil {
				return false
			}
			next := *d.Index + 1
			d.Index = &next
			return true
		}),
		"no index": detail(func(d *Detail) bool {
			was := d.Index != nil
			d.Index = nil
			return was
		}),
		"no reason": detail(func(d *Detail) bool { d.Reason = ReasonUnspecified; return true }),
		"no detail": func(r *Return, _ choose) bool {
			was := len(r.Details) > 0
			r.Details = nil
			return was
		},
		"no text": func(r *Return, _ choose) bool {
			was := r.Code == InvalidArgument
			r.Text = ""
			return was
		},
	}
}

// One distorted answer in a session is noticed when something else in the
// session speaks against it. What share is, the test prints; that share falling
// is a rule gone missing.
func TestSingleDistortionsAreNoticed(t *testing.T) {
	const sessions, atLeast = 4000, 0.75
	random := rand.New(rand.NewPCG(1, 2))
	c := func(n int, _ string) int { return random.IntN(n) }
	all := distortions()
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	made, noticed := make(map[string]int), make(map[string]int)
	for i := range sessions {
		h := session(c)
		name := names[i%len(names)]
		if !distort(h, all[name], c) {
			continue
		}
		made[name]++
		if len(h.judged().Breaches()) > 0 {
			noticed[name]++
		}
	}
	total, seen := 0, 0
	for _, name := range names {
		t.Logf("%-36s noticed %3d of %3d", name, noticed[name], made[name])
		total, seen = total+made[name], seen+noticed[name]
		if noticed[name] == 0 {
			t.Errorf("%s is never noticed", name)
		}
	}
	t.Logf("%-36s noticed %d of %d", "all", seen, total)
	if float64(seen) < atLeast*float64(total) {
		t.Errorf("noticed %d of %d distortions, want at least %.0f %%", seen, total, 100*atLeast)
	}
}

// distort changes one answer of the story, and reports whether it found one.
func distort(h *story, change func(r *Return, c choose) bool, c choose) bool {
	var returns []int
	for i, e := range h.events {
		if e.Phase == model.Return {
			returns = append(returns, i)
		}
	}
	if len(returns) == 0 {
		return false
	}
	start := c(len(returns), "return")
	for k := range returns {
		i := returns[(start+k)%len(returns)]
		r := copied(h.events[i].Value.(*Return))
		if change(r, c) {
			h.events[i].Value = r
			return true
		}
	}
	return false
}

func copied(r *Return) *Return {
	c := *r
	c.Details = slices.Clone(r.Details)
	if r.Publish != nil {
		c.Publish = &Published{Metas: slices.Clone(r.Publish.Metas)}
	}
	if r.Query != nil {
		p := *r.Query
		p.Rows = slices.Clone(p.Rows)
		c.Query = &p
	}
	if r.Newest != nil {
		c.Newest = &Heads{Rows: slices.Clone(r.Newest.Rows)}
	}
	return &c
}

// longHistory has n calls on one topic: half of them publishes of which a tenth
// is lost, half reads that page on.
func longHistory(n int) *story {
	h := tell()
	cursor := uint64(0)
	for i := range n / 2 {
		u := h.publish("A", group(fmt.Sprint("m", i)), group(fmt.Sprint("n", i)))
		switch {
		case i%20 == 0:
			u.lands().lost()
		case i%10 == 0:
			u.lost()
		default:
			u.answered()
		}
		h.query("B", 0, after(groupLog("g"), cursor)).answered()
		rows := h.events[len(h.events)-1].Value.(*Return).Query.Rows
		if len(rows) > 40 {
			cursor = rows[len(rows)/2].Meta.Sequence
		}
	}
	return h
}

// Four times the calls take about four times as long, not sixteen times: a
// machine that is busy slows both. BenchmarkJudgeLongHistory has the time itself,
// about 0.2 s of processor time for ten thousand calls.
func TestJudgingTakesTimeInProportionToTheHistory(t *testing.T) {
	const atMost = 10
	best := func(h *story) time.Duration {
		events := h.history()
		least := time.Duration(math.MaxInt64)
		for range 3 {
			start := processorTime(t)
			j := Judge(events)
			least = min(least, max(processorTime(t)-start, time.Millisecond))
			if len(j.Breaches()) > 0 {
				t.Fatal(explain(j))
			}
		}
		return least
	}
	short, long := best(longHistory(1_000)), best(longHistory(4_000))
	t.Logf("1,000 calls in %s, 4,000 in %s", short, long)
	if long > atMost*short {
		t.Errorf("four times the calls take %.1f times as long, want at most %d", float64(long)/float64(short), atMost)
	}
}

// processorTime is what this process has used of processors: other processes
// on a busy machine do not stretch it as they stretch the clock.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkJudgeLongHistory(b *testing.B) {
	events := longHistory(10_000).history()
	b.ResetTimer()
	for range b.N {
		Judge(events)
	}
}

func BenchmarkJudge(b *testing.B) {
	random := rand.New(rand.NewPCG(3, 4))
	var events [][]model.Event
	calls := 0
	for range 100 {
		h := session(func(n int, _ string) int { return random.IntN(n) })
		events = append(events, h.history())
		calls += h.calls
	}
	b.ResetTimer()
	for range b.N {
		for _, e := range events {
			Judge(e)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/call")
}
