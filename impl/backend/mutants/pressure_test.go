package mutants_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"assay/harness/postgres/pgtest"
	. "assay/impl/backend/backendtest"
	"assay/impl/backend/config"
	"assay/impl/backend/mutants"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

const (
	// pressureFor bounds the search for a fault, and cleanFor is how long the
	// clean backend has to stand it.
	pressureFor = 60 * time.Second
	cleanFor    = 10 * time.Second
	// roundFor is how long one round publishes, and settleFor how long its
	// streams may take to get the rest.
	roundFor  = 700 * time.Millisecond
	settleFor = 3 * time.Second

	pressureTopics  = 6
	publishers      = 4
	churningStreams = 5
	slowUpdates     = 5
)

// Mutants of streams that need company must show when several clients publish
// and change streams at once, and the clean backend must stand the same.
func TestEveryConcurrentStreamMutantShowsUnderPressure(t *testing.T) {
	all := slices.DeleteFunc(mutants.All(), func(m mutants.Mutant) bool { return !m.Streams || !m.Concurrent })
	all = append([]mutants.Mutant{{Name: "none"}}, all...)
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			b := Start(t, pgtest.ForTest(t).URL(), Options{Mutate: m.Apply, Configure: func(c *config.Config) {
				c.Limits.MaxUpdateBurst, c.Limits.MaxUpdateFramesPerSecond = 1_000_000, 1_000_000
			}})
			limit := pressureFor
			if m.Apply == nil {
				limit = cleanFor
			}
			began := time.Now()
			for round := uint64(1); time.Since(began) < limit; round++ {
				if wrong := pressure(t, b, round); wrong != "" {
					if m.Apply == nil {
						t.Errorf("round %d: %s", round, wrong)
						return
					}
					t.Logf("round %d, %v: %s", round, time.Since(began).Round(time.Millisecond), wrong)
					return
				}
			}
			if m.Apply != nil {
				t.Errorf("nothing showed in %v", pressureFor)
			}
		})
	}
}

// published is what was stored in a round, by topic.
type published struct {
	mu  sync.Mutex
	ids map[int][]uint64
	// last is the highest id that a publish returned.
	last atomic.Uint64
}

