package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
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

// transport carries the calls of a client.
type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

func (c *Client) newTransport() transport {
	if c.web && !c.webHTTP2 {
		return c.newWeb()
	}
	return c.newNative()
}

// native carries native gRPC calls over one HTTP/2 connection and replaces it
// when it can take no more. Calls above the peer's stream limit wait for a slot
// (API-132).
//
// It holds the connection itself because the pools of net/http and x/net get that
// limit wrong for a burst of calls: they start calls before the peer has told it,
// which a peer may refuse, and count calls that wait for a slot as users of one,
// so that with a limit below their number none of them ever moves. The types are
// those of x/net, which its makers advise against, because net/http's ClientConn
// does not tell a connection that was told to go away from a busy one.
type native struct {
	//lint:ignore SA1019 see above
	transport *http2.Transport
	dial      func(context.Context) (net.Conn, error)
	// turn is held by whoever looks at current or replaces it.
	turn chan struct{}
	//lint:ignore SA1019 see above
	current *http2.ClientConn
}

func (c *Client) newNative() *native {
	return &native{
		//lint:ignore SA1019 see above
		transport: &http2.Transport{AllowHTTP: true, DisableCompression: true, StrictMaxConcurrentStreams: true},
		dial:      c.dialNative,
		turn:      make(chan struct{}, 1),
	}
}

// RoundTrip implements http.RoundTripper.
func (n *native) RoundTrip(req *http.Request) (*http.Response, error) {
	conn, err := n.connection(req.Context())
	if err != nil {
		return nil, err
	}
	resp, err := conn.RoundTrip(req)
	if err == nil || !strings.Contains(err.Error(), notUsable) {
		return resp, err
	}
	if conn, err = n.connection(req.Context()); err != nil {
		return nil, err
	}
	return conn.RoundTrip(req)
}

// notUsable is what a connection says that learnt between our look at it and the
// call that it takes no more: it has written nothing of the call. Should the words
// change, such a call is lost instead of made on a new connection.
const notUsable = "client conn not usable"

// connection returns the current connection, or a new one where that takes no
// more calls.
//
//lint:ignore SA1019 see type native
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
	//lint:ignore SA1019 see type native
	conn, err := n.transport.NewClientConn(raw)
	if err == nil {
		// A peer's SETTINGS are the first it sends. So once it has answered a ping
		// its limits are known, and it is known to speak HTTP/2.
		err = conn.Ping(ctx)
	}
	if err != nil {
		_ = raw.Close()
		return nil, &refusal{err}
	}
	n.current = conn
	return conn, nil
}

// CloseIdleConnections is part of transport; Client.Close ends the connection.
func (n *native) CloseIdleConnections() {}

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
func (c *Client) newWeb() *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Protocols:              &protocols,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        idleWeb,
		MaxResponseHeaderBytes: 1 << 20,
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dial(ctx) },
		// A handshake of our own, so that one that fails is known to be no call.
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := c.dialTLS(ctx, "http/1.1")
			if err != nil {
				return nil, err
			}
			return conn, nil
		},
	}
}
