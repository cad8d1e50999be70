package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend"
	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a database of envelopes in memory.
type memory struct {
	mu   sync.Mutex
	ids  map[backend.Topic][]int64
	log  []backend.Position
	last int64
	// failing makes every statement fail.
	failing bool
	// notify hears of what is stored, if anybody listens and it is not deaf.
	notify chan struct{}
	deaf   bool
	size   int
}

func newMemory() *memory {
	return &memory{ids: make(map[backend.Topic][]int64), notify: make(chan struct{}, 1)}
}

func (m *memory) store(letters string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range letters {
		t := topic(letters[i])
		m.last++
		m.ids[t] = append(m.ids[t], m.last)
		m.log = append(m.log, backend.Position{Topic: t, After: m.last})
	}
	if !m.deaf {
		select {
		case m.notify <- struct{}{}:
		default:
		}
	}
}

func (m *memory) fail(failing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failing = failing
}

func (m *memory) statement(f func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failing {
		return &backend.StoreError{Kind: backend.Unavailable, Point: PointPage, Err: errors.New("connection refused")}
	}
	f()
	return nil
}

func (m *memory) Heads(_ context.Context, topics []backend.Topic) (heads []int64, err error) {
	err = m.statement(func() {
		for _, t := range topics {
			ids := m.ids[t]
			if len(ids) == 0 {
				heads = append(heads, 0)
				continue
			}
			heads = append(heads, ids[len(ids)-1])
		}
	})
	return heads, err
}

func (m *memory) Page(_ context.Context, from []backend.Position, rows int, maxBytes int64) (page EntryPage, err error) {
	page.Cut = len(from)
	err = m.statement(func() {
		for i, p := range from {
			n := 0
			for _, id := range m.ids[p.Topic] {
				if id > p.After && n < rows {
					n++
					if len(page.Entries) > 0 && int64((len(page.Entries)+1)*(m.size+256)) > maxBytes {
						page.Cut = i
						return
					}
					page.Entries = append(page.Entries, backend.Entry{Key: backend.Key{Topic: p.Topic}, Stored: backend.Stored{SequenceID: id}, Payload: make([]byte, m.size)})
				}
			}
		}
	})
	return page, err
}

func (m *memory) Tail(_ context.Context, since Snapshot) (tail Tail, err error) {
	err = m.statement(func() {
		tail.Snapshot = Snapshot(fmt.Sprint(len(m.log)))
		if since != "" {
			var n int
			_, _ = fmt.Sscan(string(since), &n)
			tail.Moved = slices.Clone(m.log[n:])
		}
	})
	return tail, err
}

func (m *memory) Listen(ctx context.Context, wake func()) error {
	wake()
	for {
		select {
		case <-m.notify:
			wake()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wire is a transport whose client is the test. Sending waits until the test
// reads.
type wire struct {
	ctx    context.Context
	in     chan *backendv1.SubscribeRequest
	out    chan Encoded
	closed chan struct{}
}

func (w *wire) Context() context.Context { return w.ctx }

func (w *wire) Send(e Encoded) error {
	select {
	case w.out <- e:
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

func (w *wire) Receive() (*backendv1.SubscribeRequest, error) {
	select {
	case r := <-w.in:
		return r, nil
	case <-w.closed:
		return nil, io.EOF
	case <-w.ctx.Done():
		return nil, w.ctx.Err()
	}
}

// bench is a service on a memory, with the streams that a test opens.
type bench struct {
	t   *testing.T
	db  *memory
	s   *Service
	ctx context.Context
}

type openStream struct {
	*wire
	t     *testing.T
	ended chan error
}

// onVirtualTime runs f in a bubble with a running service.
func onVirtualTime(t *testing.T, change func(*config.Config), f func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		c := config.Default()
		if change != nil {
			change(&c)
		}
		db := newMemory()
		b := &bench{t: t, db: db, s: New(db, db, &c, slog.New(slog.DiscardHandler)), ctx: ctx}
		var running sync.WaitGroup
		running.Go(func() { b.s.Run(ctx) })
		defer func() {
			cancel()
			running.Wait()
			synctest.Wait()
		}()
		f(b)
		cancel()
		synctest.Wait()
		if len(b.s.feed.topics) != 0 {
			t.Errorf("%d topics are still followed", len(b.s.feed.topics))
		}
	})
}

func (b *bench) open(static *backendv1.SubscribeStaticRequest) *openStream {
	o := &openStream{t: b.t, ended: make(chan error, 1),
		wire: &wire{ctx: b.ctx, in: make(chan *backendv1.SubscribeRequest), out: make(chan Encoded), closed: make(chan struct{})}}
	go func() { o.ended <- drive(b.s, o.wire, static) }()
	return o
}

// next waits for a frame, at most as long as given, and says what it is.
func (o *openStream) next(within time.Duration) string {
	o.t.Helper()
	select {
	case e := <-o.out:
		if e.static {
			if err := proto.Unmarshal(e.AppendTo(nil), new(backendv1.SubscribeStaticResponse)); err != nil {
				o.t.Fatal(err)
			}
		}
		return sayFrame(e.frame)
	case err := <-o.ended:
		o.ended <- err
		return "end " + codeOf(err).String()
	case <-time.After(within):
		return "nothing"
	}
}

func (o *openStream) expect(within time.Duration, want string) {
	o.t.Helper()
	began := time.Now()
	if got := o.next(within); got != want {
		o.t.Fatalf("after %v came %q, not %q", time.Since(began), got, want)
	}
}

func (o *openStream) send(r Received) { o.in <- r.Frame }

// soon is how long anything takes that waits for no clock, and interval how long
// an idle stream is silent.
const (
	soon     = time.Millisecond
	interval = 30*time.Second + soon
)

func TestPingAndPongDeadlinesOnTheClock(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		began := time.Now()
		o := b.open(nil)
		o.expect(soon, "started 30000")
		o.expect(time.Hour, "ping 1")
		if d := time.Since(began); d != 30*time.Second {
			t.Errorf("the first ping came after %v", d)
		}
		o.send(clientPong(1))
		o.expect(time.Hour, "ping 2")
		if d := time.Since(began); d != 60*time.Second {
			t.Errorf("the second ping came after %v", d)
		}
		o.expect(time.Hour, "end DeadlineExceeded")
		if d := time.Since(began); d != 150*time.Second {
			t.Errorf("the stream ended after %v", d)
		}
	})
}

func TestAnAnsweredStreamWithoutTopicsStaysOpen(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		o := b.open(nil)
		o.expect(soon, "started 30000")
		for nonce := range uint64(1000) {
			o.expect(interval, fmt.Sprintf("ping %d", nonce+1))
			o.send(clientPong(nonce + 1))
		}
		close(o.closed)
		o.expect(soon, "end OK")
	})
}

