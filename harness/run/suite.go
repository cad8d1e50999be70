// Package run turns a suite, a subject and a seed into verdicts: it selects
// scenarios, groups them by the configuration they need, starts one subject for
// each group, isolates what runs at the same time, bounds every wait, and hands
// what was recorded to the suite's judge and to the tally.
//
// Start with Suite, which is all the engine asks of a protocol, and Verify.
// The package knows no protocol by name and sees no byte of one; it does not
// judge: whatever it calls satisfied was judged by a suite's rules.
package run

import (
	"context"
	"encoding/json"

	"assay/harness/history"
	"assay/harness/schedule"
	"assay/harness/subject"
	"assay/model"
	"assay/spec"
)

// Suite is what one protocol brings to the engine.
type Suite interface {
	// Name is the suite's word on the command line and in result files.
	Name() string
	// Catalogue holds the requirements that verdicts are about.
	Catalogue() *spec.Catalogue
	// Scenarios lists everything the suite can drive; it reads text files and
	// reports the first bad line.
	Scenarios() ([]Scenario, error)
	// Probe reports whether the peer answers the suite's protocol at all.
	Probe(ctx context.Context, e subject.Endpoint) error
	// Connect opens a client of one running subject; scenarios share it.
	Connect(ctx context.Context, c Connection) (Client, error)
	// Judge evaluates every rule on a history. It is a pure function.
	Judge(h *history.History) model.Judged
	// Ambient lists the requirements that Judge evaluates on every call.
	Ambient() []spec.ID
	// Codec writes and reads the suite's values in history files.
	Codec() Codec
}

// Codec turns a suite's calls, returns and marks into JSON and back.
type Codec interface {
	Encode(e model.Event) (json.RawMessage, error)
	Decode(p model.Phase, data json.RawMessage) (any, error)
}

// Connection says how a client reaches a subject and what it may rely on.
type Connection struct {
	Endpoint subject.Endpoint
	// Others are further instances of the same backend, on the same database;
	// a client spreads its actors over all of them.
	Others []subject.Endpoint
	// Configuration is what the harness set at the subject's start.
	Configuration subject.Configuration
	// NoReplica is true when the harness gave the subject its only database.
	NoReplica bool
	// Direct is true when the subject is a process of ours, with nothing before it.
	Direct bool
	// Chain is the chain the subject was given, nil for none.
	Chain Chain
	Seed  uint64
	// Nonce makes the topics of this run fresh; the same seed and nonce give
	// the same bytes.
	Nonce string
	// Rate caps the calls a second over all sessions; 0 is no cap.
	Rate float64
}

// Client is a suite's connection to one running subject.
type Client interface {
	// Session opens an isolated namespace with a history of its own. now gives
	// the time since the run began.
	Session(info SessionInfo) (Session, error)
	Close() error
}

// Claimer is a client that can tell whether its seed and nonce were used on the
// subject before: then what it means to be fresh is not, and nothing it sees can be
// judged. Claim marks them as used.
type Claimer interface {
	Claim(ctx context.Context) error
}

// SessionInfo names a session.
type SessionInfo struct {
	Header history.Header
	// Recorder receives the session's events.
	Recorder *history.Recorder
}

// Session is what one scenario drives: a suite gives it typed calls of its own,
// and the two methods below let a text scenario drive it.
type Session interface {
	// Perform makes the call that the suite's language parsed and records it.
	Perform(ctx context.Context, actor string, op schedule.Operation) (outcome any, err error)
	// Meets reports how an outcome differs from a parsed expectation; nil when
	// it does not. An expectation guards a scenario against not getting where
	// it meant to go; only the model judges.
	Meets(expect schedule.Expectation, outcome any) error
	Close() error
}

// Scenario is one named behaviour to drive.
type Scenario struct {
	// Name is an address: "backend/publish/one-bad-envelope-stores-none".
	Name string
	// Summary is one sentence for people.
	Summary string
	// Decides lists the requirements it can decide, beside the ambient ones.
	Decides []spec.ID
	// Touches lists what else it may happen to judge, without a promise.
	Touches []spec.ID
	// Needs is the access without which it cannot run; wire is implied.
	Needs spec.AccessSet
	// Configuration is what it needs of the subject.
	Configuration subject.Configuration
	// Exclusive scenarios get a subject and a database of their own.
	Exclusive bool
	// Stress marks storms and large limits, which run against a --target only
	// when asked for.
	Stress bool
	// Forced scenarios hold the subject's statements at its database: each has
	// its subject to itself while it runs, and leaves it to the next.
	Forced bool
	// From is the least profile that runs it; the zero value is Quick.
	From Profile
	// Body drives the subject. An error means that it could not do what it
	// does; a subject's wrong answer is no error.
	Body func(ctx context.Context, p *Play) error
	// Source is the file it comes from, for messages.
	Source string
}

// Profile is how much effort a run makes.
type Profile uint8

// The profiles, least first.
const (
	Quick Profile = iota
	Default
	Exhaustive
)
