package spec

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
)

// Catalogue is everything known about one specification. It does not change
// after [LoadCatalogue] has made it; its methods return copies.
type Catalogue struct {
	// Suite is the suite's folder name, as in "backend".
	Suite string
	// Title is the specification's name for itself.
	Title string
	// Source says which text the catalogue restates, for a reader who wants it.
	Source string

	listed       []Requirement // in the order of the specification
	byID         map[ID]int    // index in listed
	sections     []Section
	limits       []Limit
	limitByName  map[string]int
	glossary     []Term
	retired      []Retired
	requirements []Requirement // listed, sorted by id
}

// Requirements returns every live requirement in id order.
func (c *Catalogue) Requirements() []Requirement { return copyRequirements(c.requirements) }

// Listed returns every live requirement in the order in which the
// specification states them, which is not everywhere the order of ids.
func (c *Catalogue) Listed() []Requirement { return copyRequirements(c.listed) }

// Lookup returns the requirement with this id.
func (c *Catalogue) Lookup(id ID) (Requirement, bool) {
	i, found := c.byID[id]
	if !found {
		return Requirement{}, false
	}
	return copyRequirement(c.listed[i]), true
}

// Limit returns the limit with this name, as in "max_query_topics".
func (c *Catalogue) Limit(name string) (Limit, bool) {
	i, found := c.limitByName[name]
	if !found {
		return Limit{}, false
	}
	return copyLimit(c.limits[i]), true
}

// Limits returns every limit in the order of its file.
func (c *Catalogue) Limits() []Limit {
	out := make([]Limit, len(c.limits))
	for i, l := range c.limits {
		out[i] = copyLimit(l)
	}
	return out
}

// LimitsOf returns the limits that a requirement rests on.
func (c *Catalogue) LimitsOf(id ID) []Limit {
	var out []Limit
	for _, l := range c.limits {
		for _, r := range l.Requirements {
			if r == id {
				out = append(out, copyLimit(l))
			}
		}
	}
	return out
}

// Glossary returns the vocabulary in the order of its file.
func (c *Catalogue) Glossary() []Term { return append([]Term(nil), c.glossary...) }

// Sections returns the sections in the order of the specification.
func (c *Catalogue) Sections() []Section { return append([]Section(nil), c.sections...) }

// Retired returns the ids that the specification no longer gives.
func (c *Catalogue) Retired() []Retired { return append([]Retired(nil), c.retired...) }

// Section returns the section with this number.
func (c *Catalogue) Section(number string) (Section, bool) {
	for _, s := range c.sections {
		if s.Number == number {
			return s, true
		}
	}
	return Section{}, false
}

// Select returns the requirements that an address names, in the order of the
// specification. An address is an id ("API-033"), a section number ("5", which
// takes its subsections along) or a section's title, in any case and with
// hyphens for spaces ("ordering-and-visibility"). The empty address names all.
func (c *Catalogue) Select(address string) ([]Requirement, error) {
	if address == "" {
		return c.Listed(), nil
	}
	if id, err := ParseID(strings.ToUpper(address)); err == nil {
		return c.selectID(id)
	}
	for _, s := range c.sections {
		if s.Number == address || slug(s.Title) == slug(address) {
			return c.selectSection(s)
		}
	}
	return nil, fmt.Errorf("the %s specification has no requirement or section %s: give an id such as %s, or a section: %s",
		c.Suite, quote(address), c.requirements[0].ID, c.sectionList())
}

func (c *Catalogue) selectID(id ID) ([]Requirement, error) {
	if r, found := c.Lookup(id); found {
		return []Requirement{r}, nil
	}
	for _, r := range c.retired {
		if r.ID == id {
			return nil, fmt.Errorf("%s is retired: %s", id, r.Reason)
		}
	}
	first, last := c.requirements[0].ID, c.requirements[len(c.requirements)-1].ID
	return nil, fmt.Errorf("the %s specification has no requirement %s: its ids run from %s to %s, with gaps", c.Suite, id, first, last)
}

func (c *Catalogue) selectSection(s Section) ([]Requirement, error) {
	var out []Requirement
	for _, r := range c.listed {
		if r.Section == s.Number || strings.HasPrefix(r.Section, s.Number+".") {
			out = append(out, copyRequirement(r))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("section %s, %s, states no requirement: %s", s.Number, s.Title, c.sectionList())
	}
	return out, nil
}

// sectionList names the sections that hold requirements, for errors.
func (c *Catalogue) sectionList() string {
	holds := map[string]bool{}
	for _, r := range c.listed {
		holds[r.Section] = true
		parent, _, _ := strings.Cut(r.Section, ".")
		holds[parent] = true
	}
	var names []string
	for _, s := range c.sections {
		if holds[s.Number] {
			names = append(names, s.Number+" "+slug(s.Title))
		}
	}
	return strings.Join(names, ", ")
}

// slug makes titles comparable however they are typed.
func slug(s string) string {
	parts := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Join(parts, "-")
}

// index fills the lookups; the lists have been checked by then.
func (c *Catalogue) index() {
	c.byID = make(map[ID]int, len(c.listed))
	for i, r := range c.listed {
		c.byID[r.ID] = i
	}
	c.limitByName = make(map[string]int, len(c.limits))
	for i, l := range c.limits {
		c.limitByName[l.Name] = i
	}
	c.requirements = append([]Requirement(nil), c.listed...)
	sort.Slice(c.requirements, func(i, j int) bool { return c.requirements[i].ID < c.requirements[j].ID })
}

func copyRequirements(list []Requirement) []Requirement {
	out := make([]Requirement, len(list))
	for i, r := range list {
		out[i] = copyRequirement(r)
	}
	return out
}

func copyRequirement(r Requirement) Requirement {
	r.DecidedBy = append([]AccessSet(nil), r.DecidedBy...)
	return r
}

func copyLimit(l Limit) Limit {
	l.Requirements = append([]ID(nil), l.Requirements...)
	return l
}