// busy is a session that takes its time over one client Ping.
type busy struct {
	Machine
	nonce uint64
	takes time.Duration
}

func (b busy) Step(now time.Time, e Event) []Effect {
	if r, ok := e.(Received); ok && r.Frame.GetPing().GetNonce() == b.nonce {
		<-time.After(b.takes)
	}
	return b.Machine.Step(now, e)
}

// A Pong that came in time counts, also when the session gets to it only after
// the deadline: the server was slow then, not the client.
func TestAPongThatWasReceivedIsLookedAtBeforeItsDeadline(t *testing.T) {
	for range 30 { // whether the deadline or the Pong is seen first is a matter of luck
		onVirtualTime(t, nil, func(b *bench) {
			inner := b.s.Session
			b.s.Session = func(s Settings) Machine { return busy{inner(s), 5, 10 * time.Second} }
			o := b.open(nil)
			o.expect(soon, "started 30000")
			o.expect(interval, "ping 1")
			<-time.After(85 * time.Second)
			o.send(clientPing(5))
			<-time.After(4 * time.Second)
			o.send(clientPong(1))
			o.expect(10*time.Second, "pong 5")
			o.expect(interval, "ping 2")
		})
	}
}

func TestAPingThatTheTransportDoesNotTakeHasNoDeadline(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		o := b.open(nil)
		o.expect(soon, "started 30000")
		<-time.After(2 * time.Hour)
		o.expect(soon, "ping 1")
		o.send(clientPong(1))
		o.expect(interval, "ping 2")
	})
}

func TestAStaticStreamOnTheClock(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		b.db.store("aab")
		o := b.open(&backendv1.SubscribeStaticRequest{Topics: update(1, "a1", "b0", "c0").Frame.GetUpdate().GetAdds()})
		o.expect(soon, "started 30000 a=2 b=3 c=0")
		o.expect(soon, "messages a2 b3")
		for range 10 {
			o.expect(interval, "keepalive")
		}
		b.db.store("c")
		o.expect(soon, "messages c4")
		o.expect(interval, "keepalive")
	})
}

func TestANotificationDeliversAtOnceAndAPollDeliversWithoutOne(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		o := b.open(nil)
		o.expect(soon, "started 30000")
		o.send(update(1, "a0"))
		o.expect(soon, "applied 1 a=0")
		b.db.store("a")
		o.expect(soon, "messages a1")
		b.db.deaf = true
		began := time.Now()
		b.db.store("a")
		o.expect(time.Second, "messages a2")
		if d := time.Since(began); d > 100*time.Millisecond {
			t.Errorf("the poll brought it after %v", d)
		}
	})
}

