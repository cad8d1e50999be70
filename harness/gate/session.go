package gate

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"assay/harness/gate/wire"
)

const (
	// bufferSize is what each direction of a session reads at once, in bytes.
	bufferSize = 32 << 10
	// unitLimit bounds what is kept of a unit that may be held, and of one
	// message in it: above it, the unit's beginning decides.
	unitLimit = 16 << 20
	// answerLimit bounds what is kept of an answer that waits: above it, the
	// rows flow and only the end waits.
	answerLimit = 1 << 20
	// aheadLimit bounds what is read from somebody who is made to wait.
	aheadLimit = 1 << 20
	// bodyLimit bounds how much of an answer's message is looked at.
	bodyLimit = 4 << 10
)

var (
	errCut       = errors.New("cut by a hold")
	errGateEnded = errors.New("the gate ended")
)

// session is one client's connection and the server's behind it. Two goroutines
// serve it, one for each direction.
type session struct {
	gate                        *Gate
	id                          uint64
	client, server              net.Conn
	user, database, application string
	pid                         atomic.Uint32
	unbound                     bool // see there

	ended chan struct{}
	once  sync.Once
	cause error // why it ended, once ended is closed

	// clientCut and serverCut say that an end was closed on purpose while the
	// other stays.
	clientCut, serverCut atomic.Bool

	// sent counts the units that the server was asked to answer, done those
	// that it has. The startup is the first.
	sent, done atomic.Uint64
	// status is the server's last word on whether a transaction is open.
	status atomic.Uint32
	// reopened says that COPY has eaten the Sync of the latest unit: the next
	// one belongs to it too.
	reopened atomic.Bool
	// looked counts the units in units.
	looked atomic.Int32

	mu    sync.Mutex
	units []*unit // that are looked at and not yet answered, in order

	requests requests
	answers  answers
}

func (s *session) describe() Session {
	return Session{ID: s.id, PID: s.pid.Load(), User: s.user, Database: s.database, Application: s.application}
}

// run serves the session until one side has gone, both have been told, and
// nothing of it is left.
func (s *session) run() {
	s.gate.enter(s)
	defer s.gate.leave(s)
	stop := context.AfterFunc(s.gate.ending, func() { s.end(errGateEnded) })
	defer stop()
	s.sent.Store(1)
	s.status.Store('I')
	var directions sync.WaitGroup
	directions.Go(func() { s.lost(&s.clientCut, s.pass()) })
	directions.Go(func() { s.lost(&s.serverCut, s.answer()) })
	directions.Wait()
	<-s.ended
	if !errors.Is(s.cause, io.EOF) && !errors.Is(s.cause, net.ErrClosed) {
		s.gate.log.Debug("gate: a session ended", "session", s.id, "cause", s.cause)
	}
}

// end closes both connections, which ends both directions.
func (s *session) end(cause error) {
	s.once.Do(func() {
		s.cause = cause
		close(s.ended)
		// A close of TLS says good-bye, which must not wait for a peer that
		// does not read.
		past := time.Unix(1, 0)
		_, _ = s.client.SetWriteDeadline(past), s.server.SetWriteDeadline(past)
		_, _ = s.client.Close(), s.server.Close()
	})
}

// lost says that one end can no longer be read. When that was done on purpose
// the other end stays until the hold that did it is released.
func (s *session) lost(onPurpose *atomic.Bool, cause error) {
	if !onPurpose.Load() {
		s.end(cause)
	}
}

// sever closes one end and keeps the other.
func (s *session) sever(end net.Conn, mark *atomic.Bool) {
	mark.Store(true)
	_ = end.SetWriteDeadline(time.Unix(1, 0))
	_ = end.Close() // it is of no use whatever closing it says
}

func (s *session) toServer(b []byte) error { return deliver(s.server, &s.serverCut, b) }
func (s *session) toClient(b []byte) error { return deliver(s.client, &s.clientCut, b) }

func deliver(to net.Conn, severed *atomic.Bool, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := to.Write(b)
	if severed.Load() {
		return nil // nobody is there to hear it, as was wanted
	}
	return err
}

// buffer takes a buffer for one direction; the function gives it back.
func (s *session) buffer(limit int) (*wire.Buffer, func()) {
	space := s.gate.buffers.Get().(*[]byte)
	b := wire.NewBuffer(*space, limit)
	return b, func() {
		// A buffer that grew is not kept.
		if data := b.Data(); len(data) == bufferSize {
			*space = data
			s.gate.buffers.Put(space)
		}
	}
}

// lookAhead reads from an end whose messages wait, so that it is noticed when
// that end goes away. Until the function it returns is called, the buffer is its.
func (s *session) lookAhead(from net.Conn, severed *atomic.Bool, b *wire.Buffer) (stop func()) {
	done := make(chan struct{})
	var stopping atomic.Bool
	go func() {
		defer close(done)
		for b.Unread() < aheadLimit {
			n, err := from.Read(b.Room())
			b.Filled(n)
			if err != nil {
				if !stopping.Load() {
					s.lost(severed, err)
				}
				return
			}
		}
	}()
	return func() {
		stopping.Store(true)
		_ = from.SetReadDeadline(time.Unix(1, 0)) // a closed connection has no deadline and needs none
		<-done
		_ = from.SetReadDeadline(time.Time{})
	}
}
