// Package backend is what the backend protocol brings to the engine: a client
// that records what it does, the words of its scenario files, and its judge.
// Start with New for the suite and Session for what scenarios call.
//
// It promises that every call a scenario makes is in the history, with its
// intent and what craft made of it. It does not judge; package model/backend
// does.
package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"assay/harness/backend/chain"
	"assay/harness/backend/craft"
	"assay/harness/backend/facts"
	"assay/harness/backend/wire"
	"assay/harness/history"
	"assay/harness/run"
	"assay/harness/subject"
	"assay/model"
	rules "assay/model/backend"
	"assay/spec"
	specbackend "assay/spec/backend"
)

// Suite is the backend protocol as the engine sees it.
type Suite struct {
	catalogue *spec.Catalogue
	load      func() ([]run.Scenario, error)
}

// New returns the suite with the scenarios that load reads.
func New(load func() ([]run.Scenario, error)) (*Suite, error) {
	c, err := specbackend.Catalogue()
	if err != nil {
		return nil, fmt.Errorf("read the catalogue of the backend specification: %w", err)
	}
	return &Suite{catalogue: c, load: load}, nil
}

var _ run.Suite = (*Suite)(nil)

// Name is "backend".
func (s *Suite) Name() string { return "backend" }

// Catalogue holds API-001 to API-165.
func (s *Suite) Catalogue() *spec.Catalogue { return s.catalogue }

// Scenarios reads every scenario of the suite.
func (s *Suite) Scenarios() ([]run.Scenario, error) { return s.load() }

// Probe reports whether the peer speaks gRPC at all.
func (s *Suite) Probe(ctx context.Context, e subject.Endpoint) error { return wire.Probe(ctx, e) }

// Judge evaluates the model on a history and, where calls of it overlap, the
// rules of ordered logs beside it: the model alone has no exact view then.
func (s *Suite) Judge(h *history.History) model.Judged {
	judged := facts.Combine(rules.Judge(h.Events), judgeForms(h.Events))
	if !facts.Concurrent(h.Events) {
		return judged
	}
	return facts.Combine(facts.Combine(judged, facts.Judge(h.Events)), judgeIdentityOrder(h.Events))
}

// Ambient lists what Judge evaluates on every call, alone or beside others.
func (s *Suite) Ambient() []spec.ID {
	out := append(rules.Ambient(), bothForms.Requirement)
	for _, id := range facts.Requirements() {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// Codec writes calls, returns and terms as JSON.
func (s *Suite) Codec() run.Codec { return codec{} }

// Connect dials the subject and asks for its configuration, whose limits and
// retention bound what is expected of it; a subject that publishes none is held
// to the defaults of the specification.
func (s *Suite) Connect(ctx context.Context, c run.Connection) (run.Client, error) {
	w, err := wire.Dial(c.Endpoint, wire.Options{})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", c.Endpoint, err)
	}
	client := &Client{wire: w, connection: c, endpoint: c.Endpoint}
	if err := client.dialOthers(c.Others); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	if c.Rate > 0 {
		client.limiter = rate.NewLimiter(rate.Limit(c.Rate), max(1, int(c.Rate/10)))
	}
	client.terms = s.terms(ctx, w, c)
	return client, nil
}

// termsTimeout bounds the configuration call that opens a connection.
const termsTimeout = 10 * time.Second

func (s *Suite) terms(ctx context.Context, w *wire.Client, c run.Connection) rules.Terms {
	t := rules.Terms{Limits: make(map[string]uint64), Configured: c.Configuration.Limits, NoReplica: c.NoReplica, Direct: c.Direct}
	for _, l := range s.catalogue.Limits() {
		t.Limits[l.Name] = l.Default
	}
	for name, v := range c.Configuration.Limits {
		t.Limits[name] = v
	}
	bounded, cancel := context.WithTimeout(ctx, termsTimeout)
	defer cancel()
	r := w.Configuration(bounded)
	if r.Code != rules.OK || r.Configuration == nil {
		t.RetentionAssumed = !retains(t.Configured)
		return t
	}
	for name, v := range r.Configuration.Limits {
		if v > 0 {
			t.Limits[name] = v
			t.Published = true
		}
	}
	t.RetentionAssumed = !retains(t.Configured) && !retains(r.Configuration.Limits)
	return t
}

// retains reports whether limits name a retention.
func retains(limits map[string]uint64) bool {
	return limits["group_message_seconds"] > 0 || limits["welcome_seconds"] > 0 || limits["key_package_seconds"] > 0
}

// Client is one connection to a subject; sessions share it.
type Client struct {
	wire *wire.Client
	// others reach the other instances of the backend.
	others     []*wire.Client
	endpoint   subject.Endpoint
	connection run.Connection
	limiter    *rate.Limiter
	terms      rules.Terms
	// forms reach the instances in other forms of the transport.
	forms forms
}

// Session opens a namespace of its own: its topics derive from the run's seed
// and nonce, the scenario and the session's label.
func (c *Client) Session(info run.SessionInfo) (run.Session, error) {
	scope := info.Header.Scenario
	if info.Header.Session != "" {
		scope += "#" + info.Header.Session
	}
	s := &Session{client: c, craft: craft.New(c.connection.Seed, c.connection.Nonce, scope), recorder: info.Recorder, names: newNames(), streams: &streams{}}
	if node, ok := c.connection.Chain.(*chain.Chain); ok {
		s.craft, s.node = s.craft.WithChain(node), node
		info.Recorder.Actor("harness").Mark(&rules.Node{Routed: true})
	}
	terms := c.terms
	info.Recorder.Actor("harness").Mark(&terms)
	return s, nil
}

// Close ends the connections.
func (c *Client) Close() error {
	errs := []error{c.wire.Close(), c.forms.close()}
	for _, w := range c.others {
		errs = append(errs, w.Close())
	}
	return errors.Join(errs...)
}

// wait holds a call back to the run's rate.
func (c *Client) wait(ctx context.Context) error {
	if c.limiter == nil {
		return nil
	}
	return c.limiter.Wait(ctx)
}