func TestATopicThatComesAfterALongTimeAloneIsFollowed(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		b.db.deaf = true
		<-time.After(time.Hour)
		b.db.store("a")
		o := b.open(nil)
		o.expect(soon, "started 30000")
		o.send(update(1, "a0"))
		o.expect(soon, "applied 1 a=1")
		o.expect(soon, "messages a1")
		b.db.store("a")
		o.expect(100*time.Millisecond+soon, "messages a2")
	})
}

func TestManyTopicsOfOnePublishArriveInFewFrames(t *testing.T) {
	onVirtualTime(t, func(c *config.Config) { c.Limits.MaxUpdateBurst = 1000 }, func(b *bench) {
		o := b.open(nil)
		o.expect(soon, "started 30000")
		o.send(update(1, "a0", "b0", "c0", "d0"))
		o.expect(soon, "applied 1 a=0 b=0 c=0 d=0")
		b.db.store("abcd")
		// Across topics order has no meaning (API-095).
		rows := strings.Fields(strings.TrimPrefix(o.next(soon), "messages "))
		slices.Sort(rows)
		if !slices.Equal(rows, []string{"a1", "b2", "c3", "d4"}) {
			t.Errorf("one frame brought %v", rows)
		}
	})
}

func TestADatabaseThatComesBackCostsNothing(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		o := b.open(nil)
		o.expect(soon, "started 30000")
		o.send(update(1, "a0"))
		o.expect(soon, "applied 1 a=0")
		b.db.fail(true)
		b.db.store("a")
		o.expect(9*time.Second, "nothing")
		b.db.fail(false)
		o.expect(time.Second, "messages a1")
	})
}

func TestADatabaseThatStaysAwayEndsTheStreams(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		o := b.open(nil)
		o.expect(soon, "started 30000")
		o.send(update(1, "a0"))
		o.expect(soon, "applied 1 a=0")
		b.db.fail(true)
		o.expect(11*time.Second, "end Unavailable")
		late := b.open(nil)
		late.expect(soon, "started 30000")
		late.send(update(1, "a0"))
		late.expect(time.Second, "end Unavailable")
		b.db.fail(false)
	})
}

func TestAReadWhoseConnectionIsLostIsTriedAgain(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		b.db.store("a")
		o := b.open(nil)
		o.expect(soon, "started 30000")
		b.db.fail(true)
		o.send(update(1, "a0"))
		o.expect(100*time.Millisecond, "nothing")
		b.db.fail(false)
		o.expect(time.Second, "applied 1 a=1")
		o.expect(soon, "messages a1")
	})
}

func TestAClientThatStopsReadingFailsAloneOnceRowsArrive(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		b.db.size = 1 << 20
		slow, quick := b.open(nil), b.open(nil)
		for _, o := range []*openStream{slow, quick} {
			o.expect(soon, "started 30000")
			o.send(update(1, "a0"))
			o.expect(soon, "applied 1 a=0")
		}
		for id := range 30 {
			b.db.store("a")
			quick.expect(time.Second, fmt.Sprintf("messages a%d", id+1))
		}
		// The frame that the transport had is the last to come.
		slow.expect(soon, "messages a1")
		slow.expect(soon, "end ResourceExhausted")
		b.db.store("a")
		quick.expect(time.Second, "messages a31")
	})
}

func TestAClientThatOnlyReadsHistorySlowlyGetsAllOfIt(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		b.db.size = 1 << 20
		for range 40 {
			b.db.store("a")
		}
		o := b.open(nil)
		o.expect(soon, "started 30000")
		o.send(update(1, "a0"))
		o.expect(soon, "applied 1 a=40")
		got := 0
		for got < 40 {
			<-time.After(time.Minute)
			f := frameOf(t, o)
			if m, ok := f.(Messages); ok {
				got += len(m.Rows)
			} else if p, ok := f.(Ping); ok {
				o.send(clientPong(p.Nonce))
			}
		}
	})
}

func frameOf(t *testing.T, o *openStream) Frame {
	t.Helper()
	select {
	case e := <-o.out:
		return e.frame
	case err := <-o.ended:
		t.Fatalf("the stream ended: %v", err)
		return nil
	}
}

func TestShutdownEndsStreams(t *testing.T) {
	onVirtualTime(t, nil, func(b *bench) {
		ctx, cancel := context.WithCancelCause(b.ctx)
		o := &openStream{t: t, ended: make(chan error, 1), wire: &wire{ctx: ctx, in: make(chan *backendv1.SubscribeRequest), out: make(chan Encoded)}}
		go func() { o.ended <- drive(b.s, o.wire, nil) }()
		o.expect(soon, "started 30000")
		why := &backend.Refusal{Code: codes.Unavailable}
		cancel(why)
		if err := <-o.ended; !errors.Is(err, why) {
			t.Errorf("the stream ended with %v", err)
		}
	})
}
