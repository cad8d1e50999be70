package gate_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"assay/harness/gate"
	"assay/harness/postgres/pgtest"
)

// ends waits until the other side has closed.
func ends(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.SetReadDeadline(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection was not closed")
	}
}

func dial(t *testing.T, g *gate.Gate) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", g.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestHostileStartupsAreEnded(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	u32 := func(n ...uint32) (b []byte) {
		for _, x := range n {
			b = binary.BigEndian.AppendUint32(b, x)
		}
		return b
	}
	for name, data := range map[string][]byte{
		"an http request":           []byte("GET / HTTP/1.1\r\nHost: gate\r\n\r\n"),
		"a length of zero":          u32(0, 0),
		"a length of 4 GiB":         u32(0xffffffff, 196608),
		"a length above Postgres's": u32(10001, 196608),
		"TLS asked for twice":       u32(8, 80877103, 8, 80877103),
		"TLS without a question":    {0x16, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0},
		"an unknown protocol":       u32(9, 0x00630000, 0),
		"no terminator":             append(u32(12, 196608), "user"...),
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, g)
			if _, err := c.Write(data); err != nil {
				t.Fatal(err)
			}
			_ = c.(*net.TCPConn).CloseWrite()
			ends(t, c)
		})
	}
	connect(t, through(t, g, db.URL())) // the gate lives
	until(t, "only that session to be left", func() bool { return len(g.Sessions()) == 1 })
}

func TestHostileMessagesOfAClientEndItsSession(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	for _, watched := range []bool{false, true} {
		if watched {
			defer g.Record(1000).Stop()
		}
		for name, data := range map[string][]byte{
			"a length below itself": {'Q', 0, 0, 0, 3},
			"a length of 4 GiB":     {'Q', 255, 255, 255, 255},
			"an unknown kind":       {'!', 0, 0, 0, 4},
			"a bind of nothing":     {'B', 0, 0, 0, 4, 'S', 0, 0, 0, 4, 'X', 0, 0, 0, 4},
			"a false count":         {'B', 0, 0, 0, 12, 0, 0, 0, 0, 255, 255, 0, 0, 'S', 0, 0, 0, 4, 'X', 0, 0, 0, 4},
			"a close of nothing":    {'C', 0, 0, 0, 4, 'E', 0, 0, 0, 4, 'P', 0, 0, 0, 4, 'S', 0, 0, 0, 4, 'X', 0, 0, 0, 4},
		} {
			t.Run(name, func(t *testing.T) {
				c := login(t, through(t, g, db.URL()))
				if _, err := c.Write(data); err != nil {
					t.Fatal(err)
				}
				ends(t, c.Conn)
			})
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			c := login(t, through(t, g, db.URL()))
			data := make([]byte, 1+random.IntN(3000))
			for i := range data {
				data[i] = byte(random.Uint32())
			}
			if random.IntN(2) == 0 {
				copy(data, "QBPEDCSH"[random.IntN(8):][:1]+"\x00\x00\x00\x20")
			}
			_, _ = c.Write(data) // the gate may have closed in the middle
			_ = c.Conn.(*net.TCPConn).CloseWrite()
			ends(t, c.Conn)
		}
	}
	connect(t, through(t, g, db.URL()))
}

// TestAHugeMessageIsNotKept: a client that claims a gigabyte and sends a part of
// it costs the gate no more than what it keeps of a unit.
func TestAHugeMessageIsNotKept(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	for _, looking := range []string{"idle", "watched"} {
		t.Run(looking, func(t *testing.T) {
			if looking == "watched" {
				defer g.Record(10).Stop()
			}
			c := login(t, through(t, g, db.URL()))
			before := heap()
			if _, err := c.Write([]byte{'Q', 0x0c, 0, 0, 0}); err != nil {
				t.Fatal(err)
			}
			piece := bytes.Repeat([]byte{' '}, 1<<20)
			var most uint64
			for range 100 {
				if _, err := c.Write(piece); err != nil {
					t.Fatal(err)
				}
				most = max(most, heap())
			}
			// Twice what it keeps while the buffer grows, and the text itself.
			if limit := uint64(100 << 20); most > before+limit {
				t.Errorf("the heap grew by %d bytes", most-before)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			until(t, "the session to be gone", func() bool { return len(g.Sessions()) == 0 })
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestABigStatementStillRuns: one above what is kept goes through as it is.
func TestABigStatementStillRuns(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	r := g.Record(10)
	defer r.Stop()
	c := connect(t, through(t, g, db.URL()))
	big := bytes.Repeat([]byte{'x'}, 40<<20)
	if n := number(t, c, "SELECT length($1::bytea)", big); n != len(big) {
		t.Errorf("%d bytes arrived", n)
	}
	h := hold(t, g, gate.Rule{Point: "after", Side: gate.Before})
	done := later(func() error { _, err := c.Exec(context.Background(), "SELECT 1 /*point='after'*/"); return err })
	stopped(t, h).Release()
	if err := await(t, "the next statement", done); err != nil {
		t.Error(err)
	}
}

func TestHostileMessagesOfAServerEndItsSession(t *testing.T) {
	for name, data := range map[string][]byte{
		"a length below itself":   {'D', 0, 0, 0, 3},
		"a length of 4 GiB":       {'D', 255, 255, 255, 255},
		"an error without fields": {'E', 0, 0, 0, 5, 'C', 'Z', 0, 0, 0, 4, 'C', 0, 0, 0, 3},
		"answers to nothing":      {'Z', 0, 0, 0, 5, 'I', 'Z', 0, 0, 0, 5, 'I', 'C', 0, 0, 0, 4, 'G', 0, 0, 0, 4, 'Z', 0, 0, 0, 4, 'D', 0, 0, 0, 0},
	} {
		for _, watched := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				server := script(t, func(b *pgproto3.Backend, c net.Conn) {
					if _, err := b.ReceiveStartupMessage(); err != nil {
						return
					}
					b.Send(&pgproto3.AuthenticationOk{})
					b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{1, 2, 3, 4}})
					b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
					_ = b.Flush()
					if _, err := b.Receive(); err != nil {
						return
					}
					_, _ = c.Write(data)
					_, _ = io.Copy(io.Discard, c)
				})
				g := open(t, server)
				if watched {
					defer g.Record(10).Stop()
					hold(t, g, gate.Rule{Point: "p", Side: gate.After, Delay: time.Millisecond})
				}
				c := login(t, through(t, g, server))
				c.say(t, &pgproto3.Query{String: "SELECT 1 /*point='p'*/"})
				ends(t, c.Conn)
				until(t, "the session to be gone", func() bool { return len(g.Sessions()) == 0 })
			})
		}
	}
}

