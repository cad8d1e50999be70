package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOutputMatchesItsGoldenFile(t *testing.T) {
	broken, sound := counting(t, 0), counting(t, 1)
	for _, c := range []struct {
		name string
		args []string
	}{
		{"help.txt", []string{"--help"}},
		{"verify-help.txt", []string{"verify", "--help"}},
		{"gate-help.txt", []string{"gate", "--help"}},
		{"spec.txt", []string{"spec"}},
		{"spec-one.txt", []string{"spec", "CNT-002"}},
		{"spec-proto.txt", []string{"spec", "--proto"}},
		{"list.txt", []string{"verify", "--list"}},
		{"list.json", []string{"verify", "--list", "--json"}},
		{"mutants-list.txt", []string{"mutants", "--list"}},
		{"violated.txt", []string{"verify", "--seed", "7", "--nonce", "n1", "--target", broken}},
		{"satisfied.txt", []string{"verify", "--seed", "7", "--nonce", "n1", "--target", sound}},
		{"satisfied.json", []string{"verify", "--json", "--seed", "7", "--nonce", "n1", "--target", sound}},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name, settle(assay(t, c.args...).out))
		})
	}
}

// settle replaces what differs between two runs: times, ports, the version.
func settle(s string) string {
	for _, r := range []struct{ find, put string }{
		{`127\.0\.0\.1:\d+`, "127.0.0.1:PORT"},
		{`(?m)^took .*`, "took TIME"},
		{`("started": )"[^"]*"`, `$1"TIME"`},
		{`("(?:total_ms|first_verdict_ms|counter/count/three-times)": )[\d.]+`, "${1}0"},
		{`("tool": )"[^"]*"`, `$1"assay VERSION"`},
	} {
		s = regexp.MustCompile(r.find).ReplaceAllString(s, r.put)
	}
	return s
}

// golden compares with a file; go test ./cmd/assay -update rewrites it, and the
// diff is to be read.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs (-golden +got); if that is meant, run with -update:\n%s", path, d)
	}
}
