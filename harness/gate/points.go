package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"gopkg.in/yaml.v3"
)

// PointsVersion is what a points file begins with.
const PointsVersion = "assay.points/v1"

// Points names statements by patterns, for backends whose statements carry no
// tags. The format is described in docs/reproduce-a-race.md.
type Points struct{ patterns []pattern }

type pattern struct {
	name     string
	match    *regexp.Regexp
	inside   *bool
	position int
	nth      int
}

// maxPoints bounds a points file, in bytes.
const maxPoints = 1 << 20

// ParsePoints reads a points file. Errors name the file, the line and what was
// expected there.
func ParsePoints(file string, data []byte) (*Points, error) {
	if len(data) > maxPoints {
		return nil, fmt.Errorf("%s: a points file of %d bytes: at most %d", file, len(data), maxPoints)
	}
	p := &pointsReader{file: file}
	var doc yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s:1: an empty points file: want version: %s and points", file, PointsVersion)
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: more than one document: write one", file)
	}
	return p.document(doc.Content[0])
}

type pointsReader struct{ file string }

func (p *pointsReader) errorf(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", p.file, n.Line, fmt.Errorf(format, args...))
}

// fields calls set for each key of a mapping.
func (p *pointsReader) fields(n *yaml.Node, set map[string]func(*yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return p.errorf(n, "want keys and values")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f, ok := set[key.Value]
		if !ok {
			return p.errorf(key, "key %.40q is unknown", key.Value)
		}
		if seen[key.Value] {
			return p.errorf(key, "key %s is there twice", key.Value)
		}
		seen[key.Value] = true
		if err := f(value); err != nil {
			return err
		}
	}
	return nil
}

func (p *pointsReader) document(root *yaml.Node) (*Points, error) {
	out := &Points{}
	version := ""
	err := p.fields(root, map[string]func(*yaml.Node) error{
		"version": func(n *yaml.Node) error { version = n.Value; return nil },
		"points": func(n *yaml.Node) error {
			if n.Kind != yaml.SequenceNode {
				return p.errorf(n, "points: want a list, each entry beginning with a dash")
			}
			for _, entry := range n.Content {
				one, err := p.entry(entry)
				if err != nil {
					return err
				}
				out.patterns = append(out.patterns, one)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if version != PointsVersion {
		return nil, p.errorf(root, "version %.40q: want version: %s", version, PointsVersion)
	}
	if len(out.patterns) == 0 {
		return nil, p.errorf(root, "no point: write a list under points")
	}
	return out, nil
}

func (p *pointsReader) entry(n *yaml.Node) (one pattern, err error) {
	count := func(into *int, what string) func(*yaml.Node) error {
		return func(v *yaml.Node) error {
			if v.Decode(into) != nil || *into < 1 {
				return p.errorf(v, "%s %.40q: want a number from 1", what, v.Value)
			}
			return nil
		}
	}
	err = p.fields(n, map[string]func(*yaml.Node) error{
		"name": func(v *yaml.Node) error {
			if !pointName.MatchString(v.Value) {
				return p.errorf(v, "name %.40q: want lower case letters, digits, dots and hyphens, a letter first", v.Value)
			}
			one.name = v.Value
			return nil
		},
		"match": func(v *yaml.Node) error {
			m, err := regexp.Compile("(?is)" + v.Value) // words of SQL have no case, and strings in it may have lines
			if err != nil || v.Value == "" {
				return p.errorf(v, "match %.80q: want a regular expression of the RE2 syntax", v.Value)
			}
			one.match = m
			return nil
		},
		"in_transaction": func(v *yaml.Node) error {
			var yes bool
			if v.Decode(&yes) != nil {
				return p.errorf(v, "in_transaction %.40q: want true or false", v.Value)
			}
			one.inside = &yes
			return nil
		},
		"position": count(&one.position, "position"),
		"nth":      count(&one.nth, "nth"),
	})
	switch {
	case err != nil:
	case one.name == "":
		err = p.errorf(n, "a point without a name")
	case one.match == nil && one.position == 0:
		err = p.errorf(n, "point %s: want match, position or both", one.name)
	case one.inside != nil && !*one.inside && (one.position > 0 || one.nth > 0):
		err = p.errorf(n, "point %s: position and nth count within a transaction, which in_transaction: false rules out", one.name)
	}
	return one, err
}

var pointName = regexp.MustCompile(`^[a-z][a-z0-9.-]*$`)

// name is the first pattern's that fits, "" for none. Every pattern counts its
// matches, so that the n-th is the n-th whatever it was named.
func (p *Points) name(at *place, s Statement) (name string) {
	if p == nil {
		return ""
	}
	for i, one := range p.patterns {
		if one.match != nil && !one.match.MatchString(s.plain) {
			continue
		}
		inside := s.Position > 0 || at.in
		if one.inside != nil && *one.inside != inside || one.position > 0 && one.position != s.Position {
			continue
		}
		if one.nth > 0 {
			if at.position < 0 || !inside {
				continue // what came before was not seen
			}
			if at.nth == nil {
				at.nth = make(map[int]int)
			}
			if at.nth[i]++; at.nth[i] != one.nth {
				continue
			}
		}
		if name == "" {
			name = one.name
		}
	}
	return name
}
