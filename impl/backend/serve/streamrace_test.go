package serve_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"assay/harness/postgres/pgtest"
	"assay/impl/backend"
	. "assay/impl/backend/backendtest"
	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// key numbers an installation.
func key(n int) []byte { return binary.BigEndian.AppendUint64(make([]byte, 24, 32), uint64(n)) }

// load publishes to numbered topics until it is stopped, and remembers what was
// stored on each.
type load struct {
	stop context.CancelFunc
	done sync.WaitGroup
	n    atomic.Int64
	mu   sync.Mutex
	ids  map[int][]uint64
}

// startLoad has workers publish envelopes, a few topics at a time, as fast as
// they go.
func startLoad(t *testing.T, b *Backend, workers, topics int) *load {
	ctx, stop := context.WithCancel(context.Background())
	l := &load{stop: stop, ids: make(map[int][]uint64)}
	for w := range workers {
		l.done.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				request := new(backendv1.PublishRequest)
				var to []int
				for j := range 1 + i%3 {
					n := (i*7 + w*3 + j) % topics
					to = append(to, n)
					request.Envelopes = append(request.Envelopes, WelcomeTo(key(n), fmt.Sprintf("%d/%d/%d", w, i, j)))
				}
				r, err := b.Publish.Publish(context.WithoutCancel(ctx), request)
				if err != nil {
					t.Errorf("publish under load: %v", err)
					return
				}
				l.mu.Lock()
				for j, m := range r.EnvelopeMetas {
					l.ids[to[j]] = append(l.ids[to[j]], m.GetCursor().GetSequenceId())
				}
				l.mu.Unlock()
				l.n.Add(int64(len(to)))
			}
		})
	}
	t.Cleanup(func() { l.end() })
	return l
}

// end stops publishing and returns what was stored, by topic, ascending.
func (l *load) end() map[int][]uint64 {
	l.stop()
	l.done.Wait()
	for _, ids := range l.ids {
		slices.Sort(ids)
	}
	return l.ids
}

// until waits for n envelopes to have been stored.
func (l *load) until(t *testing.T, n int64) {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	deadline := time.After(frameTimeout)
	for l.n.Load() < n {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("%d of %d envelopes were stored in %v", l.n.Load(), n, frameTimeout)
		}
	}
}

// collect reads frames until every topic has got its last envelope, and returns
// what came by topic. Applied frames are passed to applied.
func (s *subscriber) collect(t *testing.T, want map[int][]uint64, applied func(*backendv1.SubscribeResponse_Applied)) map[int][]uint64 {
	t.Helper()
	got := make(map[int][]uint64)
	complete := func() bool {
		for n, ids := range want {
			if len(ids) > 0 && (len(got[n]) == 0 || got[n][len(got[n])-1] < ids[len(ids)-1]) {
				return false
			}
		}
		return true
	}
	for !complete() {
		f := s.next("what was published")
		switch {
		case f.GetApplied() != nil:
			applied(f.GetApplied())
		case f.GetMessages() != nil:
			for _, e := range f.GetMessages().GetEnvelopes() {
				n := int(binary.BigEndian.Uint64(e.GetMeta().GetTopic().GetTopic()[25:]))
				got[n] = append(got[n], e.GetMeta().GetCursor().GetSequenceId())
			}
		case f.GetPing() != nil:
		default:
			t.Fatalf("frame %v", f)
		}
	}
	return got
}

func numbered(n int, after uint64) *backendv1.TopicQuery {
	return From(Topic(backend.KindWelcome, key(n)), after)
}

func TestTopicsAddedWhileOthersPublishHaveNoGap(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	const topics = 40
	l := startLoad(t, b, 6, topics)
	l.until(t, 100)
	const streams = 4
	subscribers := make([]*subscriber, streams)
	var wait sync.WaitGroup
	for i := range subscribers {
		s := subscribe(t, b)
		subscribers[i] = s
		wait.Go(func() {
			for n := range topics {
				s.update([]*backendv1.TopicQuery{numbered((n*11+i)%topics, 0)})
			}
		})
	}
	wait.Wait()
	l.until(t, l.n.Load()+500)
	want := l.end()
	for _, s := range subscribers {
		got := s.collect(t, want, func(a *backendv1.SubscribeResponse_Applied) {
			for _, target := range a.GetAddedTargets() {
				n := int(binary.BigEndian.Uint64(target.GetTopic().GetTopic()[25:]))
				if through := target.GetThroughSequenceId(); through != 0 && !slices.Contains(want[n], through) {
					t.Errorf("target %d of topic %d was never its head", through, n)
				}
			}
		})
		for n := range topics {
			if !slices.Equal(got[n], want[n]) {
				t.Fatalf("topic %d: %d envelopes came, %d were stored:\n%v\n%v", n, len(got[n]), len(want[n]), got[n], want[n])
			}
		}
	}
}

