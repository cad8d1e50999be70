package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/harness/run"
	"assay/harness/schedule"
	rules "assay/model/backend"
)

// streamOperation is one parsed verb of a subscription. It is over when its frame
// has left: what the subject does about it is for an expectation to wait for.
type streamOperation func(ctx context.Context, s *Session, actor string) (*listening, error)

var _ run.Asynchronous = streamOperation(nil)

// Asynchronous is true: a schedule may hold what a frame sets off after the frame
// has left.
func (streamOperation) Asynchronous() bool { return true }

const streamVerbs = "subscribe, subscribe-static, update, ping, pong, empty, half-close, cancel, pause, resume, listen or idle"

// parseStreamVerb parses the verbs of subscriptions; it returns nothing for a verb
// that is none of them.
//
//	subscribe [without pong] [paused]
//	subscribe-static [over web | over web2 | over grpc] [paused] READ, …
//	update ID [add READ, …] [remove READ, …] [then ID …]
//	ping NONCE · pong NONCE · empty · half-close · cancel · pause · resume
//	listen · idle DURATION
//
// What stands behind "then" leaves in one breath with what stands before it.
func parseStreamVerb(verb string, words []word) (schedule.Operation, error) {
	switch verb {
	case "subscribe":
		return parseSubscribe(words)
	case "subscribe-static":
		return parseStatic(words)
	case "update":
		return parseUpdates(words)
	case "ping", "pong":
		return parseNonce(verb, words)
	case "idle":
		return parseIdle(words)
	}
	simple := map[string]func(*Stream) error{
		"empty":      (*Stream).Empty,
		"half-close": (*Stream).CloseSend,
		"cancel":     func(t *Stream) error { t.Cancel(); return nil },
		"pause":      func(t *Stream) error { t.Pause(); return nil },
		"resume":     func(t *Stream) error { t.Resume(); return nil },
		"listen":     func(*Stream) error { return nil },
	}[verb]
	if simple == nil {
		return nil, nil
	}
	return onStream(verb, func(_ context.Context, t *Stream, _ *listening) error { return simple(t) }), none(verb, words)
}

// onStream makes an operation on the actor's latest subscription. A subscription
// that has ended takes nothing more, which is for an expectation to find.
func onStream(verb string, do func(ctx context.Context, t *Stream, l *listening) error) streamOperation {
	return func(ctx context.Context, s *Session, actor string) (*listening, error) {
		t := s.streams.latest(actor)
		if t == nil {
			return nil, fmt.Errorf("%s: %s has no subscription: write \"%s: subscribe\" before", verb, actor, actor)
		}
		l := &listening{ctx: ctx, stream: t}
		if err := do(ctx, t, l); err != nil && !errors.As(err, new(*Ended)) {
			return nil, err
		}
		return l, nil
	}
}

func parseSubscribe(words []word) (schedule.Operation, error) {
	var options []StreamOption
	for len(words) > 0 {
		switch {
		case words[0].text == "paused":
			options, words = append(options, Paused()), words[1:]
		case words[0].text == "without" && len(words) > 1 && words[1].text == "pong":
			options, words = append(options, WithoutPong()), words[2:]
		default:
			return nil, fmt.Errorf("subscribe takes no %q: write \"without pong\" or \"paused\", and its topics in updates", words[0].text)
		}
	}
	return streamOperation(func(ctx context.Context, s *Session, actor string) (*listening, error) {
		t, err := s.Subscribe(ctx, actor, options...)
		return &listening{ctx: ctx, stream: t}, err
	}), nil
}

func parseStatic(words []word) (schedule.Operation, error) {
	var options []StreamOption
	form := AsTarget
	for len(words) > 0 {
		if words[0].text == "paused" {
			options, words = append(options, Paused()), words[1:]
			continue
		}
		if words[0].text != "over" || len(words) < 2 {
			break
		}
		var ok bool
		if form, ok = map[string]Form{"grpc": Native, "web": Web, "web2": WebHTTP2}[words[1].text]; !ok {
			return nil, fmt.Errorf("over %q: write grpc, web (gRPC-Web over HTTP/1.1) or web2 (over HTTP/2)", words[1].text)
		}
		words = words[2:]
	}
	reads, err := parseReads(words)
	if err != nil {
		return nil, err
	}
	return streamOperation(func(ctx context.Context, s *Session, actor string) (*listening, error) {
		resolved, err := resolve(s, reads)
		if err != nil {
			return nil, err
		}
		t, err := s.Over(form).SubscribeStatic(ctx, actor, resolved, options...)
		return &listening{ctx: ctx, stream: t}, err
	}), nil
}

