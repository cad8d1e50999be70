package facts_test

import (
	"fmt"
	"slices"
	"testing"

	"assay/harness/backend/facts"
	"assay/harness/check"
	"assay/harness/verdict"
	"assay/model"
	rules "assay/model/backend"
	"assay/spec"
	specbackend "assay/spec/backend"
	"assay/spec/gen/backendreq"
)

func breached(j model.Judged) []spec.ID {
	var out []spec.ID
	for _, v := range j.Breaches() {
		if !slices.Contains(out, v.Assertion.Requirement) {
			out = append(out, v.Assertion.Requirement)
		}
	}
	slices.Sort(out)
	return out
}

func held(j model.Judged, id spec.ID) (n int) {
	for _, v := range j.Judgements {
		if v.Assertion.Requirement == id && v.Held() {
			n++
		}
	}
	return n
}

func TestEveryRequirementIsBreachedByItsFaultAndHeldByItsLookAlike(t *testing.T) {
	g, h, log := group("g"), group("h"), commitLog("c")
	one, two, three := item{log: g, content: "one"}, item{log: g, content: "two"}, item{log: g, content: "three"}
	other := item{log: h, content: "other"}
	create, rival := item{log: inbox("i"), content: "create", creates: true}, item{log: inbox("i"), content: "rival", creates: true}
	elsewhere := item{log: inbox("j"), content: "create", creates: true}
	first, second, last := item{log: log, content: "1"}, item{log: log, content: "2"}, item{log: log, content: "3"}

	for _, c := range []struct {
		name     string
		tell     func(s *story)
		breaches []spec.ID
		holds    spec.ID
	}{
		{name: "API-016: a query after a publish returned lacks its envelope, violated", breaches: []spec.ID{backendreq.API016},
			tell: func(s *story) {
				s.whole(publish(one), published(one.meta(10)))
				s.whole(query(0, from(g, 0)), page(false))
			}},
		{name: "API-016: a query after a publish returned shows its envelope, held", holds: backendreq.API016,
			tell: func(s *story) {
				s.whole(publish(one), published(one.meta(10)))
				s.whole(query(0, from(g, 0)), page(false, one.row(10)))
			}},
		{name: "API-016: a publish whose answer was lost hides what follows, no verdict",
			tell: func(s *story) {
				s.whole(publish(one), lost())
				s.whole(publish(two), published(two.meta(11)))
				s.whole(query(0, from(g, 0)), page(false))
			}},
		{name: "API-011: a query goes backwards, violated", breaches: []spec.ID{backendreq.API011},
			tell: func(s *story) {
				p := s.begin(publish(one))
				s.whole(query(0, from(g, 0)), page(false, one.row(10)))
				s.whole(query(0, from(g, 0)), page(false))
				s.end(p, published(one.meta(10)))
			}},
		{name: "API-011: a query has a hole, violated", breaches: []spec.ID{backendreq.API011},
			tell: func(s *story) {
				s.whole(publish(one, two, three), published(one.meta(10), two.meta(11), three.meta(12)))
				s.whole(query(0, from(g, 0)), page(false, one.row(10), three.row(12)))
			}},
		{name: "API-011: a query shows a prefix, held", holds: backendreq.API011,
			tell: func(s *story) {
				s.whole(publish(one), published(one.meta(10)))
				s.whole(query(0, from(g, 0)), page(false, one.row(10)))
			}},
		{name: "API-066: a commit log loses an entry, violated with its prefix", breaches: []spec.ID{backendreq.API011, backendreq.API066},
			tell: func(s *story) {
				s.whole(publish(first, second, last), published(first.meta(10), second.meta(11), last.meta(12)))
				s.whole(query(0, from(log, 0)), page(false, first.row(10), last.row(12)))
			}},
		{name: "API-066: a commit log is read in order, held", holds: backendreq.API066,
			tell: func(s *story) {
				s.whole(publish(first, second), published(first.meta(10), second.meta(11)))
				s.whole(query(0, from(log, 0)), page(false, first.row(10), second.row(11)))
			}},
		{name: "API-010: an id on two topics, violated", breaches: []spec.ID{backendreq.API010},
			tell: func(s *story) {
				s.whole(publish(one), published(one.meta(10)))
				s.whole(publish(other), published(other.meta(10)))
			}},
		{name: "API-014: identity updates against real time, violated", breaches: []spec.ID{backendreq.API014},
			tell: func(s *story) {
				s.whole(publish(create), published(create.meta(11)))
				s.whole(publish(elsewhere), published(elsewhere.meta(10)))
			}},
		{name: "API-014: identity updates in real time, held", holds: backendreq.API014,
			tell: func(s *story) {
				s.whole(publish(create), published(create.meta(10)))
				s.whole(publish(elsewhere), published(elsewhere.meta(11)))
			}},
		{name: "API-012: group messages of two topics against real time, no verdict",
			tell: func(s *story) {
				s.whole(publish(one), published(one.meta(11)))
				s.whole(publish(other), published(other.meta(10)))
			}},
		{name: "API-030: a query shows half of a publish, violated", breaches: []spec.ID{backendreq.API030},
			tell: func(s *story) {
				p := s.begin(publish(one, other))
				s.whole(query(0, from(g, 0), from(h, 0)), page(false, one.row(10)))
				s.end(p, published(one.meta(10), other.meta(11)))
			}},
		{name: "API-030: a query shows a whole publish, held", holds: backendreq.API030,
			tell: func(s *story) {
				p := s.begin(publish(one, other))
				s.whole(query(0, from(g, 0), from(h, 0)), page(false, one.row(10), other.row(11)))
				s.end(p, published(one.meta(10), other.meta(11)))
			}},
		{name: "API-030: a refused publish is stored, violated", breaches: []spec.ID{backendreq.API030},
			tell: func(s *story) {
				s.whole(publish(one), code(rules.InvalidArgument))
				s.whole(query(0, from(g, 0)), page(false, one.row(10)))
			}},
		{name: "API-033: a duplicate gets a new time, violated", breaches: []spec.ID{backendreq.API033},
			tell: func(s *story) {
				s.whole(publish(one), published(one.meta(10)))
				again := one.meta(10)
				again.ServerNS++
				s.whole(publish(one), published(again))
			}},
		{name: "API-033: a duplicate keeps its metadata, held", holds: backendreq.API033,
			tell: func(s *story) {
				s.whole(publish(one), published(one.meta(10)))
				s.whole(publish(one), published(one.meta(10)))
			}},
		{name: "API-034: equal envelopes of one publish get two ids, violated", breaches: []spec.ID{backendreq.API034},
			tell: func(s *story) {
				s.whole(publish(one, one), published(one.meta(10), one.meta(11)))
			}},
		{name: "API-034: equal envelopes of one publish get one id, held", holds: backendreq.API034,
			tell: func(s *story) {
				s.whole(publish(one, one), published(one.meta(10), one.meta(10)))
			}},
		{name: "API-035: copies at once get two times, violated", breaches: []spec.ID{backendreq.API035},
			tell: func(s *story) {
				p := s.begin(publish(one))
				again := one.meta(10)
				again.ServerNS++
				s.whole(publish(one), published(one.meta(10)))
				s.end(p, published(again))
			}},
		{name: "API-035: copies at once share metadata, held", holds: backendreq.API035,
			tell: func(s *story) {
				p := s.begin(publish(one))
				s.whole(publish(one), published(one.meta(10)))
				s.end(p, published(one.meta(10)))
			}},
		{name: "API-036: one of two copies at once is refused and nothing else happens, violated", breaches: []spec.ID{backendreq.API036},
			tell: func(s *story) {
				p := s.begin(publish(create))
				s.whole(publish(create), published(create.meta(10)))
				s.end(p, code(rules.InvalidArgument))
			}},
		{name: "API-036: two copies at once succeed, held", holds: backendreq.API036,
			tell: func(s *story) {
				p := s.begin(publish(create))
				s.whole(publish(create), published(create.meta(10)))
				s.end(p, published(create.meta(10)))
			}},
		{name: "API-051: two creations of one inbox win, violated", breaches: []spec.ID{backendreq.API051},
			tell: func(s *story) {
				p := s.begin(publish(create))
				s.whole(publish(rival), published(rival.meta(11)))
				s.end(p, published(create.meta(10)))
			}},
		{name: "API-051: ABORTED beside a commit, held", holds: backendreq.API051,
			tell: func(s *story) {
				p := s.begin(publish(create))
				s.whole(publish(rival), published(rival.meta(11)))
				s.end(p, code(rules.Aborted))
			}},
		{name: "API-051: ABORTED beside nothing, violated", breaches: []spec.ID{backendreq.API051},
			tell: func(s *story) {
				s.whole(publish(rival), published(rival.meta(11)))
				s.whole(publish(create), code(rules.Aborted))
			}},
		{name: "API-051: a loser is stored, violated with atomicity", breaches: []spec.ID{backendreq.API030, backendreq.API051},
			tell: func(s *story) {
				p := s.begin(publish(create))
				s.whole(publish(rival), published(rival.meta(11)))
				s.end(p, code(rules.Aborted))
				s.whole(query(0, from(inbox("i"), 0)), page(false, create.row(10), rival.row(11)))
			}},
		{name: "API-072: a query shows what nobody published, violated", breaches: []spec.ID{backendreq.API072},
			tell: func(s *story) {
				s.whole(query(0, from(g, 0)), page(false, one.row(10)))
			}},
		{name: "API-073: a query denies that it was cut, violated", breaches: []spec.ID{backendreq.API073},
			tell: func(s *story) {
				s.whole(publish(one, two), published(one.meta(10), two.meta(11)))
				s.whole(query(1, from(g, 0)), page(false, one.row(10)))
			}},
		{name: "API-073: a query says that it was cut, held", holds: backendreq.API073,
			tell: func(s *story) {
				s.whole(publish(one, two), published(one.meta(10), two.meta(11)))
				s.whole(query(1, from(g, 0)), page(true, one.row(10)))
			}},
		{name: "API-076: a query holds more than its limit, violated", breaches: []spec.ID{backendreq.API076},
			tell: func(s *story) {
				s.whole(publish(one, other), published(one.meta(10), other.meta(11)))
				s.whole(query(1, from(g, 0), from(h, 0)), page(false, one.row(10), other.row(11)))
			}},
		{name: "API-076: a query holds its limit over two topics, held", holds: backendreq.API076,
			tell: func(s *story) {
				s.whole(publish(one, other), published(one.meta(10), other.meta(11)))
				s.whole(query(1, from(g, 0), from(h, 0)), page(true, one.row(10)))
			}},
		{name: "API-077: a query shows two moments, violated", breaches: []spec.ID{backendreq.API077},
			tell: func(s *story) {
				q := s.begin(query(0, from(g, 0), from(h, 0)))
				s.whole(publish(one), published(one.meta(10)))
				s.whole(publish(other), published(other.meta(11)))
				s.end(q, page(false, other.row(11)))
			}},
		{name: "API-077: a query shows one moment, held", holds: backendreq.API077,
			tell: func(s *story) {
				q := s.begin(query(0, from(g, 0), from(h, 0)))
				s.whole(publish(one), published(one.meta(10)))
				s.whole(publish(other), published(other.meta(11)))
				s.end(q, page(false, one.row(10)))
			}},
		{name: "API-077: a repeated topic starts at its lowest cursor, and the page is judged from there",
			tell: func(s *story) {
				s.whole(publish(one, two), published(one.meta(10), two.meta(11)))
				s.whole(query(0, from(g, 10), from(g, 0)), page(false, one.row(10), two.row(11)))
			}},
		{name: "API-083: the newest envelope of a subject without a replica is old, violated", breaches: []spec.ID{backendreq.API083},
			tell: func(s *story) {
				s.whole(publish(one), published(one.meta(10)))
				s.whole(publish(two), published(two.meta(11)))
				s.whole(newest(g), heads(one.row(10)))
			}},
		{name: "API-083: the newest envelope is the highest, held", holds: backendreq.API083,
			tell: func(s *story) {
				s.whole(publish(one), published(one.meta(10)))
				s.whole(publish(two), published(two.meta(11)))
				s.whole(newest(g), heads(two.row(11)))
			}},
		{name: "a page with a row that cannot be placed is no fact",
			tell: func(s *story) {
				s.whole(publish(one), published(one.meta(10)))
				s.whole(query(0, from(g, 0)), page(false, rules.Row{HasMeta: true}))
			}},
		{name: "a publish that returned too few metadata entries stores it knows not what",
			tell: func(s *story) {
				s.whole(publish(one, two), published(one.meta(10)))
				s.whole(query(0, from(g, 0)), page(false))
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(true)
			c.tell(s)
			j := facts.Judge(s.events)
			if got := breached(j); !slices.Equal(got, c.breaches) {
				t.Errorf("breached %v, want %v\n%+v", got, c.breaches, j.Breaches())
			}
			if c.holds != "" && held(j, c.holds) == 0 {
				t.Errorf("nothing held for %s: %v", c.holds, j.Judgements)
			}
			for _, v := range j.Breaches() {
				if len(v.Breach.Events) == 0 || !slices.IsSorted(v.Breach.Events) || v.Breach.Events[len(v.Breach.Events)-1] >= len(s.events) {
					t.Errorf("proof %v of %s", v.Breach.Events, v.Assertion)
				}
			}
		})
	}
}

