package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"assay/harness/generate"
	"assay/harness/run"
	rules "assay/model/backend"
)

// change is one update that an actor means to send on its subscription.
type change struct {
	adds    []addition
	removes []rules.Log
}

// addition is a topic to add and where to begin.
type addition struct {
	log  rules.Log
	from start
}

// start is where a registration begins.
type start int

const (
	// fromStart leaves the cursor out: everything.
	fromStart start = iota
	// fromCursor is where the actor's subscriptions have come to (API-102).
	fromCursor
	// fromBefore is somewhat below that: what came before comes again.
	fromBefore
)

// changes draws one to three updates that are sent in one breath. Topics come
// and go; a topic may go and come back within one breath, and an update may do
// nothing at all.
func (d *drawing) changes() []change {
	out := make([]change, 1+d.choice.Intn(3, "updates"))
	for i := range out {
		seen := make(map[rules.Log]bool)
		for _, l := range d.mix.Topics {
			if seen[l] {
				continue
			}
			seen[l] = true
			switch d.choice.Intn(8, "what becomes of a topic") {
			case 0, 1:
				out[i].removes = append(out[i].removes, l)
			case 2, 3, 4:
				out[i].adds = append(out[i].adds, addition{l, generate.Pick(d.choice, "start", fromStart, fromCursor, fromCursor, fromBefore)})
			}
		}
	}
	return out
}

// listens reports whether any actor has a subscription.
func (m Mix) listens() bool {
	all := append([]Weights{m.Weights}, m.Roles...)
	return slices.ContainsFunc(all, func(w Weights) bool { return w.Churn+w.Reopen > 0 })
}

// listener is the subscription of one actor of a load.
type listener struct {
	*Session
	// name is the actor of the subscription; an actor has one open call.
	name   string
	stream *Stream
	id     uint64
	// on are the topics that the stream has, or will have when its updates are applied.
	on map[rules.Log]bool
	// begun is where the latest registration of a topic begins.
	begun map[rules.Log]uint64
	// cursors are the highest ids received, over all subscriptions (API-102).
	cursors map[rules.Log]uint64
}

// mostUpdates is how many updates one subscription sends before the next is
// opened: below the burst that every subscription may send (API-107).
const mostUpdates = 60

// open makes sure that there is a subscription that takes n more updates.
func (a *listener) open(ctx context.Context, n int) error {
	if a.stream != nil && a.id+uint64(n) <= mostUpdates && !a.ended() {
		return nil
	}
	if err := a.close(); err != nil {
		return err
	}
	t, err := a.Subscribe(ctx, a.name)
	if err != nil {
		return err
	}
	a.stream, a.id, a.on, a.begun = t, 0, make(map[rules.Log]bool), make(map[rules.Log]uint64)
	_, err = t.AwaitStarted(ctx)
	return a.tolerate(err)
}

func (a *listener) ended() (over bool) {
	a.stream.Look(func(s *Seen) { over = s.End != nil })
	return over
}

// tolerate lets a load go on when a subscription has ended: what that means is
// in the history.
func (a *listener) tolerate(err error) error {
	if e := (*Ended)(nil); errors.As(err, &e) {
		return nil
	}
	return err
}

// learn moves the cursors to what has come.
func (a *listener) learn(logs []rules.Log) {
	a.stream.Look(func(s *Seen) {
		for _, l := range logs {
			a.cursors[l] = max(a.cursors[l], s.Through[a.Topic(l)])
		}
	})
}

// close cancels the subscription, as a client does that goes away.
func (a *listener) close() error {
	if a.stream == nil {
		return nil
	}
	var logs []rules.Log
	for l := range a.begun {
		logs = append(logs, l)
	}
	a.stream.Cancel()
	a.learn(logs)
	a.stream = nil
	return nil
}

// churn sends the updates in one breath.
func (a *listener) churn(ctx context.Context, changes []change) error {
	if err := a.open(ctx, len(changes)); err != nil {
		return err
	}
	frames := make([]*rules.Request, len(changes))
	for i, c := range changes {
		var adds, removes []rules.Read
		for _, l := range c.removes {
			removes = append(removes, rules.Read{Log: l})
			delete(a.on, l)
		}
		for _, add := range c.adds {
			a.learn([]rules.Log{add.log})
			r, at := rules.Read{Log: add.log}, a.cursors[add.log]
			switch {
			case add.from == fromStart:
				at = 0
			case add.from == fromBefore && at > 3:
				at -= 3
			}
			if at > 0 {
				r.Cursor = &at
			}
			adds = append(adds, r)
			if !a.on[add.log] {
				a.on[add.log], a.begun[add.log] = true, at
			}
		}
		a.id++
		frames[i] = a.stream.NewUpdate(a.id, adds, removes)
	}
	return a.tolerate(a.stream.Burst(ctx, frames...))
}

// last is what everybody waits for at the end of a load: an envelope on each topic.
type last struct {
	mu  sync.Mutex
	ids map[rules.Log]uint64
}

// finish lets every subscription of a load receive what it is owed: when nobody
// publishes any more, one envelope is stored on each topic, and whatever is owed
// comes before it.
func (m Mix) finish(ctx context.Context, a *actor, first bool, b *run.Barrier, end *last) error {
	if err := b.Wait(ctx); err != nil {
		return err
	}
	if first {
		var envelopes []rules.Envelope
		seen := make(map[rules.Log]bool)
		for _, l := range m.Topics {
			if !seen[l] {
				seen[l] = true
				envelopes = append(envelopes, rules.Envelope{Log: l, Content: "the last"})
			}
		}
		r, err := a.Publish(ctx, a.name, envelopes...)
		if err != nil {
			return err
		}
		if r.Publish != nil && len(r.Publish.Metas) == len(envelopes) {
			end.mu.Lock()
			for i, e := range envelopes {
				end.ids[e.Log] = r.Publish.Metas[i].Sequence
			}
			end.mu.Unlock()
		}
	}
	if err := b.Wait(ctx); err != nil || a.listener == nil || a.listener.stream == nil {
		return err
	}
	end.mu.Lock()
	ids := end.ids
	end.mu.Unlock()
	for l := range a.listener.on {
		if id := ids[l]; id > a.listener.begun[l] {
			if err := a.listener.tolerate(a.listener.stream.AwaitThrough(ctx, l, id)); err != nil {
				return fmt.Errorf("after the load: %w", err)
			}
		}
	}
	return a.listener.close()
}
