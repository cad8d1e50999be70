// Package schedule reads the text form of scenarios: who takes the next step,
// and where each actor is held. Start with Parse.
//
// The engine's part of a line is the actor and the modifiers; the verb and its
// arguments belong to the suite, which parses them through Language when the
// file is read, so that a bad line is found before anything runs.
package schedule

import (
	"time"

	"assay/spec"
)

// Operation is a suite's parsed verb with its arguments.
type Operation any

// Expectation is a suite's parsed expectation.
type Expectation any

// Language parses the suite's half of a line.
type Language interface {
	Operation(verb, arguments string) (Operation, error)
	Expectation(text string) (Expectation, error)
}

// Script is one parsed file.
type Script struct {
	// Summary is the leading comment, its lines joined.
	Summary string
	Decides []spec.ID
	Needs   spec.AccessSet
	// Limits and KeepaliveMS are the configuration the file asks for.
	Limits      map[string]uint64
	KeepaliveMS uint32
	Exclusive   bool
	Stress      bool
	// From is the word of the least profile that runs it, "" for every one.
	From  string
	Steps []Step
}

// Step is one line of a script.
type Step struct {
	// Line is the line number in the file, from 1; Text the line itself.
	Line int
	Text string
	// Actor makes the call; "" for an engine step.
	Actor     string
	Operation Operation
	// Hold is where the call stops, and the next line has its turn; nil for
	// nowhere. On a Release it is where the actor stops next.
	Hold *Hold
	// Until is how far the call goes before the next line has its turn.
	Until Until
	// AtMost, when not 0, is how long the next line waits for that; then it has
	// its turn all the same. It is for what nobody can see: that a subject makes
	// a call wait without the database's help.
	AtMost time.Duration
	// Engine is what the engine does, to Actors, when the step is no call.
	Engine Engine
	Actors []string
	// Expect guards the step; nil when the line has none.
	Expect Expectation
}