func TestNewestOfASubjectThatMayHaveAReplicaMayLag(t *testing.T) {
	g := group("g")
	one := item{log: g, content: "one"}
	s := newStory(false)
	s.whole(publish(one), published(one.meta(10)))
	s.whole(newest(g), heads())
	if got := facts.Judge(s.events).Breaches(); len(got) > 0 {
		t.Errorf("API-018: %+v", got)
	}
}

func TestEveryAssertionIsOfACatalogueRequirementThatIsListed(t *testing.T) {
	catalogue, err := specbackend.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	tally := verdict.NewTally(catalogue, 0, nil)
	if err := tally.Promise("concurrent", facts.Requirements(), nil); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(50) {
		if err := tally.Add("concurrent", fmt.Sprint(seed), facts.Judge(traffic(seed, 6, 80))); err != nil {
			t.Fatal(err)
		}
	}
	satisfied := 0
	for _, v := range tally.Conclude() {
		if v.Status == verdict.Violated {
			t.Errorf("%s violated: %+v", v.Requirement, v.Violations[0])
		}
		if v.Status == verdict.Satisfied {
			satisfied++
		}
	}
	if satisfied < 12 {
		t.Errorf("%d requirements satisfied by concurrent traffic, want at least 12", satisfied)
	}
}

func TestCombineReportsABreachOnce(t *testing.T) {
	g := group("g")
	one := item{log: g, content: "one"}
	s := newStory(true)
	s.whole(publish(one), published(one.meta(10)))
	again := one.meta(10)
	again.ServerNS++
	s.whole(publish(one), published(again))
	sequential, concurrent := rules.Judge(s.events), facts.Judge(s.events)
	both := facts.Combine(sequential, concurrent)
	count := func(j model.Judged) (n int) {
		for _, v := range j.Breaches() {
			if v.Assertion.Requirement == backendreq.API033 {
				n++
			}
		}
		return n
	}
	if count(concurrent) != 1 || count(both) != max(count(sequential), 1) {
		t.Errorf("API-033 breached %d times by the model, %d by the facts and %d together", count(sequential), count(concurrent), count(both))
	}
}

