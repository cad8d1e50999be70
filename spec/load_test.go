package spec_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"assay/spec"

	"github.com/google/go-cmp/cmp"
)

func TestACatalogueIsLoadedAsItIsWritten(t *testing.T) {
	cat := toy(t)
	got, found := cat.Lookup("TOY-001")
	want := spec.Requirement{
		ID: "TOY-001", Section: "2", Title: "Appends answer with a place",
		Statement: "An append that succeeds answers with the place of its entry.",
		Level:     spec.Must, Binds: spec.Parties(spec.Server),
		DecidedBy:        []spec.AccessSet{spec.AccessOf(spec.Wire)},
		LimitsOfEvidence: "A lost answer is not seen.",
	}
	if diff := cmp.Diff(want, got); !found || diff != "" {
		t.Errorf("requirement (-want +got):\n%s", diff)
	}
	limit, found := cat.Limit("max_entry_bytes")
	wantLimit := spec.Limit{
		Name: "max_entry_bytes", Key: "log.max_entry_bytes", Default: 1 << 20, Ceiling: 2 << 20, Unit: "bytes",
		PublishedAs: "limits.entry_bytes", Section: "2", Requirements: []spec.ID{"TOY-001"}, Meaning: "Size of one entry.",
	}
	if diff := cmp.Diff(wantLimit, limit); !found || diff != "" {
		t.Errorf("limit (-want +got):\n%s", diff)
	}
	if cat.Suite != "toy" || cat.Title != "Toy log" || cat.Source != "the comment of the toy server" {
		t.Errorf("head is %q, %q, %q", cat.Suite, cat.Title, cat.Source)
	}
	if diff := cmp.Diff([]spec.Term{{Word: "entry", Meaning: "what is appended"}, {Word: "place", Meaning: "the number of an entry"}}, cat.Glossary()); diff != "" {
		t.Errorf("glossary (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]spec.Retired{{ID: "TOY-002", Reason: "entries have no names any more"}}, cat.Retired()); diff != "" {
		t.Errorf("retired (-want +got):\n%s", diff)
	}
}

// Each case replaces one text of the sound catalogue, and says what the error
// must contain: the file, the line, and what was expected.
func TestAMistakeInACatalogueIsRefusedWithItsPlace(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"an unknown key", "title: Places rise", "titel: Places rise", "requirements.yaml:27: a requirement has no key \"titel\": expected one of binds, decided_by"},
		{"an unknown key at the top", "suite: toy", "sweet: toy", "requirements.yaml:1: the catalogue has no key"},
		{"a key given twice", "    level: should\n", "    level: should\n    level: must\n", "requirements.yaml:37: key level is given twice in a requirement: first on line 36"},
		{"an id given twice", "id: TOY-004", "id: TOY-001", "requirements.yaml:25: TOY-001 is given twice: first on line 15"},
		{"a retired id that lives", "id: TOY-004", "id: TOY-002", "requirements.yaml:25: TOY-002 is given twice: first on line 13"},
		{"a malformed id", "id: TOY-004", "id: TOY-4", "requirements.yaml:25: \"TOY-4\" is not a requirement id"},
		{"a section given twice", `{number: "2.1"`, `{number: "2"`, "requirements.yaml:7: section \"2\" is given twice: first on line 6"},
		{"a section without a number", `{number: "3", title: Reading}`, `{number: three, title: Reading}`, "requirements.yaml:8: section number \"three\" is malformed"},
		{"a section that is not listed", "section: \"3\"", "section: \"4\"", "requirements.yaml:32: TOY-003 is in section \"4\", which the file does not list"},
		{"a term given twice", "word: place", "word: Entry", "requirements.yaml:11: term \"Entry\" is given twice: first on line 10"},
		{"a missing statement", "    statement: A later append gets a higher place.\n", "", "requirements.yaml:25: a requirement lacks statement"},
		{"an empty statement", "A later append gets a higher place.", `" "`, "requirements.yaml:28: statement is empty"},
		{"a statement that is a list", "A later append gets a higher place.", "[a, b]", "requirements.yaml:28: statement must be a text, not a list"},
		{"a statement left out after its key", "A later append gets a higher place.", "", "requirements.yaml:28: statement must be a text"},
		{"an unknown level", "level: should", "level: may", "requirements.yaml:36: level \"may\" is unknown: use one of must, should"},
		{"an unknown party", "[server, client]", "[server, clinet]", "requirements.yaml:30: party \"clinet\" is unknown"},
		{"nobody bound", "[server, client]", "[]", "requirements.yaml:25: TOY-004 binds nobody"},
		{"parties that are no list", "[server, client]", "server", "requirements.yaml:30: binds must be a list, not \"server\""},
		{"an unknown access", "[wire, gate]", "[wire, fence]", "requirements.yaml:31: access \"fence\" is unknown: use one of wire, gate, chain, replica, control, watch"},
		{"an alternative that is no list", "[[wire, gate], [replica]]", "[wire]", "requirements.yaml:31: an alternative of decided_by must be a list"},
		{"an empty alternative", "[replica]]", "[]]", "requirements.yaml:31: an alternative of decided_by is empty"},
		{"an alternative that never matters", "[replica]]", "[wire, gate, replica]]", "requirements.yaml:31: alternatives wire+gate and wire+gate+replica of decided_by overlap"},
		{"neither an access nor a reason", "    undecidable: silence cannot be seen\n", "", "requirements.yaml:32: TOY-003 has neither decided_by nor undecidable"},
		{"both an access and a reason", "    notes: Logging", "    decided_by: [[watch]]\n    notes: Logging", "requirements.yaml:32: TOY-003 has both decided_by and undecidable"},
		{"limits of evidence that there is none of", "    notes: Logging", "    limits_of_evidence: Logging", "requirements.yaml:32: TOY-003 is undecidable, so there is no evidence to limit"},
		{"an alias", "statement: A later", "statement: *later\n    notes: A later", "requirements.yaml"},
		{"no mapping at the top", toyRequirements, "- a\n- b\n", "requirements.yaml:1: the catalogue must be a mapping, not a list"},
		{"an empty file", toyRequirements, "", "requirements.yaml:1: the file is empty"},
		{"a file of comments", toyRequirements, "# nothing\n", "requirements.yaml:1: the file is empty"},
		{"a second document", "    notes: Logging is telling.\n", "---\nmore: text\n", "requirements.yaml: a second document follows"},
		{"text that is no YAML", "title: Toy log", "title: [", "requirements.yaml: line"},
		{"no requirements", toyRequirements[strings.Index(toyRequirements, "  - id: TOY-001"):], "  []\n", "requirements.yaml:1: the catalogue has no requirements"},

		{"an unknown key of a limit", "unit: bytes", "units: bytes", "limits.yaml:5: a limit has no key \"units\""},
		{"a limit without a meaning", "    meaning: Size of one entry.\n", "", "limits.yaml:2: a limit lacks meaning"},
		{"a limit given twice", "key: log.page", "key: other.max_entry_bytes", "limits.yaml:10: limit \"max_entry_bytes\" is given twice: first on line 2"},
		{"a limit key without a part before its name", "key: log.page", "key: page", "limits.yaml:10: limit key \"page\" is malformed"},
		{"a default that is a text", "default: 10,", "default: ten,", "limits.yaml:10: default must be a whole number, not \"ten\""},
		{"a negative default", "default: 10,", "default: -1,", "limits.yaml:10: default must be a whole number from 0"},
		{"a default beyond 64 bits", "default: 10,", "default: 18446744073709551616,", "limits.yaml:10: default must be a whole number"},
		{"a default above its ceiling", "ceiling: 2097152", "ceiling: 1024", "limits.yaml:2: the default of max_entry_bytes, 1048576, is above its ceiling, 1024"},
		{"a limit of an unknown requirement", "[TOY-001]\n    meaning", "[TOY-009]\n    meaning", "limits.yaml:8: TOY-009 is no live requirement of requirements.yaml"},
		{"a limit of a retired requirement", "[TOY-001]\n    meaning", "[TOY-002]\n    meaning", "limits.yaml:8: TOY-002 is no live requirement"},
		{"a limit in an unknown section", "section: \"2\"\n    requirements", "section: \"9\"\n    requirements", "limits.yaml:2: limit max_entry_bytes is in section \"9\""},
		{"limits that are no list", toyLimits, "limits: {}\n", "limits.yaml:1: limits must be a list, not a mapping"},
		{"a file without limits", toyLimits, "{}\n", "limits.yaml:1: the file lacks limits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			requirements, limits := toyRequirements, toyLimits
			switch {
			case strings.HasPrefix(c.want, "limits") && strings.Count(toyLimits, c.old) == 1:
				limits = strings.Replace(limits, c.old, c.new, 1)
			case strings.HasPrefix(c.want, "requirements") && strings.Count(toyRequirements, c.old) == 1:
				requirements = strings.Replace(requirements, c.old, c.new, 1)
			default:
				t.Fatalf("%q does not occur exactly once, so the case changes nothing or too much", c.old)
			}
			cat, err := spec.LoadCatalogue([]byte(requirements), []byte(limits))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is\n%v\nwant it to contain\n%s", err, c.want)
			}
			if cat != nil {
				t.Error("a catalogue came with the error")
			}
		})
	}
}

