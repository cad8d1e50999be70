package gate

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// dialPatience bounds one attempt to reach the server when its URL has no
	// connect_timeout.
	dialPatience = 30 * time.Second
	sslRequest   = 80877103
	gssRequest   = 80877104
	cancelCode   = 80877102
	// alpn is what both ends of a connection that begins with TLS must name.
	alpn = "postgresql"
)

// route is one way to reach the server. A URL with sslmode prefer or allow, or
// with several hosts, has more than one.
type route struct {
	network, address string
	tls              *tls.Config // nil for none
	direct           bool        // TLS from the first byte
	patience         time.Duration
}

func routesOf(c *pgx.ConnConfig) []route {
	patience := c.ConnectTimeout
	if patience <= 0 {
		patience = dialPatience
	}
	one := func(host string, port uint16, t *tls.Config) route {
		network, address := pgconn.NetworkAddress(host, port)
		return route{network: network, address: address, tls: t, direct: c.SSLNegotiation == "direct" && t != nil, patience: patience}
	}
	out := []route{one(c.Host, c.Port, c.TLSConfig)}
	for _, f := range c.Fallbacks {
		out = append(out, one(f.Host, f.Port, f.TLSConfig))
	}
	return out
}

// dial reaches the server in the first way that works. Which host of several is
// the primary is not asked.
func (g *Gate) dial(ctx context.Context) (net.Conn, error) {
	var errs []error
	for _, r := range g.routes {
		conn, err := r.dial(ctx)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (r route) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, r.network, r.address)
	if err != nil || r.tls == nil {
		return conn, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	secure, err := r.secure(ctx, conn)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close() // what went wrong is in err
		return nil, fmt.Errorf("TLS with %s: %w", r.address, err)
	}
	return secure, nil
}

func (r route) secure(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if !r.direct {
		if _, err := conn.Write(request(sslRequest)); err != nil {
			return nil, err
		}
		var answer [1]byte
		if _, err := io.ReadFull(conn, answer[:]); err != nil {
			return nil, err
		}
		if answer[0] != 'S' {
			return nil, errors.New("the server does not offer it: say sslmode=disable in the database url if that is right")
		}
	}
	secure := tls.Client(conn, r.tls)
	return secure, secure.HandshakeContext(ctx)
}

// request is a startup packet that holds nothing but its code.
func request(code uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 8), code)
}

// clientTLS lets clients begin with TLS right away, too.
func clientTLS(c *tls.Config) *tls.Config {
	if c == nil {
		return nil
	}
	c = c.Clone()
	c.NextProtos = []string{alpn}
	return c
}