func TestOverlapMakesAHistoryConcurrent(t *testing.T) {
	g := group("g")
	s := newStory(true)
	s.whole(query(0, from(g, 0)), page(false))
	s.whole(query(0, from(g, 0)), page(false))
	if facts.Concurrent(s.events) {
		t.Error("one call after the other is no overlap")
	}
	a := s.begin(query(0, from(g, 0)))
	s.whole(query(0, from(g, 0)), page(false))
	s.end(a, page(false))
	if !facts.Concurrent(s.events) {
		t.Error("a call within a call is an overlap")
	}
}

func TestAThousandConcurrentSessionsOfACorrectServerBreachNothing(t *testing.T) {
	for seed := range uint64(1000) {
		events := traffic(seed, 2+int(seed%9), 60)
		if b := facts.Judge(events).Breaches(); len(b) > 0 {
			t.Fatalf("seed %d: %s at call %d: expected %s, got %s, events %v", seed, b[0].Assertion, b[0].Call, b[0].Breach.Expected, b[0].Breach.Got, b[0].Breach.Events)
		}
	}
}

func ExampleJudge() {
	g := group("g")
	one := item{log: g, content: "one"}
	s := newStory(true)
	s.whole(publish(one), published(one.meta(10)))
	s.whole(query(0, from(g, 0)), page(false))
	for _, v := range facts.Judge(s.events).Breaches() {
		fmt.Printf("%s\n  expected %s\n  got      %s (events %v)\n", v.Assertion, v.Breach.Expected, v.Breach.Got, v.Breach.Events)
	}
	// Output:
	// API-016 concurrent-read-shows-what-had-returned
	//   expected position 10 of group g, which was stored before this read began
	//   got      a read without it (events [1 2 3 4])
}

func ExampleRead() {
	g := group("g")
	one := item{log: g, content: "one"}
	s := newStory(true)
	s.whole(publish(one), published(one.meta(10)))
	f := facts.Read(s.events)
	fmt.Println(f.Operations(), "operation,", len(check.Run(f).Findings), "findings")
	// Output: 1 operation, 0 findings
}
