package mutants

import (
	"time"

	"google.golang.org/protobuf/proto"

	"assay/impl/backend"
	"assay/impl/backend/stream"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// streams are the parts of the subscription service.
func streams(p *backend.Parts) *stream.Service { return p.Subscription.(*stream.Service) }

// layer is put around one session. Either function may be nil.
type layer struct {
	// event replaces an event by others, in their order.
	event func(stream.Event) []stream.Event
	// effects changes what an event led to. A Send without a Frame is dropped,
	// and one without a Size is a frame that the session does not know of.
	effects func(stream.Event, []stream.Effect) []stream.Effect
}

// aroundSessions puts a layer around every session; each gets its own.
func aroundSessions(p *backend.Parts, make func(stream.Settings) layer) {
	s := streams(p)
	inner := s.Session
	s.Session = func(settings stream.Settings) stream.Machine {
		return &layered{inner: inner(settings), layer: make(settings)}
	}
}

// layered is a session with a layer around it. It keeps the session's account of
// its queue right, whatever the layer does to frames.
type layered struct {
	inner stream.Machine
	layer layer
	// queued are the frames that the transport has not taken.
	queued []stream.Send
	now    time.Time
}

func (l *layered) Step(now time.Time, e stream.Event) []stream.Effect {
	l.now = now
	if taken, ok := e.(stream.Taken); ok {
		e = l.taken(taken)
	}
	events := []stream.Event{e}
	if _, closed := e.(stream.Closed); !closed && l.layer.event != nil {
		events = l.layer.event(e)
	}
	var out []stream.Effect
	for len(events) > 0 {
		e = events[0]
		events = events[1:]
		effects := l.inner.Step(now, e)
		if l.layer.effects != nil {
			effects = l.layer.effects(e, effects)
		}
		for _, f := range effects {
			send, ok := f.(stream.Send)
			if ok && send.Frame == nil {
				events = append(events, stream.Taken{Frames: 1, Bytes: send.Size})
				continue
			}
			if ok {
				l.queued = append(l.queued, send)
			}
			out = append(out, f)
		}
	}
	return out
}

// taken leaves out of an account what the session does not know of.
func (l *layered) taken(t stream.Taken) stream.Taken {
	n := min(t.Frames, len(l.queued))
	for _, s := range l.queued[:n] {
		if s.Size == 0 {
			t.Frames--
		}
	}
	l.queued = l.queued[n:]
	return t
}

// aroundFrames replaces each frame for a client by others: none, or some in
// their order.
func aroundFrames(p *backend.Parts, make func() func(stream.Frame) []stream.Frame) {
	aroundSessions(p, func(stream.Settings) layer {
		replace := make()
		return layer{effects: func(_ stream.Event, effects []stream.Effect) []stream.Effect {
			var out []stream.Effect
			for _, e := range effects {
				send, ok := e.(stream.Send)
				if !ok {
					out = append(out, e)
					continue
				}
				frames := replace(send.Frame)
				if len(frames) == 0 {
					frames = []stream.Frame{nil}
				}
				out = append(out, stream.Send{Frame: frames[0], Size: send.Size})
				for _, f := range frames[1:] {
					out = append(out, stream.Send{Frame: f})
				}
			}
			return out
		}}
	})
}

// afterFrame changes each frame.
func afterFrame(p *backend.Parts, change func(stream.Frame) stream.Frame) {
	aroundFrames(p, func() func(stream.Frame) []stream.Frame {
		return func(f stream.Frame) []stream.Frame { return []stream.Frame{change(f)} }
	})
}

// aroundEvents replaces each event of a session by others.
func aroundEvents(p *backend.Parts, make func(stream.Settings) func(stream.Event) []stream.Event) {
	aroundSessions(p, func(s stream.Settings) layer { return layer{event: make(s)} })
}

// aroundUpdates changes each update of a client before the session looks at it.
// change gets a copy.
func aroundUpdates(p *backend.Parts, make func() func(*backendv1.SubscribeRequest_Update)) {
	aroundEvents(p, func(stream.Settings) func(stream.Event) []stream.Event {
		change := make()
		return func(e stream.Event) []stream.Event {
			received, ok := e.(stream.Received)
			if !ok || received.Frame.GetUpdate() == nil {
				return []stream.Event{e}
			}
			frame := proto.Clone(received.Frame).(*backendv1.SubscribeRequest)
			change(frame.GetUpdate())
			return []stream.Event{stream.Received{Frame: frame}}
		}
	})
}

// aroundStatic changes the request of a static stream. change gets a copy.
func aroundStatic(p *backend.Parts, change func(*backendv1.SubscribeStaticRequest)) {
	aroundEvents(p, func(stream.Settings) func(stream.Event) []stream.Event {
		return func(e stream.Event) []stream.Event {
			opened, ok := e.(stream.Opened)
			if !ok || opened.Static == nil {
				return []stream.Event{e}
			}
			opened.Static = proto.Clone(opened.Static).(*backendv1.SubscribeStaticRequest)
			change(opened.Static)
			return []stream.Event{opened}
		}
	})
}

// withLimits has sessions use other limits than those of the configuration.
func withLimits(p *backend.Parts, change func(*stream.Settings)) {
	s := streams(p)
	inner := s.Session
	s.Session = func(settings stream.Settings) stream.Machine {
		change(&settings)
		return inner(settings)
	}
}

// keepRows leaves in every Messages frame the rows that keep says.
func keepRows(p *backend.Parts, make func() func(stream.Row) bool) {
	aroundFrames(p, func() func(stream.Frame) []stream.Frame {
		keep := make()
		return func(f stream.Frame) []stream.Frame {
			m, ok := f.(stream.Messages)
			if !ok {
				return []stream.Frame{f}
			}
			var rows []stream.Row
			for _, r := range m.Rows {
				if keep(r) {
					rows = append(rows, r)
				}
			}
			if len(rows) == 0 {
				return nil
			}
			return []stream.Frame{stream.Messages{Rows: rows}}
		}
	})
}

// wireTopicOf is the topic of an add or a remove.
func wireTopicOf(t *backendv1.Topic) backend.Topic { return backend.Topic(t.GetTopic()) }
