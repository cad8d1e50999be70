package history_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/harness/history"
	"assay/model"
)

func TestEventsOfManyActorsComeInAnOrderThatHeldInRealTime(t *testing.T) {
	r := history.NewRecorder(history.Header{Suite: "t"}, func() time.Duration { return 0 })
	const actors, calls = 16, 200
	var wg sync.WaitGroup
	for a := range actors {
		actor := r.Actor(fmt.Sprint("A", a))
		wg.Go(func() {
			for i := range calls {
				actor.Return(actor.Invoke(i), i)
			}
		})
	}
	wg.Wait()
	h := r.History()
	if err := h.Validate(); err != nil {
		t.Fatal(err)
	}
	if h.Calls() != actors*calls || len(h.Events) != 2*actors*calls {
		t.Errorf("%d calls, %d events; want %d and %d", h.Calls(), len(h.Events), actors*calls, 2*actors*calls)
	}
}

func TestACallWithoutAReturnStaysOpen(t *testing.T) {
	r := history.NewRecorder(history.Header{}, func() time.Duration { return time.Second })
	r.Actor("A").Invoke("lost")
	r.Actor("B").Mark("killed")
	h := r.History()
	if err := h.Validate(); err != nil || len(h.Events) != 2 || h.Events[0].At != time.Second {
		t.Errorf("%v, %+v", err, h.Events)
	}
}

func TestMessagesOfAnOpenCallStandBetweenItsInvokeAndItsReturn(t *testing.T) {
	r := history.NewRecorder(history.Header{}, func() time.Duration { return 0 })
	a := r.Actor("A")
	call := a.Invoke("open")
	a.Send(call, "add")
	a.Receive(call, "added")
	a.Return(call, "over")
	h := r.History()
	if err := h.Validate(); err != nil || len(h.Events) != 4 || h.Events[1].Phase != model.Send || h.Events[2].Phase != model.Receive {
		t.Errorf("%v, %+v", err, h.Events)
	}
	if rest := h.Without(map[int]bool{call: true}); len(rest.Events) != 0 {
		t.Errorf("a call that was dropped left %+v", rest.Events)
	}
}

func TestWithoutDropsCallsAndRenumbers(t *testing.T) {
	r := history.NewRecorder(history.Header{}, func() time.Duration { return 0 })
	a := r.Actor("A")
	a.Mark("terms")
	first := a.Invoke(1)
	a.Return(first, 1)
	second := a.Invoke(2)
	a.Return(second, 2)
	h := r.History().Without(map[int]bool{first: true})
	if err := h.Validate(); err != nil || len(h.Events) != 3 || h.Events[1].Call != second {
		t.Errorf("%v, %+v", err, h.Events)
	}
}

func TestAHistoryThatCannotHaveHappenedIsRefused(t *testing.T) {
	event := func(i int, p model.Phase, actor string, call int) model.Event {
		return model.Event{Index: i, Phase: p, Actor: actor, Call: call}
	}
	for name, c := range map[string]struct {
		events []model.Event
		want   string
	}{
		"indices that skip":           {[]model.Event{event(1, model.Mark, "A", 0)}, "indices count up"},
		"a return out of nothing":     {[]model.Event{event(0, model.Return, "A", 1)}, "never invoked"},
		"two invokes of one call":     {[]model.Event{event(0, model.Invoke, "A", 1), event(1, model.Invoke, "B", 1)}, "a second time"},
		"two returns of one call":     {[]model.Event{event(0, model.Invoke, "A", 1), event(1, model.Return, "A", 1), event(2, model.Return, "A", 1)}, "a second time"},
		"calls of an actor overlap":   {[]model.Event{event(0, model.Invoke, "A", 1), event(1, model.Invoke, "A", 2)}, "is open"},
		"another actor's return":      {[]model.Event{event(0, model.Invoke, "A", 1), event(1, model.Return, "B", 1)}, "of actor"},
		"an event without a phase":    {[]model.Event{{}}, "phase"},
		"a message of nothing":        {[]model.Event{event(0, model.Send, "A", 1)}, "not open"},
		"a message after the end":     {[]model.Event{event(0, model.Invoke, "A", 1), event(1, model.Return, "A", 1), event(2, model.Receive, "A", 1)}, "not open"},
		"a message of another's call": {[]model.Event{event(0, model.Invoke, "A", 1), event(1, model.Receive, "B", 1)}, "of actor"},
	} {
		t.Run(name, func(t *testing.T) {
			err := (&history.History{Events: c.events}).Validate()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v; want one that contains %q", err, c.want)
			}
		})
	}
}

// Appending is on the path of every call: it must cost nothing beside one.
func BenchmarkAppend(b *testing.B) {
	r := history.NewRecorder(history.Header{}, func() time.Duration { return 0 })
	var n int
	var mu sync.Mutex
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		mu.Lock()
		n++
		a := r.Actor(fmt.Sprint("A", n))
		mu.Unlock()
		for pb.Next() {
			a.Return(a.Invoke(nil), nil)
		}
	})
}
