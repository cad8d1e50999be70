package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/harness/verdict"
	"assay/reports"
)

// TestTheDocumentedHistoryIsJudgedAsThePageSays keeps docs/history-format.md true.
func TestTheDocumentedHistoryIsJudgedAsThePageSays(t *testing.T) {
	text, err := os.ReadFile("../../docs/history-format.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```jsonl\n(.*?)```").FindSubmatch(text)
	if example == nil {
		t.Fatal("the page has no example")
	}
	check := func(history string) (int, reports.Result) {
		path := filepath.Join(t.TempDir(), "example.history.jsonl")
		if err := os.WriteFile(path, []byte(history), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, talk bytes.Buffer
		status := Main(t.Context(), []string{"check", "--json", path}, strings.NewReader(""), &out, &talk, os.LookupEnv)
		r, err := reports.ReadJSON(&out, "stdout")
		if err != nil {
			t.Fatalf("%v\n%s", err, talk.String())
		}
		return status, r
	}
	good := string(example[1])
	if status, r := check(good); status != statusPassed || r.Summary.Satisfied < 10 || r.Summary.Violated != 0 {
		t.Errorf("status %d, %+v", status, r.Summary)
	}
	bad := strings.Replace(good, `"has_more":false`, `"has_more":true`, 1)
	status, r := check(bad)
	if status != statusFailed || r.Summary.Violated != 1 {
		t.Fatalf("with has_more true: status %d, %+v", status, r.Summary)
	}
	for _, q := range r.Requirements {
		if q.Status == verdict.Violated && (q.ID != "API-073" || q.Violations[0].Expected != "has_more false: 1 rows matched a limit of 100") {
			t.Errorf("violated: %+v", q)
		}
	}
}