func TestJunkNeverPanicsTheLoader(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	damage := func(text string) []byte {
		b := []byte(text)
		for range 1 + rng.IntN(4) {
			switch at := rng.IntN(len(b)); rng.IntN(3) {
			case 0:
				b[at] = byte(rng.UintN(256))
			case 1:
				b = append(b[:at], b[min(len(b), at+1+rng.IntN(20)):]...)
			default:
				b = b[:at+1]
			}
			if len(b) == 0 {
				break
			}
		}
		return b
	}
	for range 2_000 {
		requirements, limits := []byte(toyRequirements), []byte(toyLimits)
		if rng.IntN(2) == 0 {
			requirements = damage(toyRequirements)
		} else {
			limits = damage(toyLimits)
		}
		// Some damage leaves a sound catalogue; it has to hold together then.
		if cat, err := spec.LoadCatalogue(requirements, limits); err == nil {
			for _, r := range cat.Requirements() {
				if _, found := cat.Lookup(r.ID); !found {
					t.Fatalf("%s is listed and not found in:\n%s", r.ID, requirements)
				}
			}
		}
	}
	for _, text := range []string{"\x00", "{{{{", "&a [*a]", "&a {<<: *a}", strings.Repeat("[", 100_000), strings.Repeat("- ", 100_000), "%YAML 9.9\n---\na", "\xff\xfe"} {
		if _, err := spec.LoadCatalogue([]byte(text), []byte(toyLimits)); err == nil {
			t.Errorf("%.20q was loaded", text)
		}
		if _, err := spec.LoadCatalogue([]byte(toyRequirements), []byte(text)); err == nil {
			t.Errorf("%.20q was loaded as limits", text)
		}
	}
}