func TestAResetOnOneSideIsKnownOnTheOther(t *testing.T) {
	db := pgtest.ForTest(t)
	admin := connect(t, db.URL())
	g := open(t, db.URL())
	c := connect(t, through(t, g, db.URL()))
	pid := c.PgConn().PID()
	tcp := c.PgConn().Conn().(*net.TCPConn)
	if err := errors.Join(tcp.SetLinger(0), tcp.Close()); err != nil {
		t.Fatal(err)
	}
	until(t, "the server's process to be gone", func() bool {
		return number(t, admin, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid) == 0
	})
}

// TestAHalfClosedClientIsOver: Postgres takes the end of a client's stream for
// its end, and so does the gate.
func TestAHalfClosedClientIsOver(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	c := login(t, through(t, g, db.URL()))
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	ends(t, c.Conn)
	until(t, "the session to be gone", func() bool { return len(g.Sessions()) == 0 })
}

// TestAClientThatDoesNotReadEndsWithItsServer: bytes that nobody takes must not
// keep a session from ending.
func TestAClientThatDoesNotReadEndsWithItsServer(t *testing.T) {
	db := pgtest.ForTest(t)
	admin := connect(t, db.URL())
	g := open(t, db.URL())
	c := login(t, through(t, g, db.URL()))
	c.say(t, &pgproto3.Query{String: "SELECT repeat('x', 1000000) FROM generate_series(1, 1000)"})
	until(t, "the answer to be stuck", func() bool {
		return number(t, admin, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'ClientWrite' AND datname = current_database()") == 1
	})
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestConnectionsLeakNothing(t *testing.T) {
	db := pgtest.ForTest(t)
	g := open(t, db.URL())
	descriptors := func() int {
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(d)
	}
	to := through(t, g, db.URL())
	connectAll := func(n int) {
		const lanes = 8
		failed := make(chan error, lanes)
		for lane := range lanes {
			go func() {
				for i := lane; i < n; i += lanes {
					come := visit
					if i%5 > 0 {
						come = knock
					}
					if err := come(g, to, i/5); err != nil {
						failed <- err
						return
					}
				}
				failed <- nil
			}()
		}
		for range lanes {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		until(t, "no session to be left", func() bool { return len(g.Sessions()) == 0 })
	}
	connectAll(16)
	files, routines := descriptors(), runtime.NumGoroutine()
	connectAll(connections)
	until(t, "goroutines and descriptors to be given back", func() bool {
		return runtime.NumGoroutine() <= routines+2 && descriptors() <= files+2
	})
}

// connections is how many TestConnectionsLeakNothing opens and drops. One in five
// logs in, which is what takes time; the others go at some point before.
const connections = 10_000

// visit logs in and leaves in one of several ways.
func visit(_ *gate.Gate, to string, i int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := pgx.Connect(ctx, to)
	if err != nil {
		return err
	}
	switch i % 3 {
	case 0:
		return c.Close(ctx)
	case 1:
		return c.PgConn().Conn().Close()
	default:
		if _, err := c.Exec(ctx, "BEGIN"); err != nil {
			return err
		}
		return c.PgConn().Conn().Close()
	}
}

// knock goes before it has logged in, in one of several ways.
func knock(g *gate.Gate, _ string, i int) error {
	c, err := net.Dial("tcp", g.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	startup, err := (&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersionNumber, Parameters: map[string]string{"user": "nobody"}}).Encode(nil)
	if err != nil {
		return err
	}
	switch i % 4 {
	case 0: // says nothing
	case 1:
		_, err = c.Write(startup[:len(startup)/2])
	case 2:
		if _, err = c.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}); err == nil { // an SSLRequest
			_, err = c.Read(make([]byte, 1))
		}
	default:
		_, err = c.Write(startup)
	}
	return err
}