func TestTopicsRemovedAndAddedInOneBreathWhileOthersPublish(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{Configure: func(c *config.Config) { c.Limits.MaxUpdateBurst = 10_000 }})
	l := startLoad(t, b, 4, 2)
	l.until(t, 50)
	s := subscribe(t, b)
	// Topic 0 comes and goes; topic 1 stays.
	s.update([]*backendv1.TopicQuery{numbered(0, 0), numbered(1, 0)})
	const rounds = 60
	for range rounds {
		s.update(nil, Topic(backend.KindWelcome, key(0)))
		s.update([]*backendv1.TopicQuery{numbered(0, 0)})
	}
	var generation []uint64
	var generations [][]uint64
	active := false
	stayed := []uint64{}
	last := s.id
	take := func(f *backendv1.SubscribeResponse) {
		for _, e := range f.GetMessages().GetEnvelopes() {
			id := e.GetMeta().GetCursor().GetSequenceId()
			if binary.BigEndian.Uint64(e.GetMeta().GetTopic().GetTopic()[25:]) == 1 {
				stayed = append(stayed, id)
				continue
			}
			if !active {
				t.Fatalf("envelope %d of a topic that was removed", id)
			}
			generation = append(generation, id)
		}
	}
	for applied := uint64(0); applied < last; {
		f := s.next("applied")
		take(f)
		if a := f.GetApplied(); a != nil {
			applied++
			if a.GetId() != applied {
				t.Fatalf("Applied %d came after %d", a.GetId(), applied-1)
			}
			generations = append(generations, generation)
			generation, active = nil, applied%2 == 1
		}
	}
	want := l.end()
	for len(generation) < len(want[0]) || len(stayed) < len(want[1]) {
		take(s.next("the rest"))
	}
	if !slices.Equal(stayed, want[1]) {
		t.Errorf("the topic that stayed got %d of %d envelopes", len(stayed), len(want[1]))
	}
	for i, g := range append(generations, generation) {
		if len(g) > len(want[0]) || !slices.Equal(g, want[0][:len(g)]) {
			t.Errorf("registration %d got %v, not a prefix of %v", i, g, want[0])
		}
	}
}

// terminate ends the server's connections whose application name is like the
// pattern, and says how many there were.
func terminate(t *testing.T, url, pattern string) int {
	t.Helper()
	return count(t, url, fmt.Sprintf(`SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE application_name LIKE '%s' AND datname = current_database() AND pid <> pg_backend_pid()`, pattern))
}

// count runs a query that returns one number.
func count(t *testing.T, url, query string) int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var n int
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// codeOf is the code that a stream ended with.
func codeOf(err error) codes.Code {
	if errors.Is(err, io.EOF) {
		return codes.OK
	}
	return status.Code(err)
}

func TestKilledDatabaseConnectionsLoseNothing(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	s := subscribe(t, b)
	s.applied(s.update([]*backendv1.TopicQuery{numbered(0, 0), numbered(1, 0)}))
	l := startLoad(t, b, 1, 2)
	for round, pattern := range []string{"assay-backend-listen", "assay-backend-feed", "assay-backend-listen", "assay-backend-%"} {
		l.until(t, int64(100*(round+1)))
		if terminate(t, b.DatabaseURL, pattern) == 0 && pattern == "assay-backend-feed" {
			t.Errorf("there was no connection like %s", pattern)
		}
	}
	l.until(t, 500)
	want := l.end()
	got := s.collect(t, want, func(*backendv1.SubscribeResponse_Applied) {})
	for n := range 2 {
		if !slices.Equal(got[n], want[n]) {
			t.Errorf("topic %d: %d envelopes came, %d were stored", n, len(got[n]), len(want[n]))
		}
	}
}

func TestTwoServersOnOneDatabaseServeEachOthersPublishes(t *testing.T) {
	url := pgtest.ForTest(t).URL()
	slowPoll := Options{Configure: func(c *config.Config) { c.Streams.PollIntervalMS = 600_000 }}
	one, two := Start(t, url, slowPoll), Start(t, url, slowPoll)
	a, b := subscribe(t, one), subscribe(t, two)
	for _, s := range []*subscriber{a, b} {
		s.applied(s.update([]*backendv1.TopicQuery{numbered(0, 0)}))
	}
	for i := range 20 {
		server := one
		if i%2 == 1 {
			server = two
		}
		id := publish(t, server, WelcomeTo(key(0), fmt.Sprint(i)))[0].GetCursor().GetSequenceId()
		for name, s := range map[string]*subscriber{"one": a, "two": b} {
			if got := s.ids(1); got[0] != id {
				t.Errorf("round %d: server %s delivered %v, not %d", i, name, got, id)
			}
		}
	}
}

