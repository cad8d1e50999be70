package backend

import (
	"fmt"
	"hash/fnv"
	"sync"

	"assay/harness/backend/wire"
	"assay/harness/subject"
)

// dialOthers adds connections to the other instances of the backend.
func (c *Client) dialOthers(endpoints []subject.Endpoint) error {
	for _, e := range endpoints {
		w, err := wire.Dial(e, wire.Options{})
		if err != nil {
			return fmt.Errorf("connect to %s: %w", e, err)
		}
		c.others = append(c.others, w)
	}
	return nil
}

// instance says which instance of the backend carries an actor's calls, 0 for the
// first. An actor stays on one instance, and which it is follows from its name alone.
func (c *Client) instance(actor string) int {
	if len(c.others) == 0 {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(actor))
	return int(h.Sum32() % uint32(len(c.others)+1))
}

// via returns the connection that carries an actor's calls.
func (c *Client) via(actor string) *wire.Client {
	if n := c.instance(actor); n > 0 {
		return c.others[n-1]
	}
	return c.wire
}

// carrier returns the connection of the next call of an actor.
func (s *Session) carrier(actor string) (*wire.Client, error) {
	if s.line != nil {
		return s.line.client(), nil
	}
	if s.form == AsTarget {
		return s.client.via(actor), nil
	}
	e := s.client.endpoint
	if n := s.client.instance(actor); n > 0 {
		e = s.client.connection.Others[n-1]
	}
	return s.client.forms.of(e, s.form)
}

// Line is a connection that can be cut under the calls it carries. The next
// call after a cut has a new connection.
type Line struct {
	endpoint subject.Endpoint
	mu       sync.Mutex // guards current
	current  *wire.Client
}

// NewLine returns a line to the subject of the session.
func (s *Session) NewLine() (*Line, error) {
	w, err := wire.Dial(s.client.endpoint, wire.Options{})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", s.client.endpoint, err)
	}
	return &Line{endpoint: s.client.endpoint, current: w}, nil
}

// WithLine returns a session whose calls go over the line. It records into the
// same history.
func (s *Session) WithLine(l *Line) *Session {
	c := *s
	c.line = l
	return &c
}

func (l *Line) client() *wire.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// Cut ends the connection and with it every call under way, whose outcome its
// client then cannot know.
func (l *Line) Cut() error {
	next, err := wire.Dial(l.endpoint, wire.Options{})
	if err != nil {
		return fmt.Errorf("connect to %s again: %w", l.endpoint, err)
	}
	l.mu.Lock()
	before := l.current
	l.current = next
	l.mu.Unlock()
	return before.Close()
}

// Close ends the connection for good.
func (l *Line) Close() error { return l.client().Close() }
