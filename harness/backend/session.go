package backend

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"time"

	"assay/harness/backend/chain"
	"assay/harness/backend/craft"
	"assay/harness/backend/wire"
	"assay/harness/history"
	"assay/harness/run"
	"assay/harness/subject/frames"
	rules "assay/model/backend"
)

// callTimeout bounds one call. A call that it ends is lost, not refused.
const callTimeout = 30 * time.Second

// Session drives one namespace of a subject and records every call. Its
// methods may run concurrently for different actors.
type Session struct {
	// node is the chain that the subject was given, nil for none: contract
	// wallets live on it, and it can be cut off.
	node     *chain.Chain
	client   *Client
	craft    *craft.Crafter
	recorder *history.Recorder
	names    *names
	headers  []wire.Header
	timeout  time.Duration
	// line, when not nil, carries the calls in place of the client's connections.
	line *Line
	// form says how the calls go, in native gRPC or a form of gRPC-Web.
	form Form
	// streams are the open subscriptions, shared by copies of the session.
	streams *streams
}

var _ run.Session = (*Session)(nil)

// Of opens a session of this suite in a play.
func Of(p *run.Play, label string) (*Session, error) {
	s, err := p.Open(label)
	if err != nil {
		return nil, err
	}
	b, ok := s.(*Session)
	if !ok {
		return nil, fmt.Errorf("scenario %s needs the backend suite, not %T", p.Scenario.Name, s)
	}
	return b, nil
}

// Terms are the limits the subject is held to.
func (s *Session) Terms() rules.Terms { return s.client.terms }

// Limit returns a limit as a number of things, such as 1000 topics.
func (s *Session) Limit(name string) int { return int(s.client.terms.Limit(name)) }

// WithHeaders returns a session that sends these headers with every call. It
// records into the same history.
func (s *Session) WithHeaders(h ...wire.Header) *Session {
	c := *s
	c.headers = h
	return &c
}

// WithTimeout returns a session whose calls are given up after d.
func (s *Session) WithTimeout(d time.Duration) *Session {
	c := *s
	c.timeout = d
	return &c
}

// Topic returns the bytes behind a symbolic topic.
func (s *Session) Topic(l rules.Log) rules.Bytes { return s.craft.Topic(l) }

// Publish crafts the envelopes and publishes them in one request. Its error
// means that an intent cannot be crafted; whatever the subject answers is in
// the return.
func (s *Session) Publish(ctx context.Context, actor string, envelopes ...rules.Envelope) (*rules.Return, error) {
	return s.publish(ctx, actor, envelopes, (*wire.Client).Publish)
}

// PublishCut publishes and cuts the connection when the subject has answered,
// before the answer is read: the publish is as good as done, and its client
// cannot know (API-037).
func (s *Session) PublishCut(ctx context.Context, actor string, envelopes ...rules.Envelope) (*rules.Return, error) {
	return s.publish(ctx, actor, envelopes, (*wire.Client).PublishAndCut)
}

// send is a method of the wire client: it sends a request and reads the answer.
type send func(w *wire.Client, ctx context.Context, request []byte, header ...wire.Header) rules.Return

func (s *Session) publish(ctx context.Context, actor string, envelopes []rules.Envelope, do send) (*rules.Return, error) {
	request, call, canonical, err := s.craft.PublishRequest(envelopes)
	if err != nil {
		return nil, fmt.Errorf("craft a publish: %w", err)
	}
	r, err := s.call(ctx, actor, &rules.Call{Method: rules.MethodPublish, Publish: &call, WireLen: len(request), CanonicalLen: canonical}, request, do)
	if err == nil {
		s.names.learn(call, r)
	}
	return r, err
}

// Query reads what lies above cursors; limit 0 leaves the limit out.
func (s *Session) Query(ctx context.Context, actor string, limit uint32, reads ...rules.Read) (*rules.Return, error) {
	q := rules.QueryCall{Limit: limit, Entries: s.ask(reads)}
	request := craft.QueryRequest(q)
	r, err := s.call(ctx, actor, &rules.Call{Method: rules.MethodQuery, Query: &q, WireLen: len(request), CanonicalLen: len(request)}, request, (*wire.Client).Query)
	if err == nil {
		s.names.sawRows(q.Entries, r)
	}
	return r, err
}

// Newest reads the newest envelope of topics.
func (s *Session) Newest(ctx context.Context, actor string, full bool, reads ...rules.Read) (*rules.Return, error) {
	n := rules.NewestCall{Full: full, Entries: s.ask(reads)}
	request := craft.NewestRequest(n)
	return s.call(ctx, actor, &rules.Call{Method: rules.MethodNewest, Newest: &n, WireLen: len(request), CanonicalLen: len(request)}, request, (*wire.Client).Newest)
}

// Configuration asks for the published configuration.
func (s *Session) Configuration(ctx context.Context, actor string) (*rules.Return, error) {
	return s.call(ctx, actor, &rules.Call{Method: rules.MethodConfiguration}, nil, func(w *wire.Client, ctx context.Context, _ []byte, h ...wire.Header) rules.Return {
		return w.Configuration(ctx, h...)
	})
}

// Health asks the standard health service about a service name.
func (s *Session) Health(ctx context.Context, actor, service string) (*rules.Return, error) {
	return s.call(ctx, actor, &rules.Call{Method: rules.MethodHealth, Service: service}, nil, func(w *wire.Client, ctx context.Context, _ []byte, h ...wire.Header) rules.Return {
		return w.Health(ctx, service, h...)
	})
}

