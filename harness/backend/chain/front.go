package chain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
)

// Outage is a way for the chain to look down.
type Outage uint8

// The outages. The zero value is none.
const (
	None Outage = iota
	// Broken breaks every connection over which something is asked.
	Broken
	// Silent answers nothing until the chain is restored or the client gives up.
	Silent
	// Refusing answers 503 Service Unavailable.
	Refusing
	// Failing answers every call with an error of JSON-RPC.
	Failing
)

// String names the outage in words.
func (o Outage) String() string {
	switch o {
	case None:
		return "none"
	case Broken:
		return "broken connections"
	case Silent:
		return "silence"
	case Refusing:
		return "503"
	case Failing:
		return "JSON-RPC errors"
	default:
		return fmt.Sprintf("outage(%d)", uint8(o))
	}
}

// Cut makes the chain look down from now on. Calls it has begun to answer end
// as they would.
func (c *Chain) Cut(o Outage) { c.front.set(o) }

// Restore ends an outage. The chain is as it was.
func (c *Chain) Restore() { c.front.set(None) }

// Asked returns how many requests have arrived over HTTP, answered or not: a
// scenario that needs the chain cut while it is asked waits for this to grow.
func (c *Chain) Asked() uint64 {
	c.front.mu.Lock()
	defer c.front.mu.Unlock()
	return c.front.asked
}

// front is the HTTP server before the chain.
type front struct {
	listener net.Listener
	server   http.Server
	rpc      *rpc.Server
	done     chan struct{} // closed when the server has ended

	mu     sync.Mutex
	outage Outage
	// restored is closed at the end of the outage.
	restored chan struct{}
	asked    uint64
}

func newFront(l net.Listener, r *rpc.Server) *front {
	f := &front{listener: l, rpc: r, done: make(chan struct{}), restored: make(chan struct{})}
	f.server = http.Server{Handler: f, ReadHeaderTimeout: 30 * time.Second}
	go func() {
		defer close(f.done)
		// Serve ends with ErrServerClosed, or with an error of a listener that is
		// gone; either way subjects see the chain as down.
		_ = f.server.Serve(l)
	}()
	return f
}

func (f *front) address() string { return f.listener.Addr().String() }

func (f *front) set(o Outage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outage = o
	close(f.restored)
	f.restored = make(chan struct{})
}

func (f *front) state() (Outage, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return f.outage, f.restored
}

// closeTimeout is how long calls under way may take at the end.
const closeTimeout = 5 * time.Second

func (f *front) close() error {
	f.set(Broken) // ends the silence
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := f.server.Shutdown(ctx)
	if err != nil {
		err = f.server.Close()
	}
	<-f.done
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the front of the simulated chain: %w", err)
	}
	return nil
}

// longestRequest bounds a request; a signature of a megabyte takes four.
const longestRequest = 8 << 20

// ServeHTTP answers as the outage has it.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	outage, restored := f.state()
	for outage == Silent {
		select {
		case <-r.Context().Done():
			return
		case <-restored:
			f.mu.Lock()
			outage, restored = f.outage, f.restored
			f.mu.Unlock()
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, longestRequest)
	switch outage {
	case Broken:
		reset(w)
	case Refusing:
		http.Error(w, "the simulated chain is cut", http.StatusServiceUnavailable)
	case Failing:
		fail(w, r)
	default:
		f.rpc.ServeHTTP(w, r)
	}
}

// reset breaks the connection, so that the client reads neither answer nor end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		// Only HTTP/2 has no connection to take, and this server does not speak it.
		http.Error(w, "the simulated chain is cut", http.StatusServiceUnavailable)
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // reset, where closing might look like an end
	}
	_ = conn.Close()
}
