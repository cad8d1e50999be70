package reports_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"assay/reports"

	"github.com/google/go-cmp/cmp"
)

func TestRenderingsMatchTheirGoldenFiles(t *testing.T) {
	terminal := func(o reports.Options) func(io.Writer, reports.Result) error {
		return func(w io.Writer, r reports.Result) error { return reports.WriteTerminal(w, r, o) }
	}
	for _, c := range []struct {
		name   string
		result reports.Result
		write  func(io.Writer, reports.Result) error
	}{
		{"mixed.terminal.txt", mixed(), terminal(reports.Options{Width: 100, Files: []string{"out/results.json", "out/evidence/"}})},
		{"mixed.narrow.txt", mixed(), terminal(reports.Options{Width: 50})},
		{"mixed.verbose.txt", mixed(), terminal(reports.Options{Verbose: true})},
		{"mixed.color.txt", mixed(), terminal(reports.Options{Width: 100, Color: true})},
		{"passing.terminal.txt", passing(), terminal(reports.Options{Width: 100})},
		{"hostile.terminal.txt", hostile(), terminal(reports.Options{Width: 100})},
		{"mixed.results.json", mixed(), reports.WriteJSON},
		{"mixed.junit.xml", mixed(), reports.WriteJUnit},
		{"hostile.junit.xml", hostile(), reports.WriteJUnit},
		{"mixed.summary.md", mixed(), reports.WriteMarkdown},
		{"hostile.summary.md", hostile(), reports.WriteMarkdown},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := c.write(&b, c.result); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name, b.Bytes())
		})
	}
}

// update is read through a lookup, so that the package has no mutable state of
// its own: run "go test ./reports -update" and read the diff.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the golden files")
	flag.Parse()
	os.Exit(m.Run())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if updating() {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-golden +got); if that is meant, run with -update:\n%s", path, d)
	}
}
