package backend_test

import (
	"testing"

	suite "assay/harness/backend"
	"assay/harness/postgres/pgtest"
	"assay/harness/run"
	"assay/harness/subject"
	"assay/harness/verdict"
	"assay/impl/backend/backendtest"
	scenarios "assay/scenarios/backend"
)

// Two instances on one database are one backend: nothing that instances keep to
// themselves may decide an order.
func TestEveryMixFindsNothingOnTwoInstancesAndKeepsItsPromises(t *testing.T) {
	url := pgtest.ForTest(t).URL()
	s, err := suite.New(scenarios.All)
	if err != nil {
		t.Fatal(err)
	}
	var targets []subject.Target
	for range 2 {
		e, err := subject.ParseEndpoint("grpc://"+backendtest.Start(t, url, backendtest.Options{}).Address, subject.TLSOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, subject.Target{Endpoint: e, Probe: s.Probe})
	}
	source := run.TargetSource{Target: targets[0], Others: targets[1:]}
	r, err := run.Verify(t.Context(), run.Options{Suite: run.OnInstances(s, source.Instances()), Source: source,
		Seed: 3, Nonce: "two", Addresses: []string{"backend/mix"}, Profile: run.Quick, Stress: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Scenarios {
		if f.Failure != "" || f.Calls < 50 {
			t.Errorf("%s made %d calls: %s", f.Name, f.Calls, f.Failure)
		}
	}
	for _, v := range r.Verdicts {
		switch {
		case v.Status == verdict.Violated:
			t.Errorf("%s is violated: %+v", v.Requirement, v.Violations)
		case v.Promised && v.Status != verdict.Satisfied:
			t.Errorf("%s was promised and is %s: %s", v.Requirement, v.Status, v.Reason)
		}
	}
}

func TestStormsAreKeptFromASharedSubjectUnlessAskedFor(t *testing.T) {
	all, err := scenarios.All()
	if err != nil {
		t.Fatal(err)
	}
	storms := map[string]bool{"backend/mix/hot-topic": false, "backend/mix/retry-storm": false, "backend/mix/identity-storm": false,
		"backend/mix/identity-order": false, "backend/mix/lost-answers": false, "backend/mix/cut-connections": false}
	for _, s := range all {
		if _, is := storms[s.Name]; is {
			storms[s.Name] = s.Stress
		}
	}
	for name, stress := range storms {
		if !stress {
			t.Errorf("%s is no storm", name)
		}
	}
}
