package gate

import (
	"assay/harness/gate/wire"
)

// requests is what the direction from the client keeps between messages. It
// belongs to one goroutine.
type requests struct {
	memory wire.Memory
	// inUnit says that a unit has begun, watched that it is looked at.
	inUnit, watched bool
	// piece are the statements of the unit that are not passed on yet.
	piece []wire.Execution
	// early is a unit of which a part was passed on by a Flush; nil for none.
	early *unit
	place place
}

var (
	idleRequests    = wire.Want(wire.Parse, wire.Close)
	watchedRequests = wire.Want(wire.Parse, wire.Close, wire.Bind, wire.Execute, wire.Query, wire.FunctionCall)
)

// pass carries what the client sends until it cannot be read.
func (s *session) pass() error {
	b, free := s.buffer(unitLimit)
	defer free()
	for {
		if err := s.request(b); err != nil {
			return err
		}
		// What is kept decides together with what is yet to come.
		if r := &s.requests; !r.watched || !r.inUnit || len(b.Waiting()) > unitLimit {
			if err := s.forward(b, false); err != nil {
				return err
			}
		}
		n, err := s.client.Read(b.Room())
		b.Filled(n)
		if err != nil {
			return err
		}
	}
}

// request looks at what has come, and forwards each unit as it is complete.
func (s *session) request(b *wire.Buffer) error {
	r := &s.requests
	for {
		if !r.inUnit {
			r.watched = s.gate.watching.Load() > 0
		}
		wanted := idleRequests
		if r.watched {
			wanted = watchedRequests
		}
		m, ok, err := b.Next(wanted)
		if !ok {
			return err
		}
		if r.watched {
			if x, runs := r.memory.Collect(m.Kind, m.Body, m.Short); runs {
				r.piece = append(r.piece, x)
			}
		} else {
			r.memory.Note(m.Kind, m.Body)
		}
		switch m.Kind {
		case wire.Parse, wire.Bind, wire.Describe, wire.Execute, wire.Close:
			r.inUnit = true
			s.reopened.Store(false)
		case wire.Flush:
			if r.watched {
				err = s.forward(b, false)
			}
		case wire.Sync:
			r.inUnit = false
			if s.reopened.CompareAndSwap(true, false) {
				break // COPY has ended, and with it a unit that was counted
			}
			err = s.close(b)
		case wire.Query, wire.FunctionCall:
			r.inUnit = false
			s.reopened.Store(false)
			err = s.close(b)
		}
		if err != nil {
			return err
		}
	}
}

// close ends a unit: the server will answer it.
func (s *session) close(b *wire.Buffer) error {
	r := &s.requests
	if r.watched && (len(r.piece) > 0 || r.early != nil) {
		return s.forward(b, true)
	}
	if sent := s.sent.Add(1); r.watched && r.place.seen == sent-1 {
		// It was looked at, and ran nothing: a statement was prepared.
		r.place.seen = sent
	}
	return nil
}

// forward passes on what waits, when every hold on it has let go.
func (s *session) forward(b *wire.Buffer, closes bool) error {
	r := &s.requests
	if len(r.piece) == 0 && (r.early == nil || !closes) {
		r.memory.Passed()
		if err := s.toServer(b.Waiting()); err != nil {
			return err
		}
		b.Passed()
		return nil
	}
	u, known := r.early, r.early != nil
	if !known {
		u = &unit{seq: s.sent.Load() + 1}
	}
	executes := len(r.piece)
	seen, before := s.gate.decide(s, u, r.piece)
	clear(r.piece)
	r.piece = r.piece[:0]
	r.memory.Passed()
	if len(before) > 0 {
		quit := s.lookAhead(s.client, &s.clientCut, b)
		goesOn := s.stop(before, u, Before)
		quit()
		if !goesOn {
			<-s.ended
			return s.cause
		}
	}
	after := s.gate.sent(s, u, seen)

	s.mu.Lock()
	u.after = append(u.after, after...)
	u.executes += executes
	u.closed = closes
	if !known {
		s.units = append(s.units, u)
		s.looked.Add(1)
	}
	s.mu.Unlock()
	if r.early = u; closes {
		r.early = nil
		s.sent.Add(1)
	}
	if err := s.toServer(b.Waiting()); err != nil {
		return err
	}
	b.Passed()
	return nil
}
