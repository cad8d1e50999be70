package schedule_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"assay/harness/schedule"
)

func TestAScriptSaysWhoIsHeldWhere(t *testing.T) {
	s, err := schedule.Parse("f.txt", `# A commits last.
decides API-011

A: say "one hold before x"      hold after publish.insert   expect one
B: say "two"      until blocked or returned
C: say "three"    until blocked
D: say "four"     until returned or 300ms
R: say read
release A hold before commit 2
release A until returned
cut B
wait A B
`, words{})
	if err != nil {
		t.Fatal(err)
	}
	type brief struct {
		actor  string
		op     any
		hold   string
		until  schedule.Until
		engine schedule.Engine
		actors []string
		atMost time.Duration
	}
	var got []brief
	for _, st := range s.Steps {
		b := brief{actor: st.Actor, op: st.Operation, until: st.Until, engine: st.Engine, actors: st.Actors, atMost: st.AtMost}
		if st.Hold != nil {
			b.hold = st.Hold.String()
		}
		got = append(got, b)
	}
	want := []brief{
		{actor: "A", op: `"one hold before x"`, hold: "hold after publish.insert"},
		{actor: "B", op: `"two"`, until: schedule.Blocked | schedule.Returned},
		{actor: "C", op: `"three"`, until: schedule.Blocked},
		{actor: "D", op: `"four"`, until: schedule.Returned, atMost: 300 * time.Millisecond},
		{actor: "R", op: "read"},
		{engine: schedule.Release, actors: []string{"A"}, hold: "hold before commit 2"},
		{engine: schedule.Release, actors: []string{"A"}, until: schedule.Returned},
		{engine: schedule.Cut, actors: []string{"B"}},
		{engine: schedule.Wait, actors: []string{"A", "B"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !s.Forced() || s.Steps[0].Expect != "one" {
		t.Errorf("forced %v, first expectation %v", s.Forced(), s.Steps[0].Expect)
	}
}

func TestAScriptWithoutHoldsIsNotForced(t *testing.T) {
	s, err := schedule.Parse("f.txt", "# Says something.\ndecides API-001\nA: say x   until returned\n", words{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Forced() {
		t.Error("nothing is held, and yet it is forced")
	}
}

func TestABadOrderIsNamedWithWhatWasExpected(t *testing.T) {
	const head = "# Says something.\ndecides API-001\nA: say x\n"
	for line, want := range map[string]string{
		"A: say x hold commit":               "hold before POINT",
		"A: say x hold beside commit":        "side \"beside\"",
		"A: say x hold before commit often":  "number from 1",
		"A: say x hold before commit 0":      "number from 1",
		"A: say x hold before commit 1 more": "is no hold",
		"A: say x until":                     "say x until", // a word of the call
		"A: say x until tomorrow":            "until blocked, until returned",
		"A: say x until blocked or":          "ends early",
		"A: say x until 300ms":               "until blocked, until returned",
		"A: say x until returned or -1s":     "until blocked, until returned",
		"A: say x until blocked or 1s or 2s": "the time comes last",
		"A: say x until blocked returned":    "until blocked",
		"release":                            "names no actor",
		"release a":                          "is no actor",
		"release B":                          "has done nothing",
		"wait A hold before commit":          "only the release of one",
		"release A A until blocked":          "only the release of one",
	} {
		s, err := schedule.Parse("f.txt", head+line, words{})
		if line == "A: say x until" {
			if err != nil || s.Steps[1].Operation != "x until" {
				t.Errorf("%q: %v", line, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "f.txt:4: ") {
			t.Errorf("%q: error %v; want f.txt:4 and %q", line, err, want)
		}
	}
}
