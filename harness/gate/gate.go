package gate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config says where a gate stands.
type Config struct {
	// Listen is a TCP address, such as 127.0.0.1:0; port 0 takes a free one.
	Listen string
	// Database is the URL of the Postgres behind the gate, sslmode and all. The
	// gate itself logs in with it only to ask who waits for whom; clients log
	// in as who they are, to the database they name.
	Database string
	// Points name statements that carry no tag of their own; nil for none.
	Points *Points
	// TLS is what clients that ask for TLS get; nil refuses it to them.
	TLS *tls.Config
	// Alter gives the right to change the database for a while: see [Parking].
	Alter bool
	// Log receives what is worth telling, never a byte of the traffic; nil
	// discards it.
	Log *slog.Logger
}

// Gate is a proxy in front of one Postgres server. Its methods may be called
// from many goroutines at once.
type Gate struct {
	listener net.Listener
	routes   []route
	side     side
	points   *Points
	alter    bool
	tls      *tls.Config
	log      *slog.Logger
	began    time.Time
	buffers  sync.Pool

	// watching counts what needs statements to be looked at: holds, recordings
	// and calls. While it is zero they are only passed on.
	watching atomic.Int32

	ending   context.Context
	end      context.CancelFunc
	sessions sync.WaitGroup

	mu         sync.Mutex
	last       uint64 // number of the latest session
	live       map[uint64]*session
	holds      []*Hold
	calls      []*Call
	recordings []*Recording
	parkings   []*Parking
}

// New listens. Nothing is accepted before Serve; Close without Serve frees the
// address.
func New(c Config) (*Gate, error) {
	config, err := pgx.ParseConfig(c.Database)
	if err != nil {
		// The parser's error quotes what it was given.
		return nil, errors.New("gate: the database url does not parse: want postgres://user:password@host:port/database")
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("gate: %w: choose another address, or port 0 for a free port", err)
	}
	g := &Gate{
		listener: listener, routes: routesOf(config), side: side{config: config}, points: c.Points, alter: c.Alter, tls: clientTLS(c.TLS), log: c.Log,
		began: time.Now(), live: make(map[uint64]*session),
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	g.buffers.New = func() any { b := make([]byte, bufferSize); return &b }
	g.ending, g.end = context.WithCancel(context.Background())
	return g, nil
}

// Addr is where the gate listens.
func (g *Gate) Addr() net.Addr { return g.listener.Addr() }

// URL is a database's URL with the gate in place of its server. It holds the
// password that the given one holds.
func (g *Gate) URL(database string) (string, error) {
	u, err := url.Parse(database)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", errors.New("gate: a url through the gate needs one of the form postgres://user:password@host:port/database")
	}
	query := u.Query()
	for _, key := range []string{"host", "hostaddr", "port", "sslmode", "sslnegotiation", "sslrootcert", "sslcert", "sslkey", "channel_binding"} {
		query.Del(key)
	}
	query.Set("sslmode", "disable")
	if g.tls != nil {
		query.Set("sslmode", "require")
		query.Set("channel_binding", "disable") // the channel that the server knows is another
	}
	u.Host, u.RawQuery = g.listener.Addr().String(), query.Encode()
	return u.String(), nil
}

// Serve accepts connections until ctx or the gate ends. It returns when every
// session is over, and nil when that was asked for.
func (g *Gate) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, g.shut)
	defer stop()
	err := g.accept()
	g.shut()
	g.sessions.Wait()
	return errors.Join(err, g.clear(), g.side.close())
}

// Close ends the gate and every session, and waits for them.
func (g *Gate) Close() error {
	g.shut()
	g.sessions.Wait()
	return errors.Join(g.clear(), g.side.close())
}

func (g *Gate) shut() {
	g.end()
	_ = g.listener.Close() // closing twice is no fault
}

func (g *Gate) accept() error {
	const most = time.Second
	pause := 5 * time.Millisecond
	for {
		conn, err := g.listener.Accept()
		switch {
		case err == nil:
			pause = 5 * time.Millisecond
			g.sessions.Go(func() { g.serve(conn) })
			continue
		case g.ending.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("gate: %w", err)
		}
		// Descriptors may have run out; they come back when sessions end.
		g.log.Warn("gate: a connection was not accepted", "error", err, "pause", pause)
		select {
		case <-time.After(pause):
			pause = min(2*pause, most)
		case <-g.ending.Done():
			return nil
		}
	}
}

// now is the time since the gate began.
func (g *Gate) now() time.Duration { return time.Since(g.began) }

func (g *Gate) enter(s *session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last++
	s.id = g.last
	g.live[s.id] = s
}

func (g *Gate) leave(s *session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, s.id)
}

// Session says who is connected.
type Session struct {
	// ID counts sessions from 1, in the order in which they came.
	ID uint64 `json:"session"`
	// PID is the server's process, 0 until the server has named it.
	PID uint32 `json:"pid"`
	// User, Database and Application are what the client said at its start.
	User        string `json:"user,omitempty"`
	Database    string `json:"database,omitempty"`
	Application string `json:"application,omitempty"`
}

// Sessions lists who is connected now.
func (g *Gate) Sessions() []Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]Session, 0, len(g.live))
	for id := uint64(1); id <= g.last && len(out) < len(g.live); id++ {
		if s, ok := g.live[id]; ok {
			out = append(out, s.describe())
		}
	}
	return out
}
