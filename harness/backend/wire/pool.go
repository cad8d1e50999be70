package wire

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http2"
)

// pool carries subscriptions over HTTP/2. They have connections of their own,
// because a call that stays open takes one of the streams that a peer allows on a
// connection (API-132): on the connection of the unary calls a hundred
// subscriptions would leave no room for any other call. When no connection has
// room a further one is opened.
type pool struct {
	//lint:ignore SA1019 see type native
	transport *http2.Transport
	dial      func(context.Context) (net.Conn, error)
	// turn is held by whoever looks at open or changes it.
	turn chan struct{}
	//lint:ignore SA1019 see type native
	open []*http2.ClientConn
}

func newPool(dial func(context.Context) (net.Conn, error)) *pool {
	return &pool{
		//lint:ignore SA1019 see type native
		transport: &http2.Transport{AllowHTTP: true, DisableCompression: true},
		dial:      dial,
		turn:      make(chan struct{}, 1),
	}
}

// RoundTrip implements http.RoundTripper.
func (p *pool) RoundTrip(req *http.Request) (*http.Response, error) {
	conn, err := p.reserve(req.Context())
	if err != nil {
		return nil, err
	}
	resp, err := conn.RoundTrip(req)
	if err != nil && strings.Contains(err.Error(), notUsable) {
		// Nothing of the call was written, but its body may be closed: unlike a
		// unary call it cannot be made on another connection.
		return nil, &refusal{err}
	}
	return resp, err
}

// reserve returns a connection with room for one more stream, which the next
// round trip on it takes.
//
//lint:ignore SA1019 see type native
func (p *pool) reserve(ctx context.Context) (*http2.ClientConn, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, &refusal{ctx.Err()}
	}
	//lint:ignore SA1019 see type native
	p.open = slices.DeleteFunc(p.open, func(c *http2.ClientConn) bool {
		s := c.State()
		return s.Closed || s.Closing
	})
	for _, c := range p.open {
		if c.ReserveNewRequest() {
			return c, nil
		}
	}
	raw, err := p.dial(ctx)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 see type native
	conn, err := p.transport.NewClientConn(raw)
	if err == nil {
		err = conn.Ping(ctx) // as in native: the peer's limits are known then
	}
	if err == nil && !conn.ReserveNewRequest() {
		err = errors.New("the peer allows no stream on a new connection")
	}
	if err != nil {
		_ = raw.Close()
		return nil, &refusal{err}
	}
	p.open = append(p.open, conn)
	return conn, nil
}
