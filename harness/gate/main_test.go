package gate_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"assay/harness/gate"
	"assay/harness/postgres/pgtest"
)

// patience bounds every wait of these tests.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m, func() error { return goleak.Find() }))
}

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// open puts a gate before a database until the test ends.
func open(t testing.TB, database string, change ...func(*gate.Config)) *gate.Gate {
	t.Helper()
	c := gate.Config{Listen: "127.0.0.1:0", Database: database}
	for _, f := range change {
		f(&c)
	}
	g, err := gate.New(c)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(context.Background()) }()
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Errorf("closing the gate: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return g
}

func through(t testing.TB, g *gate.Gate, database string) string {
	t.Helper()
	u, err := g.URL(database)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// connect is a session until the test ends; options are keys and values of the
// url's query.
func connect(t testing.TB, to string, options ...string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(within(t), with(t, to, options...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = c.Close(ctx) // many tests have cut it before
	})
	return c
}

func with(t testing.TB, to string, options ...string) string {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for i := 0; i+1 < len(options); i += 2 {
		q.Set(options[i], options[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func exec(t testing.TB, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(within(t), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func number(t testing.TB, c *pgx.Conn, sql string, args ...any) (n int) {
	t.Helper()
	if err := c.QueryRow(within(t), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// later runs something beside the test and is its result.
func later[T any](f func() T) <-chan T {
	out := make(chan T, 1)
	go func() { out <- f() }()
	return out
}

func await[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
	return v
}

func hold(t testing.TB, g *gate.Gate, r gate.Rule) *gate.Hold {
	t.Helper()
	h, err := g.Hold(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Release)
	return h
}

func stopped(t testing.TB, h *gate.Hold) *gate.Held {
	t.Helper()
	held, err := h.Stopped(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// tap is a proxy that only copies, and keeps what it copied when it is asked to.
type tap struct {
	net.Listener
	to   string
	keep bool
	done sync.WaitGroup

	mu       sync.Mutex
	up, down []byte
	conns    []net.Conn
}

func tapTo(t testing.TB, to string, keep bool) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{Listener: l, to: to, keep: keep}
	p.done.Go(p.accept)
	t.Cleanup(p.stop)
	return p
}

func (p *tap) accept() {
	for {
		c, err := p.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = c.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, c, s)
		p.mu.Unlock()
		p.done.Go(func() { p.copy(s, c, &p.up) })
		p.done.Go(func() { p.copy(c, s, &p.down) })
	}
}

func (p *tap) copy(to, from net.Conn, kept *[]byte) {
	defer to.Close()
	defer from.Close()
	if !p.keep {
		// The plain loop in user space that anybody would write first.
		b := make([]byte, 32<<10)
		_, _ = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, b)
		return
	}
	_, _ = io.Copy(to, io.TeeReader(from, writer(func(b []byte) {
		p.mu.Lock()
		defer p.mu.Unlock()
		*kept = append(*kept, b...)
	})))
}

// drop cuts every connection, and takes no more.
func (p *tap) stop() {
	_ = p.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.done.Wait()
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }
