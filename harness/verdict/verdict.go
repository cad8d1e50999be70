// Package verdict turns judgements into one answer for each requirement. Start
// with Tally: tell it what was promised, add what was judged, conclude.
//
// It promises that no requirement is called satisfied unless an assertion with
// its id was evaluated on a call, held, and had its positive witness in the
// same history; and that a breach of any basis but the specification's never
// makes a violation. It does no I/O and does not know what a rule checked.
package verdict

import (
	"fmt"
	"sort"
	"strings"

	"assay/model"
	"assay/spec"
)

// Status is the answer for one requirement. The zero value is invalid.
type Status uint8

const (
	_ Status = iota
	// Satisfied means evaluated, held and witnessed; never the absence of a breach.
	Satisfied
	// Violated means that an observation exists which no legal outcome explains.
	Violated
	// Inconclusive means that a scenario that promised to decide it could not.
	Inconclusive
	// NotExercised means that no selected scenario observed anything of it.
	NotExercised
	// OutOfReach means that the access of this run cannot decide it.
	OutOfReach
	// NotApplicable means that this subject has no such thing.
	NotApplicable
)

var statusNames = [...]string{"", "satisfied", "violated", "inconclusive", "not_exercised", "out_of_reach", "not_applicable"}

// Statuses lists every valid status in the order reports use.
func Statuses() []Status {
	return []Status{Satisfied, Violated, Inconclusive, NotExercised, OutOfReach, NotApplicable}
}

// String returns the word of result files, or "invalid".
func (s Status) String() string {
	if s == 0 || int(s) >= len(statusNames) {
		return "invalid"
	}
	return statusNames[s]
}

// ParseStatus reads the word that String writes.
func ParseStatus(text string) (Status, error) {
	for i := 1; i < len(statusNames); i++ {
		if statusNames[i] == text {
			return Status(i), nil
		}
	}
	return 0, fmt.Errorf("status %q is unknown: use one of %s", text, strings.Join(statusNames[1:], ", "))
}

// MarshalText writes the word of String; an invalid status is an error, so that
// a forgotten verdict cannot be written as anything.
func (s Status) MarshalText() ([]byte, error) {
	if s == 0 || int(s) >= len(statusNames) {
		return nil, fmt.Errorf("status %d is invalid: a verdict was never reached", uint8(s))
	}
	return []byte(statusNames[s]), nil
}

// UnmarshalText reads the word of String.
func (s *Status) UnmarshalText(t []byte) (err error) {
	*s, err = ParseStatus(string(t))
	return err
}

// Violation is one breach of the specification, with where it was seen.
type Violation struct {
	Requirement spec.ID
	Assertion   string
	Scenario    string
	Session     string
	Expected    string
	Got         string
	// Call is the number of the breached call and Events the proving events in
	// the history of Session.
	Call   int
	Events []int
	// Replay is the command that shows it again and Evidence the bundle's path;
	// both are filled in when the bundle is saved.
	Replay   string
	Evidence string
	// Unsteady says how a second run of the same schedule differed; "" when it
	// did not, or was not made.
	Unsteady string
}

// Note is a remark on a requirement that is neither for nor against it.
type Note struct {
	Basis model.Basis
	Text  string
	// Scenarios names where it was seen, sorted.
	Scenarios []string
}

// Verdict is the answer for one requirement.
type Verdict struct {
	Requirement spec.ID
	Status      Status
	// Observations counts witnessed judgements that held, once per call.
	Observations int
	// Scenarios names the scenarios with at least one observation, sorted.
	Scenarios  []string
	Violations []Violation
	Notes      []Note
	// Reason says why the status is not satisfied or violated.
	Reason string
	// Promised is true when a selected scenario undertook to decide it.
	Promised bool
}

// Tally collects judgements. It is not safe for concurrent use.
type Tally struct {
	catalogue *spec.Catalogue
	access    spec.AccessSet
	ambient   map[spec.ID]bool
	scenarios map[string]*scenario
	order     []string
}

