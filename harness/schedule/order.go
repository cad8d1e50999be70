package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Side says where at a point an actor is held.
type Side string

// The sides of a point.
const (
	// Before holds the request: the database has not seen the statement.
	Before Side = "before"
	// After holds the answer: the database has run it, and the subject does not
	// know.
	After Side = "after"
)

// Hold stops an actor at a point of its next call, or of the rest of the one
// that is under way.
type Hold struct {
	Side  Side
	Point string
	// Nth counts the times the actor comes to the point, from 1.
	Nth int
}

// String is the hold as a line says it.
func (h Hold) String() string {
	s := fmt.Sprintf("hold %s %s", h.Side, h.Point)
	if h.Nth > 1 {
		s += fmt.Sprintf(" %d", h.Nth)
	}
	return s
}

// Stop is one hold of a schedule that stopped an actor, as it happened.
type Stop struct {
	Actor string `json:"actor"`
	// Hold is the hold as the line says it.
	Hold string `json:"hold"`
	// Statement tells the statement from others: it is the same for the same
	// statement of the same backend.
	Statement string `json:"statement"`
}

// String is the stop in a few words.
func (s Stop) String() string {
	return fmt.Sprintf("%s %s at statement %s", s.Actor, s.Hold, s.Statement)
}

// Until says how far a call goes before the next line has its turn. The zero
// value is until it has returned.
type Until uint8

// What a line can wait for; a line may name several.
const (
	// Returned: the call is over.
	Returned Until = 1 << iota
	// Blocked: the database says that the call waits for a lock, and that the
	// lock is kept by an actor that a hold stops, at first or second hand.
	Blocked
)

// Has reports whether one of them is among those waited for.
func (u Until) Has(one Until) bool { return u&one != 0 }

// String is the wait as a line says it, without a time.
func (u Until) String() string {
	switch u {
	case Blocked:
		return "until blocked"
	case Blocked | Returned:
		return "until blocked or returned"
	}
	return "until returned"
}

// Engine is what the engine does at a step that is no call.
type Engine uint8

// The engine's steps.
const (
	// None: the step is an actor's call.
	None Engine = iota
	// Release lets actors go on from where they are held.
	Release
	// Cut closes both ends of the connection at which an actor is held: what is
	// held there never arrives.
	Cut
	// Wait lasts until the calls of actors have returned.
	Wait
)

var engines = map[string]Engine{"release": Release, "cut": Cut, "wait": Wait}

// String is the word that begins the line.
func (e Engine) String() string {
	for word, is := range engines {
		if is == e {
			return word
		}
	}
	return ""
}

// Forced reports whether the script says in which order statements run, so that
// it needs a gate.
func (s *Script) Forced() bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool { return st.Engine != None || st.Hold != nil || st.Until.Has(Blocked) })
}

// cutOrder splits a line's "hold …" and "until …" from what stands before them,
// outside quotation marks.
func cutOrder(s string) (act string, order []string) {
	at, quoted := len(s), false
	for i := range len(s) {
		if s[i] == '"' {
			quoted = !quoted
		}
		if !quoted && (strings.HasPrefix(s[i:], " hold ") || strings.HasPrefix(s[i:], " until ")) {
			at = i
			break
		}
	}
	return strings.TrimSpace(s[:at]), strings.Fields(s[at:])
}

// order reads "hold SIDE POINT [N]" or "until WHAT [or WHAT]".
func order(words []string, st *Step) error {
	if len(words) == 0 {
		return nil
	}
	if words[0] == "until" {
		return until(words[1:], st)
	}
	if len(words) < 3 || len(words) > 4 || words[0] != "hold" {
		return fmt.Errorf("%q is no hold: write hold before POINT or hold after POINT, with a number when not its first time there is meant", strings.Join(words, " "))
	}
	h := Hold{Side: Side(words[1]), Point: words[2], Nth: 1}
	if h.Side != Before && h.Side != After {
		return fmt.Errorf("side %q of a hold: write before or after", words[1])
	}
	if len(words) == 4 {
		n, err := strconv.Atoi(words[3])
		if err != nil || n < 1 {
			return fmt.Errorf("%q says which time at the point is meant: write a number from 1", words[3])
		}
		h.Nth = n
	}
	st.Hold = &h
	return nil
}

const untils = "write until blocked, until returned, or both with an or between them, and at the end or a time such as 300ms"

func until(words []string, st *Step) error {
	for i, w := range words {
		d, notTime := time.ParseDuration(w)
		switch {
		case st.AtMost > 0:
			return fmt.Errorf("\"until %s\": the time comes last: %s", strings.Join(words, " "), untils)
		case i%2 == 1 && w == "or":
		case i%2 == 0 && w == "blocked":
			st.Until |= Blocked
		case i%2 == 0 && w == "returned":
			st.Until |= Returned
		case i%2 == 0 && i > 0 && notTime == nil && d > 0:
			st.AtMost = d
		default:
			return fmt.Errorf("\"until %s\": %s", strings.Join(words, " "), untils)
		}
	}
	if len(words)%2 == 0 {
		return fmt.Errorf("\"until %s\" ends early: %s", strings.Join(words, " "), untils)
	}
	return nil
}

// engine reads a step of the engine: "release A [hold …|until …]", "cut A",
// "wait A B".
func (p *parser) engine(e Engine, rest, line string) error {
	act, words := cutOrder(" " + rest)
	st := Step{Line: p.line, Text: line, Engine: e, Actors: strings.Fields(act)}
	if len(st.Actors) == 0 {
		return fmt.Errorf("%q names no actor: write for instance \"%s A\"", line, e)
	}
	for _, a := range st.Actors {
		if !isActor(a) {
			return fmt.Errorf("%q in %q is no actor: actors begin with a capital letter", a, line)
		}
		if !p.acts(a) {
			return fmt.Errorf("actor %s has done nothing before %q", a, line)
		}
	}
	if err := order(words, &st); err != nil {
		return err
	}
	if (st.Hold != nil || st.Until != 0) && (e != Release || len(st.Actors) != 1) {
		return fmt.Errorf("%q: only the release of one actor says how far it goes", line)
	}
	p.script.Steps = append(p.script.Steps, st)
	return nil
}

// acts reports whether an actor has made a call so far.
func (p *parser) acts(actor string) bool {
	return slices.ContainsFunc(p.script.Steps, func(st Step) bool { return st.Actor == actor })
}
