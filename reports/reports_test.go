package reports_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"assay/harness/verdict"
	"assay/reports"
	"assay/spec"

	"github.com/google/go-cmp/cmp"
)

func TestAResultIsRebuiltFromItsFile(t *testing.T) {
	for _, r := range []reports.Result{mixed(), passing(), hostile()} {
		var first, second bytes.Buffer
		if err := reports.WriteJSON(&first, r); err != nil {
			t.Fatal(err)
		}
		back, err := reports.ReadJSON(bytes.NewReader(first.Bytes()), "results.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := reports.WriteJSON(&second, back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(first.String(), second.String()); d != "" {
			t.Errorf("writing what was read differs (-first +second):\n%s", d)
		}
	}
}

func TestReadJSONRefuses(t *testing.T) {
	var b bytes.Buffer
	if err := reports.WriteJSON(&b, mixed()); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	for _, c := range []struct{ name, text, want string }{
		{"an empty file", "", "results.json:1: expected a JSON object"},
		{"another format", strings.Replace(good, "assay.results/v1", "assay.results/v2", 1), `format is "assay.results/v2", expected assay.results/v1`},
		{"a field it does not know", strings.Replace(good, `"suite"`, `"extra": 1, "suite"`, 1), `unknown field "extra"`},
		{"a second value", good + "{}", "results.json:"},
		{"an unknown status, naming the known ones", strings.Replace(good, `"inconclusive",`, `"maybe",`, 1), "use one of satisfied, violated"},
		{"a status left out", strings.Replace(good, `"status": "inconclusive",`, "", 1), "TOY-003 has no valid status"},
		{"a summary that does not add up", strings.Replace(good, `"satisfied": 1`, `"satisfied": 2`, 1), "the summary is"},
		{"satisfied without an observation", strings.Replace(good, `"observations": 12`, `"observations": 0`, 1), "TOY-001 is satisfied without an observation"},
		{"a number where a text belongs, naming the line", strings.Replace(good, `"suite": "toy"`, `"suite": 7`, 1), `results.json:4: field "suite" cannot hold a number`},
		{"a truncated file", good[:len(good)/2], "results.json:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := reports.ReadJSON(strings.NewReader(c.text), "results.json")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestAResultThatContradictsItselfIsNotWritten(t *testing.T) {
	for name, spoil := range map[string]func(*reports.Result){
		"no requirement at all":         func(r *reports.Result) { r.Requirements, r.Summary = nil, reports.Summary{} },
		"a verdict never reached":       func(r *reports.Result) { r.Requirements[0].Status = 0 },
		"satisfied and unobserved":      func(r *reports.Result) { r.Requirements[0].Observations = 0 },
		"violated with nothing to show": func(r *reports.Result) { r.Requirements[1].Violations = nil },
		"a violation of a satisfied requirement": func(r *reports.Result) {
			r.Requirements[0].Violations = r.Requirements[1].Violations
		},
		"one requirement twice": func(r *reports.Result) { r.Requirements[1].ID = r.Requirements[0].ID },
	} {
		t.Run(name, func(t *testing.T) {
			r := mixed()
			spoil(&r)
			for _, write := range []func(io.Writer, reports.Result) error{reports.WriteJSON, reports.WriteJUnit} {
				var b bytes.Buffer
				if err := write(&b, r); err == nil || b.Len() > 0 {
					t.Errorf("it was written with error %v:\n%.200s", err, b.String())
				}
			}
		})
	}
}

func TestExitStatus(t *testing.T) {
	one := func(s verdict.Status, promised bool) reports.Result {
		return reports.Result{Requirements: []reports.Requirement{{ID: "TOY-001", Status: s, Promised: promised}}}
	}
	failed := one(verdict.Satisfied, true)
	failed.Failures = []reports.Failure{{Scenario: "toy/a", Reason: "timed out"}}
	for _, c := range []struct {
		name         string
		result       reports.Result
		status, full int // without and with required coverage
	}{
		{"everything promised is satisfied", one(verdict.Satisfied, true), 0, 0},
		{"a violation fails", one(verdict.Violated, true), 1, 1},
		{"a violation that nobody promised to look for fails", one(verdict.Violated, false), 1, 1},
		{"inconclusive fails", one(verdict.Inconclusive, false), 1, 1},
		{"a promise that was not kept fails", one(verdict.NotExercised, true), 1, 1},
		{"what no scenario reaches fails only with required coverage", one(verdict.NotExercised, false), 0, 1},
		{"what this access cannot decide does not fail, promised or not", one(verdict.OutOfReach, true), 0, 0},
		{"what the subject has no part in does not fail", one(verdict.NotApplicable, true), 0, 0},
		{"a failed scenario fails", failed, 1, 1},
		{"a verdict that was never reached fails", one(0, false), 1, 1},
		{"a result without requirements fails", reports.Result{}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.result.ExitStatus(false); got != c.status {
				t.Errorf("status %d, want %d", got, c.status)
			}
			if got := c.result.ExitStatus(true); got != c.full {
				t.Errorf("with required coverage: status %d, want %d", got, c.full)
			}
		})
	}
}

func TestNothingThatASubjectSaysEscapesItsPlace(t *testing.T) {
	r := hostile()
	t.Run("the terminal gets no control character and no invisible one", func(t *testing.T) {
		var b bytes.Buffer
		if err := reports.WriteTerminal(&b, r, reports.Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(b.Bytes()) {
			t.Error("the output is not UTF-8")
		}
		if bad := regexp.MustCompile(`[^\n\PC]`).FindString(b.String()); bad != "" {
			t.Errorf("the output contains %q", bad)
		}
		if regexp.MustCompile(`(?m)^API-001 satisfied`).MatchString(b.String()) {
			t.Error("the subject wrote a line of its own")
		}
		if b.Len() > 40_000 {
			t.Errorf("the output has %d bytes", b.Len())
		}
	})
	t.Run("JUnit stays well-formed XML", func(t *testing.T) {
		var b bytes.Buffer
		if err := reports.WriteJUnit(&b, r); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(&b)
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("Markdown keeps tags, links and mentions inside code", func(t *testing.T) {
		var b bytes.Buffer
		if err := reports.WriteMarkdown(&b, r); err != nil {
			t.Fatal(err)
		}
		for _, live := range []string{"<script>", "@everyone", "](http"} {
			if rest := outsideCode(b.String()); strings.Contains(rest, live) {
				t.Errorf("%q stands outside code:\n%s", live, rest)
			}
		}
	})
}

// outsideCode drops code blocks and code spans by CommonMark's rule: a run of
// backticks is closed by the next run of the same length.
func outsideCode(s string) string {
	run := regexp.MustCompile("`+")
	var out strings.Builder
	for {
		open := run.FindStringIndex(s)
		if open == nil {
			return out.String() + s
		}
		out.WriteString(s[:open[0]])
		mark, rest := s[open[0]:open[1]], s[open[1]:]
		closed := -1
		for _, c := range run.FindAllStringIndex(rest, -1) {
			if c[1]-c[0] == len(mark) {
				closed = c[1]
				break
			}
		}
		if closed < 0 {
			return out.String() + rest
		}
		s = rest[closed:]
	}
}

func TestMillisSurviveTheirFile(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0: "0", 1500 * time.Microsecond: "1.5", 12345 * time.Millisecond: "12345", 1499 * time.Nanosecond: "0.001",
	} {
		got, err := reports.Millis(in).MarshalJSON()
		if err != nil || string(got) != want {
			t.Errorf("%v is written %s, %v; want %s", in, got, err, want)
		}
	}
	for _, bad := range []string{`-1`, `"1"`, `1e300`, `NaN`} {
		var m reports.Millis
		if err := m.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s was read as %v", bad, time.Duration(m))
		}
	}
}

func TestNewTakesTitlesFromTheCatalogueAndRefusesStrangers(t *testing.T) {
	c := catalogue(t)
	first := c.Requirements()[0]
	got, err := reports.New(reports.Result{Suite: "toy"}, c,
		[]verdict.Verdict{{Requirement: first.ID, Status: verdict.Satisfied, Observations: 1, Scenarios: []string{"toy/a"}, Promised: true}},
		map[string][]spec.ID{"drop": {first.ID}})
	if err != nil {
		t.Fatal(err)
	}
	if q := got.Requirements[0]; q.Title != first.Title || q.Level != first.Level || got.Summary.Satisfied != 1 || got.Unimplemented[0].Call != "drop" {
		t.Errorf("got %+v", got)
	}
	if _, err := reports.New(reports.Result{Suite: "toy"}, c, []verdict.Verdict{{Requirement: "ZZZ-999", Status: verdict.Satisfied, Observations: 1}}, nil); err == nil {
		t.Error("a verdict on an unknown requirement was accepted")
	}
}
