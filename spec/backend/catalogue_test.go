package backend_test

import (
	_ "embed"
	"strings"
	"testing"

	"assay/spec"
	"assay/spec/backend"

	"github.com/google/go-cmp/cmp"
)

// specificationIDs are the ids of the live requirements, one a line, in the
// order in which the specification states them.
//
//go:embed testdata/ids.txt
var specificationIDs string

func load(t *testing.T) *spec.Catalogue {
	t.Helper()
	cat, err := backend.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

func TestTheCatalogueListsWhatTheSpecificationLists(t *testing.T) {
	want := strings.Fields(specificationIDs)
	if len(want) != 114 {
		t.Fatalf("the list from the specification has %d ids, want 114", len(want))
	}
	var got []string
	for _, r := range load(t).Listed() {
		got = append(got, r.ID.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids differ from the specification's, or their order does (-specification +catalogue):\n%s", diff)
	}
}