func (p *published) above(topic int, cursor uint64) []uint64 {
	var ids []uint64
	for _, id := range p.ids[topic] {
		if id > cursor {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// pressure plays one round and returns what was wrong in it. Topics are new in
// each.
func pressure(t *testing.T, b *Backend, round uint64) string {
	ctx, stop := context.WithTimeout(t.Context(), roundFor)
	defer stop()
	stored := &published{ids: make(map[int][]uint64)}
	var publishing, churning sync.WaitGroup
	for n := range publishers {
		r := rand.New(rand.NewPCG(round, uint64(n)))
		publishing.Go(func() {
			for ctx.Err() == nil {
				stored.publish(t, b, r, round)
			}
		})
	}
	players := make([]*player, churningStreams)
	for n := range players {
		players[n] = newPlayer(t, ctx, b, rand.New(rand.NewPCG(round, uint64(100+n))), round, stored, n == 0)
		churning.Go(func() { players[n].churn(ctx) })
	}
	publishing.Wait()
	churning.Wait()
	settled := func() string {
		var wrong []string
		for n, p := range players {
			if err := p.settle(); err != nil {
				wrong = append(wrong, fmt.Sprintf("stream %d: %v", n, err))
			}
		}
		return strings.Join(wrong, "; ")
	}
	wrong := settled()
	if wrong == "" {
		// What comes last has nothing behind it that would bring it.
		every := make([]int, pressureTopics)
		for n := range every {
			every[n] = n
		}
		stored.store(t, b, round, every, func() string { return "last" })
		wrong = settled()
	}
	for _, p := range players {
		p.cancel()
		<-p.ended
	}
	return wrong
}

func roundTopic(round uint64, n int) []byte {
	k := binary.BigEndian.AppendUint64(Key(0x77)[:16], round)
	return binary.BigEndian.AppendUint64(k, uint64(n))
}

// publish stores one to three envelopes on topics drawn.
func (p *published) publish(t *testing.T, b *Backend, r *rand.Rand, round uint64) {
	to := make([]int, 1+r.IntN(3))
	for i := range to {
		to[i] = r.IntN(pressureTopics)
	}
	p.store(t, b, round, to, func() string {
		size := 10
		if r.IntN(20) == 0 {
			size = 100_000
		}
		return fmt.Sprint(r.Uint64(), strings.Repeat(".", size))
	})
}

func (p *published) store(t *testing.T, b *Backend, round uint64, to []int, content func() string) {
	request := new(backendv1.PublishRequest)
	for _, n := range to {
		request.Envelopes = append(request.Envelopes, WelcomeTo(roundTopic(round, n), content()))
	}
	response, err := b.Publish.Publish(t.Context(), request)
	if err != nil {
		t.Errorf("publish: %v", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, m := range response.EnvelopeMetas {
		id := m.GetCursor().GetSequenceId()
		p.ids[to[i]] = append(p.ids[to[i]], id)
		p.last.Store(max(p.last.Load(), id))
	}
}

// player is a client that changes its stream at random and remembers all that
// came.
type player struct {
	r      *rand.Rand
	round  uint64
	stored *published
	stream backendv1.SubscriptionService_SubscribeClient
	cancel context.CancelFunc
	slow   bool
	// patience ends when a slow player begins to read.
	patience context.Context
	ended    chan struct{}
	sent     map[uint64]*backendv1.SubscribeRequest_Update
	id       uint64

	mu     sync.Mutex
	frames []*backendv1.SubscribeResponse
	err    error
	more   chan struct{}
}

func newPlayer(t *testing.T, patience context.Context, b *Backend, r *rand.Rand, round uint64, stored *published, slow bool) *player {
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := b.Subscription.Subscribe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{r: r, round: round, stored: stored, stream: stream, cancel: cancel, slow: slow, patience: patience, ended: make(chan struct{}),
		sent: make(map[uint64]*backendv1.SubscribeRequest_Update), more: make(chan struct{}, 1)}
	go p.read()
	return p
}

func (p *player) read() {
	defer close(p.ended)
	if p.slow {
		// Nothing is read while the others publish, so that the server has to
		// wait however fast the machine is.
		<-p.patience.Done()
	}
	for {
		f, err := p.stream.Recv()
		p.mu.Lock()
		if err != nil {
			p.err = err
		} else {
			p.frames = append(p.frames, f)
		}
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// churn sends updates, some of them in one breath, until the round is over.
func (p *player) churn(ctx context.Context) {
	if p.slow {
		// A server may end the stream of a client that asks and does not read.
		for range slowUpdates {
			p.update()
		}
		return
	}
	for ctx.Err() == nil {
		for range 1 + p.r.IntN(3) {
			p.update()
		}
		breath := time.NewTimer(time.Duration(p.r.IntN(30)) * time.Millisecond)
		select {
		case <-breath.C:
		case <-ctx.Done():
			breath.Stop()
		}
	}
}

func (p *player) update() {
	p.id++
	u := &backendv1.SubscribeRequest_Update{Id: p.id}
	if p.r.IntN(5) > 0 {
		for n := range pressureTopics {
			switch p.r.IntN(8) {
			case 0, 1:
				u.Removes = append(u.Removes, Topic(1, roundTopic(p.round, n)))
			case 2, 3, 4:
				cursor := uint64(0)
				if last := p.stored.last.Load(); p.r.IntN(2) == 0 && last > 0 {
					cursor = last + uint64(p.r.IntN(5))
				}
				u.Adds = append(u.Adds, From(Topic(1, roundTopic(p.round, n)), cursor))
			}
		}
		if p.r.IntN(2) == 0 {
			u.Adds = nil
		}
	}
	p.sent[p.id] = u
	// A stream that ended says so to the reader.
	_ = p.stream.Send(&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Update_{Update: u}})
}

// settle waits until everything owed has come, and says what did not or came as
// it should not.
func (p *player) settle() error {
	deadline := time.NewTimer(settleFor)
	defer deadline.Stop()
	for {
		p.mu.Lock()
		frames, failed := p.frames, p.err
		p.mu.Unlock()
		owed, err := p.judge(frames)
		if err != nil || owed == nil && failed == nil {
			return err
		}
		if p.slow && status.Code(failed) == codes.ResourceExhausted {
			// A server need not wait for ever for a client that does not read, if
			// what it did send was whole.
			return nil
		}
		if failed != nil && !errors.Is(failed, io.EOF) {
			return fmt.Errorf("the stream failed: %w", failed)
		}
		select {
		case <-p.more:
		case <-deadline.C:
			return owed
		}
	}
}

// judge holds frames against what was stored. owed says what has not come yet.
func (p *player) judge(frames []*backendv1.SubscribeResponse) (owed, wrong error) {
	active := make(map[int][]uint64) // what is owed to each registration
	applied := uint64(0)
	number := func(topic []byte) int { return int(binary.BigEndian.Uint64(topic[25:])) }
	for i, f := range frames {
		switch {
		case i == 0 && f.GetStarted() == nil:
			return nil, fmt.Errorf("the first frame is %v", f)
		case f.GetApplied() != nil:
			a := f.GetApplied()
			if a.GetId() != applied+1 {
				return nil, fmt.Errorf("applied %d came after applied %d", a.GetId(), applied)
			}
			applied++
			u := p.sent[applied]
			for _, r := range u.GetRemoves() {
				delete(active, number(r.GetTopic()))
			}
			targets := a.GetAddedTargets()
			for _, q := range u.GetAdds() {
				n := number(q.GetTopic().GetTopic())
				if _, ok := active[n]; ok {
					continue
				}
				if len(targets) == 0 || number(targets[0].GetTopic().GetTopic()) != n {
					return nil, fmt.Errorf("applied %d lacks a target", applied)
				}
				if through := targets[0].GetThroughSequenceId(); through != 0 && !slices.Contains(p.stored.ids[n], through) {
					return nil, fmt.Errorf("target %d of topic %d is no id of it", through, n)
				}
				targets = targets[1:]
				active[n] = p.stored.above(n, q.GetCursor().GetSequenceId())
			}
			if len(targets) > 0 {
				return nil, fmt.Errorf("applied %d has a target too many", applied)
			}
		case f.GetMessages() != nil:
			for _, e := range f.GetMessages().GetEnvelopes() {
				n, id := number(e.GetMeta().GetTopic().GetTopic()), e.GetMeta().GetCursor().GetSequenceId()
				want, ok := active[n]
				if !ok {
					return nil, fmt.Errorf("envelope %d of topic %d, which is not on the stream after applied %d", id, n, applied)
				}
				if len(want) == 0 || want[0] != id {
					return nil, fmt.Errorf("envelope %d of topic %d came after applied %d, owed were %v", id, n, applied, want[:min(4, len(want))])
				}
				active[n] = want[1:]
			}
		}
	}
	if applied != p.id {
		return fmt.Errorf("update %d of %d is the last that was applied", applied, p.id), nil
	}
	for n, want := range active {
		if len(want) > 0 {
			return fmt.Errorf("topic %d owes %v", n, want[:min(4, len(want))]), nil
		}
	}
	return nil, nil
}
