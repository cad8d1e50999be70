package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"assay/spec"
)

// Parse reads one scenario file. Errors name the file, the line and what was
// expected there.
func Parse(file, text string, l Language) (*Script, error) {
	p := &parser{file: file, language: l, script: &Script{Limits: make(map[string]uint64)}}
	for i, line := range strings.Split(text, "\n") {
		p.line = i + 1
		if err := p.parse(strings.TrimRight(line, " \t\r")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, p.line, err)
		}
	}
	switch {
	case len(p.script.Decides) == 0:
		return nil, fmt.Errorf("%s: no line says what it decides: write for instance \"decides API-011\"", file)
	case len(p.script.Steps) == 0:
		return nil, fmt.Errorf("%s: no step: write for instance \"A: publish …\"", file)
	case p.script.Summary == "":
		return nil, fmt.Errorf("%s: no opening comment says in a sentence what it shows", file)
	}
	return p.script, nil
}

type parser struct {
	file     string
	line     int
	language Language
	script   *Script
	begun    bool // the opening comment is over
}

func (p *parser) parse(line string) error {
	switch {
	case strings.TrimSpace(line) == "":
		p.begun = p.begun || p.script.Summary != ""
		return nil
	case strings.HasPrefix(line, "#"):
		if !p.begun {
			p.script.Summary = strings.TrimSpace(p.script.Summary + " " + strings.TrimSpace(strings.TrimLeft(line, "#")))
		}
		return nil
	}
	p.begun = true
	if actor, rest, ok := strings.Cut(line, ":"); ok && isActor(actor) {
		return p.step(actor, strings.TrimSpace(rest), line)
	}
	word, rest, _ := strings.Cut(line, " ")
	if e, ok := engines[word]; ok {
		return p.engine(e, strings.TrimSpace(rest), line)
	}
	return p.heading(word, strings.Fields(rest))
}

// isActor reports whether a word names an actor: a capital letter, then
// letters and digits.
func isActor(s string) bool {
	for i, r := range s {
		upper, other := r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if i == 0 && !upper || i > 0 && !upper && !other {
			return false
		}
	}
	return s != ""
}

func (p *parser) heading(word string, args []string) error {
	s := p.script
	if len(s.Steps) > 0 {
		return fmt.Errorf("%q after the first step: write \"ACTOR: verb …\", with an actor that begins with a capital letter", word)
	}
	switch word {
	case "decides":
		for _, a := range args {
			id, err := spec.ParseID(a)
			if err != nil {
				return err
			}
			s.Decides = append(s.Decides, id)
		}
	case "needs":
		set, err := spec.ParseAccessSet(strings.Join(args, "+"))
		if err != nil {
			return err
		}
		s.Needs = s.Needs | set
	case "limits":
		for _, a := range args {
			name, value, ok := strings.Cut(a, "=")
			n, err := strconv.ParseUint(value, 10, 64)
			if !ok || err != nil {
				return fmt.Errorf("limit %q: write NAME=NUMBER, such as max_query_topics=7", a)
			}
			s.Limits[name] = n
		}
	case "keepalive":
		d, err := time.ParseDuration(strings.Join(args, ""))
		if err != nil || d <= 0 {
			return fmt.Errorf("keepalive %q: write a duration, such as 200ms", strings.Join(args, " "))
		}
		s.KeepaliveMS = uint32(d.Milliseconds())
	case "profile":
		s.From = strings.Join(args, " ")
	case "exclusive", "stress":
		if len(args) > 0 {
			return fmt.Errorf("%s takes no argument, not %q", word, strings.Join(args, " "))
		}
		s.Exclusive = s.Exclusive || word == "exclusive"
		s.Stress = s.Stress || word == "stress"
	default:
		return fmt.Errorf("%q begins no line: write decides, needs, limits, keepalive, profile, exclusive, stress, release, cut, wait, or a step \"ACTOR: verb …\"", word)
	}
	return nil
}

func (p *parser) step(actor, rest, line string) error {
	act, expect := cutExpect(rest)
	act, words := cutOrder(act)
	verb, args, _ := strings.Cut(act, " ")
	if verb == "" {
		return fmt.Errorf("actor %s does nothing: write a verb after the colon", actor)
	}
	op, err := p.language.Operation(verb, strings.TrimSpace(args))
	if err != nil {
		return err
	}
	s := Step{Line: p.line, Text: line, Actor: actor, Operation: op}
	if err := order(words, &s); err != nil {
		return err
	}
	if expect != "" {
		if s.Expect, err = p.language.Expectation(expect); err != nil {
			return err
		}
	}
	p.script.Steps = append(p.script.Steps, s)
	return nil
}

// cutExpect splits a step at the word expect, outside quotation marks.
func cutExpect(s string) (act, expect string) {
	quoted := false
	for i := range len(s) {
		if s[i] == '"' {
			quoted = !quoted
		}
		if !quoted && strings.HasPrefix(s[i:], " expect ") {
			return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+len(" expect "):])
		}
	}
	return strings.TrimSpace(s), ""
}
