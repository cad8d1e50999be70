package wire

import (
	"io"
	"sync"
)

// gate holds reading back while it is shut.
type gate struct {
	mu      sync.Mutex
	opened  chan struct{} // closed while the gate is open
	removed bool          // open for good
}

func newGate() *gate {
	g := &gate{opened: make(chan struct{})}
	close(g.opened)
	return g
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen() && !g.removed {
		g.opened = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen() {
		close(g.opened)
	}
}

// remove opens the gate for good: whoever waits at it learns that the call is over.
func (g *gate) remove() {
	g.mu.Lock()
	g.removed = true
	g.mu.Unlock()
	g.open()
}

// isOpen wants mu held.
func (g *gate) isOpen() bool {
	select {
	case <-g.opened:
		return true
	default:
		return false
	}
}

func (g *gate) wait() {
	g.mu.Lock()
	opened := g.opened
	g.mu.Unlock()
	<-opened
}

// gated reads only while its gate is open.
type gated struct {
	gate *gate
	from io.Reader
}

// Read implements io.Reader.
func (g *gated) Read(p []byte) (int, error) {
	g.gate.wait()
	return g.from.Read(p)
}
