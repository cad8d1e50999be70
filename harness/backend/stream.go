package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assay/harness/backend/craft"
	"assay/harness/backend/wire"
	"assay/harness/history"
	rules "assay/model/backend"
)

// Stream is one open subscription of one actor. Its frames go into the history
// as they leave and arrive, beside the calls of other actors; the actor makes no
// other call until the subscription has ended. Its methods may be called from any
// goroutine.
//
// It reads all the time unless paused and answers a Ping by a Pong unless told
// otherwise. A subscription still open when its session closes is cancelled.
type Stream struct {
	session *Session
	actor   string
	wire    *wire.Stream
	silent  bool // no Pong of its own
	done    chan struct{}

	mu      sync.Mutex // guards what follows, and with it the actor's log
	log     *history.Actor
	call    int
	seen    Seen
	unheard unheard
	changed chan struct{} // closed when seen changes; nil while nobody waits
}

// StreamOption changes how a subscription behaves.
type StreamOption func(*Stream)

// WithoutPong leaves the peer's Pings unanswered.
func WithoutPong() StreamOption { return func(s *Stream) { s.silent = true } }

// Paused opens a subscription that does not read until Resume.
func Paused() StreamOption { return (*Stream).Pause }

// Subscribe opens a bidirectional subscription. It lasts until it ends, or ctx
// does. It is native gRPC also in a session of gRPC-Web, which has no such calls.
func (s *Session) Subscribe(ctx context.Context, actor string, options ...StreamOption) (*Stream, error) {
	return s.stream(ctx, actor, &rules.Call{Method: rules.MethodSubscribe}, options, func(w *wire.Client) *wire.Stream {
		return w.Subscribe(ctx, s.headers...)
	})
}

// SubscribeStatic opens a static subscription to topics. It lasts until it ends,
// or ctx does.
func (s *Session) SubscribeStatic(ctx context.Context, actor string, reads []rules.Read, options ...StreamOption) (*Stream, error) {
	c := rules.StaticCall{Entries: s.ask(reads)}
	request := craft.StaticRequest(c)
	call := &rules.Call{Method: rules.MethodStatic, Static: &c, WireLen: len(request), CanonicalLen: len(request)}
	return s.stream(ctx, actor, call, options, func(w *wire.Client) *wire.Stream {
		return w.SubscribeStatic(ctx, request, s.headers...)
	})
}

func (s *Session) stream(ctx context.Context, actor string, c *rules.Call, options []StreamOption, open func(*wire.Client) *wire.Stream) (*Stream, error) {
	if err := s.client.wait(ctx); err != nil {
		return nil, fmt.Errorf("wait for the rate: %w", err)
	}
	w, err := s.carrier(actor)
	if err != nil {
		return nil, err
	}
	if c.Headers = s.headerNames(); c.Method != rules.MethodSubscribe {
		c.Web = w.Web()
	}
	if err := announce(ctx, c); err != nil {
		return nil, err
	}
	t := &Stream{session: s, actor: actor, log: s.recorder.Actor(actor), done: make(chan struct{}), seen: newSeen()}
	if err := s.streams.add(t); err != nil {
		return nil, err
	}
	t.call = t.log.Invoke(c)
	t.wire = open(w)
	for _, o := range options {
		o(t)
	}
	go t.read()
	return t, nil
}

// read records what comes in until the call is over.
func (t *Stream) read() {
	defer close(t.done)
	for r := t.wire.Next(); r != nil; r = t.wire.Next() {
		t.mu.Lock()
		t.log.Receive(t.call, r)
		t.seen.add(r)
		t.tell()
		if r.Ping != nil && !t.silent {
			// It fails when nothing can be sent any more, which is as good as an
			// answer that does not arrive.
			_ = t.post(&rules.Request{Pong: r.Ping})
		}
		t.mu.Unlock()
	}
	end := t.wire.End()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log.Return(t.call, &end)
	t.session.streams.remove(t)
	t.seen.End = &end
	t.tell()
}

// tell wakes whoever waits; it wants mu held.
func (t *Stream) tell() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// post records frames and hands them over in one piece; it wants mu held.
func (t *Stream) post(frames ...*rules.Request) error {
	messages := make([][]byte, len(frames))
	for i, f := range frames {
		messages[i] = craft.SubscribeRequest(*f)
		f.WireLen = len(messages[i])
	}
	return t.wire.Post(func() {
		for _, f := range frames {
			t.log.Send(t.call, f)
		}
	}, messages...)
}

