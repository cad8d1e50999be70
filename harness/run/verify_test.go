package run_test

import (
	"strings"
	"testing"

	"assay/harness/run"
	"assay/harness/subject"
	"assay/harness/verdict"
)

func verifyToy(t *testing.T, mutant bool, addresses ...string) (*run.Result, error) {
	t.Helper()
	server := toyServer(mutant)
	t.Cleanup(server.Close)
	suite, err := newToySuite()
	if err != nil {
		t.Fatal(err)
	}
	e, err := subject.ParseEndpoint(server.URL, subject.TLSOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return run.Verify(t.Context(), run.Options{Suite: suite, Source: run.TargetSource{Target: subject.Target{Endpoint: e, Probe: suite.Probe}}, Seed: 1, Nonce: "n", Addresses: addresses})
}

func statuses(r *run.Result) map[string]verdict.Status {
	out := map[string]verdict.Status{}
	for _, v := range r.Verdicts {
		out[string(v.Requirement)] = v.Status
	}
	return out
}

func TestTheEngineVerifiesASuiteItKnowsNothingOf(t *testing.T) {
	r, err := verifyToy(t, false)
	if err != nil {
		t.Fatal(err)
	}
	for id, s := range statuses(r) {
		if s != verdict.Satisfied {
			t.Errorf("%s is %v; want satisfied", id, s)
		}
	}
}

func TestTheToyMutantIsKilledByTheRequirementItBreaks(t *testing.T) {
	r, err := verifyToy(t, true)
	if err != nil {
		t.Fatal(err)
	}
	got := statuses(r)
	if got["TOY-002"] != verdict.Violated || got["TOY-001"] != verdict.Satisfied {
		t.Fatalf("got %v; want TOY-002 violated and TOY-001 satisfied", got)
	}
	f := r.Findings[0]
	if f.Requirement != "TOY-002" || f.Got == "" || f.History.Calls() > 3 {
		t.Errorf("finding %+v with %d calls; want TOY-002 shown by at most 3 calls", f.Violation, f.History.Calls())
	}
}

func TestAnAddressThatNamesNothingIsAnErrorThatSaysWhatExists(t *testing.T) {
	for address, want := range map[string]string{
		"toy/nothing": "toy/nothing\" names no scenario",
		"TOY-009":     "not in the catalogue",
	} {
		if _, err := verifyToy(t, false, address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want one that contains %q", address, err, want)
		}
	}
}

func TestAnAddressSelectsByRequirement(t *testing.T) {
	r, err := verifyToy(t, false, "TOY-002")
	if err != nil || len(r.Scenarios) != 1 {
		t.Fatalf("%v, %d scenarios; want 1", err, len(r.Scenarios))
	}
}
