package stream

import "sync"

// mailbox holds the events of one session until it looks. Events keep their
// order, but for Taken, which waits apart and comes first: it only makes room.
type mailbox struct {
	// ready holds a token when there may be something to look at.
	ready chan struct{}

	mu     sync.Mutex
	events []Event
	taken  Taken
	// arrived is the number of bytes of envelopes in events.
	arrived int
}

// mailboxBytes bounds the envelopes that wait for a session to look, which is
// what a machine under load makes of a slow session. Beyond it the session is
// only woken and reads for itself.
const mailboxBytes = 4 << 20

func newMailbox() *mailbox { return &mailbox{ready: make(chan struct{}, 1)} }

// Ready implements [Member].
func (m *mailbox) Ready() {
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// put queues an event and says that it is there.
func (m *mailbox) put(e Event) {
	m.Tell(e)
	m.Ready()
}

// Tell implements [Member].
func (m *mailbox) Tell(e Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	arrived, ok := e.(Arrived)
	if !ok {
		m.events = append(m.events, e)
		return
	}
	for _, r := range arrived.Rows {
		m.arrived += len(r.Wire)
	}
	if m.arrived > mailboxBytes {
		// Until the session looks, every event of the topic is a wake-up, so
		// none of its envelopes overtakes this one.
		m.moved(arrived.Rows)
		return
	}
	if n := len(m.events); n > 0 {
		if before, ok := m.events[n-1].(Arrived); ok {
			m.events[n-1] = Arrived{Rows: append(before.Rows, arrived.Rows...)}
			return
		}
	}
	m.events = append(m.events, arrived)
}

// moved turns rows, which are of one topic, into a wake-up.
func (m *mailbox) moved(rows []Row) {
	last := rows[len(rows)-1]
	if n := len(m.events); n > 0 {
		if before, ok := m.events[n-1].(Moved); ok && before.Topic == last.Topic {
			m.events[n-1] = Moved{Topic: last.Topic, Head: last.ID}
			return
		}
	}
	m.events = append(m.events, Moved{Topic: last.Topic, Head: last.ID})
}

// sent notes that the transport took a frame.
func (m *mailbox) sent(s Send) {
	m.mu.Lock()
	m.taken.Frames++
	m.taken.Bytes += s.Size
	if _, ok := s.Frame.(Ping); ok {
		m.taken.Ping = true
	}
	m.mu.Unlock()
	m.Ready()
}

// take returns what is there, and leaves nothing.
func (m *mailbox) take() (Taken, []Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken, events := m.taken, m.events
	m.taken, m.events, m.arrived = Taken{}, nil, 0
	return taken, events
}

var _ Member = (*mailbox)(nil)
