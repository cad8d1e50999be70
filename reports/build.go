package reports

import (
	"fmt"
	"maps"
	"slices"

	"assay/harness/verdict"
	"assay/spec"
)

// New adds the verdicts of a run to what is known about it: run holds the
// fields that are not verdicts (suite, subject, seed, timings and so on), and
// the titles, levels and parties come from the catalogue. The result has been
// validated.
func New(run Result, catalogue *spec.Catalogue, verdicts []verdict.Verdict, unimplemented map[string][]spec.ID) (Result, error) {
	r := run
	r.Format = Format
	r.Requirements = nil
	for _, v := range verdicts {
		known, ok := catalogue.Lookup(v.Requirement)
		if !ok {
			return Result{}, fmt.Errorf("report on suite %s: there is a verdict on %s, which the catalogue lacks", r.Suite, v.Requirement)
		}
		r.Requirements = append(r.Requirements, requirement(known, v))
	}
	r.Unimplemented = nil
	for _, call := range slices.Sorted(maps.Keys(unimplemented)) {
		r.Unimplemented = append(r.Unimplemented, Unimplemented{Call: call, Requirements: unimplemented[call]})
	}
	r.Summary = Summarise(r.Requirements)
	r = r.filled()
	return r, r.Validate()
}

func requirement(known spec.Requirement, v verdict.Verdict) Requirement {
	out := Requirement{
		ID: known.ID, Section: known.Section, Title: known.Title, Level: known.Level, Binds: known.Binds,
		Status: v.Status, Promised: v.Promised, Observations: v.Observations, Scenarios: v.Scenarios, Reason: v.Reason,
	}
	for _, b := range v.Violations {
		out.Violations = append(out.Violations, Violation{
			Scenario: b.Scenario, Assertion: b.Assertion, Expected: b.Expected, Got: b.Got, Replay: b.Replay, Unsteady: b.Unsteady, Evidence: b.Evidence,
		})
	}
	for _, n := range v.Notes {
		out.Notes = append(out.Notes, Note{Basis: n.Basis, Text: n.Text, Scenarios: n.Scenarios})
	}
	return out
}

// filled returns a copy that shares no memory with r and that JSON can hold
// exactly: lists are never nil, so that a reader finds [] where it expects a
// list, and texts are UTF-8.
func (r Result) filled() Result {
	r.Tool, r.Subject, r.Nonce = text(r.Tool), text(r.Subject), text(r.Nonce)
	r.Requirements = list(r.Requirements)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		q.Reason = text(q.Reason)
		q.Scenarios, q.Violations, q.Notes = list(q.Scenarios), list(q.Violations), list(q.Notes)
		for j := range q.Violations {
			v := &q.Violations[j]
			v.Expected, v.Got, v.Replay, v.Unsteady = text(v.Expected), text(v.Got), text(v.Replay), text(v.Unsteady)
		}
		for j := range q.Notes {
			q.Notes[j].Text, q.Notes[j].Scenarios = text(q.Notes[j].Text), list(q.Notes[j].Scenarios)
		}
	}
	r.Unimplemented = list(r.Unimplemented)
	for i := range r.Unimplemented {
		u := &r.Unimplemented[i]
		u.Call, u.Requirements = text(u.Call), list(u.Requirements)
	}
	r.Failures, r.Skipped, r.Advice = list(r.Failures), list(r.Skipped), list(r.Advice)
	for _, l := range [][]Failure{r.Failures, r.Skipped} {
		for i := range l {
			l[i].Reason = text(l[i].Reason)
		}
	}
	for i := range r.Advice {
		r.Advice[i] = text(r.Advice[i])
	}
	if r.Timings.Scenarios == nil {
		r.Timings.Scenarios = map[string]Millis{}
	}
	return r
}

func list[T any](in []T) []T { return append(make([]T, 0, len(in)), in...) }

// Validate reports the first contradiction in a result. A reader of reports
// trusts what passes: each status is a real one, satisfied means observed,
// violated means shown, and the summary adds up.
func (r Result) Validate() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("result of suite %.60q: "+format, append([]any{r.Suite}, args...)...)
	}
	switch {
	case r.Format != Format:
		return fmt.Errorf("format is %.60q: this reader knows %s", r.Format, Format)
	case r.Suite == "":
		return fail("the suite has no name")
	case len(r.Requirements) == 0:
		return fail("it lists no requirement, so it says nothing")
	}
	seen := make(map[spec.ID]bool, len(r.Requirements))
	for _, q := range r.Requirements {
		switch {
		case q.ID == "":
			return fail("a requirement has no id")
		case seen[q.ID]:
			return fail("%s is listed twice", q.ID)
		case q.Status.String() == "invalid":
			return fail("%s has no valid status", q.ID)
		case q.Level.String() == "invalid":
			return fail("%s has no valid level", q.ID)
		case q.Observations < 0:
			return fail("%s has %d observations: the least is 0", q.ID, q.Observations)
		case q.Status == verdict.Satisfied && q.Observations == 0:
			return fail("%s is satisfied without an observation", q.ID)
		case (q.Status == verdict.Violated) != (len(q.Violations) > 0):
			return fail("%s is %s with %d violations", q.ID, q.Status, len(q.Violations))
		}
		for _, n := range q.Notes {
			if n.Basis.String() == "invalid" {
				return fail("a note on %s has no valid basis", q.ID)
			}
		}
		seen[q.ID] = true
	}
	if want := Summarise(r.Requirements); r.Summary != want {
		return fail("the summary is %+v, but the requirements add up to %+v", r.Summary, want)
	}
	return nil
}

// ExitStatus is the process status that a result deserves: 0 when nothing is
// violated or inconclusive, no scenario failed, and every requirement that a
// selected scenario promised to decide with this access is satisfied; 1
// otherwise. With requireCoverage, a requirement that no scenario reaches
// counts against it too. It is never 2, which says that the tool failed.
func (r Result) ExitStatus(requireCoverage bool) int {
	if len(r.Requirements) == 0 || len(r.Failures) > 0 {
		return 1
	}
	for _, q := range r.Requirements {
		switch q.Status {
		case verdict.Satisfied, verdict.NotApplicable:
		case verdict.OutOfReach:
			// Promised or not: this access cannot decide it.
		case verdict.NotExercised:
			if q.Promised || requireCoverage {
				return 1
			}
		default:
			return 1
		}
	}
	return 0
}