func (t *Stream) send(what string, do func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen.End != nil {
		return t.ended(what)
	}
	err := do()
	switch {
	case errors.Is(err, wire.ErrEnded):
		return t.ended(what)
	case err != nil:
		return fmt.Errorf("%s on the subscription of %s: %w", what, t.actor, err)
	}
	return nil
}

// NewUpdate makes an update frame, for Burst.
func (t *Stream) NewUpdate(id uint64, adds, removes []rules.Read) *rules.Request {
	return &rules.Request{Update: &rules.Update{ID: id, Adds: t.session.ask(adds), Removes: t.session.ask(removes)}}
}

// NewPing makes a ping frame, for Burst.
func NewPing(nonce uint64) *rules.Request { return &rules.Request{Ping: &nonce} }

// Update sends an update and returns when it has left. A read of removes says
// which topic, and its flaw; its cursor says nothing.
func (t *Stream) Update(ctx context.Context, id uint64, adds, removes []rules.Read) error {
	return t.Burst(ctx, t.NewUpdate(id, adds, removes))
}

// Burst sends frames in one breath and returns when they have left, or when the
// call has ended meanwhile, which is no error: it may be their effect. The run's
// rate counts them as one.
func (t *Stream) Burst(ctx context.Context, frames ...*rules.Request) error {
	if err := t.session.client.wait(ctx); err != nil {
		return fmt.Errorf("wait for the rate: %w", err)
	}
	if err := announceFrames(ctx, frames); err != nil {
		return err
	}
	if err := t.send("send", func() error { return t.post(frames...) }); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, t.session.patience())
	defer cancel()
	if err := t.wire.Left(bounded); err != nil && !errors.Is(err, wire.ErrEnded) {
		return fmt.Errorf("send on the subscription of %s: %w", t.actor, err)
	}
	return nil
}

func (t *Stream) frame(f *rules.Request) error {
	return t.send("send", func() error { return t.post(f) })
}

// Ping sends a Ping and does not wait for it to leave.
func (t *Stream) Ping(nonce uint64) error { return t.frame(NewPing(nonce)) }

// Pong sends a Pong and does not wait for it to leave.
func (t *Stream) Pong(nonce uint64) error { return t.frame(&rules.Request{Pong: &nonce}) }

// Empty sends a frame that sets no alternative (API-106).
func (t *Stream) Empty() error { return t.frame(&rules.Request{}) }

// CloseSend ends the sending side behind the frames sent so far (API-108).
func (t *Stream) CloseSend() error {
	return t.send("half-close", func() error {
		return t.wire.CloseSend(func() { t.log.Send(t.call, &rules.Request{Close: true}) })
	})
}

// Cancel ends the call and waits until the history has its end. It does nothing
// to a call that has ended.
func (t *Stream) Cancel() {
	t.mu.Lock()
	if t.seen.End == nil && !t.seen.Cancelled {
		t.seen.Cancelled = true
		t.log.Send(t.call, &rules.Request{Cancel: true})
		t.wire.Cancel()
	}
	t.mu.Unlock()
	<-t.done
}

// Pause stops reading, until flow control holds the peer back. A frame on its way
// may still be seen.
func (t *Stream) Pause() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen.End == nil {
		t.log.Send(t.call, &rules.Request{Pause: true})
	}
	t.wire.Pause()
}

// Resume reads on.
func (t *Stream) Resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen.End == nil {
		t.log.Send(t.call, &rules.Request{Resume: true})
	}
	t.wire.Resume()
}

// Actor is whose subscription it is.
func (t *Stream) Actor() string { return t.actor }

// Look calls f with what the subscription has seen so far. f must not keep it.
func (t *Stream) Look(f func(*Seen)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.seen)
}

// Ended is the error of somebody who waits for something on a subscription that
// is over without it, or sends on one.
type Ended struct {
	Actor, What string
	// Return is how it ended, nil when that has not been read yet.
	Return *rules.Return
}

func (e *Ended) Error() string {
	if e.Return == nil {
		return fmt.Sprintf("%s: the subscription of %s has ended", e.What, e.Actor)
	}
	how := string(e.Return.Lost)
	switch {
	case e.Return.Garbled != "":
		how = e.Return.Garbled
	case how == "":
		how = fmt.Sprintf("%s (%q)", e.Return.Code, e.Return.Text)
	}
	return fmt.Sprintf("%s: the subscription of %s has ended: %s", e.What, e.Actor, how)
}