type scenario struct {
	name     string
	decides  map[spec.ID]bool
	touches  map[spec.ID]bool
	held     map[spec.ID]int
	doubts   map[spec.ID]string
	unproved map[spec.ID]string
	breaches []Violation
	notes    []remark
	failure  string
	blocked  map[string]bool
}

type remark struct {
	id    spec.ID
	basis model.Basis
	text  string
}

// NewTally starts an empty tally for a catalogue and the access of the run.
// ambient are the requirements that a suite judges on every call, whatever the
// scenario; a scenario need not list them.
func NewTally(c *spec.Catalogue, access spec.AccessSet, ambient []spec.ID) *Tally {
	t := &Tally{catalogue: c, access: access, ambient: make(map[spec.ID]bool), scenarios: make(map[string]*scenario)}
	for _, id := range ambient {
		t.ambient[id] = true
	}
	return t
}

// Promise registers a selected scenario, what it undertakes to decide, and what
// else it may happen to judge.
func (t *Tally) Promise(name string, decides, touches []spec.ID) error {
	if t.scenarios[name] != nil {
		return fmt.Errorf("scenario %s is registered twice: names must differ", name)
	}
	s := &scenario{name: name, decides: make(map[spec.ID]bool), touches: make(map[spec.ID]bool), held: make(map[spec.ID]int),
		doubts: make(map[spec.ID]string), unproved: make(map[spec.ID]string), blocked: make(map[string]bool)}
	for _, id := range decides {
		if _, ok := t.catalogue.Lookup(id); !ok {
			return fmt.Errorf("scenario %s decides %s, which the catalogue lacks", name, id)
		}
		s.decides[id] = true
	}
	for _, id := range touches {
		s.touches[id] = true
	}
	t.scenarios[name] = s
	t.order = append(t.order, name)
	return nil
}

// Add takes what judging one history of a scenario yielded. It fails when an
// assertion speaks for a requirement that the scenario does not decide: such
// evidence would otherwise appear out of nowhere.
func (t *Tally) Add(name, session string, j model.Judged) error {
	s := t.scenarios[name]
	if s == nil {
		return fmt.Errorf("scenario %s was never promised", name)
	}
	for _, v := range j.Judgements {
		id := v.Assertion.Requirement
		if v.Assertion.Basis == 0 || v.Assertion.Name == "" {
			return fmt.Errorf("scenario %s: a judgement of call %d names no assertion", name, v.Call)
		}
		if !s.decides[id] && !s.touches[id] && !t.ambient[id] {
			return fmt.Errorf("scenario %s judged %s, which it does not list under decides", name, v.Assertion)
		}
		switch {
		case v.Breach != nil && v.Assertion.Basis == model.Spec:
			s.breaches = append(s.breaches, Violation{Requirement: id, Assertion: v.Assertion.Name, Scenario: name, Session: session,
				Expected: v.Breach.Expected, Got: v.Breach.Got, Call: v.Call, Events: v.Breach.Events})
		case v.Breach != nil:
			s.notes = append(s.notes, remark{id, v.Assertion.Basis, "expected " + v.Breach.Expected + ", got " + v.Breach.Got})
		case v.Doubt != "":
			s.doubts[id] = v.Doubt
		case v.Assertion.Basis != model.Spec:
			// What held on another basis proves nothing about the specification.
		case v.Needs != "" && !j.Witnesses[v.Needs]:
			s.unproved[id] = "no positive witness (" + v.Needs + ") beside it"
		default:
			s.held[id]++
		}
	}
	for _, r := range j.Remarks {
		s.notes = append(s.notes, remark{r.Requirement, r.Basis, r.Text})
	}
	for call := range j.Unimplemented {
		s.blocked[call] = true
	}
	return nil
}

// Fail records that a scenario ended before it had done what it does.
func (t *Tally) Fail(name, reason string) {
	if s := t.scenarios[name]; s != nil && s.failure == "" {
		s.failure = reason
	}
}

