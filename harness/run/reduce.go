package run

import (
	"assay/harness/history"
	"assay/harness/verdict"
	"assay/model"
)

// judgeBudget bounds how often one finding's history is judged while it is reduced.
const judgeBudget = 300

// findings lists the breaches of the specification in a judged history, the
// first of each assertion, with the history reduced to what shows it.
func findings(s Suite, sc Scenario, o *opened, h *history.History, j model.Judged) []Finding {
	var out []Finding
	seen := make(map[string]bool)
	for _, v := range j.Breaches() {
		if v.Assertion.Basis != model.Spec || seen[v.Assertion.Name] {
			continue
		}
		seen[v.Assertion.Name] = true
		small, call := Reduce(s.Judge, h, v, judgeBudget)
		out = append(out, Finding{
			Violation: verdict.Violation{Requirement: v.Assertion.Requirement, Assertion: v.Assertion.Name, Scenario: sc.Name, Session: o.label,
				Expected: call.Breach.Expected, Got: call.Breach.Got, Call: call.Call, Events: call.Breach.Events},
			History: small, Choices: o.choices,
		})
	}
	return out
}

// Reduce drops calls from a history while the same assertion is still breached
// on the same call with the same words, and returns what is left with its
// breach. It asks judge at most budget times.
func Reduce(judge func(*history.History) model.Judged, h *history.History, breach model.Judgement, budget int) (*history.History, model.Judgement) {
	same := func(c *history.History) (model.Judgement, bool) {
		for _, v := range judge(c).Breaches() {
			if v.Assertion == breach.Assertion && v.Call == breach.Call && v.Breach.Expected == breach.Breach.Expected && v.Breach.Got == breach.Breach.Got {
				return v, true
			}
		}
		return model.Judgement{}, false
	}
	var calls []int
	for _, e := range h.Events {
		if e.Phase == model.Invoke && e.Call != breach.Call {
			calls = append(calls, e.Call)
		}
	}
	best, kept := h, breach
	gone := make(map[int]bool)
	for size := len(calls); size > 0 && budget > 0; {
		dropped := false
		for from := 0; from < len(calls) && budget > 0; {
			to := min(from+size, len(calls))
			trial := make(map[int]bool, len(gone)+to-from)
			for c := range gone {
				trial[c] = true
			}
			for _, c := range calls[from:to] {
				trial[c] = true
			}
			candidate := h.Without(trial)
			budget--
			if v, ok := same(candidate); ok {
				best, kept, gone = candidate, v, trial
				calls = append(calls[:from:from], calls[to:]...)
				dropped = true
				continue
			}
			from = to
		}
		switch {
		case size > 1:
			size /= 2
		case !dropped:
			size = 0
		}
	}
	return best, kept
}
