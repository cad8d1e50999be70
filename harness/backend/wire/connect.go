package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// connections are the sockets a client has open, so that Close can end those in
// use as well.
type connections struct {
	mu     sync.Mutex
	closed bool
	open   map[*connection]struct{}
}

type connection struct {
	net.Conn
	of *connections
}

func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

var errClosed = errors.New("client is closed")

func (s *connections) add(raw net.Conn) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = raw.Close()
		return nil, errClosed
	}
	if s.open == nil {
		s.open = make(map[*connection]struct{})
	}
	c := &connection{Conn: raw, of: s}
	s.open[c] = struct{}{}
	return c, nil
}

func (s *connections) close() {
	s.mu.Lock()
	open := s.open
	s.open, s.closed = nil, true
	s.mu.Unlock()
	for c := range open {
		_ = c.Conn.Close()
	}
}

// refusal is a failure to get a connection: nothing of the call was sent.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// dial opens a TCP connection to the endpoint. Proxies of the environment are
// not asked: the subject is where the endpoint says.
func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	raw, err := d.DialContext(ctx, "tcp", c.endpoint.Address)
	if err != nil {
		return nil, &refusal{err}
	}
	conn, err := c.conns.add(raw)
	if err != nil {
		return nil, &refusal{err}
	}
	return conn, nil
}

// dialTLS opens a TLS connection that speaks one of the protocols.
func (c *Client) dialTLS(ctx context.Context, protocols ...string) (*tls.Conn, error) {
	raw, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, c.tlsConfig(protocols...))
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, &refusal{fmt.Errorf("tls: %w", err)}
	}
	return conn, nil
}

// newTransport returns what carries calls. With a cutter each connection is cut
// when a response arrives on it.
func (c *Client) newTransport(cut *cutter) http.RoundTripper {
	if c.web {
		return c.newWeb(cut)
	}
	return newNative(func(ctx context.Context) (net.Conn, error) {
		conn, err := c.dialNative(ctx)
		if err != nil || cut == nil {
			return conn, err
		}
		return &cutFrames{Conn: conn, cut: cut}, nil
	})
}

// native carries native gRPC calls over one HTTP/2 connection and replaces it
// when it can take no more. Calls above the peer's stream limit wait for a slot.
//
// It holds the connection itself because the pool of http2.Transport counts calls
// that wait for a slot as users of one: where a peer's limit turns out lower than
// the number of calls already waiting, none of them ever moves.
type native struct {
	transport *http2.Transport
	dial      func(context.Context) (net.Conn, error)
	// turn is held by whoever looks at current or replaces it.
	turn    chan struct{}
	current *http2.ClientConn
}

func newNative(dial func(context.Context) (net.Conn, error)) *native {
	return &native{
		transport: &http2.Transport{AllowHTTP: true, DisableCompression: true, StrictMaxConcurrentStreams: true},
		dial:      dial,
		turn:      make(chan struct{}, 1),
	}
}

// RoundTrip implements http.RoundTripper.
func (n *native) RoundTrip(req *http.Request) (*http.Response, error) {
	conn, err := n.connection(req.Context())
	if err != nil {
		return nil, err
	}
	return conn.RoundTrip(req)
}

func (n *native) connection(ctx context.Context) (*http2.ClientConn, error) {
	select {
	case n.turn <- struct{}{}:
		defer func() { <-n.turn }()
	case <-ctx.Done():
		return nil, &refusal{ctx.Err()}
	}
	if n.current != nil && n.current.CanTakeNewRequest() {
		return n.current, nil
	}
	raw, err := n.dial(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := n.transport.NewClientConn(raw)
	if err != nil {
		_ = raw.Close()
		return nil, &refusal{err}
	}
	n.current = conn
	return conn, nil
}

func (c *Client) dialNative(ctx context.Context) (net.Conn, error) {
	if !c.secure() {
		return c.dial(ctx)
	}
	conn, err := c.dialTLS(ctx, http2.NextProtoTLS)
	if err != nil {
		return nil, err
	}
	if got := conn.ConnectionState().NegotiatedProtocol; got != http2.NextProtoTLS {
		_ = conn.Close()
		return nil, &refusal{fmt.Errorf("tls: the peer does not agree on h2 (it chose %q)", bounded(got))}
	}
	return conn, nil
}

// idleWeb is how long an unused connection is kept. A peer that closes idle
// connections a little later than this is not met half-closed.
const idleWeb = 2 * time.Second

// newWeb returns what carries gRPC-Web calls: HTTP/1.1, also behind TLS, which is
// what separates them most from native ones.
func (c *Client) newWeb(cut *cutter) http.RoundTripper {
	wrap := func(conn net.Conn) net.Conn {
		if cut == nil {
			return conn
		}
		return &cutBytes{Conn: conn, cut: cut}
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Protocols:              &protocols,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        idleWeb,
		MaxResponseHeaderBytes: 1 << 20,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := c.dial(ctx)
			if err != nil {
				return nil, err
			}
			return wrap(conn), nil
		},
		// A handshake of our own, so that one that fails is known to be no call.
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := c.dialTLS(ctx, "http/1.1")
			if err != nil {
				return nil, err
			}
			return wrap(conn), nil
		},
	}
}
