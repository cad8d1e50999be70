package backend_test

import (
	"context"
	"flag"
	"testing"
	"time"

	suite "assay/harness/backend"
	"assay/harness/gate"
	"assay/harness/postgres/pgtest"
	"assay/harness/run"
	"assay/harness/subject"
	"assay/harness/verdict"
	"assay/impl/backend"
	"assay/impl/backend/backendtest"
	"assay/impl/backend/config"
	"assay/impl/backend/mutants"
	scenarios "assay/scenarios/backend"
)

// configured is a target that was started as the schedules of subscriptions ask.
type configured struct{ run.TargetSource }

func (configured) Supports(subject.Configuration) error { return nil }

func (c configured) Start(ctx context.Context, _ subject.Configuration) (run.Running, error) {
	return c.TargetSource.Start(ctx, subject.Configuration{})
}

// behindGate verifies a reference, mutated or not, behind a gate.
func behindGate(t testing.TB, mutate func(*backend.Parts, *config.Config), repeat int, addresses ...string) *run.Result {
	t.Helper()
	database := pgtest.ForTest(t).URL()
	g, err := run.Stand(gate.Config{Listen: "127.0.0.1:0", Database: database})
	if err != nil {
		t.Fatal(err)
	}
	url, err := g.URL(database)
	if err != nil {
		t.Fatal(err)
	}
	b := backendtest.Start(t, url, backendtest.Options{Mutate: mutate, Configure: func(c *config.Config) {
		c.Streams.KeepaliveIntervalMS = 200 // as the schedules of subscriptions ask
	}})
	defer func() {
		if err := b.Stop(); err != nil {
			t.Error(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, err := suite.New(scenarios.All)
	if err != nil {
		t.Fatal(err)
	}
	e, err := subject.ParseEndpoint("grpc://"+b.Address, subject.TLSOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Verify(t.Context(), run.Options{Suite: s, Source: configured{run.TargetSource{Target: subject.Target{Endpoint: e, Probe: s.Probe}, Gate: g.Gate}},
		Seed: 1, Nonce: "race", Addresses: addresses, Repeat: repeat, Timeout: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// raceRounds is how often the schedule that kills a mutant is played.
var raceRounds = flag.Int("race.rounds", 20, "how often each concurrency mutant meets the schedule that kills it")

// killers names, for each mutant that needs company, a schedule that shows it
// every time. The figures of longer runs are in docs/reproduce-a-race.md.
var killers = map[string]string{
	"commit-log-dropped-when-busy": "opposite-topic-orders-do-not-deadlock",
	"conflict-is-success":          "a-copy-commits-after-the-lookup",
	"duplicates-checked-once":      "a-copy-commits-after-the-lookup",
	"ids-before-lock":              "an-id-is-taken-long-before-the-commit",
	"ids-cached":                   "ids-over-several-connections",
	"more-in-second-query":         "a-short-page-and-an-entry-commits",
	"newest-in-two-queries":        "a-newest-read-while-an-entry-commits",
	"no-identity-lock":             "lower-identity-id-commits-last",
	"no-topic-lock":                "lower-id-commits-last",
	"page-topic-by-topic":          "a-page-of-two-topics-and-a-publish-to-both",
	"queries-share-a-read":         "a-query-like-one-that-is-under-way",
	"racing-copy-renumbered":       "a-copy-commits-after-the-lookup",
	"racing-copy-stored-again":     "a-copy-commits-after-the-lookup",
	"recheck-in-old-snapshot":      "a-copy-commits-before-the-second-look",
	"topics-committed-apart":       "a-publish-of-two-topics-is-seen-whole",
	"watermark-before-lock":        "a-conflict-is-validated-after-the-winner",
	"watermark-read-apart":         "a-revoked-member-signs-too-late",
}

func TestEveryConcurrencyMutantIsKilledByItsScheduleEveryTime(t *testing.T) {
	rounds := *raceRounds
	for _, m := range mutants.All() {
		if !m.Concurrent || m.Streams {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			killer, ok := killers[m.Name]
			if !ok {
				t.Fatalf("no schedule is named that kills it")
			}
			r := behindGate(t, m.Apply, rounds, "backend/race/"+killer)
			killed := make(map[int]bool)
			for _, f := range r.Findings {
				for _, id := range m.Requirements {
					if f.Requirement == id {
						killed[f.Round] = true
					}
				}
			}
			if len(killed) != rounds {
				t.Errorf("%s killed it in %d of %d rounds", killer, len(killed), rounds)
			}
			for _, f := range r.Scenarios {
				if f.Elapsed > 2*time.Second {
					t.Errorf("round %d took %v", f.Round, f.Elapsed)
				}
			}
		})
	}
}

func TestEveryScheduleFindsNothingInTheReferenceEveryTime(t *testing.T) {
	const rounds = 5
	r := behindGate(t, nil, rounds, "backend/race")
	for _, f := range r.Scenarios {
		if f.Failure != "" || f.Breaches > 0 {
			t.Errorf("%s, round %d: %d breaches; %s", f.Name, f.Round, f.Breaches, f.Failure)
		}
	}
	if len(r.Scenarios) < 30*rounds {
		t.Errorf("%d rounds were played; want %d at least", len(r.Scenarios), 30*rounds)
	}
	for _, v := range r.Verdicts {
		if v.Promised && v.Status != verdict.Satisfied {
			t.Errorf("%s was promised and is %s: %s", v.Requirement, v.Status, v.Reason)
		}
	}
}

// BenchmarkSchedules plays the race scenarios against the reference behind a
// gate, on topics of their own, and says how many a second.
func BenchmarkSchedules(b *testing.B) {
	r := behindGate(b, nil, max(b.N/40, 1), "backend/race")
	spent := time.Duration(0)
	for _, f := range r.Scenarios {
		spent += f.Elapsed
	}
	b.ReportMetric(float64(len(r.Scenarios))/spent.Seconds(), "schedules/s")
	b.ReportMetric(0, "ns/op")
}
