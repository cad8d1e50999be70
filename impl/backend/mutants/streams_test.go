package mutants_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/status"

	"assay/harness/postgres/pgtest"
	"assay/impl/backend"
	. "assay/impl/backend/backendtest"
	"assay/impl/backend/config"
	"assay/impl/backend/mutants"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// quietTime is how long a client of a stream waits for what does not come.
const quietTime = 5 * time.Second

// Every mutant of streams that one client can tell must show in a conversation,
// as the others do.
func TestEveryStreamMutantShowsOnTheWire(t *testing.T) {
	clean := observeStreams(t, nil, nil)
	if step := difference(clean, observeStreams(t, nil, clean)); step != "" {
		t.Fatalf("the clean backend differs from itself in step %q", step)
	}
	all := slices.DeleteFunc(mutants.All(), func(m mutants.Mutant) bool { return !m.Streams || m.Concurrent || m.Signed })
	seen := make([]string, len(all))
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, m := range all {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			step := difference(clean, observeStreams(t, m.Apply, clean))
			if step == "" {
				t.Errorf("%s cannot be told from the clean backend", m.Name)
			}
			seen[i] = fmt.Sprintf("%s: %s\n", m.Name, step)
		})
	}
	wait.Wait()
	// Where it shows first is a matter of time on a stream, so it is told and not held.
	t.Log("\n" + strings.Join(seen, ""))
}

func observeStreams(t *testing.T, mutate func(*backend.Parts, *config.Config), expected []string) []string {
	t.Helper()
	v := &viewer{ctx: t.Context(), symbols: make(map[string]string), expected: expected,
		b: Start(t, pgtest.ForTest(t).URL(), Options{Mutate: mutate, Configure: func(c *config.Config) {
			c.Streams.KeepaliveIntervalMS, c.Streams.MaxPongWaitMS = 300, 60_000
		}})}
	for _, part := range []func(*viewer){(*viewer).streamTopics, (*viewer).streamRefusals, (*viewer).streamFloods, (*viewer).staticStreams, (*viewer).streamPages, (*viewer).streamLimits} {
		if !v.over {
			part(v)
		}
	}
	return v.lines
}

// talk is one stream of either form. It answers Pings and says what else came.
type talk struct {
	v      *viewer
	send   func(*backendv1.SubscribeRequest) error
	close  func() error
	frames chan string
}

func (v *viewer) subscribe() (*talk, func()) {
	ctx, cancel := context.WithCancel(v.ctx)
	stream, err := v.b.Subscription.Subscribe(ctx)
	k := &talk{v: v, frames: make(chan string, 100_000)}
	if err != nil {
		k.frames <- failure(err)
		return k, cancel
	}
	var mu sync.Mutex
	k.send = func(r *backendv1.SubscribeRequest) error {
		mu.Lock()
		defer mu.Unlock()
		return stream.Send(r)
	}
	k.close = stream.CloseSend
	go func() {
		for {
			f, err := stream.Recv()
			switch {
			case errors.Is(err, io.EOF):
				k.frames <- "end"
				return
			case err != nil:
				k.frames <- "end " + status.Code(err).String()
				return
			case f.GetPing() != nil:
				_ = k.send(&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Pong{Pong: &backendv1.Pong{Nonce: f.GetPing().GetNonce()}}})
			case f.GetMessages() != nil:
				k.rowsOf(f.GetMessages().GetEnvelopes())
			case f.GetStarted() != nil:
				k.frames <- fmt.Sprint("started ", f.GetStarted().GetKeepaliveIntervalMs())
			case f.GetApplied() != nil:
				k.frames <- fmt.Sprint("applied ", f.GetApplied().GetId(), described(f.GetApplied().GetAddedTargets()))
			case f.GetPong() != nil:
				k.frames <- fmt.Sprint("pong ", f.GetPong().GetNonce())
			}
		}
	}()
	return k, cancel
}