// Unimplemented lists, by call, the promised requirements that scenarios could
// not observe because the subject has no such call. Each call appears once.
func (t *Tally) Unimplemented() map[string][]spec.ID {
	sets := make(map[string]map[spec.ID]bool)
	for _, s := range t.scenarios {
		for call := range s.blocked {
			if sets[call] == nil {
				sets[call] = make(map[spec.ID]bool)
			}
			for id := range s.decides {
				if s.held[id] == 0 {
					sets[call][id] = true
				}
			}
		}
	}
	out := make(map[string][]spec.ID)
	for call, ids := range sets {
		out[call] = sortedIDs(ids)
	}
	return out
}

// Conclude answers for every requirement of the catalogue, in its order.
func (t *Tally) Conclude() []Verdict {
	var out []Verdict
	for _, r := range t.catalogue.Requirements() {
		out = append(out, t.conclude(r))
	}
	return out
}

func (t *Tally) conclude(r spec.Requirement) Verdict {
	v := Verdict{Requirement: r.ID}
	notes := make(map[remark]map[string]bool)
	var doubtful, silent []string
	for _, name := range t.order {
		s := t.scenarios[name]
		v.Promised = v.Promised || s.decides[r.ID]
		if n := s.held[r.ID]; n > 0 {
			v.Observations += n
			v.Scenarios = append(v.Scenarios, name)
		}
		for _, b := range s.breaches {
			if b.Requirement == r.ID {
				v.Violations = append(v.Violations, b)
			}
		}
		for _, n := range s.notes {
			if n.id == r.ID {
				if notes[n] == nil {
					notes[n] = make(map[string]bool)
				}
				notes[n][name] = true
			}
		}
		if s.decides[r.ID] && s.failure != "" {
			doubtful = append(doubtful, name+": "+s.failure)
		} else if d, ok := s.doubts[r.ID]; ok && s.held[r.ID] == 0 {
			doubtful = append(doubtful, name+": "+d)
		} else if s.decides[r.ID] && s.held[r.ID] == 0 {
			silent = append(silent, name+s.silence(r.ID))
		}
	}
	v.Notes = sortNotes(notes)
	sort.Strings(v.Scenarios)
	switch {
	case len(v.Violations) > 0:
		v.Status = Violated
	case len(doubtful) > 0:
		v.Status, v.Reason = Inconclusive, bound(doubtful)
	case v.Observations > 0:
		v.Status = Satisfied
	case r.Undecidable != "":
		v.Status, v.Reason = OutOfReach, r.Undecidable
	case !r.Decidable(t.access):
		v.Status, v.Reason = OutOfReach, "this run has access "+t.access.String()+", which cannot decide it"
	case len(silent) > 0:
		v.Status, v.Reason = NotExercised, bound(silent)
	default:
		v.Status, v.Reason = NotExercised, "no selected scenario reaches it"
	}
	return v
}

// silence explains why a scenario that undertook to decide id has nothing.
func (s *scenario) silence(id spec.ID) string {
	if why, ok := s.unproved[id]; ok {
		return ": " + why
	}
	if len(s.blocked) > 0 {
		var calls []string
		for c := range s.blocked {
			calls = append(calls, c)
		}
		sort.Strings(calls)
		return ": the subject does not implement " + strings.Join(calls, ", ")
	}
	return ": nothing was observed"
}

// bound joins at most three reasons, so that one broken subject does not fill a report.
func bound(reasons []string) string {
	const most = 3
	sort.Strings(reasons)
	if len(reasons) > most {
		return strings.Join(reasons[:most], "; ") + fmt.Sprintf("; and %d more", len(reasons)-most)
	}
	return strings.Join(reasons, "; ")
}

func sortNotes(in map[remark]map[string]bool) []Note {
	var out []Note
	for r, where := range in {
		n := Note{Basis: r.basis, Text: r.text}
		for s := range where {
			n.Scenarios = append(n.Scenarios, s)
		}
		sort.Strings(n.Scenarios)
		out = append(out, n)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Text != out[j].Text {
			return out[i].Text < out[j].Text
		}
		return out[i].Basis < out[j].Basis
	})
	return out
}

func sortedIDs(set map[spec.ID]bool) []spec.ID {
	out := make([]spec.ID, 0, len(set))
	for id := range set {
		out = append(out, id)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}
