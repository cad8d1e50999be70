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

	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	// startupPatience bounds what comes before the server is asked; from then
	// on its own authentication_timeout counts. Postgres waits as long.
	startupPatience = time.Minute
	// maxStartup is Postgres's own bound for a startup packet, in bytes.
	maxStartup = 10000
)

// serve is one connection from its first byte to its last.
func (g *Gate) serve(client net.Conn) {
	defer client.Close()
	// Nobody may be left in the startup when the gate ends.
	stop := context.AfterFunc(g.ending, func() { _ = client.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := client.SetReadDeadline(time.Now().Add(startupPatience)); err != nil {
		return
	}
	secure, packet, err := g.greet(client)
	if err != nil {
		if !errors.Is(err, io.EOF) && g.ending.Err() == nil {
			g.log.Info("gate: a client did not get through its startup", "client", client.RemoteAddr(), "error", err)
		}
		return
	}
	server, err := g.dial(g.ending)
	if err != nil {
		g.log.Warn("gate: the database cannot be reached", "error", err)
		refuse(secure, "08006", "the gate cannot reach the database")
		return
	}
	defer server.Close()
	if _, err := server.Write(packet); err != nil {
		refuse(secure, "08006", "the database closed the connection")
		return
	}
	if binary.BigEndian.Uint32(packet[4:]) == cancelCode {
		// A client takes the closed connection for the sign that its request
		// was handled: so it must not close before the server's.
		_ = server.SetReadDeadline(time.Now().Add(startupPatience))
		_, _ = io.Copy(io.Discard, server)
		return
	}
	s := &session{gate: g, client: secure, server: server, unbound: unbound(secure, server), ended: make(chan struct{})}
	if err := s.introduce(packet[4:]); err != nil {
		g.log.Info("gate: a startup message is not read", "client", client.RemoteAddr(), "error", err)
	}
	if !stop() || client.SetReadDeadline(time.Time{}) != nil {
		return
	}
	s.run()
}

// greet answers requests for encryption and returns the first packet that is
// none, as it came: a startup message or a cancel request.
func (g *Gate) greet(client net.Conn) (net.Conn, []byte, error) {
	conn := client
	asked := map[uint32]bool{} // each may come once
	for {
		var head [8]byte
		if _, err := io.ReadFull(conn, head[:1]); err != nil {
			return nil, nil, err
		}
		if head[0] == 0x16 && conn == client && len(asked) == 0 && g.tls != nil {
			// A TLS handshake: the client begins with it, without asking.
			secure := tls.Server(&prefixed{Conn: client, prefix: head[:1:1]}, g.tls)
			if err := secure.HandshakeContext(g.ending); err != nil {
				return nil, nil, err
			}
			if secure.ConnectionState().NegotiatedProtocol != alpn {
				return nil, nil, errors.New("TLS without the protocol name " + alpn)
			}
			conn = secure
			continue
		}
		if _, err := io.ReadFull(conn, head[1:]); err != nil {
			return nil, nil, err
		}
		size, code := binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint32(head[4:])
		if size < 8 || size > maxStartup {
			return nil, nil, fmt.Errorf("a startup packet claims a length of %d bytes: want 8 to %d", size, maxStartup)
		}
		if size == 8 && (code == sslRequest || code == gssRequest) && !asked[code] {
			asked[code] = true
			if code == gssRequest || g.tls == nil || conn != client {
				if _, err := conn.Write([]byte{'N'}); err != nil {
					return nil, nil, err
				}
				continue
			}
			if _, err := conn.Write([]byte{'S'}); err != nil {
				return nil, nil, err
			}
			// Nothing was read beyond the request, so what an attacker puts
			// behind it in clear cannot pass for something secure.
			secure := tls.Server(client, g.tls)
			if err := secure.HandshakeContext(g.ending); err != nil {
				return nil, nil, err
			}
			conn = secure
			continue
		}
		packet := make([]byte, size)
		copy(packet, head[:])
		if _, err := io.ReadFull(conn, packet[8:]); err != nil {
			return nil, nil, err
		}
		return conn, packet, nil
	}
}

// prefixed gives back what was read to see what comes.
type prefixed struct {
	net.Conn
	prefix []byte
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.prefix) == 0 || len(b) == 0 {
		return p.Conn.Read(b)
	}
	n := copy(b, p.prefix)
	p.prefix = p.prefix[n:]
	return n, nil
}

// introduce reads who the client says it is.
func (s *session) introduce(startup []byte) error {
	var m pgproto3.StartupMessage
	err := m.Decode(startup)
	s.user, s.database, s.application = m.Parameters["user"], m.Parameters["database"], m.Parameters["application_name"]
	if s.database == "" {
		s.database = s.user
	}
	return err
}

// refuse tells a client why there will be nothing.
func refuse(client net.Conn, state, message string) {
	text, err := (&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: state, Message: message}).Encode(nil)
	if err == nil {
		_, _ = client.Write(text) // the connection is closed either way
	}
}
