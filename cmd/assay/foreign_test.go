package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/harness/verdict"
	"assay/reports"
)

// python runs a program with the standard library alone and returns its output.
func python(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "python3", append([]string{"-I"}, args...)...).Output()
	if err != nil {
		t.Fatalf("python3, which these tests need, ended with %v", err)
	}
	return string(out)
}

// checked judges a history file with the command.
func checked(t *testing.T, path string, flags ...string) (int, reports.Result) {
	t.Helper()
	var out, talk bytes.Buffer
	status := Main(t.Context(), append([]string{"check", "--json", path}, flags...), strings.NewReader(""), &out, &talk, os.LookupEnv)
	r, err := reports.ReadJSON(&out, "stdout")
	if err != nil {
		t.Fatalf("%v\n%s", err, talk.String())
	}
	return status, r
}

func violated(r reports.Result) (out []string) {
	for _, q := range r.Requirements {
		if q.Status == verdict.Violated {
			out = append(out, string(q.ID))
		}
	}
	return out
}

func TestConcurrentHistoriesOfAForeignClientAreJudged(t *testing.T) {
	for _, c := range []struct {
		fault string
		want  string // one of the requirements that must be violated
	}{
		{"sound", ""},
		{"prefix-hole", "API-011"},
		{"lost-write", "API-016"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.fault+".history.jsonl")
			python(t, "testdata/foreign/write_history.py", path, c.fault)
			picture := filepath.Join(t.TempDir(), "timeline.html")
			status, r := checked(t, path, "--suite", "backend", "--visualize", picture)
			got := violated(r)
			page, err := os.ReadFile(picture)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if status != statusPassed || len(got) != 0 || r.Summary.Satisfied < 8 {
					t.Fatalf("status %d, violated %v, %d satisfied; want a clean history judged", status, got, r.Summary.Satisfied)
				}
				return
			}
			if status != statusFailed || !strings.Contains(strings.Join(got, " "), c.want) {
				t.Errorf("status %d, violated %v; want %s among them", status, got, c.want)
			}
			if !strings.Contains(string(page), c.want) || !strings.Contains(string(page), "python-") {
				t.Error("the timeline shows neither the requirement nor the actors")
			}
		})
	}
}

func TestTheDocumentedProgramWritesAHistoryThatIsJudged(t *testing.T) {
	text, err := os.ReadFile("../../docs/history-format.md")
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(text)
	if program == nil {
		t.Fatal("the page has no program")
	}
	if lines := bytes.Count(program[1], []byte("\n")); lines > 10 {
		t.Errorf("the program has %d lines, more than the ten it promises", lines)
	}
	save := func(history string) string {
		path := filepath.Join(t.TempDir(), "ten.history.jsonl")
		if err := os.WriteFile(path, []byte(history), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := python(t, "-c", string(program[1]))
	if status, r := checked(t, save(good)); status != statusPassed || len(violated(r)) != 0 {
		t.Errorf("status %d, violated %v: a lost publish that a read does not show is no violation", status, violated(r))
	}
	bad := strings.Replace(good, `"has_more": false`, `"has_more": true`, 1)
	if status, r := checked(t, save(bad)); status != statusFailed || strings.Join(violated(r), " ") != "API-073" {
		t.Errorf("with has_more true: status %d, violated %v", status, violated(r))
	}
}

func TestAHistoryOfAnotherSuiteIsNotTakenForThisOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sound.history.jsonl")
	python(t, "testdata/foreign/write_history.py", path)
	var out, talk bytes.Buffer
	status := Main(t.Context(), []string{"check", path, "--suite", "relay"}, strings.NewReader(""), &out, &talk, os.LookupEnv)
	if status != statusBroken || !strings.Contains(talk.String(), "a history of suite backend, not relay") {
		t.Errorf("status %d: %s", status, talk.String())
	}
}
