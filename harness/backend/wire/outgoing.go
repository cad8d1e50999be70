package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrEnded is what sending on a subscription returns when the call is over.
var ErrEnded = errors.New("the subscription has ended")

// mostUnsent bounds what waits to leave on one subscription, in bytes: a peer that
// stops reading must not fill this process. It is above every update of API-092.
const mostUnsent = 64 << 20

// outgoing is the request body of a subscription: bytes are put in one after the
// other, and the transport takes and writes them at once. It has no type that
// net/http could rewind, so nothing is ever sent twice.
type outgoing struct {
	mu     sync.Mutex
	more   sync.Cond // something to read, or the end of it
	queue  []byte
	added  int64         // bytes put in
	took   int64         // bytes that the transport took
	wrote  int64         // bytes that it has written
	moved  chan struct{} // closed when wrote moves; nil while nobody waits
	closed bool          // no more will come
	gone   bool          // the call is over
}

func newOutgoing() *outgoing {
	o := &outgoing{}
	o.more.L = &o.mu
	return o
}

// put adds bytes and calls before while none of them can have left.
func (o *outgoing) put(before func(), b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.gone:
		return ErrEnded
	case o.closed:
		return errors.New("the sending side of the subscription is closed")
	case len(o.queue)+len(b) > mostUnsent:
		return fmt.Errorf("%d bytes wait to leave on the subscription and the peer takes none", len(o.queue))
	}
	if before != nil {
		before()
	}
	o.queue = append(o.queue, b...)
	o.added += int64(len(b))
	o.more.Signal()
	return nil
}

// end closes the sending side behind what is queued.
func (o *outgoing) end(before func()) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gone {
		return ErrEnded
	}
	if !o.closed && before != nil {
		before()
	}
	o.closed = true
	o.more.Signal()
	return nil
}

// left waits until everything that was put in so far is written.
func (o *outgoing) left(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for target := o.added; o.wrote < target; {
		if o.gone {
			return ErrEnded
		}
		if o.moved == nil {
			o.moved = make(chan struct{})
		}
		moved := o.moved
		o.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
		}
		o.mu.Lock()
		if ctx.Err() != nil && o.wrote < target {
			return context.Cause(ctx)
		}
	}
	return nil
}

// tell wakes whoever waits for bytes to leave; it wants mu held.
func (o *outgoing) tell() {
	if o.moved != nil {
		close(o.moved)
		o.moved = nil
	}
}

// Read implements io.Reader for the transport. That it asks for more means that
// it has written what it had: it writes and flushes each piece before the next.
func (o *outgoing) Read(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wrote < o.took {
		o.wrote = o.took
		o.tell()
	}
	for len(o.queue) == 0 && !o.closed && !o.gone {
		o.more.Wait()
	}
	switch {
	case o.gone:
		return 0, ErrEnded
	case len(o.queue) == 0:
		return 0, io.EOF
	}
	n := copy(p, o.queue)
	if o.queue = o.queue[n:]; len(o.queue) == 0 {
		o.queue = nil
	}
	o.took += int64(n)
	return n, nil
}

// Close implements io.Closer: the transport takes no more. What is queued does
// not leave.
func (o *outgoing) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone, o.queue = true, nil
	o.tell()
	o.more.Broadcast()
	return nil
}