// Overdue is the error of somebody who waits for something on a subscription
// that goes on without it.
type Overdue struct {
	Actor, What string
	After       time.Duration
}

func (o *Overdue) Error() string {
	return fmt.Sprintf("%s: not seen on the subscription of %s within %s", o.What, o.Actor, o.After)
}

func (t *Stream) ended(what string) error {
	return &Ended{Actor: t.actor, What: what, Return: t.seen.End}
}

// Await waits until cond holds of what the subscription has seen, and says what it
// waits for. Its error is *Ended when the subscription ended without it and
// *Overdue when it did not come within the session's timeout; or else the cause
// why ctx ended. cond is called with the subscription locked: it must be quick and
// call nothing of it.
func (t *Stream) Await(ctx context.Context, what string, cond func(*Seen) bool) error {
	return t.await(ctx, t.session.patience(), what, nil, cond)
}

// await is Await with a patience of its own. When the wait is in vain and awaited is
// not nil, it goes into the history: beside a sign of life it may tell something.
func (t *Stream) await(ctx context.Context, patience time.Duration, what string, awaited *rules.Awaited, cond func(*Seen) bool) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		t.mu.Lock()
		if cond(&t.seen) {
			t.mu.Unlock()
			return nil
		}
		if t.seen.End != nil {
			defer t.mu.Unlock()
			return t.ended(what)
		}
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
			t.mu.Lock()
			if awaited != nil && t.seen.End == nil {
				awaited.Stream, awaited.WaitedMS = t.call, uint64(patience.Milliseconds())
				t.log.Mark(awaited)
			}
			t.mu.Unlock()
			return &Overdue{Actor: t.actor, What: what, After: patience}
		case <-ctx.Done():
			return fmt.Errorf("%s on the subscription of %s: %w", what, t.actor, context.Cause(ctx))
		}
	}
}

// AwaitStarted waits for the first Started.
func (t *Stream) AwaitStarted(ctx context.Context) (rules.Started, error) {
	var out rules.Started
	err := t.await(ctx, t.session.patience(), "Started", &rules.Awaited{Started: true}, func(s *Seen) bool {
		if s.Started != nil {
			out = *s.Started
		}
		return s.Started != nil
	})
	return out, err
}

// AwaitApplied waits for the Applied of an update.
func (t *Stream) AwaitApplied(ctx context.Context, id uint64) (rules.Applied, error) {
	var out rules.Applied
	err := t.await(ctx, t.session.patience(), fmt.Sprintf("Applied %d", id), &rules.Awaited{Applied: &id}, func(s *Seen) bool {
		if a := s.Applied[id]; a != nil {
			out = *a
			return true
		}
		return false
	})
	return out, err
}

// AwaitRows waits for at least n rows in all.
func (t *Stream) AwaitRows(ctx context.Context, n int) error {
	return t.Await(ctx, fmt.Sprintf("%d rows", n), func(s *Seen) bool { return s.Rows >= n })
}

// AwaitThrough waits for a row of the topic with the sequence id or a higher one.
func (t *Stream) AwaitThrough(ctx context.Context, l rules.Log, sequence uint64) error {
	topic := t.session.Topic(l)
	row := &rules.Awaited{Row: &rules.Target{HasTopic: true, Topic: topic, Through: sequence}}
	return t.await(ctx, t.session.patience(), fmt.Sprintf("%s through %d", l, sequence), row, func(s *Seen) bool { return s.Through[topic] >= sequence })
}

// AwaitPong waits for a Pong with the nonce.
func (t *Stream) AwaitPong(ctx context.Context, nonce uint64) error {
	return t.await(ctx, t.session.patience(), fmt.Sprintf("Pong %d", nonce), &rules.Awaited{Pong: &nonce}, func(s *Seen) bool { return s.Pongs[nonce] > 0 })
}

// AwaitEnd waits for the end of the call, whatever it is.
func (t *Stream) AwaitEnd(ctx context.Context) (rules.Return, error) {
	var out rules.Return
	err := t.await(ctx, t.session.patience(), "the end", &rules.Awaited{End: true}, func(s *Seen) bool {
		if s.End != nil {
			out = *s.End
		}
		return s.End != nil
	})
	return out, err
}
