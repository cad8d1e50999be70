package spec

import (
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// The two data files of a suite, by the names that errors carry.
const (
	requirementsFile = "requirements.yaml"
	limitsFile       = "limits.yaml"
)

// LoadCatalogue reads the two data files of a suite's folder under spec:
// requirements.yaml and limits.yaml. It is strict, because a typo in a
// catalogue would otherwise become a requirement that nobody verifies: unknown
// keys, ids or names given twice, missing fields, unknown words and references
// to what is not there are errors that name file and line.
func LoadCatalogue(requirementsYAML, limitsYAML []byte) (*Catalogue, error) {
	l := loader{c: &Catalogue{}, ids: map[ID]int{}}
	if err := l.requirements(document{requirementsFile}, requirementsYAML); err != nil {
		return nil, err
	}
	if err := l.limits(document{limitsFile}, limitsYAML); err != nil {
		return nil, err
	}
	l.c.index()
	return l.c, nil
}

type loader struct {
	c   *Catalogue
	ids map[ID]int // line where each id is first given, live or retired
}

func (l *loader) requirements(d document, text []byte) error {
	root, err := d.parse(text)
	if err != nil {
		return err
	}
	numbers, words := map[string]int{}, map[string]int{}
	var late []func() error // checks that need the whole file
	err = d.mapping(root, "the catalogue", fields{
		"suite":  d.text("suite", &l.c.Suite),
		"title":  d.text("title", &l.c.Title),
		"source": d.text("source", &l.c.Source),
		"sections": d.list("sections", func(n *yaml.Node) error {
			var s Section
			if err := d.mapping(n, "a section", fields{
				"number": d.text("number", &s.Number), "title": d.text("title", &s.Title),
			}, "number", "title"); err != nil {
				return err
			}
			if !sectionNumber.MatchString(s.Number) {
				return d.errorf(n.Line, "section number %s is malformed: write 5 or 5.1, in quotes", quote(s.Number))
			}
			if err := once(d, numbers, s.Number, n.Line, "section"); err != nil {
				return err
			}
			l.c.sections = append(l.c.sections, s)
			return nil
		}),
		"glossary": d.list("glossary", func(n *yaml.Node) error {
			var t Term
			if err := d.mapping(n, "a term", fields{
				"word": d.text("word", &t.Word), "meaning": d.text("meaning", &t.Meaning),
			}, "word", "meaning"); err != nil {
				return err
			}
			if err := once(d, words, t.Word, n.Line, "term"); err != nil {
				return err
			}
			l.c.glossary = append(l.c.glossary, t)
			return nil
		}),
		"retired": d.list("retired", func(n *yaml.Node) error {
			var r Retired
			if err := d.mapping(n, "a retired id", fields{
				"id":     word(d, ParseID, func(id ID) { r.ID = id }),
				"reason": d.text("reason", &r.Reason),
			}, "id", "reason"); err != nil {
				return err
			}
			if err := l.claim(d, r.ID, n.Line); err != nil {
				return err
			}
			l.c.retired = append(l.c.retired, r)
			return nil
		}),
		"requirements": d.list("requirements", func(n *yaml.Node) error {
			r, err := l.requirement(d, n)
			if err != nil {
				return err
			}
			late = append(late, func() error {
				if numbers[r.Section] == 0 {
					return d.errorf(n.Line, "%s is in section %s, which the file does not list", r.ID, quote(r.Section))
				}
				return nil
			})
			l.c.listed = append(l.c.listed, r)
			return nil
		}),
	}, "suite", "title", "source", "sections", "glossary", "requirements")
	if err != nil {
		return err
	}
	if len(l.c.listed) == 0 {
		return d.errorf(root.Line, "the catalogue has no requirements")
	}
	for _, check := range late {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

var sectionNumber = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`)

func (l *loader) requirement(d document, n *yaml.Node) (Requirement, error) {
	var r Requirement
	err := d.mapping(n, "a requirement", fields{
		"id":                 word(d, ParseID, func(id ID) { r.ID = id }),
		"section":            d.text("section", &r.Section),
		"title":              d.text("title", &r.Title),
		"statement":          d.text("statement", &r.Statement),
		"level":              word(d, ParseLevel, func(v Level) { r.Level = v }),
		"binds":              d.list("binds", word(d, ParseParty, func(p Party) { r.Binds |= Parties(p) })),
		"decided_by":         d.list("decided_by", accessSet(d, &r.DecidedBy)),
		"undecidable":        d.text("undecidable", &r.Undecidable),
		"limits_of_evidence": d.text("limits_of_evidence", &r.LimitsOfEvidence),
		"notes":              d.text("notes", &r.Notes),
	}, "id", "section", "title", "statement", "level", "binds")
	if err != nil {
		return r, err
	}
	switch {
	case r.Binds == 0:
		return r, d.errorf(n.Line, "%s binds nobody: name at least one party", r.ID)
	case len(r.DecidedBy) == 0 && r.Undecidable == "":
		return r, d.errorf(n.Line, "%s has neither decided_by nor undecidable: name the access that decides it, or say why none does", r.ID)
	case len(r.DecidedBy) != 0 && r.Undecidable != "":
		return r, d.errorf(n.Line, "%s has both decided_by and undecidable: keep one", r.ID)
	case r.Undecidable != "" && r.LimitsOfEvidence != "":
		return r, d.errorf(n.Line, "%s is undecidable, so there is no evidence to limit: drop limits_of_evidence", r.ID)
	}
	return r, l.claim(d, r.ID, n.Line)
}

// accessSet reads one alternative of decided_by: a list of accesses. An
// alternative that contains another could never matter, so it is a mistake.
func accessSet(d document, to *[]AccessSet) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		var set AccessSet
		if err := d.list("an alternative of decided_by", word(d, ParseAccess, func(a Access) { set = set.With(a) }))(n); err != nil {
			return err
		}
		if set == 0 {
			return d.errorf(n.Line, "an alternative of decided_by is empty: name at least one access")
		}
		for _, other := range *to {
			if set.Contains(other) || other.Contains(set) {
				return d.errorf(n.Line, "alternatives %s and %s of decided_by overlap: keep the smaller", other, set)
			}
		}
		*to = append(*to, set)
		return nil
	}
}

func (l *loader) limits(d document, text []byte) error {
	root, err := d.parse(text)
	if err != nil {
		return err
	}
	names := map[string]int{}
	return d.mapping(root, "the file", fields{
		"limits": d.list("limits", func(n *yaml.Node) error {
			lim, err := l.limit(d, n)
			if err != nil {
				return err
			}
			if err := once(d, names, lim.Name, n.Line, "limit"); err != nil {
				return err
			}
			l.c.limits = append(l.c.limits, lim)
			return nil
		}),
	}, "limits")
}

func (l *loader) limit(d document, n *yaml.Node) (Limit, error) {
	var lim Limit
	err := d.mapping(n, "a limit", fields{
		"key":          d.text("key", &lim.Key),
		"default":      d.number("default", &lim.Default),
		"ceiling":      d.number("ceiling", &lim.Ceiling),
		"unit":         d.text("unit", &lim.Unit),
		"published_as": d.text("published_as", &lim.PublishedAs),
		"section":      d.text("section", &lim.Section),
		"requirements": d.list("requirements", word(d, l.liveID, func(id ID) { lim.Requirements = append(lim.Requirements, id) })),
		"meaning":      d.text("meaning", &lim.Meaning),
	}, "key", "default", "unit", "meaning")
	if err != nil {
		return lim, err
	}
	lim.Name = lim.Key[strings.LastIndexByte(lim.Key, '.')+1:]
	if !limitKey.MatchString(lim.Key) {
		return lim, d.errorf(n.Line, "limit key %s is malformed: write lower-case words with dots between parts, as in limits.max_query_topics", quote(lim.Key))
	}
	if lim.Ceiling != 0 && lim.Default > lim.Ceiling {
		return lim, d.errorf(n.Line, "the default of %s, %d, is above its ceiling, %d", lim.Name, lim.Default, lim.Ceiling)
	}
	if lim.Section != "" {
		if _, found := l.c.Section(lim.Section); !found {
			return lim, d.errorf(n.Line, "limit %s is in section %s, which %s does not list", lim.Name, quote(lim.Section), requirementsFile)
		}
	}
	return lim, nil
}

var limitKey = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$`)

// liveID reads an id that must be one of the catalogue's requirements.
func (l *loader) liveID(s string) (ID, error) {
	id, err := ParseID(s)
	if err != nil {
		return "", err
	}
	for _, r := range l.c.listed {
		if r.ID == id {
			return id, nil
		}
	}
	return "", fmt.Errorf("%s is no live requirement of %s", id, requirementsFile)
}

// claim records an id, which may be given once, be it live or retired.
func (l *loader) claim(d document, id ID, line int) error {
	if first := l.ids[id]; first != 0 {
		return d.errorf(line, "%s is given twice: first on line %d", id, first)
	}
	l.ids[id] = line
	return nil
}

// once refuses a name that was seen before, in whatever case.
func once(d document, seen map[string]int, name string, line int, what string) error {
	key := strings.ToLower(name)
	if first := seen[key]; first != 0 {
		return d.errorf(line, "%s %s is given twice: first on line %d", what, quote(name), first)
	}
	seen[key] = line
	return nil
}