func (v *viewer) static(topics ...*backendv1.TopicQuery) (*talk, func()) {
	ctx, cancel := context.WithCancel(v.ctx)
	stream, err := v.b.Subscription.SubscribeStatic(ctx, &backendv1.SubscribeStaticRequest{Topics: topics})
	k := &talk{v: v, frames: make(chan string, 100_000)}
	if err != nil {
		k.frames <- failure(err)
		return k, cancel
	}
	go func() {
		for {
			f, err := stream.Recv()
			switch {
			case errors.Is(err, io.EOF):
				k.frames <- "end"
				return
			case err != nil:
				k.frames <- "end " + status.Code(err).String()
				return
			case f.GetMessages() != nil:
				k.rowsOf(f.GetMessages().GetEnvelopes())
			case f.GetStarted() != nil:
				k.frames <- fmt.Sprint("started ", f.GetStarted().GetKeepaliveIntervalMs(), described(f.GetStarted().GetTargets()))
			case f.GetKeepalive() != nil:
				k.frames <- "keepalive"
			}
		}
	}()
	return k, cancel
}

func described(targets []*backendv1.CatchupTarget) string {
	if len(targets) > 10 {
		return fmt.Sprintf(" %d targets", len(targets))
	}
	out := ""
	for _, t := range targets {
		out += fmt.Sprintf(" %x=%d", t.GetTopic().GetTopic()[:2], t.GetThroughSequenceId())
	}
	return out
}

// rowsOf queues rows as frames of one row each: where frames end is nobody's
// business.
func (k *talk) rowsOf(envelopes []*backendv1.ServerEnvelope) {
	for _, e := range envelopes {
		k.frames <- fmt.Sprintf("row %x %d", e.GetMeta().GetTopic().GetTopic()[:2], e.GetMeta().GetCursor().GetSequenceId())
	}
}

// until reads until all the frames given have come ("row ..." too), the stream
// ends or nothing comes, and notes all of it under step. Rows are sorted by topic, and
// stay in order within each.
func (k *talk) until(step string, last ...string) {
	if k.v.over {
		return
	}
	var seen, rows []string
	deadline := time.After(quietTime)
	for done := false; !done; {
		select {
		case f := <-k.frames:
			switch {
			case f == "keepalive" && last[0] != f:
				continue
			case strings.HasPrefix(f, "row "):
				rows = append(rows, f)
			default:
				// What came before a frame of another kind stays before it.
				seen, rows = append(append(seen, sortedRows(rows)...), f), nil
			}
			last = slices.DeleteFunc(last, func(l string) bool { return l == f })
			done = len(last) == 0 || strings.HasPrefix(f, "end")
		case <-deadline:
			seen = append(seen, "and then nothing")
			done = true
		}
	}
	k.v.note(step, append(seen, sortedRows(rows)...)...)
}

func sortedRows(rows []string) []string {
	slices.SortStableFunc(rows, func(a, b string) int { return strings.Compare(a[:8], b[:8]) })
	return rows
}

func (k *talk) update(id uint64, adds []*backendv1.TopicQuery, removes ...*backendv1.Topic) {
	if k.v.over || k.send == nil {
		return
	}
	_ = k.send(&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Update_{
		Update: &backendv1.SubscribeRequest_Update{Id: id, Adds: adds, Removes: removes}}}) // how the stream ends is noted
}

func (k *talk) ping(nonce uint64) {
	_ = k.send(&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Ping{Ping: &backendv1.Ping{Nonce: nonce}}})
}

func welcomes(installation byte) *backendv1.Topic {
	return Topic(backend.KindWelcome, Key(installation))
}

type adds = []*backendv1.TopicQuery

