package backend_test

import (
	_ "embed"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/spec"
	"assay/spec/backend"
	"assay/spec/gen/backendreq"

	"github.com/google/go-cmp/cmp"
)

// specificationIDs are the ids of the live requirements, one a line, in the
// order in which the specification states them. The list was extracted from
// the specification's text and is never edited to fit the catalogue.
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

func TestTheGeneratedIDsAreTheCatalogues(t *testing.T) {
	var want []spec.ID
	for _, r := range load(t).Requirements() {
		want = append(want, r.ID)
	}
	if diff := cmp.Diff(want, backendreq.All()); diff != "" {
		t.Errorf("run go generate (-catalogue +generated):\n%s", diff)
	}
}

func TestTheRetiredIDsAreRefusedAsSuch(t *testing.T) {
	cat := load(t)
	for _, id := range []string{"API-085", "API-086", "API-087", "API-088"} {
		if _, err := cat.Select(id); err == nil || !strings.Contains(err.Error(), "retired") {
			t.Errorf("selecting %s gives %v, want an error that calls it retired", id, err)
		}
	}
}

// decidedOverTheWire are the requirements that an address alone is enough for.
const decidedOverTheWire = `
	API-001 API-002 API-003 API-004 API-010 API-011 API-014 API-015 API-016 API-017 API-018
	API-020 API-021 API-023 API-030 API-031 API-032 API-033 API-034 API-035 API-036 API-037
	API-040 API-041 API-042 API-043 API-045 API-046 API-047 API-050 API-051 API-053
	API-060 API-061 API-065 API-066 API-070 API-071 API-072 API-073 API-075 API-076 API-077
	API-080 API-081 API-082 API-083 API-084
	API-090 API-091 API-092 API-093 API-094 API-095 API-096 API-097 API-099 API-100 API-101 API-102 API-104 API-106 API-107 API-108
	API-110 API-111 API-112 API-113 API-120 API-121 API-122
	API-130 API-131 API-132 API-133 API-134 API-135 API-148 API-150 API-152 API-160 API-161 API-162 API-164 API-165`

