package main

import (
	"bytes"
	"fmt"
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

// TestTheDocumentedSubscriptionIsJudgedAsThePageSays does so for the example with
// messages of an open call.
func TestTheDocumentedSubscriptionIsJudgedAsThePageSays(t *testing.T) {
	text, err := os.ReadFile("../../docs/history-format.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```jsonl\n(.*?)```").FindAllSubmatch(text, -1)
	if len(examples) < 2 {
		t.Fatal("the page has no example of a subscription")
	}
	judged := func(lines []string) (int, reports.Result) {
		path := filepath.Join(t.TempDir(), "subscription.history.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		return checked(t, path)
	}
	lines := strings.SplitAfter(string(examples[1][1]), "\n")
	status, r := judged(lines)
	if status != statusPassed || r.Summary.Violated != 0 {
		t.Errorf("status %d, violated %v", status, violated(r))
	}
	satisfied := make(map[string]bool)
	for _, q := range r.Requirements {
		satisfied[string(q.ID)] = q.Status == verdict.Satisfied
	}
	for _, id := range []string{"API-090", "API-094", "API-095", "API-096", "API-097"} {
		if !satisfied[id] {
			t.Errorf("%s is not satisfied", id)
		}
	}
	var without []string
	for _, line := range lines {
		if strings.Contains(line, `"messages"`) && strings.Contains(line, `"sequence":1,`) {
			continue
		}
		without = append(without, regexp.MustCompile(`"index":\d+`).ReplaceAllString(line, fmt.Sprintf(`"index":%d`, len(without)-1)))
	}
	status, r = judged(without)
	if got := strings.Join(violated(r), " "); status != statusFailed || got != "API-011 API-096" {
		t.Errorf("without the first row: status %d, violated %q", status, got)
	}
	for _, q := range r.Requirements {
		if q.ID == "API-096" && len(q.Violations) > 0 && (q.Violations[0].Expected != "position 1 of welcome w after 0" || q.Violations[0].Got != "2") {
			t.Errorf("API-096: %+v", q.Violations[0])
		}
	}
}