// update is one parsed update; its cursors may depend on what was published.
type update struct {
	id            uint64
	adds, removes []read
}

func parseUpdates(words []word) (schedule.Operation, error) {
	var updates []update
	for _, part := range cut(words, "then") {
		u, err := parseOneUpdate(part)
		if err != nil {
			return nil, err
		}
		updates = append(updates, u)
	}
	return onStream("update", func(ctx context.Context, t *Stream, l *listening) error {
		var frames []*rules.Request
		for _, u := range updates {
			adds, err := resolve(t.session, u.adds)
			if err != nil {
				return err
			}
			removes, err := resolve(t.session, u.removes)
			if err != nil {
				return err
			}
			frames = append(frames, t.NewUpdate(u.id, adds, removes))
			l.update = u.id
		}
		return t.Burst(ctx, frames...)
	}), nil
}

func parseOneUpdate(words []word) (u update, err error) {
	if len(words) == 0 {
		return u, errors.New("update takes an id first, such as \"update 1 add group g\"")
	}
	if u.id, err = strconv.ParseUint(words[0].text, 10, 64); err != nil {
		return u, fmt.Errorf("update %q: write the id first, such as \"update 1 add group g\"", words[0].text)
	}
	adds, removes := words[1:], []word(nil)
	if i := slices.IndexFunc(adds, func(w word) bool { return !w.quoted && w.text == "remove" }); i >= 0 {
		adds, removes = adds[:i], adds[i+1:]
		for i := range removes {
			if removes[i].text == "after" && !removes[i].quoted {
				return u, errors.New("a removal has no cursor")
			}
		}
	}
	if len(adds) > 0 {
		if adds[0].text != "add" {
			return u, fmt.Errorf("%q is no part of an update: write \"add READ, …\" or \"remove KIND NAME, …\"", adds[0].text)
		}
		if u.adds, err = parseReads(adds[1:]); err != nil {
			return u, err
		}
	}
	u.removes, err = parseReads(removes)
	return u, err
}

// cut cuts words at a bare word.
func cut(words []word, at string) (out [][]word) {
	var part []word
	for _, w := range words {
		if w.text == at && !w.quoted {
			out, part = append(out, part), nil
			continue
		}
		part = append(part, w)
	}
	return append(out, part)
}

func parseNonce(verb string, words []word) (schedule.Operation, error) {
	if len(words) != 1 {
		return nil, fmt.Errorf("%s takes one nonce", verb)
	}
	nonce, err := strconv.ParseUint(words[0].text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s %q: write a number", verb, words[0].text)
	}
	return onStream(verb, func(ctx context.Context, t *Stream, l *listening) error {
		if verb == "pong" {
			return t.Pong(nonce)
		}
		l.nonce = nonce
		return t.Ping(nonce)
	}), nil
}

// parseIdle reads a time for which nothing is done, or until the subscription ends.
func parseIdle(words []word) (schedule.Operation, error) {
	if len(words) != 1 {
		return nil, errors.New("idle takes one duration, such as 700ms")
	}
	d, err := time.ParseDuration(words[0].text)
	if err != nil || d <= 0 {
		return nil, fmt.Errorf("idle %q: write a duration, such as 700ms", words[0].text)
	}
	return onStream("idle", func(ctx context.Context, t *Stream, _ *listening) error {
		err := t.await(ctx, d, "the end", nil, func(s *Seen) bool { return s.End != nil })
		if errors.As(err, new(*Overdue)) {
			return nil
		}
		return err
	}), nil
}

// announceFrames tells whoever holds calls at points what the frames' statements
// are recognised by.
func announceFrames(ctx context.Context, frames []*rules.Request) error {
	var content run.Content
	for _, f := range frames {
		if f.Update == nil {
			continue
		}
		for _, a := range f.Update.Adds {
			if a.Topic != "" {
				content.Shared = append(content.Shared, []byte(a.Topic))
			}
		}
	}
	return run.Announce(ctx, content)
}