func TestWhatEachAccessDecidesIsTheWholeOfIt(t *testing.T) {
	wire := spec.AccessOf(spec.Wire)
	for _, c := range []struct {
		name string
		have spec.AccessSet
		want string
	}{
		{"no access decides nothing", 0, ""},
		{"the wire decides what a client can see", wire, decidedOverTheWire},
		{"a chain of ours adds the wallet signatures", wire.With(spec.Chain), decidedOverTheWire + " API-044 API-123"},
		{"control, gate and replica sharpen evidence and add no requirement", wire.With(spec.Control, spec.Gate, spec.Replica), decidedOverTheWire},
		{"watching decides client rules that show in traffic", spec.AccessOf(spec.Watch),
			"API-052 API-074 API-114 API-140 API-141 API-142 API-143 API-144 API-151 API-153"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := strings.Fields(c.want)
			slices.Sort(want)
			var got []string
			for _, r := range load(t).Requirements() {
				if r.Decidable(c.have) {
					got = append(got, r.ID.String())
				} else if r.OutOfReach(c.have) == "" {
					t.Errorf("%s is out of reach without a reason", r.ID)
				}
			}
			if diff := cmp.Diff(want, got, cmp.Transformer("nil", func(s []string) string { return strings.Join(s, "\n") })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A verdict on a server says nothing about a client. Where a requirement binds
// both, a reader of "satisfied" has to be told which half was seen.
func TestARequirementOfTwoHalvesSaysWhichIsSeen(t *testing.T) {
	for _, r := range load(t).Requirements() {
		if len(r.Binds.List()) > 1 && len(r.DecidedBy) > 0 && r.LimitsOfEvidence == "" {
			t.Errorf("%s binds %s and does not say what its evidence leaves out", r.ID, r.Binds)
		}
		if !r.Binds.Has(spec.Server) && !r.Binds.Has(spec.Operator) && r.Decidable(spec.AccessOf(spec.Wire)) {
			t.Errorf("%s binds %s, and no server can show that over the wire", r.ID, r.Binds)
		}
		if r.Binds.Has(spec.Server) && r.Undecidable != "" {
			t.Errorf("%s binds a server and claims that nothing can be seen of it", r.ID)
		}
	}
}

func TestStatementsAreSentences(t *testing.T) {
	for _, r := range load(t).Requirements() {
		for _, text := range []string{r.Statement, r.LimitsOfEvidence, r.Notes} {
			if text != "" && !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q has no full stop", r.ID, text)
			}
		}
		if strings.HasSuffix(r.Title, ".") || len(r.Title) > 60 {
			t.Errorf("%s: %q is no title", r.ID, r.Title)
		}
		if strings.HasSuffix(r.Undecidable, ".") {
			t.Errorf("%s: the reason %q is printed after a colon and takes no full stop", r.ID, r.Undecidable)
		}
	}
}

// The rows of section 11, and the retention of section 4, as the specification
// gives them; a typo in the catalogue would move every boundary test with it.
func TestLimitsAreTheSpecifications(t *testing.T) {
	want := map[string]uint64{
		"max_query_topics": 1000, "max_query_limit": 1000, "default_query_limit": 100,
		"max_newest_metadata_topics": 1000, "max_newest_full_topics": 100, "max_publish_topics": 1000,
		"max_envelope_bytes": 1 << 20, "max_request_bytes": 25 << 20, "max_response_bytes": 25 << 20,
		"max_update_adds": 100_000, "max_update_removes": 100_000, "max_stream_topics": 100_000,
		"max_static_topics": 10_000, "max_lookup_identifiers": 250, "max_scw_signatures": 100, "max_identity_entries": 256,
		"max_http2_streams": 100, "keepalive_interval_ms": 30_000,
		"max_update_frames_per_second": 10, "max_update_burst": 100, "max_ping_frames_per_second": 10, "max_ping_burst": 100,
		"group_message_seconds": 90 * 24 * 3600, "welcome_seconds": 90 * 24 * 3600, "key_package_seconds": 90 * 24 * 3600,
	}
	got := map[string]uint64{}
	for _, l := range load(t).Limits() {
		if l.Section != "" {
			got[l.Name] = l.Default
			if len(l.Requirements) == 0 {
				t.Errorf("%s is the specification's and belongs to no requirement", l.Name)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-specification +catalogue):\n%s", diff)
	}
}

func TestOnlyTheseLimitsOfTheTableAreNotPublished(t *testing.T) {
	var got []string
	for _, l := range load(t).Limits() {
		if l.Section == "11" && !l.Published() {
			got = append(got, l.Name)
		}
	}
	if diff := cmp.Diff([]string{"max_http2_streams", "keepalive_interval_ms"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheCeilingsAreThoseThatConfigurationHolds(t *testing.T) {
	got := map[string]uint64{}
	for _, l := range load(t).Limits() {
		if l.Ceiling != 0 {
			got[l.Name] = l.Ceiling
		}
	}
	want := map[string]uint64{"max_request_bytes": 25 << 20, "max_response_bytes": 25 << 20, "max_http2_streams": 100}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheGlossaryHasTheSpecificationsTerms(t *testing.T) {
	var words []string
	for _, term := range load(t).Glossary() {
		words = append(words, term.Word)
	}
	for _, word := range []string{"envelope", "topic", "sequence id", "cursor", "message hash", "catch-up target"} {
		if !slices.Contains(words, word) {
			t.Errorf("the glossary lacks %q", word)
		}
	}
}

// The embed pattern names depths, so a source at another depth would be left
// out without a word.
func TestEveryProtobufSourceIsEmbedded(t *testing.T) {
	tree, err := backend.Proto()
	if err != nil {
		t.Fatal(err)
	}
	paths := func(tree fs.FS) []string {
		var out []string
		err := fs.WalkDir(tree, ".", func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".proto" {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := paths(os.DirFS("proto"))
	if len(want) == 0 {
		t.Fatal("there are no protobuf sources")
	}
	if diff := cmp.Diff(want, paths(tree)); diff != "" {
		t.Errorf("(-on disk +embedded):\n%s", diff)
	}
}
