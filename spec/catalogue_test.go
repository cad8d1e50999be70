package spec_test

import (
	"slices"
	"strings"
	"testing"

	"assay/spec"

	"github.com/google/go-cmp/cmp"
)

func ids(list []spec.Requirement) string {
	var out []string
	for _, r := range list {
		out = append(out, r.ID.String())
	}
	return strings.Join(out, " ")
}

func TestRequirementsHaveTwoOrders(t *testing.T) {
	cat := toy(t)
	if got := ids(cat.Requirements()); got != "TOY-001 TOY-003 TOY-004" {
		t.Errorf("in id order: %s", got)
	}
	if got := ids(cat.Listed()); got != "TOY-001 TOY-004 TOY-003" {
		t.Errorf("as the specification lists them: %s", got)
	}
}

func TestAnAddressSelectsAnIDOrASection(t *testing.T) {
	for _, c := range []struct{ name, address, want string }{
		{"nothing selects everything, as listed", "", "TOY-001 TOY-004 TOY-003"},
		{"an id selects itself", "TOY-004", "TOY-004"},
		{"an id may be typed in lower case", "toy-004", "TOY-004"},
		{"a section takes its subsections along", "2", "TOY-001 TOY-004"},
		{"a subsection is itself", "2.1", "TOY-004"},
		{"a title selects its section", "Reading", "TOY-003"},
		{"a title may be typed in any case", "order AND place", "TOY-004"},
		{"a title may be typed with hyphens", "order-and-place", "TOY-004"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := toy(t).Select(c.address)
			if err != nil || ids(got) != c.want {
				t.Errorf("Select(%q) is %q, %v, want %q", c.address, ids(got), err, c.want)
			}
		})
	}
}

func TestAnAddressOfNothingIsAnErrorThatOffersWhatThereIs(t *testing.T) {
	for _, c := range []struct{ name, address, want string }{
		{"an id that was never given", "TOY-009", "no requirement TOY-009: its ids run from TOY-001 to TOY-004"},
		{"an id that is retired", "TOY-002", "TOY-002 is retired: entries have no names any more"},
		{"a section without requirements", "1", "section 1, Words, states no requirement: 2 appending, 2.1 order-and-place, 3 reading"},
		{"a section that is not there", "2.2", "no requirement or section \"2.2\": give an id such as TOY-001, or a section: 2 appending"},
		{"the beginning of a section's number", "2.", "no requirement or section"},
		{"a word that is nothing", "../../etc", "no requirement or section"},
		{"a hyphen, whose slug is empty", "-", "no requirement or section"},
		{"a very long text", strings.Repeat("x", 1<<16), "no requirement or section \"xxx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := toy(t).Select(c.address)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 400 {
				t.Errorf("got %q and error %v, want one with %q", ids(got), err, c.want)
			}
		})
	}
}

func TestLookupsOfWhatIsNotThereSaySo(t *testing.T) {
	cat := toy(t)
	if r, found := cat.Lookup("TOY-002"); found {
		t.Errorf("found %v", r)
	}
	if l, found := cat.Limit("max_anything"); found {
		t.Errorf("found %v", l)
	}
	if s, found := cat.Section("9"); found {
		t.Errorf("found %v", s)
	}
	if l := cat.LimitsOf("TOY-003"); l != nil {
		t.Errorf("found %v", l)
	}
}

func TestACatalogueCannotBeChangedThroughItsAnswers(t *testing.T) {
	cat := toy(t)
	before := cat.Listed()
	for _, answer := range [][]spec.Requirement{cat.Requirements(), cat.Listed()} {
		for i := range answer {
			if len(answer[i].DecidedBy) > 0 {
				answer[i].DecidedBy[0] = 0
			}
			answer[i].Title = "changed"
		}
	}
	cat.Limits()[0].Requirements[0] = "TOY-999"
	cat.Glossary()[0].Word, cat.Sections()[0].Title, cat.Retired()[0].Reason = "changed", "changed", "changed"

	if diff := cmp.Diff(before, cat.Listed()); diff != "" {
		t.Errorf("requirements changed (-before +after):\n%s", diff)
	}
	if l, _ := cat.Limit("max_entry_bytes"); !slices.Equal(l.Requirements, []spec.ID{"TOY-001"}) {
		t.Errorf("limit changed: %v", l.Requirements)
	}
	if cat.Glossary()[0].Word == "changed" || cat.Sections()[0].Title == "changed" || cat.Retired()[0].Reason == "changed" {
		t.Error("glossary, sections or retired ids changed")
	}
}

func TestARequirementIsDecidableWithAnyOneAlternative(t *testing.T) {
	cat := toy(t)
	places, _ := cat.Lookup("TOY-004") // wire+gate or replica
	silence, _ := cat.Lookup("TOY-003")
	for _, c := range []struct {
		name   string
		r      spec.Requirement
		have   spec.AccessSet
		ok     bool
		reason string
	}{
		{"the first alternative alone", places, spec.AccessOf(spec.Wire, spec.Gate), true, ""},
		{"the second alternative and more", places, spec.AccessOf(spec.Replica, spec.Control), true, ""},
		{"a part of an alternative is not enough", places, spec.AccessOf(spec.Wire), false, "needs wire+gate or replica; this run has wire"},
		{"no access at all", places, 0, false, "needs wire+gate or replica; this run has none"},
		{"what is undecidable stays so with every access", silence, ^spec.AccessSet(0), false, "silence cannot be seen"},
		{"a requirement without a catalogue needs what nobody has", spec.Requirement{}, ^spec.AccessSet(0), false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.r.Decidable(c.have); got != c.ok {
				t.Errorf("decidable: %v", got)
			}
			if got := c.r.OutOfReach(c.have); got != c.reason {
				t.Errorf("reason %q, want %q", got, c.reason)
			}
		})
	}
}

func TestCoverageCountsOnlyWhatWasDecidedWithinReach(t *testing.T) {
	for _, c := range []struct {
		name     string
		have     spec.AccessSet
		decided  string
		want     spec.Coverage
		complete bool
	}{
		{
			"decided within reach is covered", spec.AccessOf(spec.Wire), "TOY-001",
			spec.Coverage{Covered: []spec.ID{"TOY-001"}, OutOfReach: []spec.Gap{
				{ID: "TOY-003", Reason: "silence cannot be seen"}, {ID: "TOY-004", Reason: "needs wire+gate or replica; this run has wire"}}},
			true,
		},
		{
			"within reach and not decided is uncovered", spec.AccessOf(spec.Wire, spec.Gate), "TOY-004",
			spec.Coverage{Covered: []spec.ID{"TOY-004"}, Uncovered: []spec.ID{"TOY-001"}, OutOfReach: []spec.Gap{{ID: "TOY-003", Reason: "silence cannot be seen"}}},
			false,
		},
		{
			"a decision that the access does not allow covers nothing", spec.AccessOf(spec.Replica), "TOY-001 TOY-003",
			spec.Coverage{Uncovered: []spec.ID{"TOY-004"}, OutOfReach: []spec.Gap{
				{ID: "TOY-001", Reason: "needs wire; this run has replica"}, {ID: "TOY-003", Reason: "silence cannot be seen"}}},
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := toy(t).Coverage(c.have, func(id spec.ID) bool { return strings.Contains(c.decided, string(id)) })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Complete() != c.complete {
				t.Errorf("complete: %v", got.Complete())
			}
		})
	}
}