func TestAStandbyIsPolled(t *testing.T) {
	url := pgtest.ForTest(t).URL()
	// The primary in the part of its standby: nobody listens there.
	b := Start(t, url, Options{Configure: func(c *config.Config) { c.Database.ReplicaURL = url }})
	s := subscribe(t, b)
	s.applied(s.update([]*backendv1.TopicQuery{numbered(0, 0)}))
	if n := count(t, url, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'assay-backend-listen' AND datname = current_database()`); n != 0 {
		t.Errorf("%d connections listen", n)
	}
	publish(t, b, WelcomeTo(key(0), "x"))
	s.ids(1)
}

func TestAReaderThatStopsFailsOrGetsAllOfIt(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	slow, err := b.Subscription.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	quick := subscribe(t, b)
	adds := []*backendv1.TopicQuery{numbered(0, 0)}
	if err := slow.Send(&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Update_{Update: &backendv1.SubscribeRequest_Update{Id: 1, Adds: adds}}}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // Started, Applied
		if _, err := slow.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	quick.applied(quick.update(adds))
	var want []uint64
	for round := range 3 {
		var envelopes []*backendv1.ClientEnvelope
		for i := range 20 {
			envelopes = append(envelopes, WelcomeTo(key(0), fmt.Sprintf("%d/%d%s", round, i, strings.Repeat(".", 900_000))))
		}
		for _, m := range publish(t, b, envelopes...) {
			want = append(want, m.GetCursor().GetSequenceId())
		}
		if got := quick.ids(20); !slices.Equal(got, want[20*round:]) {
			t.Fatalf("the quick reader got %v", got)
		}
	}
	var got []uint64
	for len(got) < len(want) {
		f, err := slow.Recv()
		if err != nil {
			if codeOf(err) != codes.ResourceExhausted {
				t.Errorf("the slow reader was failed with %v", err)
			}
			break
		}
		for _, e := range f.GetMessages().GetEnvelopes() {
			got = append(got, e.GetMeta().GetCursor().GetSequenceId())
		}
	}
	if !slices.Equal(got, want[:len(got)]) {
		t.Errorf("the slow reader got %v", got)
	}
	if len(got) == len(want) {
		t.Errorf("54 MB were taken in for a reader that did not read")
	}
}

func TestAStreamTakesAsManyTopicsAsItsLimitAndNotOneMore(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	publish(t, b, WelcomeTo(key(77_777), "x"))
	adds := make([]*backendv1.TopicQuery, 100_001)
	removes := make([]*backendv1.Topic, 100_000)
	for i := range adds {
		adds[i] = numbered(i, 0)
		if i < len(removes) {
			removes[i] = adds[i].Topic
		}
	}
	s := subscribe(t, b)
	targets := s.applied(s.update(adds[:100_000]))
	if len(targets) != 100_000 || targets[77_777] != 1 || targets[0] != 0 {
		t.Errorf("%d targets", len(targets))
	}
	s.ids(1)
	publish(t, b, WelcomeTo(key(99_999), "x"), WelcomeTo(key(100_000), "beyond"))
	if got := s.ids(1); got[0] != 2 {
		t.Errorf("%v arrived", got)
	}
	s.applied(s.update(nil, removes...))
	s.applied(s.update(adds[1:100_001]))
	s.update(adds[:1])
	if code := s.end(); code != codes.InvalidArgument {
		t.Errorf("topic 100001 ended the stream with %v", code)
	}
	s = subscribe(t, b)
	s.update(adds)
	if code := s.end(); code != codes.InvalidArgument {
		t.Errorf("100001 adds ended the stream with %v", code)
	}
}

func TestAStaticStreamTakesAsManyTopicsAsItsLimit(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	topics := make([]*backendv1.TopicQuery, 10_001)
	for i := range topics {
		topics[i] = numbered(i, 0)
	}
	publish(t, b, WelcomeTo(key(9_999), "x"))
	first := func(topics []*backendv1.TopicQuery) (*backendv1.SubscribeStaticResponse, error) {
		stream, err := b.Subscription.SubscribeStatic(t.Context(), &backendv1.SubscribeStaticRequest{Topics: topics})
		if err != nil {
			t.Fatal(err)
		}
		return stream.Recv()
	}
	f, err := first(topics[:10_000])
	if err != nil || len(f.GetStarted().GetTargets()) != 10_000 || f.GetStarted().GetTargets()[9_999].GetThroughSequenceId() != 1 {
		t.Errorf("10000 topics: %d targets, %v", len(f.GetStarted().GetTargets()), err)
	}
	for what, topics := range map[string][]*backendv1.TopicQuery{
		"10001 topics": topics, "no topics": nil, "a topic twice": {topics[0], topics[0]},
	} {
		if f, err := first(topics); codeOf(err) != codes.InvalidArgument {
			t.Errorf("%s: %v, %v", what, f, err)
		}
	}
}

func TestStreamsOfADrainingServerFailAsUnavailable(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	s, other := subscribe(t, b), subscribe(t, b)
	s.applied(s.update([]*backendv1.TopicQuery{numbered(0, 0)}))
	began := time.Now()
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
	for _, s := range []*subscriber{s, other} {
		if code := s.end(); code != codes.Unavailable {
			t.Errorf("the stream ended with %v", code)
		}
	}
	if d := time.Since(began); d > 8*time.Second {
		t.Errorf("the drain took %v", d)
	}
}
