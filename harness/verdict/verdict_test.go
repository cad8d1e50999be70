package verdict_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/harness/verdict"
	"assay/model"
	"assay/spec"
)

const catalogueYAML = `
suite: t
title: T
source: this test
sections:
  - {number: "1", title: One}
glossary:
  - {word: w, meaning: m}
requirements:
  - {id: TT-001, section: "1", title: a, statement: a., level: must, binds: [server], decided_by: [[wire]]}
  - {id: TT-002, section: "1", title: b, statement: b., level: must, binds: [server], decided_by: [[replica]]}
  - {id: TT-003, section: "1", title: c, statement: c., level: must, binds: [client], undecidable: nobody sees it}
`

var (
	onWire  = model.Assertion{Name: "a", Requirement: "TT-001", Basis: model.Spec}
	upLater = model.Assertion{Name: "u", Requirement: "TT-001", Basis: model.Upstream}
)

func tally(t *testing.T, promise ...spec.ID) *verdict.Tally {
	t.Helper()
	c, err := spec.LoadCatalogue([]byte(catalogueYAML), []byte("limits: []\n"))
	if err != nil {
		t.Fatal(err)
	}
	v := verdict.NewTally(c, spec.AccessOf(spec.Wire), nil)
	if err := v.Promise("s", promise, nil); err != nil {
		t.Fatal(err)
	}
	return v
}

func statusOf(t *testing.T, v *verdict.Tally, id spec.ID) verdict.Verdict {
	t.Helper()
	for _, x := range v.Conclude() {
		if x.Requirement == id {
			return x
		}
	}
	t.Fatalf("no verdict for %s", id)
	return verdict.Verdict{}
}

func TestAVerdictFollowsFromWhatWasJudged(t *testing.T) {
	breach := &model.Breach{Expected: "x", Got: "y"}
	for name, c := range map[string]struct {
		judged model.Judged
		fail   string
		want   verdict.Status
		count  int
	}{
		"nothing judged is not exercised":              {want: verdict.NotExercised},
		"a held assertion satisfies":                   {judged: model.Judged{Judgements: []model.Judgement{{Assertion: onWire}}}, want: verdict.Satisfied, count: 1},
		"a held assertion without its witness is none": {judged: model.Judged{Judgements: []model.Judgement{{Assertion: onWire, Needs: "call:x"}}}, want: verdict.NotExercised},
		"a held assertion with its witness satisfies": {judged: model.Judged{Judgements: []model.Judgement{{Assertion: onWire, Needs: "call:x"}},
			Witnesses: map[string]bool{"call:x": true}}, want: verdict.Satisfied, count: 1},
		"a breach violates whatever else held":            {judged: model.Judged{Judgements: []model.Judgement{{Assertion: onWire}, {Assertion: onWire, Breach: breach}}}, want: verdict.Violated, count: 1},
		"a breach needs no witness":                       {judged: model.Judged{Judgements: []model.Judgement{{Assertion: onWire, Needs: "call:x", Breach: breach}}}, want: verdict.Violated},
		"a breach of another basis is a note":             {judged: model.Judged{Judgements: []model.Judgement{{Assertion: upLater, Breach: breach}}}, want: verdict.NotExercised},
		"what held on another basis proves nothing":       {judged: model.Judged{Judgements: []model.Judgement{{Assertion: upLater}}}, want: verdict.NotExercised},
		"a doubt alone is inconclusive":                   {judged: model.Judged{Judgements: []model.Judgement{{Assertion: onWire, Doubt: "why"}}}, want: verdict.Inconclusive},
		"a doubt beside what held is not":                 {judged: model.Judged{Judgements: []model.Judgement{{Assertion: onWire, Doubt: "why"}, {Assertion: onWire}}}, want: verdict.Satisfied, count: 1},
		"a scenario that failed is inconclusive":          {judged: model.Judged{Judgements: []model.Judgement{{Assertion: onWire}}}, fail: "died", want: verdict.Inconclusive, count: 1},
		"a scenario that failed and breached is a breach": {judged: model.Judged{Judgements: []model.Judgement{{Assertion: onWire, Breach: breach}}}, fail: "died", want: verdict.Violated},
	} {
		t.Run(name, func(t *testing.T) {
			v := tally(t, "TT-001")
			if err := v.Add("s", "", c.judged); err != nil {
				t.Fatal(err)
			}
			if c.fail != "" {
				v.Fail("s", c.fail)
			}
			got := statusOf(t, v, "TT-001")
			if got.Status != c.want || got.Observations != c.count {
				t.Errorf("%v with %d observations (%s); want %v with %d", got.Status, got.Observations, got.Reason, c.want, c.count)
			}
		})
	}
}

func TestWhatNoAccessDecidesIsOutOfReachWithItsReason(t *testing.T) {
	v := tally(t, "TT-001")
	for id, want := range map[spec.ID]string{"TT-002": "access", "TT-003": "nobody sees it"} {
		got := statusOf(t, v, id)
		if got.Status != verdict.OutOfReach || !strings.Contains(got.Reason, want) {
			t.Errorf("%s is %v (%s); want out of reach, %q", id, got.Status, got.Reason, want)
		}
	}
}

func TestEvidenceOutOfNowhereIsAnError(t *testing.T) {
	v := tally(t)
	if err := v.Add("s", "", model.Judged{Judgements: []model.Judgement{{Assertion: onWire}}}); err == nil || !strings.Contains(err.Error(), "does not list under decides") {
		t.Errorf("a judgement for a requirement that was not promised: %v", err)
	}
	if err := v.Add("s", "", model.Judged{Judgements: []model.Judgement{{}}}); err == nil {
		t.Error("a judgement without an assertion was taken")
	}
	if err := v.Add("never promised", "", model.Judged{}); err == nil {
		t.Error("a scenario that was not promised was taken")
	}
	if err := v.Promise("s", nil, nil); err == nil {
		t.Error("a scenario was promised twice")
	}
	if err := v.Promise("z", []spec.ID{"TT-099"}, nil); err == nil {
		t.Error("a scenario promised what the catalogue lacks")
	}
}

func TestAnUnimplementedCallIsListedOnceWithWhatItBlocks(t *testing.T) {
	v := tally(t, "TT-001")
	for range 3 {
		if err := v.Add("s", "", model.Judged{Unimplemented: map[string]int{"query": 5}}); err != nil {
			t.Fatal(err)
		}
	}
	got := v.Unimplemented()
	if len(got) != 1 || len(got["query"]) != 1 || got["query"][0] != "TT-001" {
		t.Errorf("got %v; want query to block T-001", got)
	}
	if s := statusOf(t, v, "TT-001"); s.Status != verdict.NotExercised || !strings.Contains(s.Reason, "does not implement query") {
		t.Errorf("%v: %s", s.Status, s.Reason)
	}
}

func TestTheZeroStatusCannotBeWritten(t *testing.T) {
	if _, err := json.Marshal(verdict.Verdict{}.Status); err == nil {
		t.Error("an invalid status was written")
	}
	for _, s := range verdict.Statuses() {
		back, err := verdict.ParseStatus(s.String())
		if err != nil || back != s {
			t.Errorf("%v reads back as %v, %v", s, back, err)
		}
	}
}