// listenPatience is how long a step of a scenario file waits for what it expects.
const listenPatience = 10 * time.Second

// endPatience is how long it waits for the end of a subscription, which may take its
// time.
const endPatience = 30 * time.Second

// listening is the outcome of a step on a subscription: an expectation of it waits
// for what comes.
type listening struct {
	ctx    context.Context // the step's
	stream *Stream
	// update and nonce are what the step sent, for an expectation that names none.
	update, nonce uint64
}

// unheard are the rows that no expectation has met yet.
type unheard struct {
	frames int // frames whose rows were taken
	rows   []rules.Row
}

func (u *unheard) take(s *Seen) {
	for ; u.frames < len(s.Frames); u.frames++ {
		if m := s.Frames[u.frames].Messages; m != nil {
			u.rows = append(u.rows, m.Rows...)
		}
	}
}

// meets waits until everything that the step expects has come. Contents and rows
// may come in any order, for topics interleave; each row counts for one
// expectation.
func (l *listening) meets(e *expectation) error {
	t := l.stream
	if e.code != rules.OK || e.reason != nil || e.index != nil || e.more != nil {
		return errors.New("of a subscription write \"end CODE\"; a reason, an index and more are a call's")
	}
	if e.stream != nil {
		if err := e.stream.await(l); err != nil {
			return err
		}
	}
	var got []string
	err := t.await(l.ctx, listenPatience, fmt.Sprintf("rows %q", e.contents), nil, func(s *Seen) bool {
		t.unheard.take(s)
		got = t.session.Contents(&rules.Page{Rows: t.unheard.rows})
		left, ok := without(got, e.contents)
		switch {
		case !ok || e.rows != nil && len(got) < *e.rows:
			return false
		case e.rows != nil:
			t.unheard.rows = t.unheard.rows[*e.rows:]
		case e.contents != nil:
			t.unheard.rows = pick(t.unheard.rows, left)
		}
		return true
	})
	if errors.As(err, new(*Overdue)) {
		t.missed(e, got)
	}
	switch {
	case err != nil && e.rows != nil:
		return fmt.Errorf("expected %d rows, got %q: %w", *e.rows, got, err)
	case err != nil:
		return fmt.Errorf("expected %q, got %q: %w", e.contents, got, err)
	case e.nothing && len(got) > 0:
		return fmt.Errorf("expected nothing, got %q", got)
	}
	return nil
}

// missed notes in the history which of the contents that were stored, and expected,
// were awaited in vain; where rows were only counted, what was stored and is not there.
func (t *Stream) missed(e *expectation, got []string) {
	names := t.session.names
	names.mu.Lock()
	var rows []rules.Target
	for content, stored := range names.stored {
		if e.rows != nil || slices.Contains(e.contents, content) && !slices.Contains(got, content) {
			rows = append(rows, stored...)
		}
	}
	names.mu.Unlock()
	slices.SortFunc(rows, func(a, b rules.Target) int { return cmp.Compare(a.Through, b.Through) })
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range rows {
		if t.seen.End == nil && t.seen.Through[rows[i].Topic] < rows[i].Through {
			t.log.Mark(&rules.Awaited{Stream: t.call, WaitedMS: uint64(listenPatience.Milliseconds()), Row: &rows[i]})
		}
	}
}

// without returns the indexes of what stays of all when each of some is taken once;
// ok is false when not all of some are there.
func without(all, some []string) (left []int, ok bool) {
	want := make(map[string]int)
	for _, w := range some {
		want[w]++
	}
	met := 0
	for i, w := range all {
		if want[w] > 0 {
			want[w]--
			met++
			continue
		}
		left = append(left, i)
	}
	return left, met == len(some)
}

func pick(rows []rules.Row, at []int) []rules.Row {
	out := make([]rules.Row, len(at))
	for i, n := range at {
		out[i] = rows[n]
	}
	return out
}

// describeCodes joins codes for people.
func describeCodes(codes []rules.Code) string {
	var out []string
	for _, c := range codes {
		out = append(out, c.String())
	}
	return strings.Join(out, " or ")
}
