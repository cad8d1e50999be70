package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"assay/harness/history"
	"assay/harness/schedule"
	"assay/harness/subject"
	"assay/model"
	"assay/spec"
)

// Play is a scenario's view of the run it is part of.
type Play struct {
	// Scenario is the scenario that runs.
	Scenario Scenario
	Profile  Profile
	// Seed is the run's seed mixed with the scenario's name.
	Seed uint64
	// Choices, when not nil, is the recorded choice to replay instead of
	// drawing from Seed.
	Choices []byte

	// round counts the times the scenario ran, from 0.
	round   int
	suite   Suite
	client  Client
	running Running
	header  history.Header
	now     func() time.Duration

	// expected is what a schedule is to be stopped at, nil for whatever comes;
	// stops is what it was stopped at, unsteady how a second run differed.
	expected, stops []schedule.Stop
	unsteady        string

	mu       sync.Mutex
	sessions []*opened
}

type opened struct {
	label    string
	session  Session
	recorder *history.Recorder
	counted  bool
	choices  []byte
}

// Effort picks a number by profile.
func (p *Play) Effort(quick, normal, exhaustive int) int {
	switch p.Profile {
	case Quick:
		return quick
	case Exhaustive:
		return exhaustive
	default:
		return normal
	}
}

// Open starts a session with a history of its own. The label tells the
// sessions of one scenario apart and is part of what its bytes derive from.
// The history counts unless Discard is called.
func (p *Play) Open(label string) (Session, error) {
	h := p.header
	h.Session = label
	if p.round > 0 {
		h.Session = fmt.Sprintf("%s#%d", label, p.round)
	}
	rec := history.NewRecorder(h, p.now)
	s, err := p.client.Session(SessionInfo{Header: h, Recorder: rec})
	if err != nil {
		return nil, fmt.Errorf("open session %q: %w", label, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions = append(p.sessions, &opened{label: label, session: s, recorder: rec, counted: true})
	return s, nil
}

// Judge evaluates the suite's rules on what a session has recorded so far. The
// session must be idle.
func (p *Play) Judge(s Session) (*history.History, model.Judged) {
	o := p.find(s)
	h := o.recorder.History()
	return h, p.suite.Judge(h)
}

// Discard keeps a session's history out of the tally: the runs of a shrinker
// count nothing.
func (p *Play) Discard(s Session) { p.find(s).counted = false }

// Count lets a discarded session into the tally after all.
func (p *Play) Count(s Session) { p.find(s).counted = true }

// Keep remembers the choices that made a session, so that a violation in it
// can be replayed.
func (p *Play) Keep(s Session, choices []byte) { p.find(s).choices = choices }

// Running is the subject under the scenario, for those that stop or kill it.
func (p *Play) Running() Running { return p.running }

func (p *Play) find(s Session) *opened {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.sessions {
		if o.session == s {
			return o
		}
	}
	panic("run: a session that this play did not open")
}

// Source starts subjects.
type Source interface {
	// Describe names the subject in reports; it contains no secret.
	Describe() string
	// Access is what a run on this source is given.
	Access() spec.AccessSet
	// Supports reports why a configuration cannot be had, or nil.
	Supports(c subject.Configuration) error
	// Start brings up a subject in the configuration. A source of one shared
	// address returns the same subject every time.
	Start(ctx context.Context, c subject.Configuration) (Running, error)
	// Shared reports whether every Start reaches the same subject: then it is
	// somebody's, and is treated gently.
	Shared() bool
}

// Running is one subject that is up.
type Running interface {
	subject.Subject
	// NoReplica reports whether the harness knows that reads have no replica.
	NoReplica() bool
	// Chain is the chain the subject was given, nil for none.
	Chain() Chain
}

// Chain is a chain RPC of the harness's. What else it can do is between the
// suite and whoever wired it.
type Chain interface {
	URL() string
	ID() uint64
	Close() error
}
