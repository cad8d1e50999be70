package spec

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lineWidth keeps text readable in a terminal of 100 columns.
const lineWidth = 96

// WriteIndex writes one line for each selected requirement, under the title of
// its section: id, level, what decides it and its title. It is what a reader
// wants who asked for nothing in particular.
func WriteIndex(w io.Writer, cat *Catalogue, selection []Requirement) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s: %s, %d of %d requirements\n", cat.Suite, cat.Title, len(selection), len(cat.listed))
	column := 0
	for _, r := range selection {
		column = max(column, len(decidedBy(r)))
	}
	section := ""
	for _, r := range selection {
		if r.Section != section {
			section = r.Section
			fmt.Fprintf(out, "\n%s\n", cat.sectionName(section))
		}
		fmt.Fprintf(out, "  %s  %-6s  %-*s  %s\n", r.ID, r.Level, column, decidedBy(r), r.Title)
	}
	return out.Flush()
}

// decidedBy is what decides a requirement, for a column of a list.
func decidedBy(r Requirement) string {
	if len(r.DecidedBy) == 0 {
		return "nothing"
	}
	return alternatives(r.DecidedBy)
}

// WriteText writes everything the catalogue knows about the selected
// requirements, for a person to read, the limits they rest on included.
func WriteText(w io.Writer, cat *Catalogue, selection []Requirement) error {
	out := bufio.NewWriter(w)
	for i, r := range selection {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s  %s\n", r.ID, r.Title)
		paragraph(out, "section", cat.sectionName(r.Section))
		paragraph(out, "level", fmt.Sprintf("%s, binds %s", r.Level, r.Binds))
		paragraph(out, "statement", r.Statement)
		if len(r.DecidedBy) > 0 {
			paragraph(out, "decided by", alternatives(r.DecidedBy))
		} else {
			paragraph(out, "undecidable", r.Undecidable)
		}
		paragraph(out, "evidence", r.LimitsOfEvidence)
		paragraph(out, "reading", r.Notes)
		for _, l := range cat.LimitsOf(r.ID) {
			paragraph(out, "limit", l.Summary())
		}
	}
	return out.Flush()
}

// Summary is the limit in one line: its name, default, unit and ceiling.
func (l Limit) Summary() string {
	s := fmt.Sprintf("%s: %s %s", l.Name, thousands(l.Default), l.Unit)
	if l.Ceiling != 0 {
		s += ", at most " + thousands(l.Ceiling)
	}
	return s
}

// paragraph writes a labelled text, wrapped and indented. An empty text has no paragraph.
func paragraph(w io.Writer, label, text string) {
	const indent = 15
	if text == "" {
		return
	}
	fmt.Fprintf(w, "  %-*s", indent-2, label)
	column := indent
	for i, word := range strings.Fields(text) {
		width := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+width > lineWidth:
			fmt.Fprintf(w, "\n%*s", indent, "")
			column = indent
		default:
			fmt.Fprint(w, " ")
			column++
		}
		fmt.Fprint(w, word)
		column += width
	}
	fmt.Fprintln(w)
}

// thousands groups digits, because limits of eight digits are misread.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func (c *Catalogue) sectionName(number string) string {
	s, _ := c.Section(number)
	return strings.TrimSpace(number + " " + s.Title)
}

// FormatJSON names the form that WriteJSON writes. A change that an existing
// reader would misunderstand gets another number.
const FormatJSON = "assay.spec/v1"

// WriteJSON writes the selected requirements with their sections, the limits
// they rest on, and the vocabulary. When the selection is the whole catalogue
// it writes every limit and the retired ids as well.
func WriteJSON(w io.Writer, cat *Catalogue, selection []Requirement) error {
	form := struct {
		Format       string        `json:"format"`
		Suite        string        `json:"suite"`
		Title        string        `json:"title"`
		Source       string        `json:"source"`
		Sections     []Section     `json:"sections"`
		Requirements []Requirement `json:"requirements"`
		Limits       []Limit       `json:"limits"`
		Glossary     []Term        `json:"glossary"`
		Retired      []Retired     `json:"retired,omitempty"`
	}{
		Format: FormatJSON, Suite: cat.Suite, Title: cat.Title, Source: cat.Source,
		Sections: []Section{}, Requirements: append([]Requirement{}, selection...), Limits: []Limit{}, Glossary: cat.Glossary(),
	}
	selected, sections := map[ID]bool{}, map[string]bool{}
	for _, r := range selection {
		selected[r.ID], sections[r.Section] = true, true
	}
	whole := len(selected) == len(cat.listed)
	for _, s := range cat.sections {
		if whole || sections[s.Number] {
			form.Sections = append(form.Sections, s)
		}
	}
	for _, l := range cat.limits {
		if whole || slices.ContainsFunc(l.Requirements, func(id ID) bool { return selected[id] }) {
			form.Limits = append(form.Limits, copyLimit(l))
		}
	}
	if whole {
		form.Retired = cat.Retired()
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(form)
}

// WriteLimits writes one paragraph for each limit of the catalogue.
func WriteLimits(w io.Writer, cat *Catalogue) error {
	out := bufio.NewWriter(w)
	for i, l := range cat.limits {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, l.Summary())
		paragraph(out, "meaning", l.Meaning)
		paragraph(out, "configured", l.Key)
		paragraph(out, "published", l.PublishedAs)
		if l.Section == "" {
			paragraph(out, "stated", "by one implementation; no verdict rests on it")
		} else {
			paragraph(out, "stated", "section "+cat.sectionName(l.Section))
		}
		paragraph(out, "rules", joinIDs(l.Requirements))
	}
	return out.Flush()
}

// WriteGlossary writes the vocabulary of the catalogue.
func WriteGlossary(w io.Writer, cat *Catalogue) error {
	out := bufio.NewWriter(w)
	for i, t := range cat.glossary {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, t.Word)
		paragraph(out, "meaning", t.Meaning)
	}
	return out.Flush()
}

// WriteSources writes every file of a tree one after the other, in the order
// of their paths, each under a line that names it. A suite's wire definition
// is such a tree.
func WriteSources(w io.Writer, tree fs.FS) error {
	first := true
	return fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		between := "\n"
		if first {
			between, first = "", false
		}
		_, err = fmt.Fprintf(w, "%s// file: %s\n%s\n", between, path, strings.TrimRight(string(text), "\n"))
		return err
	})
}

func joinIDs(ids []ID) string { return strings.Join(words(ids), ", ") }
