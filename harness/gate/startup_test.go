package gate_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"assay/harness/gate"
	"assay/harness/postgres/pgtest"
)

func certificate(t testing.TB) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), DNSNames: []string{"gate"}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func TestTLSIsTheClientsChoiceWhenTheGateHasACertificate(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL(), func(c *gate.Config) { c.TLS = certificate(t) })
	for _, options := range [][]string{{"sslmode", "require"}, {"sslmode", "require", "sslnegotiation", "direct"}, {"sslmode", "disable"}, {"sslmode", "prefer"}} {
		t.Run(strings.Join(options, " "), func(t *testing.T) {
			c := connect(t, through(t, g, db.URL()), options...)
			if _, secure := c.PgConn().Conn().(*tls.Conn); secure == (options[1] == "disable") {
				t.Errorf("TLS: %v", secure)
			}
			h := hold(t, g, gate.Rule{Point: "p", Side: gate.After})
			done := later(func() error { _, err := c.Exec(context.Background(), "SELECT 1 /*point='p'*/"); return err })
			stopped(t, h).Release()
			if err := await(t, "the answer", done); err != nil {
				t.Error(err)
			}
			exec(t, c, "SELECT 1") // reading ahead has not hurt the encryption
		})
	}
}

func TestTLSIsRefusedWithoutACertificate(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	if _, err := pgx.Connect(within(t), with(t, through(t, g, db.URL()), "sslmode", "require")); err == nil {
		t.Error("sslmode=require went on without")
	}
	connect(t, through(t, g, db.URL()), "sslmode", "prefer")
}

// secureServer is a Postgres that wants TLS, in front of one that has none.
func secureServer(t testing.TB, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := certificate(t)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			done.Go(func() {
				defer c.Close()
				var ask [8]byte
				if _, err := io.ReadFull(c, ask[:]); err != nil || binary.BigEndian.Uint32(ask[4:]) != 80877103 {
					return
				}
				if _, err := c.Write([]byte("S")); err != nil {
					return
				}
				s, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				secure := tls.Server(c, config)
				done.Go(func() { defer s.Close(); _, _ = io.Copy(s, secure) })
				_, _ = io.Copy(secure, s)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); done.Wait() })
	return l.Addr().String()
}

func TestTheServerGetsTLSWhenItsURLSaysSo(t *testing.T) {
	db := pgtest.ForTest(t)
	u, err := pgx.ParseConfig(db.URL())
	if err != nil {
		t.Fatal(err)
	}
	secure := secureServer(t, net.JoinHostPort(u.Host, port(u.Port)))
	g := open(t, with(t, db.URLAt(secure), "sslmode", "require"))
	c := connect(t, through(t, g, db.URL()))
	if n := number(t, c, "SELECT 1"); n != 1 {
		t.Error(n)
	}
	// A server without TLS is not trusted with sslmode=require.
	g = open(t, with(t, db.URL(), "sslmode", "require"))
	if _, err := pgx.Connect(within(t), through(t, g, db.URL())); sqlState(err) != "08006" {
		t.Errorf("got %v", err)
	}
}

func port(p uint16) string { return big.NewInt(int64(p)).String() }

// script is a server that says what a test wants, once for each connection.
func script(t testing.TB, talk func(*pgproto3.Backend, net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			done.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(patience))
				talk(pgproto3.NewBackend(c, c), c)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); done.Wait() })
	return "postgres://someone@" + l.Addr().String() + "/base?sslmode=disable"
}

