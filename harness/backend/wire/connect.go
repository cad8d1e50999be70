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

// newTransport returns what carries calls: HTTP/2 for native gRPC, HTTP/1.1 (or
// HTTP/2 where TLS agrees on it) for gRPC-Web. With a cutter each connection is
// cut when a response arrives on it.
func (c *Client) newTransport(cut *cutter) http.RoundTripper {
	if c.web {
		return c.newWeb(cut)
	}
	return &http2.Transport{
		AllowHTTP:                  true,
		DisableCompression:         true,
		StrictMaxConcurrentStreams: true,
		DialTLSContext: func(ctx context.Context, _, _ string, _ *tls.Config) (net.Conn, error) {
			conn, err := c.dialNative(ctx)
			if err != nil || cut == nil {
				return conn, err
			}
			return &cutFrames{Conn: conn, cut: cut}, nil
		},
	}
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

func (c *Client) newWeb(cut *cutter) http.RoundTripper {
	t := &http.Transport{
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        idleWeb,
		MaxResponseHeaderBytes: 1 << 20,
		TLSClientConfig:        c.tlsConfig(http2.NextProtoTLS, "http/1.1"),
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := c.dial(ctx)
			if err != nil || cut == nil {
				return conn, err
			}
			return &cutBytes{Conn: conn, cut: cut}, nil
		},
	}
	if cut != nil {
		t.DialTLSContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := c.dialTLS(ctx, "http/1.1")
			if err != nil {
				return nil, err
			}
			return &cutBytes{Conn: conn, cut: cut}, nil
		}
	}
	return t
}
