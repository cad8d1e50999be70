package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// document reads YAML strictly. The library's own strict mode gives no line
// for a missing field and loses the file name, and a catalogue of a thousand
// lines is no place to search by hand; so the tree is walked here.
type document struct{ file string }

func (d document) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", d.file, line, fmt.Sprintf(format, args...))
}

// parse returns the single mapping that a file must consist of.
func (d document) parse(text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, d.errorf(1, "the file is empty: expected a mapping")
	} else if err != nil {
		return nil, fmt.Errorf("%s: %s", d.file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var next yaml.Node
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: a second document follows the first: expected one document", d.file)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, d.errorf(1, "expected a mapping")
	}
	return doc.Content[0], nil
}

// fields maps the keys that a mapping may have to what reads each value.
type fields map[string]func(*yaml.Node) error

// mapping reads a mapping: only known keys, none twice, all the required ones.
func (d document) mapping(n *yaml.Node, what string, known fields, required ...string) error {
	if n.Kind != yaml.MappingNode {
		return d.errorf(n.Line, "%s must be a mapping, not %s", what, kindWord(n))
	}
	seen := make(map[string]int, len(known))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, found := known[key.Value]
		if key.Kind != yaml.ScalarNode || !found {
			return d.errorf(key.Line, "%s has no key %s: expected one of %s", what, quote(key.Value), strings.Join(sortedKeys(known), ", "))
		}
		if first := seen[key.Value]; first != 0 {
			return d.errorf(key.Line, "key %s is given twice in %s: first on line %d", key.Value, what, first)
		}
		seen[key.Value] = key.Line
		if err := read(value); err != nil {
			return err
		}
	}
	for _, key := range required {
		if seen[key] == 0 {
			return d.errorf(n.Line, "%s lacks %s", what, key)
		}
	}
	return nil
}

// list reads every item of a sequence.
func (d document) list(what string, each func(*yaml.Node) error) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode {
			return d.errorf(n.Line, "%s must be a list, not %s", what, kindWord(n))
		}
		for _, item := range n.Content {
			if err := each(item); err != nil {
				return err
			}
		}
		return nil
	}
}

// text reads a scalar that is not empty. White space at the ends and line
// breaks are the file's layout, not its content.
func (d document) text(what string, to *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			return d.errorf(n.Line, "%s must be a text, not %s", what, kindWord(n))
		}
		if *to = strings.Join(strings.Fields(n.Value), " "); *to == "" {
			return d.errorf(n.Line, "%s is empty", what)
		}
		return nil
	}
}

// number reads a whole number that is not negative.
func (d document) number(what string, to *uint64) func(*yaml.Node) error {
	return func(n *yaml.Node) (err error) {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
			return d.errorf(n.Line, "%s must be a whole number, not %s", what, kindWord(n))
		}
		if *to, err = strconv.ParseUint(strings.ReplaceAll(n.Value, "_", ""), 10, 64); err != nil {
			return d.errorf(n.Line, "%s must be a whole number from 0 to 2^64-1, not %s", what, quote(n.Value))
		}
		return nil
	}
}

// word reads a scalar with a parser of this package and adds the line to its error.
func word[T any](d document, parse func(string) (T, error), to func(T)) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode {
			return d.errorf(n.Line, "expected one word, not %s", kindWord(n))
		}
		v, err := parse(n.Value)
		if err != nil {
			return d.errorf(n.Line, "%s", err)
		}
		to(v)
		return nil
	}
}

func kindWord(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias, which catalogues do not use"
	default:
		return quote(n.Value)
	}
}

func sortedKeys(f fields) []string {
	keys := make([]string, 0, len(f))
	for k := range f {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
