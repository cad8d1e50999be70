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

// TestTheDocumentedRaceHappensEveryTime keeps docs/reproduce-a-race.md true: it
// builds the page's backend, finds its race and repeats it.
func TestTheDocumentedRaceHappensEveryTime(t *testing.T) {
	page, err := os.ReadFile("../../docs/reproduce-a-race.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		found := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(page)
		if found == nil {
			t.Fatalf("the page has no %s", language)
		}
		return string(found[1])
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const schedule = "lower-id-of-a-welcome-commits-last"
	if file, err := os.ReadFile("../../scenarios/backend/race/" + schedule + ".txt"); err != nil || !strings.Contains(string(page), string(file)) {
		t.Errorf("the page shows another schedule than %s.txt (%v)", schedule, err)
	}
	source, points, racy := write("main.go", block("go")), write("points.yaml", block("yaml")), filepath.Join(dir, "racy")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", racy, source)
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	spawn := "DATABASE_URL={database} LISTEN={listen} exec " + racy
	out := filepath.Join(dir, "out")
	var stdout, talk bytes.Buffer
	status := Main(t.Context(), []string{"verify", "backend/race/" + schedule, "--json", "--out", out, "--points", points, "--spawn", spawn}, strings.NewReader(""), &stdout, &talk, os.LookupEnv)
	r, err := reports.ReadJSON(&stdout, "stdout")
	if err != nil || status != statusFailed {
		t.Fatalf("status %d, %v\n%s", status, err, talk.String())
	}
	violated := false
	for _, q := range r.Requirements {
		violated = violated || q.ID == "API-011" && q.Status == verdict.Violated
	}
	if !violated {
		t.Fatalf("API-011 is not violated:\n%s", talk.String())
	}
	bundles, err := filepath.Glob(filepath.Join(out, "evidence", "API-011-*-1.assay.json"))
	if err != nil || len(bundles) != 1 {
		t.Fatalf("%d bundles, %v", len(bundles), err)
	}
	stdout.Reset()
	Main(t.Context(), []string{"replay", bundles[0], "--repeat", "20", "--points", points, "--spawn", spawn}, strings.NewReader(""), &stdout, &talk, os.LookupEnv)
	if got := stdout.String(); !strings.HasSuffix(got, "there again in 20 of 20 runs\n") {
		t.Errorf("replay says %q\n%s", got, talk.String())
	}
}
