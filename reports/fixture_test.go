package reports_test

import (
	"testing"
	"time"

	"assay/harness/verdict"
	"assay/model"
	"assay/reports"
	"assay/spec"
)

// mixed is a run with one requirement of every status.
func mixed() reports.Result {
	server := spec.Parties(spec.Server)
	r := reports.Result{
		Format: reports.Format, Tool: "assay v0.0.0-test", Suite: "toy", Subject: "spawned: ./toy serve",
		Access: spec.AccessOf(spec.Wire, spec.Control), Seed: 42, Nonce: "7f3a", Profile: "default",
		Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Timings: reports.Timings{Total: reports.Millis(12345 * time.Millisecond), FirstVerdict: reports.Millis(310 * time.Millisecond),
			Scenarios: map[string]reports.Millis{"toy/read/prefix": reports.Millis(1500 * time.Microsecond)}},
		Requirements: []reports.Requirement{
			{ID: "TOY-001", Section: "1", Title: "Ids are unique", Level: spec.Must, Binds: server, Status: verdict.Satisfied,
				Promised: true, Observations: 12, Scenarios: []string{"toy/read/prefix"},
				Notes: []reports.Note{{Basis: model.Upstream, Text: "ids start at 1", Scenarios: []string{"toy/read/prefix"}}}},
			{ID: "TOY-002", Section: "1", Title: "A reader sees every entry before its target, in the order of ids", Level: spec.Must, Binds: server,
				Status: verdict.Violated, Promised: true, Observations: 3, Scenarios: []string{"toy/read/prefix"},
				Violations: []reports.Violation{{Scenario: "toy/read/prefix", Assertion: "no-gap", Expected: "41 after 40, before the target 45",
					Got: "42 (event 118, 12 ms after event 117)", Replay: "assay replay out/evidence/TOY-002-1.assay.json", Evidence: "evidence/TOY-002-1.assay.json"}}},
			{ID: "TOY-003", Section: "2", Title: "A full log refuses", Level: spec.Should, Binds: server, Status: verdict.Inconclusive, Promised: true,
				Reason: "toy/append/full: the subject stopped answering after 5s"},
			{ID: "TOY-004", Section: "2", Title: "A retry returns the first answer", Level: spec.Must, Binds: server, Status: verdict.NotExercised, Promised: true,
				Reason: "toy/append/retry: the subject does not implement append-once"},
			{ID: "TOY-005", Title: "A client keeps its cursor", Level: spec.Must, Binds: spec.Parties(spec.Client), Status: verdict.OutOfReach,
				Reason: "no client is driven"},
			{ID: "TOY-006", Section: "3", Title: "Replicas lag at most a second", Level: spec.Must, Binds: server, Status: verdict.NotApplicable,
				Reason: "the subject has no replica"},
			{ID: "TOY-007", Section: "3", Title: "Heads are monotonic", Level: spec.Must, Binds: server, Status: verdict.NotExercised,
				Reason: "no selected scenario reaches it"},
		},
		Unimplemented: []reports.Unimplemented{{Call: "append-once", Requirements: []spec.ID{"TOY-004"}}},
		Failures:      []reports.Failure{{Scenario: "toy/append/full", Reason: "the subject stopped answering after 5s"}},
		Skipped:       []reports.Failure{{Scenario: "toy/race/two-writers", Reason: "needs gate; this run has wire+control"}},
		Advice:        []string{"3 rows of this run never expire: see the topics that begin with 7f3a"},
	}
	for _, id := range []spec.ID{"TOY-010", "TOY-011", "TOY-012"} {
		r.Requirements = append(r.Requirements, reports.Requirement{ID: id, Section: "4", Title: "A log survives a crash, part " + string(id[6:]), Level: spec.Must,
			Binds: server, Status: verdict.Inconclusive, Promised: true, Reason: "toy/crash/kill: the subject did not come back"})
	}
	r.Summary = reports.Summarise(r.Requirements)
	return r
}

// passing is the part of mixed that a good subject would give.
func passing() reports.Result {
	r := mixed()
	r.Requirements = []reports.Requirement{r.Requirements[0], r.Requirements[4], r.Requirements[5], r.Requirements[6]}
	r.Unimplemented, r.Failures, r.Skipped, r.Advice = nil, nil, nil, nil
	r.Summary = reports.Summarise(r.Requirements)
	return r
}

// hostile is a run whose subject put everything it could into its answers.
func hostile() reports.Result {
	r := mixed()
	evil := "\x1b]0;owned\x07\x1b[2J | `rm` ``` <script>alert(1)</script> ]]> @everyone [x](http://e) \u202egnp.exe \x00\x01\xff\nAPI-001 satisfied"
	for len(evil) < 5000 {
		evil += " and more"
	}
	r.Subject = evil
	r.Nonce = evil
	r.Advice = []string{evil}
	r.Requirements[1].Violations[0].Expected = evil
	r.Requirements[1].Violations[0].Got = evil
	r.Requirements[2].Reason = evil
	r.Failures[0].Reason = evil
	r.Unimplemented[0].Call = evil
	return r
}

// catalogue is a specification of one requirement.
func catalogue(t *testing.T) *spec.Catalogue {
	t.Helper()
	c, err := spec.LoadCatalogue([]byte(`
suite: toy
title: A toy log
source: this test
sections: [{number: "1", title: Ids}]
glossary: []
requirements:
  - id: TOY-001
    section: "1"
    title: Ids are unique
    statement: No two entries have the same id.
    level: must
    binds: [server]
    decided_by: [[wire]]
`), []byte("limits: []\n"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
