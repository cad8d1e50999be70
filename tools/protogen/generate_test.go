package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRegeneratingChangesNothing(t *testing.T) {
	files, err := generate(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := compare("../..", files); err != nil {
		t.Fatal(err)
	}
}

func TestCompareRefuses(t *testing.T) {
	const path = output + "/a/a.pb.go"
	files := map[string][]byte{path: []byte("new")}
	for _, test := range []struct {
		name   string
		onDisk map[string]string
		want   string
	}{
		{"a file that was edited by hand", map[string]string{path: "old"}, "differs from its source"},
		{"a file that was not written", nil, "generated file is missing"},
		{"a file whose source is gone", map[string]string{path: "new", output + "/b.pb.go": "x"}, "has no source any more"},
		{"nothing when all are as generated", map[string]string{path: "new"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			for path, content := range test.onDisk {
				full := filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			err := compare(root, files)
			switch {
			case test.want == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Fatalf("got %v, want an error that says %q", err, test.want)
			}
		})
	}
}
