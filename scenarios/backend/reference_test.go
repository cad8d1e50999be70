package backend_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"testing"

	suite "assay/harness/backend"
	"assay/harness/history"
	"assay/harness/postgres/pgtest"
	"assay/harness/run"
	"assay/harness/subject"
	"assay/harness/verdict"
	"assay/impl/backend/backendtest"
	"assay/model"
	rules "assay/model/backend"
	scenarios "assay/scenarios/backend"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// verify runs scenarios against a reference backend on a database of its own
// and returns every history beside the result.
func verify(t *testing.T, seed uint64, nonce string, addresses ...string) (*run.Result, []*history.History) {
	t.Helper()
	backend := backendtest.Start(t, pgtest.ForTest(t).URL(), backendtest.Options{})
	s, err := suite.New(scenarios.All)
	if err != nil {
		t.Fatal(err)
	}
	e, err := subject.ParseEndpoint("grpc://"+backend.Address, subject.TLSOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var kept []*history.History
	r, err := run.Verify(t.Context(), run.Options{Suite: s, Source: run.TargetSource{Target: subject.Target{Endpoint: e, Probe: s.Probe}},
		Seed: seed, Nonce: nonce, Addresses: addresses, Stress: true, History: func(h *history.History) {
			mu.Lock()
			defer mu.Unlock()
			kept = append(kept, h)
		}})
	if err != nil {
		t.Fatal(err)
	}
	return r, kept
}

func TestTheReferenceBreaksNothingAndEveryPromiseIsKept(t *testing.T) {
	r, _ := verify(t, 11, "reference")
	for _, v := range r.Verdicts {
		switch {
		case v.Status == verdict.Violated:
			t.Errorf("%s is violated: %+v", v.Requirement, v.Violations)
		case v.Status == verdict.Inconclusive:
			t.Errorf("%s is inconclusive: %s", v.Requirement, v.Reason)
		case v.Promised && v.Status != verdict.Satisfied && v.Status != verdict.OutOfReach:
			t.Errorf("%s was promised and is %s: %s", v.Requirement, v.Status, v.Reason)
		}
	}
}

// published lists what every publish of the histories sent, by session and call.
func published(t *testing.T, histories []*history.History) []string {
	t.Helper()
	var out []string
	for _, h := range histories {
		for _, e := range h.Events {
			c, ok := e.Value.(*rules.Call)
			if !ok || e.Phase != model.Invoke || c.Method != rules.MethodPublish {
				continue
			}
			text, err := json.Marshal(struct {
				Scenario, Session string
				Call              int
				Sent              *rules.PublishCall
				Length            int
			}{h.Header.Scenario, h.Header.Session, e.Call, c.Publish, c.WireLen})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(text))
		}
	}
	slices.Sort(out)
	return out
}

func TestTheSameSeedAndNoncePublishTheSameBytes(t *testing.T) {
	_, first := verify(t, 7, "same", "backend/publish", "backend/query")
	_, second := verify(t, 7, "same", "backend/publish", "backend/query")
	a, b := published(t, first), published(t, second)
	if len(a) < 100 || !slices.Equal(a, b) {
		t.Fatalf("%d publishes and %d, equal %v; want at least 100, and the same", len(a), len(b), slices.Equal(a, b))
	}
	_, third := verify(t, 7, "another", "backend/publish", "backend/query")
	if slices.Equal(a, published(t, third)) {
		t.Error("another nonce published the same bytes")
	}
}

func TestEveryScenarioHasASummaryAndDecidesSomething(t *testing.T) {
	all, err := scenarios.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Summary == "" || len(s.Decides) == 0 || s.Body == nil {
			t.Errorf("%s: summary %q, decides %v", s.Name, s.Summary, s.Decides)
		}
	}
}

func TestScenariosEndWithTheirContext(t *testing.T) {
	backend := backendtest.Start(t, pgtest.ForTest(t).URL(), backendtest.Options{})
	s, err := suite.New(scenarios.All)
	if err != nil {
		t.Fatal(err)
	}
	e, err := subject.ParseEndpoint("grpc://"+backend.Address, subject.TLSOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run.Verify(ctx, run.Options{Suite: s, Source: run.TargetSource{Target: subject.Target{Endpoint: e, Probe: s.Probe}}}); err == nil {
		t.Error("a cancelled run ended without an error")
	}
}
