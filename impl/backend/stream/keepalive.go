package stream

import (
	"time"

	"google.golang.org/grpc/codes"
)

// ping is the server's Ping; at most one waits for its Pong (API-099).
type ping struct {
	nonce uint64
	open  bool
	// deadline is when the Pong is overdue; zero until the transport took the
	// Ping: a client cannot answer what it cannot read.
	deadline time.Time
}

func (p *ping) taken(deadline time.Time) {
	if p.open {
		p.deadline = deadline
	}
}

// answered notes a Pong. One that nobody asked for is ignored.
func (p *ping) answered(nonce uint64) {
	if p.open && nonce == p.nonce {
		p.open, p.deadline = false, time.Time{}
	}
}

// due looks which deadline is over.
func (s *Session) due(now time.Time) {
	s.wakeAt = time.Time{}
	if d := s.ping.deadline; !d.IsZero() && !now.Before(d) {
		s.fail(codes.DeadlineExceeded, "no pong came within %v of the ping %d", s.settings.pongWait(), s.ping.nonce)
		return
	}
	if s.idleAt.IsZero() || now.Before(s.idleAt) {
		return
	}
	s.idleAt = now.Add(s.settings.keepalive())
	switch {
	case s.closing || s.queuedFrames > 0:
		// What waits to be sent shows life once it can be.
	case s.static:
		s.send(now, Keepalive{})
	case !s.ping.open:
		s.ping.nonce++
		s.ping.open = true
		s.send(now, Ping{Nonce: s.ping.nonce})
	}
}

// wake asks for the next deadline, if it is before the one asked for. Most
// frames only move the idle deadline away, and that costs nothing: the old one
// comes, finds nothing over, and asks for the new one.
func (s *Session) wake() {
	if s.ended {
		return
	}
	next := s.idleAt
	if d := s.ping.deadline; !d.IsZero() && (next.IsZero() || d.Before(next)) {
		next = d
	}
	if next.IsZero() || !s.wakeAt.IsZero() && !next.Before(s.wakeAt) {
		return
	}
	s.wakeAt = next
	s.do(Wake{At: next})
}