// streamTopics adds and removes topics on one stream. Sequence ids are counted
// along: the conversation is alone on its database.
func (v *viewer) streamTopics() {
	v.quietly([]*backendv1.ClientEnvelope{Welcome(0xa, "1"), Welcome(0xb, "2"), Welcome(0xa, "3"), Welcome(0xb, "4"), Welcome(0xa, "5")})
	s, cancel := v.subscribe()
	defer cancel()
	s.update(7, nil)
	s.until("open a stream and send an empty update", "applied 7")
	a, b, c, d := welcomes(0xa), welcomes(0xb), welcomes(0xc), welcomes(0xd)
	s.update(10, adds{From(d, 9), From(b, 0), From(c, 0), From(a, 3)})
	s.until("add an empty topic, one below a cursor, and two with history", "row 010a 5", "row 010b 4")
	v.quietly([]*backendv1.ClientEnvelope{Welcome(0xd, "6"), Welcome(0xd, "7"), Welcome(0xd, "8"), Welcome(0xd, "9"), Welcome(0xd, "10")})
	v.quietly([]*backendv1.ClientEnvelope{Welcome(0xc, "11")})
	s.until("publish below and above the cursor of the empty topic", "row 010c 11", "row 010d 10")
	s.update(12, adds{From(a, 0), From(d, 0)})
	v.quietly([]*backendv1.ClientEnvelope{Welcome(0xa, "12")})
	s.until("add topics that are on the stream", "row 010a 12")
	s.update(13, nil, b, welcomes(0x7f))
	s.until("remove a topic, and one that is not on the stream", "applied 13")
	v.quietly([]*backendv1.ClientEnvelope{Welcome(0xb, "13")})
	v.quietly([]*backendv1.ClientEnvelope{Welcome(0xa, "14")})
	s.until("publish to the removed topic and then to another", "row 010a 14")
	s.update(14, adds{From(b, 2)})
	s.until("add the removed topic again", "row 010b 13")
	v.quietly([]*backendv1.ClientEnvelope{Welcome(0xa, "15"), Welcome(0xb, "16"), Welcome(0xa, "17"), Welcome(0xc, "18"), Welcome(0xa, "19")})
	v.quietly([]*backendv1.ClientEnvelope{Welcome(0xc, "20")})
	s.until("publish several to several topics", "row 010c 20", "row 010a 19", "row 010b 16")
	if v.over {
		return
	}
	s.update(15, nil, a, b, c, d)
	s.ping(4711)
	s.until("remove all topics and ping", "pong 4711")
	v.quietly([]*backendv1.ClientEnvelope{Welcome(0xa, "21")})
	s.update(16, adds{From(a, 0)})
	s.until("add one again", "row 010a 21")
	_ = s.close()
	s.until("half-close", "end")
}

// streamRefusals opens a stream for everything that ends one.
func (v *viewer) streamRefusals() {
	a, b := welcomes(0xa), welcomes(0xb)
	long := &backendv1.Topic{Topic: make([]byte, 40)}
	for _, r := range []struct {
		step string
		send func(*talk)
	}{
		{"an update with id 0", func(s *talk) { s.update(0, nil) }},
		{"an update whose id repeats", func(s *talk) { s.update(3, nil) }},
		{"an update whose id is lower", func(s *talk) { s.update(2, nil) }},
		{"an update that adds a topic twice", func(s *talk) { s.update(4, adds{From(a, 21), From(a, 21)}) }},
		{"an update that adds and removes a topic", func(s *talk) { s.update(4, adds{From(a, 21)}, a) }},
		{"an update that removes a topic twice", func(s *talk) { s.update(4, nil, b, b) }},
		{"an update that adds a malformed topic", func(s *talk) { s.update(4, adds{From(long, 0)}) }},
		{"an update with a cursor that is too large", func(s *talk) { s.update(4, adds{From(a, 1<<63)}) }},
		{"a frame that is nothing", func(s *talk) { _ = s.send(&backendv1.SubscribeRequest{}) }},
	} {
		if v.over {
			return
		}
		s, cancel := v.subscribe()
		s.update(3, nil)
		s.until("open a stream for "+r.step, "applied 3")
		if !v.over {
			r.send(s)
			s.update(5, nil)
			s.until(r.step, "applied 5")
		}
		cancel()
	}
}

