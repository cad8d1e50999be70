package stream

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// transport is one stream as a driver sees it. Send may wait for the client; it
// is called by one goroutine, Receive by another.
type transport interface {
	Context() context.Context
	Send(Encoded) error
	// Receive returns the next frame, and io.EOF when the client half-closed.
	Receive() (*backendv1.SubscribeRequest, error)
}

// driver carries out what a session wants. The session runs on the caller's
// goroutine; one more sends, one receives, and reads have their own, so that the
// session itself never waits for anything but events.
type driver struct {
	service   *Service
	transport transport
	machine   Machine
	static    bool
	box       *mailbox
	out       *outbox
	timer     *time.Timer
	// credit bounds the frames that were received and not looked at.
	credit chan struct{}
	work   sync.WaitGroup
}

const (
	// receiveAhead is how many frames may be received before the session looks.
	// A frame may be as large as a request, so these are few; a client that
	// sends faster is held up by its own connection.
	receiveAhead = 4
	// headsAtOnce is how many heads one statement reads: a full stream takes
	// several, so that none comes near the time a statement may take.
	headsAtOnce = 25_000
)

// drive runs a stream to its end and returns what the client is told. A nil
// request opens a bidirectional stream.
func drive(s *Service, t transport, static *backendv1.SubscribeStaticRequest) error {
	ctx, cancel := context.WithCancel(t.Context())
	d := &driver{service: s, transport: t, machine: s.Session(s.settings()), static: static != nil, box: newMailbox(), out: newOutbox(),
		timer: time.NewTimer(time.Hour), credit: make(chan struct{}, receiveAhead)}
	defer func() {
		d.timer.Stop()
		_, _ = d.do(ctx, d.machine.Step(time.Now(), Closed{}))
		cancel()
		d.out.close()
		d.work.Wait()
	}()
	d.work.Go(func() { d.send(ctx) })
	if ended, err := d.do(ctx, d.machine.Step(time.Now(), Opened{Static: static})); ended {
		return err
	}
	if static == nil {
		// Not waited for: a transport that ends lets go of who receives.
		go d.receive(ctx)
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-d.box.ready:
		case <-d.timer.C:
			// What came before is looked at before the deadline is: a Pong may
			// be among it.
			if ended, err := d.look(ctx); ended {
				return err
			}
			if ended, err := d.do(ctx, d.machine.Step(time.Now(), Due{})); ended {
				return err
			}
		}
		if ended, err := d.look(ctx); ended {
			return err
		}
	}
}

// look steps the session through the events that are there.
func (d *driver) look(ctx context.Context) (ended bool, err error) {
	taken, events := d.box.take()
	if taken != (Taken{}) {
		if ended, err := d.do(ctx, d.machine.Step(time.Now(), taken)); ended {
			return true, err
		}
	}
	for _, e := range events {
		if lost, ok := e.(transportLost); ok {
			// A stream that was ended from outside also stops receiving; why it
			// was ended says more.
			if ctx.Err() != nil {
				return true, context.Cause(ctx)
			}
			return true, lost.err
		}
		if _, ok := e.(Received); ok {
			<-d.credit
		}
		if ended, err := d.do(ctx, d.machine.Step(time.Now(), e)); ended {
			return true, err
		}
	}
	return false, nil
}

// do carries out effects.
func (d *driver) do(ctx context.Context, effects []Effect) (ended bool, err error) {
	for _, e := range effects {
		switch e := e.(type) {
		case Send:
			d.out.put(e)
		case Register:
			d.service.feed.Register(d.box, e.Topics)
			d.service.wakeFeed()
		case Unregister:
			d.service.feed.Unregister(d.box, e.Topics)
		case ReadHeads:
			d.work.Go(func() { d.readHeads(ctx, e) })
		case ReadPage:
			d.work.Go(func() { d.readPage(ctx, e) })
		case Wake:
			d.timer.Reset(time.Until(e.At))
		case End:
			return true, e.Err
		}
	}
	return false, nil
}

func (d *driver) readHeads(ctx context.Context, e ReadHeads) {
	heads := make([]int64, 0, len(e.Topics))
	var err error
	for topics := range slices.Chunk(e.Topics, headsAtOnce) {
		err = d.service.read(ctx, func() error {
			some, err := d.service.Reads.Heads(ctx, topics)
			if err == nil {
				heads = append(heads, some...)
			}
			return err
		})
		if err != nil {
			break
		}
	}
	if err == nil {
		d.service.feed.Report(e.Topics, heads)
	}
	d.box.put(HeadsRead{Heads: heads, Err: err})
}

func (d *driver) readPage(ctx context.Context, e ReadPage) {
	var page Page
	err := d.service.read(ctx, func() (err error) {
		page, err = readPage(ctx, d.service.Reads, e)
		return err
	})
	d.box.put(PageRead{Page: page, Err: err})
}

// receive brings the client's frames in until there are no more.
func (d *driver) receive(ctx context.Context) {
	for {
		frame, err := d.transport.Receive()
		switch {
		case errors.Is(err, io.EOF):
			d.box.put(HalfClosed{})
			return
		case err != nil:
			d.box.put(transportLost{err})
			return
		}
		select {
		case d.credit <- struct{}{}:
			d.box.put(Received{frame})
		case <-ctx.Done():
			return
		}
	}
}

// transportLost is what the driver tells itself when a frame cannot be received.
type transportLost struct{ err error }

func (transportLost) event() {}

// send gives frames to the transport.
func (d *driver) send(ctx context.Context) {
	for {
		s, ok := d.out.get()
		if !ok {
			return
		}
		if err := d.transport.Send(Encode(s.Frame, d.static)); err != nil {
			if ctx.Err() == nil {
				d.box.put(transportLost{err})
			}
			return
		}
		d.box.sent(s)
	}
}

// outbox is the queue of frames. The session bounds it.
type outbox struct {
	mu     sync.Mutex
	some   sync.Cond
	frames []Send
	closed bool
}

func newOutbox() *outbox {
	o := new(outbox)
	o.some.L = &o.mu
	return o
}

func (o *outbox) put(s Send) {
	o.mu.Lock()
	o.frames = append(o.frames, s)
	o.mu.Unlock()
	o.some.Signal()
}

// get waits for a frame; there is none once the outbox is closed.
func (o *outbox) get() (Send, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.frames) == 0 && !o.closed {
		o.some.Wait()
	}
	if o.closed {
		return Send{}, false
	}
	s := o.frames[0]
	o.frames[0], o.frames = Send{}, o.frames[1:]
	return s, true
}

// close drops what is queued.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed, o.frames = true, nil
	o.mu.Unlock()
	o.some.Broadcast()
}