func TestAPasswordIsNeverLogged(t *testing.T) {
	db := pgtest.ForTest(t)
	admin := connect(t, db.URL())
	exec(t, admin, "DROP ROLE IF EXISTS guarded")
	exec(t, admin, "CREATE ROLE guarded LOGIN PASSWORD 'right-secret'")
	t.Cleanup(func() { exec(t, connect(t, db.URL()), "DROP ROLE guarded") })
	var log lockedBuffer
	g := open(t, db.URL(), func(c *gate.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	defer g.Record(100).Stop()
	to := func(password string) string {
		u := through(t, g, db.URL())
		rest := u[strings.Index(u, "@"):]
		return "postgres://guarded:" + password + rest
	}
	c, err := pgx.Connect(within(t), to("right-secret"))
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close(within(t))
	if _, err := pgx.Connect(within(t), to("wrong-secret")); err != nil && sqlState(err) != "28P01" {
		t.Errorf("got %v", err) // a server that trusts everybody lets it in
	}
	// A URL that does not parse holds a secret, too.
	if _, err := gate.New(gate.Config{Listen: "127.0.0.1:0", Database: "postgres://me:other-secret@host:port/x"}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	until(t, "no session to be left", func() bool { return len(g.Sessions()) == 0 })
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the log says %s", log.String())
	}
}

func TestAWrongPasswordIsTheServersToRefuse(t *testing.T) {
	server := script(t, func(b *pgproto3.Backend, c net.Conn) {
		if _, err := b.ReceiveStartupMessage(); err != nil {
			return
		}
		b.Send(&pgproto3.AuthenticationCleartextPassword{})
		_ = b.Flush()
		if err := b.SetAuthType(pgproto3.AuthTypeCleartextPassword); err != nil {
			return
		}
		m, err := b.Receive()
		if err != nil {
			return
		}
		if p, ok := m.(*pgproto3.PasswordMessage); !ok || p.Password != "right" {
			b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: "no"})
			_ = b.Flush()
			return
		}
		b.Send(&pgproto3.AuthenticationOk{})
		b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		_ = b.Flush()
		_, _ = io.Copy(io.Discard, c)
	})
	g := open(t, server)
	to := through(t, g, server)
	if _, err := pgx.Connect(within(t), strings.Replace(to, "someone", "someone:wrong", 1)); sqlState(err) != "28P01" {
		t.Errorf("got %v", err)
	}
	connect(t, strings.Replace(to, "someone", "someone:right", 1))
	until(t, "the refused session to be gone", func() bool { return len(g.Sessions()) == 1 })
}

func TestAServerThatIsNotThereIsSaidToBeAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "postgres://someone:word@" + l.Addr().String() + "/base?sslmode=disable"
	_ = l.Close()
	g := open(t, nobody)
	if _, err := pgx.Connect(within(t), through(t, g, nobody)); sqlState(err) != "08006" {
		t.Errorf("got %v", err)
	}
}

// TestBindingToAChannelIsNotOfferedThroughTheGate: the gate's end of TLS and the
// server's are not one channel, so a client without TLS must not be told of it:
// libpq takes that for an attack.
func TestBindingToAChannelIsNotOfferedThroughTheGate(t *testing.T) {
	plain := script(t, func(b *pgproto3.Backend, c net.Conn) {
		if _, err := b.ReceiveStartupMessage(); err != nil {
			return
		}
		b.Send(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{"SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"}})
		_ = b.Flush()
		_, _ = io.Copy(io.Discard, c)
	})
	config, err := pgx.ParseConfig(plain)
	if err != nil {
		t.Fatal(err)
	}
	secure := secureServer(t, net.JoinHostPort(config.Host, port(config.Port)))
	for _, c := range []struct {
		name, server string
		want         []string
	}{
		{"TLS behind the gate only", "postgres://someone@" + secure + "/base?sslmode=require", []string{"SCRAM-SHA-256"}},
		{"no TLS at all", plain, []string{"SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := open(t, c.server)
			conn, err := net.Dial("tcp", g.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(deadline(t))
			f := pgproto3.NewFrontend(conn, conn)
			f.Send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "someone"}})
			if err := f.Flush(); err != nil {
				t.Fatal(err)
			}
			m, err := f.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := m.(*pgproto3.AuthenticationSASL); !ok || strings.Join(got.AuthMechanisms, " ") != strings.Join(c.want, " ") {
				t.Errorf("got %+v, want %v", m, c.want)
			}
		})
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