// Settings connects anew and reads the HTTP/2 settings the subject announces.
func (s *Session) Settings(ctx context.Context, actor string) (*rules.Return, error) {
	return s.call(ctx, actor, &rules.Call{Method: rules.MethodSettings}, nil, func(_ *wire.Client, ctx context.Context, _ []byte, _ ...wire.Header) rules.Return {
		conn, err := s.client.endpoint.DialContext(ctx)
		if err != nil {
			return rules.Return{Lost: rules.LostRefused}
		}
		defer conn.Close()
		announced, err := frames.Inspect(ctx, conn)
		if err != nil {
			return rules.Return{Lost: rules.LostCut}
		}
		out := rules.Settings{}
		if n, ok := announced.MaxConcurrentStreams(); ok {
			out.Streams = &n
		}
		return rules.Return{Settings: &out}
	})
}

// Other calls a method by its path with the given message bytes.
func (s *Session) Other(ctx context.Context, actor, path string, message []byte) (*rules.Return, error) {
	return s.call(ctx, actor, &rules.Call{Method: rules.MethodOther, Path: path, WireLen: len(message)}, message, func(w *wire.Client, ctx context.Context, m []byte, h ...wire.Header) rules.Return {
		return w.Other(ctx, path, m, h...)
	})
}

func (s *Session) call(ctx context.Context, actor string, c *rules.Call, request []byte, do send) (*rules.Return, error) {
	if s.streams.of(actor) != nil {
		return nil, fmt.Errorf("%s by %s: %w", c.Method, actor, errSubscribed)
	}
	if err := s.client.wait(ctx); err != nil {
		return nil, fmt.Errorf("wait for the rate: %w", err)
	}
	w, err := s.carrier(actor)
	if err != nil {
		return nil, err
	}
	c.Headers, c.Web = s.headerNames(), w.Web()
	bounded, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	if err := announce(ctx, c); err != nil {
		return nil, err
	}
	a := s.recorder.Actor(actor)
	number := a.Invoke(c)
	r := do(w, bounded, request, s.headers...)
	a.Return(number, &r)
	if err := ctx.Err(); err != nil {
		return &r, fmt.Errorf("%s by %s: %w", c.Method, actor, context.Cause(ctx))
	}
	return &r, nil
}

// headerNames are the names of the headers that every call carries, sorted.
func (s *Session) headerNames() []string {
	var out []string
	for _, h := range s.headers {
		out = append(out, h.Name)
	}
	sort.Strings(out)
	return out
}

// patience is how long the session waits for one answer.
func (s *Session) patience() time.Duration {
	if s.timeout == 0 {
		return callTimeout
	}
	return s.timeout
}

func (s *Session) ask(reads []rules.Read) []rules.Asked {
	out := make([]rules.Asked, len(reads))
	for i, r := range reads {
		out[i] = s.craft.Ask(r)
	}
	return out
}

// Close cancels the subscriptions that are still open, so that the history has
// their end. The connections are the client's.
func (s *Session) Close() error {
	s.streams.close()
	return nil
}

// names remembers which contents were published under which sequence ids, so
// that scenarios can speak of positions and contents.
type names struct {
	mu       sync.Mutex
	contents map[rules.Digest]string
	ids      map[rules.Bytes][]uint64
	// stored are the rows that publishes returned, by content.
	stored map[string][]rules.Target
}

func newNames() *names {
	return &names{contents: make(map[rules.Digest]string), ids: make(map[rules.Bytes][]uint64), stored: make(map[string][]rules.Target)}
}

func (n *names) learn(c rules.PublishCall, r *rules.Return) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, e := range c.Envelopes {
		n.contents[e.Artefact.Identity] = e.Intent.Content
		if r.Publish != nil && i < len(r.Publish.Metas) {
			n.position(e.Artefact.Topic, r.Publish.Metas[i].Sequence)
			n.stored[e.Intent.Content] = append(n.stored[e.Intent.Content], rules.Target{HasTopic: true, Topic: e.Artefact.Topic, Through: r.Publish.Metas[i].Sequence})
		}
	}
}

func (n *names) sawRows(asked []rules.Asked, r *rules.Return) {
	if r.Query == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, row := range r.Query.Rows {
		n.position(row.Meta.Topic, row.Meta.Sequence)
	}
}

func (n *names) position(t rules.Bytes, id uint64) {
	ids := n.ids[t]
	i := sort.Search(len(ids), func(i int) bool { return ids[i] >= id })
	if i < len(ids) && ids[i] == id {
		return
	}
	ids = append(ids, 0)
	copy(ids[i+1:], ids[i:])
	ids[i] = id
	n.ids[t] = ids
}

// Positions returns the sequence ids known on a topic, ascending.
func (s *Session) Positions(l rules.Log) []uint64 {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	return append([]uint64(nil), s.names.ids[s.craft.Topic(l)]...)
}

// Contents names the rows of a page by what was published, "?" for a row that
// this session did not publish.
func (s *Session) Contents(p *rules.Page) []string {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	var out []string
	for _, row := range p.Rows {
		name, ok := s.names.contents[row.Identity]
		if !ok {
			name = "?"
		}
		out = append(out, name)
	}
	return out
}

// pause is how long a scenario waits between two looks at something that
// changes with the subject's time.
const pause = 100 * time.Millisecond

// Pause waits a moment before a scenario asks again; it ends early with ctx.
func (s *Session) Pause(ctx context.Context) error {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