// streamFloods empties buckets, and sends what must not.
func (v *viewer) streamFloods() {
	count := func(step string, send func(*talk), last string) {
		if v.over {
			return
		}
		s, cancel := v.subscribe()
		defer cancel()
		send(s)
		answered := 0
		end := ""
		for deadline := time.After(quietTime); end == ""; {
			select {
			case f := <-s.frames:
				answered++
				if f == last || strings.HasPrefix(f, "end") {
					end = f
				}
			case <-deadline:
				end = "nothing"
			}
		}
		if strings.HasPrefix(end, "end") {
			answered = 0 // frames may be lost with the stream
		}
		v.note(step, fmt.Sprint(answered, " frames, ", end))
	}
	pings := func(s *talk, n int) {
		for i := range n {
			s.ping(uint64(i))
		}
	}
	count("send 80 updates and 80 pings", func(s *talk) {
		for id := range uint64(80) {
			s.update(id+1, nil)
		}
		pings(s, 80)
	}, "pong 79")
	count("send 80 pings on another stream", func(s *talk) { pings(s, 80) }, "pong 79")
	count("send 300 pongs and a ping", func(s *talk) {
		for range 300 {
			_ = s.send(&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Pong{Pong: &backendv1.Pong{Nonce: 99}}})
		}
		s.ping(5)
	}, "pong 5")
	count("send 600 updates", func(s *talk) {
		for id := range uint64(600) {
			s.update(id+1, nil)
		}
	}, "applied 600")
	count("send 600 pings", func(s *talk) { pings(s, 600) }, "pong 599")
}

func (v *viewer) staticStreams() {
	a, b, c := welcomes(0xa), welcomes(0xb), welcomes(0xc)
	try := func(step, last string, topics ...*backendv1.TopicQuery) {
		if !v.over {
			s, cancel := v.static(topics...)
			defer cancel()
			s.until(step, last)
		}
	}
	try("a static stream of no topics", "end")
	try("a static stream that names a topic twice", "end", From(a, 0), From(a, 5))
	try("a static stream of an unknown kind", "end", From(&backendv1.Topic{Topic: []byte{9}}, 0))
	s, cancel := v.static(From(welcomes(0xee), 0), From(b, 13), From(a, 19), From(c, 20))
	defer cancel()
	s.until("a static stream of four topics", "row 010a 21", "row 010b 16")
	v.quietly([]*backendv1.ClientEnvelope{Welcome(0xa, "22"), Welcome(0xc, "23")})
	s.until("publish to a static stream", "row 010c 23", "row 010a 22")
	s.until("an idle static stream", "keepalive")
}

// streamPages reads history of many and of large envelopes.
func (v *viewer) streamPages() {
	var many, large []*backendv1.ClientEnvelope
	for i := range 200 {
		many = append(many, Welcome(0x10, fmt.Sprint(i)))
	}
	for i := range 8 {
		large = append(large, Welcome(byte(0x11+i%2), fmt.Sprint(i, strings.Repeat(".", 900_000))))
	}
	v.quietly(many)  // 24 to 223
	v.quietly(large) // 224 to 231
	v.quietly([]*backendv1.ClientEnvelope{CommitLog(1, 1, nil), CommitLog(1, 2, nil), CommitLog(1, 3, nil), CommitLog(1, 4, nil)})
	s, cancel := v.subscribe()
	defer cancel()
	s.update(1, adds{From(welcomes(0x10), 0)})
	s.until("read a long history", "row 0110 223")
	s.update(2, adds{From(welcomes(0x11), 0), From(welcomes(0x12), 0)})
	s.until("read a history of large envelopes", "row 0112 231", "row 0111 230")
	s.update(3, adds{From(Topic(backend.KindCommitLogEntry, GroupID(1)), 0)})
	s.until("read a commit log on a stream", "row 0401 235")
}

// streamLimits goes to the bounds and one past them.
func (v *viewer) streamLimits() {
	if v.over {
		return
	}
	all := make(adds, 100_001)
	for i := range all {
		all[i] = From(Topic(backend.KindWelcome, append(Key(0x20)[:28], byte(i>>24), byte(i>>16), byte(i>>8), byte(i))), 0)
	}
	s, cancel := v.subscribe()
	s.update(1, all[:100_000])
	s.until("add 100000 topics", "applied 1 100000 targets")
	s.update(2, all[100_000:])
	s.update(0, nil)
	s.until("add one more", "end")
	cancel()
	s, cancel = v.subscribe()
	defer cancel()
	s.update(1, all)
	s.update(0, nil)
	s.until("add 100001 topics", "end")
	static, cancel := v.static(all[:10_001]...)
	defer cancel()
	static.until("a static stream of 10001 topics", "end")
}
