package stream

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"

	"assay/impl/backend"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Machine is a session as its driver sees it. Step takes what happened at a time
// and returns what is to be done; times never go backwards. After End only Closed
// follows.
type Machine interface {
	Step(now time.Time, e Event) []Effect
}

// Session is the machine of the specification. Make one with NewSession.
type Session struct {
	settings Settings
	static   bool
	effects  []Effect

	// active has the registrations of the stream by topic.
	active map[backend.Topic]*registration
	// history has those that wait for their turn, in its order.
	history history
	// reading are the registrations of the page read in flight, nil for none.
	reading []reading

	updates, pings bucket
	// lastID is the id of the newest update that was accepted (API-093).
	lastID uint64
	// pending is the update whose heads are being read; updates behind it wait,
	// in their order.
	pending      *change
	waiting      []*backendv1.SubscribeRequest_Update
	waitingBytes int

	// queued is what the transport has not taken.
	queuedFrames, queuedBytes int
	idleAt, wakeAt            time.Time
	ping                      ping

	// closing says that the client half-closed: what was accepted is answered,
	// and nothing more is delivered.
	closing bool
	ended   bool
}

// registration is a topic on the stream, from its Applied to its removal.
type registration struct {
	topic backend.Topic
	// position is the id up to which nothing more is owed: the client's cursor
	// at first, and then the newest envelope that was queued. It only rises
	// (API-095).
	position int64
	// mark is the highest id that is known to exist: the head, or what the feed
	// told of since.
	mark  int64
	phase phase
}

// phase is how far a registration is.
type phase uint8

const (
	// unanswered: its Applied is not queued, so nothing may be sent of it.
	unanswered phase = iota
	// behind: history is read up to its mark.
	behind
	// current: what arrives is delivered at once.
	current
	// removed: nothing may be sent of it any more.
	removed
)

// change is an update that was accepted.
type change struct {
	id  uint64
	new []*registration
}

// NewSession returns a session that has not been opened.
func NewSession(s Settings) Machine {
	return &Session{settings: s, active: make(map[backend.Topic]*registration)}
}

// Step implements [Machine].
func (s *Session) Step(now time.Time, e Event) []Effect {
	s.effects = nil
	if _, ok := e.(Closed); ok {
		s.leave()
		s.ended = true
		return s.effects
	}
	if s.ended {
		return nil
	}
	switch e := e.(type) {
	case Opened:
		s.open(now, e)
	case Received:
		s.receive(now, e.Frame)
	case HalfClosed:
		s.halfClose()
	case HeadsRead:
		s.headsRead(now, e)
	case PageRead:
		s.pageRead(now, e)
	case Moved:
		s.moved(e)
	case Arrived:
		s.arrived(now, e.Rows)
	case Taken:
		s.taken(now, e)
	case Due:
		s.due(now)
	case FeedLost:
		s.fail(codes.Unavailable, "the database is not available")
	}
	s.turn()
	s.finish()
	s.wake()
	return s.effects
}

// open starts the stream: Started goes out before anything comes in (API-090).
func (s *Session) open(now time.Time, e Opened) {
	l := &s.settings.Limits
	s.updates = newBucket(l.MaxUpdateBurst, l.MaxUpdateFramesPerSecond, now)
	s.pings = newBucket(l.MaxPingBurst, l.MaxPingFramesPerSecond, now)
	if e.Static == nil {
		s.send(now, Started{KeepaliveMS: s.settings.Streams.KeepaliveIntervalMS})
		return
	}
	s.static = true
	s.openStatic(now, e.Static)
}

// receive takes one frame of the client.
func (s *Session) receive(now time.Time, frame *backendv1.SubscribeRequest) {
	switch request := frame.GetRequest().(type) {
	case *backendv1.SubscribeRequest_Update_:
		// The token is taken first: a frame that is refused costs one as well.
		if !s.updates.take(now) {
			s.fail(codes.ResourceExhausted, "update frames come faster than %d a second", s.settings.Limits.MaxUpdateFramesPerSecond)
			return
		}
		s.update(now, request.Update)
	case *backendv1.SubscribeRequest_Ping:
		if !s.pings.take(now) {
			s.fail(codes.ResourceExhausted, "ping frames come faster than %d a second", s.settings.Limits.MaxPingFramesPerSecond)
			return
		}
		s.send(now, Pong{Nonce: request.Ping.GetNonce()})
	case *backendv1.SubscribeRequest_Pong:
		s.ping.answered(request.Pong.GetNonce())
	default:
		s.fail(codes.InvalidArgument, "the frame is none of update, ping and pong")
	}
}

// halfClose ends the session once what was accepted has been answered (API-108).
func (s *Session) halfClose() {
	s.closing = true
	s.leave()
}

// leave ends every registration.
func (s *Session) leave() {
	var topics []backend.Topic
	for t, r := range s.active {
		if r.phase != removed {
			topics = append(topics, t)
			r.phase = removed
		}
	}
	if len(topics) > 0 {
		s.do(Unregister{Topics: topics})
	}
}

// finish ends a session that was half-closed when nothing is left to send.
func (s *Session) finish() {
	if s.closing && !s.ended && s.pending == nil && len(s.waiting) == 0 && s.queuedFrames == 0 {
		s.end(nil)
	}
}

// send queues a frame, if there is room for it.
func (s *Session) send(now time.Time, f Frame) {
	if s.ended {
		return
	}
	size := Encode(f, s.static).Size()
	if uint64(size) > s.settings.Limits.MaxResponseBytes {
		s.fail(codes.ResourceExhausted, "a frame of %d bytes is more than the %d that a response may have", size, s.settings.Limits.MaxResponseBytes)
		return
	}
	if !s.room(f, size) {
		s.fail(codes.ResourceExhausted, "the client reads too slowly: %d frames of %d bytes wait for it", s.queuedFrames, s.queuedBytes)
		return
	}
	s.queuedFrames++
	s.queuedBytes += size
	s.idleAt = now.Add(s.settings.keepalive())
	s.do(Send{Frame: f, Size: size})
}

// room says whether a frame of size bytes may be queued. One frame always may,
// and answers have places of their own for a burst of each bucket: a client that
// reads and keeps to its buckets never finds the queue full.
func (s *Session) room(f Frame, size int) bool {
	frames := queueFrames
	if _, messages := f.(Messages); !messages {
		frames += int(s.settings.Limits.MaxUpdateBurst) + int(s.settings.Limits.MaxPingBurst)
	}
	return s.queuedFrames == 0 || s.queuedFrames < frames && s.queuedBytes+size <= queueBytes
}

// taken notes what left the queue.
func (s *Session) taken(now time.Time, e Taken) {
	s.queuedFrames -= e.Frames
	s.queuedBytes -= e.Bytes
	s.idleAt = now.Add(s.settings.keepalive())
	if e.Ping {
		s.ping.taken(now.Add(s.settings.pongWait()))
	}
	s.next(now)
}

// fail ends the stream with an error. The client gets it at once: frames that
// are still queued are lost.
func (s *Session) fail(code codes.Code, format string, args ...any) {
	s.end(&backend.Refusal{Code: code, Index: backend.WholeRequest, Text: fmt.Sprintf(format, args...)})
}

func (s *Session) end(err error) {
	if s.ended {
		return
	}
	s.ended = true
	s.do(End{Err: err})
}

func (s *Session) do(e Effect) { s.effects = append(s.effects, e) }
