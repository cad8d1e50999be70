package backend

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"assay/harness/backend/wire"
	"assay/harness/run"
	"assay/model"
	rules "assay/model/backend"
)

// everyVerb is a mix that draws all there is.
var everyVerb = Mix{
	Topics:  []rules.Log{{Kind: rules.Group, Name: "g"}, {Kind: rules.Welcome, Name: "w"}, {Kind: rules.CommitLog, Name: "g"}},
	Weights: Weights{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	Wave:    3, Most: 4, Spread: 3, Pages: []uint32{0, 1, 5}, Patience: []time.Duration{time.Millisecond},
}

func TestWhatAnActorMeansToDoFollowsFromTheLoadAlone(t *testing.T) {
	l := run.Load{Seed: 7, Actors: run.Everyone(4), Operations: 60, Bytes: 900}
	for _, n := range l.Actors {
		if a, b := everyVerb.Script(l, n), everyVerb.Script(l, n); !reflect.DeepEqual(a, b) {
			t.Errorf("actor %d means two things", n)
		}
	}
	if reflect.DeepEqual(everyVerb.Script(l, 0), everyVerb.Script(l, 1)) {
		t.Error("two actors mean the same")
	}
	other := l
	other.Seed++
	if reflect.DeepEqual(everyVerb.Script(l, 0), everyVerb.Script(other, 0)) {
		t.Error("two seeds mean the same")
	}
}

func TestFewerOperationsAreTheBeginningOfTheSameScript(t *testing.T) {
	l := run.Load{Seed: 7, Actors: run.Everyone(4), Operations: 60}
	short := l
	short.Operations = 13
	if !reflect.DeepEqual(everyVerb.Script(short, 2), everyVerb.Script(l, 2)[:13]) {
		t.Error("a shorter script is another script")
	}
}

func TestEveryVerbIsDrawnAndRaceMatesMeet(t *testing.T) {
	l := run.Load{Seed: 7, Actors: run.Everyone(6), Operations: 120}
	verbs := make(map[verb]int)
	senders := make(map[string]map[int]bool) // by content that is meant to be shared
	for _, n := range l.Actors {
		for _, in := range everyVerb.Script(l, n) {
			verbs[in.verb]++
			for _, e := range in.envelopes {
				key := e.Log.String() + e.Content
				if senders[key] == nil {
					senders[key] = make(map[int]bool)
				}
				senders[key][n] = true
			}
		}
	}
	for v := verbPublish; v <= verbReopen; v++ {
		if verbs[v] == 0 {
			t.Errorf("verb %d is never drawn", v)
		}
	}
	shared := 0
	for _, who := range senders {
		if len(who) > 1 {
			shared++
		}
	}
	if shared < 10 {
		t.Errorf("%d envelopes are sent by more than one actor, want at least 10", shared)
	}
}

func TestActorsSpreadOverInstancesAndStayThere(t *testing.T) {
	c := &Client{wire: new(wire.Client), others: []*wire.Client{new(wire.Client), new(wire.Client)}}
	used := make(map[*wire.Client]int)
	for n := range 30 {
		w := c.via(fmt.Sprint("a", n))
		if w != c.via(fmt.Sprint("a", n)) {
			t.Errorf("actor %d moves", n)
		}
		used[w]++
	}
	if len(used) != 3 {
		t.Errorf("%d of 3 instances are used", len(used))
	}
	if alone := (&Client{wire: c.wire}); alone.via("a1") != c.wire {
		t.Error("a single instance is not used")
	}
}

// work has every actor of a load finish its operations under a disturbance.
func work(t *testing.T, d Disturbance, actors, operations int) error {
	t.Helper()
	u := &disturber{disturbance: d, every: max(1, actors*operations/(d.Times+1))}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	u.ctx, u.cancel = ctx, cancel
	err := run.Together(ctx, run.Everyone(actors), func(ctx context.Context, _ int, _ *run.Barrier) error {
		for range operations {
			if err := u.done(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	u.running.Wait()
	return errors.Join(u.failed(), err)
}

func TestADisturbanceHappensAsOftenAsAskedAndNeverTwiceAtOnce(t *testing.T) {
	var times, at atomic.Int32
	err := work(t, Disturbance{Times: 3, Do: func(context.Context, func()) error {
		if at.Add(1) > 1 {
			t.Error("two at once")
		}
		times.Add(1)
		at.Add(-1)
		return nil
	}}, 5, 40)
	if err != nil || times.Load() < 1 || times.Load() > 3 {
		t.Errorf("%d disturbances: %v", times.Load(), err)
	}
}

func TestADisturbanceThatFailsEndsTheMixWithItsReason(t *testing.T) {
	gone := errors.New("nothing to kill")
	if err := work(t, Disturbance{Times: 1, Do: func(context.Context, func()) error { return gone }}, 3, 50); !errors.Is(err, gone) {
		t.Errorf("error: %v", err)
	}
}

func TestNoCallBeginsWhileTheSubjectIsGone(t *testing.T) {
	var down atomic.Bool
	u := &disturber{every: 1, ctx: t.Context(), cancel: func(error) {}, disturbance: Disturbance{Times: 1, Do: func(ctx context.Context, gone func()) error {
		down.Store(true)
		gone()
		for range 1000 {
			runtime.Gosched() // a while in which nobody may go on
		}
		down.Store(false)
		return nil
	}}}
	if err := u.done(t.Context()); err != nil {
		t.Fatal(err)
	}
	for { // until the disturbance has said that the subject is gone, or is over
		u.mu.Lock()
		waiting, over := u.back != nil, !u.busy
		u.mu.Unlock()
		if waiting || over {
			break
		}
		runtime.Gosched()
	}
	if err := u.done(t.Context()); err != nil || down.Load() {
		t.Errorf("an actor went on while the subject was gone: %v", err)
	}
	u.running.Wait()
}

func TestADisturbanceGoesOnWhenTheActorsHaveFinished(t *testing.T) {
	actors, finish := context.WithCancel(t.Context())
	begun, finished := make(chan struct{}), make(chan struct{})
	u := &disturber{every: 1, ctx: t.Context(), cancel: func(error) {}, disturbance: Disturbance{Times: 1, Do: func(ctx context.Context, gone func()) error {
		close(begun)
		<-finished
		return context.Cause(ctx)
	}}}
	if err := u.done(actors); err != nil {
		t.Fatal(err)
	}
	<-begun
	finish()
	close(finished)
	u.running.Wait()
	if err := u.failed(); err != nil {
		t.Errorf("the disturbance was cut short: %v", err)
	}
}

// inboxHistory writes a history of two inboxes in a few words.
type inboxHistory struct {
	events []model.Event
	calls  int
}

func (h *inboxHistory) add(p model.Phase, actor string, call int, value any) {
	h.events = append(h.events, model.Event{Index: len(h.events), Phase: p, Actor: actor, Call: call, Value: value})
}

func (h *inboxHistory) begin(actor, topic string) int {
	h.calls++
	h.add(model.Invoke, actor, h.calls, &rules.Call{Method: rules.MethodPublish, Publish: &rules.PublishCall{Envelopes: []rules.Sent{{
		Intent: rules.Envelope{Log: rules.Log{Kind: rules.Identity, Name: topic}}, Artefact: rules.Artefact{Topic: rules.Bytes("\x02" + topic)}}}}})
	return h.calls
}

func (h *inboxHistory) stored(actor, topic string, call int, id uint64) {
	h.add(model.Return, actor, call, &rules.Return{Publish: &rules.Published{Metas: []rules.Meta{{Sequence: id, Topic: rules.Bytes("\x02" + topic)}}}})
}

func (h *inboxHistory) aborted(actor string, call int) {
	h.add(model.Return, actor, call, &rules.Return{Code: rules.Aborted})
}

func (h *inboxHistory) read(topics []string, rows map[string]uint64) int {
	h.calls++
	q, page := &rules.QueryCall{}, &rules.Page{}
	for _, t := range topics {
		q.Entries = append(q.Entries, rules.Asked{Topic: rules.Bytes("\x02" + t)})
		if id := rows[t]; id > 0 {
			page.Rows = append(page.Rows, rules.Row{HasMeta: true, Meta: rules.Meta{Sequence: id, Topic: rules.Bytes("\x02" + t)}})
		}
	}
	h.add(model.Invoke, "R", h.calls, &rules.Call{Method: rules.MethodQuery, Query: q})
	h.add(model.Return, "R", h.calls, &rules.Return{Query: page})
	return h.calls
}

func TestIdentityUpdatesBecomeVisibleInTheOrderOfTheirIDs(t *testing.T) {
	both := []string{"a", "b"}
	for name, c := range map[string]struct {
		build func(h *inboxHistory)
		held  int
		bad   int // the breached call, 0 for none
	}{
		"API-014 breached: the lower id is not there although the higher has returned": {func(h *inboxHistory) {
			a := h.begin("A", "a")
			b := h.begin("B", "b")
			h.stored("B", "b", b, 6)
			h.read(both, map[string]uint64{"b": 6}) // call 3
			h.stored("A", "a", a, 5)
		}, 0, 3},
		"API-014 held: the higher id is not there yet": {func(h *inboxHistory) {
			a := h.begin("A", "a")
			b := h.begin("B", "b")
			h.stored("B", "b", b, 5)
			h.read(both, map[string]uint64{"b": 5})
			h.stored("A", "a", a, 6)
		}, 1, 0},
		"API-014 open: a page alone tells no order, for its topics may have been read apart": {func(h *inboxHistory) {
			a := h.begin("A", "a")
			b := h.begin("B", "b")
			h.read(both, map[string]uint64{"b": 6})
			h.stored("B", "b", b, 6)
			h.stored("A", "a", a, 5)
		}, 0, 0},
		"API-014 open: a lost race beside it may have hidden the lower id": {func(h *inboxHistory) {
			l := h.begin("L", "a")
			a := h.begin("A", "a")
			b := h.begin("B", "b")
			h.stored("B", "b", b, 6)
			h.read(both, map[string]uint64{"b": 6})
			h.stored("A", "a", a, 5)
			h.aborted("L", l)
		}, 0, 0},
		"API-014 open: ids on one inbox are another rule's": {func(h *inboxHistory) {
			h.stored("B", "b", h.begin("B", "b"), 4)
			a := h.begin("A", "a")
			h.stored("A", "a", a, 5)
			h.read([]string{"a"}, nil)
		}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var h inboxHistory
			c.build(&h)
			held, bad := 0, 0
			for _, j := range judgeIdentityOrder(h.events).Judgements {
				if j.Breach == nil {
					held++
				} else {
					bad = j.Call
				}
			}
			if held != c.held || bad != c.bad {
				t.Errorf("held %d times, call %d breached; want %d and %d", held, bad, c.held, c.bad)
			}
		})
	}
}
