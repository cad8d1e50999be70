package gate

import (
	"assay/harness/gate/wire"
)

// answers is what the direction from the server keeps between messages. It
// belongs to one goroutine.
type answers struct {
	// unit is the one being answered, nil when nobody looks at it.
	unit *unit
	// waits says that its answer is kept until holds let go, ending that it was
	// too long for that and only its end is kept.
	waits, ending bool
	kept          []byte
}

// unit is what the server answers at once.
type unit struct {
	seq     uint64
	entries []*Entry // under the gate's lock

	// Under the session's lock.
	after    []match
	executes int  // statements that the server was given
	closed   bool // no more will come

	// Of the direction from the server.
	completed int
	stopped   bool
}

var (
	idleAnswers    = wire.Want(wire.ReadyForQuery, wire.BackendKeyData)
	watchedAnswers = wire.Want(wire.ReadyForQuery, wire.BackendKeyData, wire.CommandComplete, wire.ErrorResponse, wire.EmptyQuery, wire.PortalSuspended)
)

// answer carries what the server sends until it cannot be read.
func (s *session) answer() error {
	b, free := s.buffer(bodyLimit)
	defer free()
	for {
		if err := s.look(b); err != nil {
			return err
		}
		if err := s.give(b); err != nil {
			return err
		}
		n, err := s.server.Read(b.Room())
		b.Filled(n)
		if err != nil {
			return err
		}
	}
}

// give passes on what was looked at, or keeps it while it has to wait.
func (s *session) give(b *wire.Buffer) error {
	a := &s.answers
	if a.waits {
		a.kept = append(a.kept, b.Waiting()...)
		b.Passed()
		if len(a.kept) <= answerLimit {
			return nil
		}
		a.waits, a.ending = false, true
	}
	return s.release(b)
}

// release passes on what was kept and what was looked at.
func (s *session) release(b *wire.Buffer) error {
	a := &s.answers
	bytes := b.Waiting()
	if len(a.kept) > 0 {
		a.kept = append(a.kept, bytes...)
		bytes, a.kept = a.kept, a.kept[:0]
	}
	err := s.toClient(bytes)
	b.Passed()
	return err
}

// current is the unit that the server is answering, nil when it is not looked
// at.
func (s *session) current() *unit {
	if s.looked.Load() == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.units) > 0 && s.units[0].seq == s.done.Load()+1 {
		return s.units[0]
	}
	return nil
}

// look finds out what has come.
func (s *session) look(b *wire.Buffer) error {
	a := &s.answers
	for {
		u := s.current()
		if u != a.unit {
			if err := s.release(b); err != nil {
				return err
			}
			*a = answers{unit: u, kept: a.kept}
		}
		wanted := idleAnswers
		if s.unbound && s.done.Load() == 0 {
			wanted = loginAnswers
		}
		if u != nil {
			wanted = watchedAnswers
			s.mu.Lock()
			a.waits = a.waits || len(u.after) > 0 && !a.ending && !u.stopped
			s.mu.Unlock()
		}
		m, ok, err := b.Next(wanted)
		if !ok {
			return err
		}
		switch m.Kind {
		case wire.Authentication:
			if err := s.offer(m, b); err != nil {
				return err
			}
		case wire.BackendKeyData:
			if pid, ok := wire.ReadProcess(m.Body); ok {
				s.pid.Store(pid)
			}
		case wire.CopyInResponse:
			// While it copies, the server overlooks Sync: the one that it was
			// sent is answered with the next.
			if u := s.done.Load() + 1; s.sent.Load() == u {
				s.reopened.Store(true)
			}
		}
		if u != nil {
			if err := s.follow(u, m, b); err != nil {
				return err
			}
		}
		if m.Kind == wire.ReadyForQuery {
			if len(m.Body) > 0 {
				s.status.Store(uint32(m.Body[0]))
			}
			s.done.Add(1)
		}
	}
}

// follow notes how a unit's answer goes, and stops the session where that was
// asked for.
func (s *session) follow(u *unit, m wire.Message, b *wire.Buffer) error {
	a := &s.answers
	switch m.Kind {
	case wire.CopyInResponse, wire.CopyBothResponse:
		// The statement ends only when the client has sent its data.
		a.waits = false
		return s.release(b)
	case wire.CommandComplete, wire.ErrorResponse, wire.EmptyQuery, wire.PortalSuspended:
		s.gate.answered(u, u.completed, m)
		u.completed++
	case wire.ReadyForQuery:
		s.gate.finished(u, m.Body)
	default:
		return nil
	}
	if a.ending && !a.waits && !m.Short {
		before, message := b.Last(len(m.Body))
		err := s.toClient(before)
		a.waits, a.kept = true, append(a.kept[:0], message...)
		b.Passed()
		if err != nil {
			return err
		}
	}
	s.mu.Lock()
	last := m.Kind == wire.ReadyForQuery
	due := !u.stopped && (last || !u.closed && u.completed >= u.executes)
	after := u.after
	u.stopped = u.stopped || due && len(after) > 0
	if last {
		s.units = s.units[1:]
		s.looked.Add(-1)
	}
	s.mu.Unlock()
	if due && len(after) > 0 {
		a.kept = append(a.kept, b.Waiting()...)
		b.Passed()
		quit := s.lookAhead(s.server, &s.serverCut, b)
		goesOn := s.stop(after, u, After)
		quit()
		if !goesOn {
			<-s.ended
			return s.cause
		}
		a.waits, a.ending = false, false
		if err := s.release(b); err != nil {
			return err
		}
	}
	if last {
		s.gate.replied(u)
	}
	return nil
}
