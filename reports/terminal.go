package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"assay/harness/verdict"
	"assay/spec"
)

// Options says how a rendering for people looks.
type Options struct {
	// Width is the terminal's width in characters; 0 means that lines are not wrapped.
	Width int
	// Color adds ANSI colours to our own words. What a subject said is never coloured.
	Color bool
	// Verbose lists every requirement, every violation and every note.
	Verbose bool
	// Files are the paths of what was written beside this summary.
	Files []string
}

// How many entries of a kind a summary shows before it points to the files.
const (
	mostViolations = 3  // of one requirement
	mostDoubts     = 12 // inconclusive, and promised but not exercised
	mostFailures   = 5  // failed and skipped scenarios
	mostNotes      = 8
)

// WriteTerminal writes a summary for people: what was judged, each violated
// requirement with a command that shows it again, what stayed open and why,
// and the counts last, where the eye is when a program ends.
func WriteTerminal(w io.Writer, r Result, o Options) error {
	p := &page{o: o}
	p.heading(r)
	for _, q := range r.Requirements {
		if q.Status == verdict.Violated {
			p.violated(q)
		}
	}
	p.open(r)
	p.scenarios("failed", r.Failures, true)
	p.unimplemented(r)
	p.notes(r)
	p.scenarios("skipped", r.Skipped, false)
	for _, a := range r.Advice {
		p.entry(amber, "note:", clean(a, maxText))
	}
	if len(r.Advice) > 0 {
		p.line()
	}
	p.rest(r)
	p.counts(r)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// page is a terminal summary under construction.
type page struct {
	b strings.Builder
	o Options
}

const (
	bold  = "1"
	red   = "1;31"
	amber = "33"
	green = "32"
	dim   = "2"
)

func (p *page) paint(code, s string) string {
	if !p.o.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *page) line(parts ...string) { p.b.WriteString(strings.Join(parts, "") + "\n") }

// labelWidth is the room for the words at the left of an entry's lines.
const labelWidth = 10

// field writes "  label     text", continued under the text when it is long.
// text has been cleaned.
func (p *page) field(label, text string) {
	for i, l := range wrap(text, p.o.Width-labelWidth-2, p.o.Width-labelWidth-2) {
		if i > 0 {
			label = ""
		}
		p.line("  ", p.paint(dim, fmt.Sprintf("%-*s", labelWidth, label)), l)
	}
}

// entry writes one remark: a coloured word and a text, which begins on the next
// line when the word leaves it no room.
func (p *page) entry(code, word, text string) {
	const indent, least = 2, 20
	room := p.o.Width - len(word) - 1
	if p.o.Width >= 2*least && room < least {
		p.line(p.paint(code, word))
		for _, l := range wrap(text, p.o.Width-indent, p.o.Width-indent) {
			p.line("  ", l)
		}
		return
	}
	for i, l := range wrap(text, room, p.o.Width-indent) {
		if i == 0 {
			p.line(p.paint(code, word), " ", l)
		} else {
			p.line("  ", l)
		}
	}
}

func (p *page) heading(r Result) {
	p.line(p.paint(bold, "assay "+clean(r.Suite, 40)), "  ", clean(r.Subject, 200))
	text := fmt.Sprintf("access %s  seed %d", r.Access, r.Seed)
	if r.Nonce != "" {
		text += "  nonce " + clean(r.Nonce, 80)
	}
	if r.Profile != "" { // a history from a file has none
		text += "  profile " + clean(r.Profile, 20)
	}
	p.line(p.paint(dim, text))
	p.line()
}

func (p *page) violated(q Requirement) {
	p.line(p.paint(red, string(q.ID)+" violated"), ": ", clean(q.Title, 200), p.paint(dim, "  "+standing(q)))
	shown := q.Violations
	if !p.o.Verbose && len(shown) > mostViolations {
		shown = shown[:mostViolations]
	}
	for _, v := range shown {
		p.field("expected", clean(v.Expected, maxText))
		p.field("got", clean(v.Got, maxText))
		p.field("in", clean(v.Scenario, 200)+" ("+clean(v.Assertion, 100)+")")
		if v.Unsteady != "" {
			p.field("unsteady", clean(v.Unsteady, maxText))
		}
		if v.Replay != "" {
			p.line("  ", p.paint(dim, fmt.Sprintf("%-*s", labelWidth, "replay")), clean(v.Replay, maxText)) // unwrapped: it is to be copied
		}
	}
	if n := len(q.Violations) - len(shown); n > 0 {
		p.field("", fmt.Sprintf("and %d more, in the results file", n))
	}
	p.line()
}

// standing says how strongly and whom a requirement binds: "section 5.1, must, server".
func standing(q Requirement) string {
	parts := []string{q.Level.String(), q.Binds.String()}
	if q.Section != "" {
		parts = append([]string{"section " + clean(q.Section, 20)}, parts...)
	}
	return strings.Join(parts, ", ")
}

// open lists what keeps a run from passing without being a violation. One
// broken scenario can leave many requirements open for one reason, which is
// then said once.
func (p *page) open(r Result) {
	groups := undecided(r.Requirements)
	for i, g := range groups {
		if i == mostDoubts && !p.o.Verbose {
			n := 0
			for _, rest := range groups[i:] {
				n += len(rest)
			}
			p.line(p.paint(dim, fmt.Sprintf("and %d more without a decision", n)))
			break
		}
		var list []spec.ID
		for _, q := range g {
			list = append(list, q.ID)
		}
		text := clean(g[0].Reason, maxText)
		if len(g) == 1 {
			text = clean(g[0].Title, 200) + "; " + text
		}
		p.entry(amber, runs(list)+" "+words(g[0].Status)+":", text)
	}
	if len(groups) > 0 {
		p.line()
	}
}

// undecided returns the inconclusive requirements and the promised ones that
// were not exercised, grouped by status and reason, in order.
func undecided(requirements []Requirement) [][]Requirement {
	type key struct {
		status verdict.Status
		reason string
	}
	at := make(map[key]int)
	var groups [][]Requirement
	for _, q := range requirements {
		if q.Status != verdict.Inconclusive && !(q.Status == verdict.NotExercised && q.Promised) {
			continue
		}
		k := key{q.Status, q.Reason}
		i, found := at[k]
		if !found {
			i = len(groups)
			at[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], q)
	}
	return groups
}

// words spells a status for people: "not exercised".
func words(s verdict.Status) string { return strings.ReplaceAll(s.String(), "_", " ") }

func (p *page) scenarios(word string, list []Failure, loud bool) {
	code := dim
	if loud {
		code = amber
	}
	for i, f := range list {
		if i == mostFailures && !p.o.Verbose {
			p.line(p.paint(dim, fmt.Sprintf("and %d more %s", len(list)-i, word)))
			break
		}
		p.entry(code, word+":", clean(f.Scenario, 200)+": "+clean(f.Reason, maxText))
	}
	if len(list) > 0 {
		p.line()
	}
}

func (p *page) unimplemented(r Result) {
	for _, u := range r.Unimplemented {
		text := clean(u.Call, 100)
		if len(u.Requirements) > 0 {
			text += ", which leaves undecided " + ids(u.Requirements)
		}
		p.entry(amber, "not implemented by the subject:", text)
	}
	if len(r.Unimplemented) > 0 {
		p.line()
	}
}

func ids(list []spec.ID) string {
	out := make([]string, len(list))
	for i, id := range list {
		out[i] = string(id)
	}
	return strings.Join(out, " ")
}

func (p *page) notes(r Result) {
	n := 0
	for _, q := range r.Requirements {
		for _, note := range q.Notes {
			if n++; n <= mostNotes || p.o.Verbose {
				p.entry(dim, fmt.Sprintf("note on %s (%s):", q.ID, note.Basis), clean(note.Text, maxText))
			}
		}
	}
	if n > mostNotes && !p.o.Verbose {
		p.line(p.paint(dim, fmt.Sprintf("and %d more notes", n-mostNotes)))
	}
	if n > 0 {
		p.line()
	}
}

// rest lists what nobody promised: in full when verbose, else as ids.
func (p *page) rest(r Result) {
	listed := false
	for _, s := range []verdict.Status{verdict.Satisfied, verdict.NotExercised, verdict.OutOfReach, verdict.NotApplicable} {
		var list []spec.ID
		for _, q := range r.Requirements {
			if q.Status != s || s == verdict.NotExercised && q.Promised {
				continue
			}
			list = append(list, q.ID)
			if p.o.Verbose {
				text := clean(q.Title, 200)
				if q.Reason != "" {
					text += "; " + clean(q.Reason, maxText)
				} else if q.Observations > 0 {
					text += fmt.Sprintf(" (%d observations)", q.Observations)
				}
				p.entry(dim, string(q.ID)+" "+words(s)+":", text)
			}
		}
		if !p.o.Verbose && len(list) > 0 && s != verdict.Satisfied {
			p.entry(dim, words(s)+":", runs(list))
		}
		listed = listed || len(list) > 0 && (p.o.Verbose || s != verdict.Satisfied)
	}
	if listed {
		p.line()
	}
}

func (p *page) counts(r Result) {
	parts := []string{fmt.Sprintf("%d requirements", r.Summary.Total)}
	for _, s := range verdict.Statuses() {
		n := r.Summary.Of(s)
		text := fmt.Sprintf("%d %s", n, words(s))
		switch {
		case s == verdict.Violated && n > 0:
			text = p.paint(red, text)
		case s == verdict.Inconclusive && n > 0:
			text = p.paint(amber, text)
		case s == verdict.Satisfied && n > 0:
			text = p.paint(green, text)
		case n == 0 && s != verdict.Violated && s != verdict.Satisfied:
			continue
		}
		parts = append(parts, text)
	}
	p.line(strings.Join(parts, "  "))
	took := "took " + span(r.Timings.Total)
	if r.Timings.FirstVerdict > 0 {
		took += ", first verdict after " + span(r.Timings.FirstVerdict)
	}
	p.line(p.paint(dim, took))
	for i, f := range p.o.Files {
		label := "files"
		if i > 0 {
			label = ""
		}
		p.line(p.paint(dim, fmt.Sprintf("%-6s", label)), f)
	}
	p.line(p.conclusion(r))
}

// conclusion is the last line: whether the run passed, in words.
func (p *page) conclusion(r Result) string {
	switch {
	case r.Summary.Violated > 0:
		return p.paint(red, "the subject breaks its specification")
	case r.ExitStatus(false) != 0:
		return p.paint(amber, "nothing is violated, but something that this run undertook to decide stayed open")
	case r.Summary.Satisfied == 0:
		return p.paint(amber, "nothing is violated, and nothing was observed")
	default:
		return p.paint(green, "everything that this run undertook to decide is satisfied")
	}
}

// span writes a duration for people.
func span(m Millis) string {
	d := time.Duration(m)
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
