package backend

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	rules "assay/model/backend"
)

// Seen is what a subscription has received so far, as a scenario waits for it. It
// judges nothing.
type Seen struct {
	// Frames are all frames in order; Rows counts the rows in them.
	Frames []*rules.Response
	Rows   int
	// Started is the first of its kind, nil before.
	Started *rules.Started
	// Applied is the first of each update id.
	Applied map[uint64]*rules.Applied
	// Through is the highest sequence id of each topic, Of its number of rows.
	Through map[rules.Bytes]uint64
	Of      map[rules.Bytes]int
	// Pings are the nonces received, in order; Pongs counts each nonce's answers.
	Pings []uint64
	Pongs map[uint64]int
	// Keepalives counts the keepalives of a static subscription.
	Keepalives int
	// Cancelled is true once this side has cancelled.
	Cancelled bool
	// End is what came of the call, nil while it is open.
	End *rules.Return
}

func newSeen() Seen {
	return Seen{Applied: make(map[uint64]*rules.Applied), Through: make(map[rules.Bytes]uint64), Of: make(map[rules.Bytes]int), Pongs: make(map[uint64]int)}
}

func (s *Seen) add(r *rules.Response) {
	s.Frames = append(s.Frames, r)
	switch {
	case r.Started != nil:
		if s.Started == nil {
			s.Started = r.Started
		}
	case r.Applied != nil:
		if s.Applied[r.Applied.ID] == nil {
			s.Applied[r.Applied.ID] = r.Applied
		}
	case r.Messages != nil:
		s.Rows += len(r.Messages.Rows)
		for _, row := range r.Messages.Rows {
			s.Through[row.Meta.Topic] = max(s.Through[row.Meta.Topic], row.Meta.Sequence)
			s.Of[row.Meta.Topic]++
		}
	case r.Ping != nil:
		s.Pings = append(s.Pings, *r.Ping)
	case r.Pong != nil:
		s.Pongs[*r.Pong]++
	case r.Keepalive:
		s.Keepalives++
	}
}

// streams are the open subscriptions of a session and its copies.
type streams struct {
	// some tells a call at no cost that there is none.
	some atomic.Int32
	mu   sync.Mutex
	open map[string]*Stream
	// last are the latest of each actor, open or not.
	last map[string]*Stream
}

func (s *streams) add(t *Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[t.actor] != nil {
		return fmt.Errorf("actor %s has an open subscription: open another one as another actor", t.actor)
	}
	if s.open == nil {
		s.open, s.last = make(map[string]*Stream), make(map[string]*Stream)
	}
	s.open[t.actor], s.last[t.actor] = t, t
	s.some.Add(1)
	return nil
}

func (s *streams) remove(t *Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, t.actor)
	s.some.Add(-1)
}

// of returns the open subscription of an actor, nil for none.
func (s *streams) of(actor string) *Stream {
	if s.some.Load() == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[actor]
}

// latest returns the subscription that the actor opened last, nil for none.
func (s *streams) latest(actor string) *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last[actor]
}

var errSubscribed = errors.New("it has an open subscription: make other calls as another actor")

// close cancels what is open.
func (s *streams) close() {
	s.mu.Lock()
	var open []*Stream
	for _, t := range s.open {
		open = append(open, t)
	}
	s.mu.Unlock()
	for _, t := range open {
		t.Cancel()
	}
}
