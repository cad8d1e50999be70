package mutants_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"assay/harness/postgres/pgtest"
	"assay/impl/backend/backendtest"
	"assay/impl/backend/mutants"
	specbackend "assay/spec/backend"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m, func() error { return goleak.Find() }))
}

var update = flag.Bool("update", false, "rewrite testdata")

// Every mutant must show in what a client can observe, and the clean backend
// must not differ from itself. testdata/seen.txt says in which step of the
// conversation each one shows first.
func TestEveryMutantShowsOnTheWire(t *testing.T) {
	clean := observe(t, backendtest.Options{}, nil)
	if step := difference(clean, observe(t, backendtest.Options{}, clean)); step != "" {
		t.Fatalf("the clean backend differs from itself in step %q", step)
	}
	all := slices.DeleteFunc(mutants.All(), func(m mutants.Mutant) bool { return m.Concurrent || m.Signed || m.Streams })
	seen := make([]string, len(all))
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, m := range all {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			step := difference(clean, observe(t, backendtest.Options{Mutate: m.Apply}, clean))
			if step == "" {
				t.Errorf("%s cannot be told from the clean backend", m.Name)
			}
			seen[i] = fmt.Sprintf("%s: %s\n", m.Name, step)
		})
	}
	wait.Wait()
	const path = "testdata/seen.txt"
	got := strings.Join(seen, "")
	if *update {
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
	if got != string(want) {
		t.Errorf("mutants show elsewhere than in %s; run with -update and read the difference:\n%s", path, got)
	}
}

func TestMutantsAreWellFormed(t *testing.T) {
	catalogue, err := specbackend.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	broken := make(map[string]bool)
	relating := 0
	for _, m := range mutants.All() {
		if names[m.Name] {
			t.Errorf("%s: the name is used twice", m.Name)
		}
		names[m.Name] = true
		if m.Summary == "" || strings.HasSuffix(m.Summary, ".") || m.Apply == nil || len(m.Requirements) == 0 {
			t.Errorf("%s: summary %q, %d requirements", m.Name, m.Summary, len(m.Requirements))
		}
		for _, id := range m.Requirements {
			if _, ok := catalogue.Lookup(id); !ok {
				t.Errorf("%s breaks %s, which the catalogue has not", m.Name, id)
			}
			broken[id.String()] = true
		}
		if m.Relating {
			relating++
		}
		if found, err := mutants.Lookup(m.Name); err != nil || found.Name != m.Name {
			t.Errorf("lookup of %s: %v, %v", m.Name, found.Name, err)
		}
	}
	if len(names) < 24 || len(broken) < 15 || relating < 8 {
		t.Errorf("%d mutants break %d requirements, %d of them seen only by relating calls", len(names), len(broken), relating)
	}
	if _, err := mutants.Lookup("nobody"); err == nil || !strings.Contains(err.Error(), "commit-expires") {
		t.Errorf("lookup of an unknown name: %v", err)
	}
}
