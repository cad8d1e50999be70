package mutants

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/stream"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// streamRaces are faults of subscriptions that show only while somebody
// publishes, or when a client sends frames in one breath.
func streamRaces() []Mutant {
	gap := []spec.ID{backendreq.API096, backendreq.API095}
	after := []spec.ID{backendreq.API100}
	answers := []spec.ID{backendreq.API094, backendreq.API091}
	return []Mutant{
		sessionRace("registered-after-heads", "asks for the heads of topics before it follows them", gap, func() layer {
			return holdRegister(func(e stream.Event) bool { _, ok := e.(stream.HeadsRead); return ok })
		}),
		sessionRace("registered-after-history", "follows topics only when their first page of history was read", gap, func() layer {
			return holdRegister(func(e stream.Event) bool { _, ok := e.(stream.PageRead); return ok })
		}),
		sessionRace("live-switch-not-atomic", "forgets what a topic gets while its history is read", gap, func() layer {
			var w work
			return w.layer(func(e stream.Event) []stream.Event {
				return w.without(e, func(t backend.Topic) bool { return w.reading[t] })
			})
		}),
		sessionRace("history-deafens-stream", "forgets what other topics get while a page of history is read", gap, func() layer {
			var w work
			return w.layer(func(e stream.Event) []stream.Event {
				return w.without(e, func(t backend.Topic) bool { return len(w.reading) > 0 && !w.reading[t] })
			})
		}),
		sessionRace("update-deafens-stream", "forgets what arrives while the heads of an update are read", gap, func() layer {
			var w work
			return w.layer(func(e stream.Event) []stream.Event {
				return w.without(e, func(t backend.Topic) bool { return len(w.pending) > 0 && !w.pending[t] })
			})
		}),
		sessionRace("removal-leaves-page", "delivers a page that was being read when its topic was removed", after, removalLeavesPage),
		sessionRace("removal-comes-late", "acknowledges a removal before it stops what arrives", after, removalComesLate),
		sessionRace("readd-gets-old-page", "delivers to a topic that was added again a page that was read for it before", []spec.ID{backendreq.API100, backendreq.API095}, readdGetsOldPage),
		sessionRace("message-before-applied", "delivers what arrives on a topic before its Applied", []spec.ID{backendreq.API096, backendreq.API095}, func() layer {
			var w work
			return w.sendArrived(func(t backend.Topic) bool { return w.pending[t] })
		}),
		sessionRace("arrivals-overtake-history", "delivers what arrives on a topic whose history is being read", []spec.ID{backendreq.API095}, func() layer {
			var w work
			return w.sendArrived(func(t backend.Topic) bool { return w.reading[t] })
		}),
		{
			Name: "one-stream-a-topic", Summary: "delivers what is new on a topic to the stream alone that added it first",
			Requirements: gap, Streams: true, Concurrent: true,
			Apply: oneStreamATopic,
		},
		sessionRace("slow-reader-loses", "drops envelopes for a client that is slow to read", gap, slowReaderLoses),
		sessionRace("waiting-updates-merged", "acknowledges of the updates that wait for another only the last", answers, waitingUpdatesMerged),
		sessionRace("empty-update-overtakes", "acknowledges an empty update before those that were sent before it", answers, emptyUpdateOvertakes),
		{
			Name: "tail-follows-ids", Summary: "looks only for ids above the highest it has seen, whatever commits later",
			Requirements: gap, Streams: true, Concurrent: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				s := streams(p)
				s.Log = &byID{Log: s.Log}
			},
		},
		{
			Name: "notification-lost", Summary: "relies on notifications, and loses every third",
			Requirements: gap, Streams: true, Concurrent: true,
			Apply: func(p *backend.Parts, c *config.Config) {
				c.Streams.PollIntervalMS = 1 << 30
				s := streams(p)
				s.Log = lossy{s.Log}
			},
		},
	}
}

// sessionRace is a fault of one session.
func sessionRace(name, summary string, breaks []spec.ID, make func() layer) Mutant {
	return Mutant{
		Name: name, Summary: summary, Requirements: breaks, Streams: true, Concurrent: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundSessions(p, func(stream.Settings) layer { return make() })
		},
	}
}

// work is what a session is waiting for.
type work struct {
	// reading are the topics of the page in flight, pending those whose heads
	// are being read.
	reading, pending map[backend.Topic]bool
	cursor           map[backend.Topic]int64
}

// see notes what an event ended and what its effects began.
func (w *work) see(e stream.Event, effects []stream.Effect) {
	switch e := e.(type) {
	case stream.PageRead:
		w.reading = nil
	case stream.HeadsRead:
		w.pending = nil
	case stream.Received:
		for _, q := range e.Frame.GetUpdate().GetAdds() {
			if w.cursor == nil {
				w.cursor = make(map[backend.Topic]int64)
			}
			w.cursor[wireTopicOf(q.GetTopic())] = int64(q.GetCursor().GetSequenceId())
		}
	}
	for _, f := range effects {
		switch f := f.(type) {
		case stream.ReadPage:
			w.reading = make(map[backend.Topic]bool)
			for _, p := range f.From {
				w.reading[p.Topic] = true
			}
		case stream.ReadHeads:
			w.pending = make(map[backend.Topic]bool)
			for _, t := range f.Topics {
				w.pending[t] = true
			}
		}
	}
}

// layer changes events and keeps w up to date.
func (w *work) layer(event func(stream.Event) []stream.Event) layer {
	return layer{event: event, effects: func(e stream.Event, effects []stream.Effect) []stream.Effect {
		w.see(e, effects)
		return effects
	}}
}

// without takes from what arrives the topics that are forgotten.
func (w *work) without(e stream.Event, forgotten func(backend.Topic) bool) []stream.Event {
	switch a := e.(type) {
	case stream.Arrived:
		rows := slices.DeleteFunc(slices.Clone(a.Rows), func(r stream.Row) bool { return forgotten(r.Topic) })
		if len(rows) == 0 {
			return nil
		}
		return []stream.Event{stream.Arrived{Rows: rows}}
	case stream.Moved:
		if forgotten(a.Topic) {
			return nil
		}
	}
	return []stream.Event{e}
}

// sendArrived sends what arrives on some topics at once, beside what the session
// does with it.
func (w *work) sendArrived(early func(backend.Topic) bool) layer {
	return layer{effects: func(e stream.Event, effects []stream.Effect) []stream.Effect {
		if a, ok := e.(stream.Arrived); ok {
			var rows []stream.Row
			for _, r := range a.Rows {
				if early(r.Topic) && r.ID > w.cursor[r.Topic] {
					rows = append(rows, r)
				}
			}
			if len(rows) > 0 {
				effects = append([]stream.Effect{stream.Send{Frame: stream.Messages{Rows: rows}}}, effects...)
			}
		}
		w.see(e, effects)
		return effects
	}}
}

// holdRegister has topics registered only after an event.
func holdRegister(until func(stream.Event) bool) layer {
	var held []stream.Effect
	return layer{effects: func(e stream.Event, effects []stream.Effect) []stream.Effect {
		var out []stream.Effect
		if until(e) {
			out, held = held, nil
		}
		for _, f := range effects {
			switch f := f.(type) {
			case stream.Register:
				held = append(held, f)
				continue
			case stream.Unregister:
				// Topics that are not registered yet never will be.
				for i, h := range held {
					held[i] = stream.Register{Topics: slices.DeleteFunc(slices.Clone(h.(stream.Register).Topics), func(t backend.Topic) bool {
						return slices.Contains(f.Topics, t)
					})}
				}
			}
			out = append(out, f)
		}
		return out
	}}
}

// removalLeavesPage turns a page and the Applied of a removal around.
func removalLeavesPage() layer {
	var w work
	var held []stream.Event
	var late []stream.Effect
	return layer{
		event: func(e stream.Event) []stream.Event {
			switch r := e.(type) {
			case stream.Received:
				if len(held) > 0 || len(w.reading) > 0 && len(r.Frame.GetUpdate().GetRemoves()) > 0 {
					held = append(held, e)
					return nil
				}
			case stream.HalfClosed:
				if len(held) > 0 {
					held = append(held, e)
					return nil
				}
			case stream.PageRead:
				events := append([]stream.Event{e}, held...)
				return events
			}
			return []stream.Event{e}
		},
		effects: func(e stream.Event, effects []stream.Effect) []stream.Effect {
			w.see(e, effects)
			if _, ok := e.(stream.PageRead); ok && len(held) > 0 {
				held = nil
				return slices.DeleteFunc(effects, func(f stream.Effect) bool {
					s, ok := f.(stream.Send)
					_, messages := s.Frame.(stream.Messages)
					if ok && messages {
						late = append(late, f)
					}
					return ok && messages
				})
			}
			for i, f := range effects {
				if s, ok := f.(stream.Send); ok {
					if _, applied := s.Frame.(stream.Applied); applied && len(late) > 0 {
						effects = slices.Insert(effects, i+1, late...)
						late = nil
						return effects
					}
				}
			}
			return effects
		},
	}
}

// removalComesLate acknowledges a removal at once, and has the session know of
// it when something else happened.
func removalComesLate() layer {
	var w work
	var held stream.Event
	var answer *stream.Applied
	hide := uint64(0)
	return layer{
		event: func(e stream.Event) []stream.Event {
			if held != nil {
				update := held
				switch e.(type) {
				case stream.Arrived, stream.PageRead:
					held = nil
					return []stream.Event{e, update}
				case stream.Received, stream.HalfClosed, stream.FeedLost:
					held = nil
					return []stream.Event{update, e}
				}
				return []stream.Event{e}
			}
			if r, ok := e.(stream.Received); ok && len(w.pending) == 0 {
				if u := r.Frame.GetUpdate(); len(u.GetRemoves()) > 0 && len(u.GetAdds()) == 0 {
					held, answer, hide = e, &stream.Applied{ID: u.GetId()}, u.GetId()
					return []stream.Event{stream.Moved{}}
				}
			}
			return []stream.Event{e}
		},
		effects: func(e stream.Event, effects []stream.Effect) []stream.Effect {
			w.see(e, effects)
			effects = hideApplied(effects, func(id uint64) bool {
				_, ours := e.(stream.Received)
				return ours && id == hide
			})
			if answer != nil {
				effects = append(effects, stream.Send{Frame: *answer})
				answer = nil
			}
			return effects
		},
	}
}

// hideApplied drops Applied frames.
func hideApplied(effects []stream.Effect, hide func(id uint64) bool) []stream.Effect {
	for i, f := range effects {
		if s, ok := f.(stream.Send); ok {
			if a, ok := s.Frame.(stream.Applied); ok && hide(a.ID) {
				effects[i] = stream.Send{Size: s.Size}
			}
		}
	}
	return effects
}

// readdGetsOldPage keeps the rows that come for a removed topic until it is
// added again.
func readdGetsOldPage() layer {
	var w work
	gone := make(map[backend.Topic]bool)
	kept := make(map[backend.Topic][]stream.Row)
	return layer{effects: func(e stream.Event, effects []stream.Effect) []stream.Effect {
		if p, ok := e.(stream.PageRead); ok {
			for _, r := range p.Page.Rows {
				if gone[r.Topic] {
					kept[r.Topic] = append(kept[r.Topic], r)
				}
			}
			clear(gone)
		}
		reading := w.reading
		w.see(e, effects)
		for i, f := range effects {
			switch f := f.(type) {
			case stream.Unregister:
				for _, t := range f.Topics {
					if reading[t] {
						gone[t] = true
					}
				}
			case stream.Send:
				a, ok := f.Frame.(stream.Applied)
				if !ok {
					continue
				}
				var rows []stream.Row
				for _, t := range a.Targets {
					rows = append(rows, kept[t.Topic]...)
					delete(kept, t.Topic)
				}
				if len(rows) > 0 {
					return slices.Insert(effects, i+1, stream.Effect(stream.Send{Frame: stream.Messages{Rows: rows}}))
				}
			}
		}
		return effects
	}}
}

// oneStreamATopic has a topic belong to one session.
func oneStreamATopic(p *backend.Parts, _ *config.Config) {
	var mu sync.Mutex
	owners := make(map[backend.Topic]*work)
	aroundSessions(p, func(stream.Settings) layer {
		w := new(work)
		return layer{
			event: func(e stream.Event) []stream.Event {
				mu.Lock()
				defer mu.Unlock()
				if _, ok := e.(stream.Arrived); ok {
					return w.without(e, func(t backend.Topic) bool { return owners[t] != w })
				}
				return []stream.Event{e}
			},
			effects: func(_ stream.Event, effects []stream.Effect) []stream.Effect {
				mu.Lock()
				defer mu.Unlock()
				for _, f := range effects {
					switch f := f.(type) {
					case stream.Register:
						for _, t := range f.Topics {
							if owners[t] == nil {
								owners[t] = w
							}
						}
					case stream.Unregister:
						for _, t := range f.Topics {
							if owners[t] == w {
								delete(owners, t)
							}
						}
					}
				}
				return effects
			},
		}
	})
}

// slowReaderLoses drops messages while several frames wait.
func slowReaderLoses() layer {
	const patience = 8
	waiting := 0
	return layer{
		event: func(e stream.Event) []stream.Event {
			if t, ok := e.(stream.Taken); ok {
				waiting -= t.Frames
			}
			return []stream.Event{e}
		},
		effects: func(_ stream.Event, effects []stream.Effect) []stream.Effect {
			for i, f := range effects {
				s, ok := f.(stream.Send)
				if !ok {
					continue
				}
				waiting++
				if _, messages := s.Frame.(stream.Messages); messages && waiting > patience {
					effects[i] = stream.Send{Size: s.Size}
				}
			}
			return effects
		},
	}
}

// waitingUpdatesMerged answers the last of the updates that waited.
func waitingUpdatesMerged() layer {
	var w work
	var waited []uint64
	return layer{
		event: func(e stream.Event) []stream.Event {
			if r, ok := e.(stream.Received); ok && r.Frame.GetUpdate() != nil && len(w.pending) > 0 {
				waited = append(waited, r.Frame.GetUpdate().GetId())
			}
			return []stream.Event{e}
		},
		effects: func(e stream.Event, effects []stream.Effect) []stream.Effect {
			w.see(e, effects)
			effects = hideApplied(effects, func(id uint64) bool {
				i := slices.Index(waited, id)
				return i >= 0 && i < len(waited)-1
			})
			if len(w.pending) == 0 {
				waited = nil
			}
			return effects
		},
	}
}

// emptyUpdateOvertakes answers an update without topics when it comes.
func emptyUpdateOvertakes() layer {
	var w work
	early := make(map[uint64]bool)
	var answer *stream.Applied
	return layer{
		event: func(e stream.Event) []stream.Event {
			if r, ok := e.(stream.Received); ok && len(w.pending) > 0 {
				if u := r.Frame.GetUpdate(); u != nil && len(u.GetAdds())+len(u.GetRemoves()) == 0 && u.GetId() > 0 {
					answer = &stream.Applied{ID: u.GetId()}
					early[u.GetId()] = true
				}
			}
			return []stream.Event{e}
		},
		effects: func(e stream.Event, effects []stream.Effect) []stream.Effect {
			w.see(e, effects)
			effects = hideApplied(effects, func(id uint64) bool { return early[id] })
			if answer != nil {
				effects = append(effects, stream.Send{Frame: *answer})
				answer = nil
			}
			return effects
		},
	}
}

// byID is a log that follows ids.
type byID struct {
	stream.Log
	highest int64
}

// Tail is called by one goroutine.
func (l *byID) Tail(ctx context.Context, since stream.Snapshot) (stream.Tail, error) {
	tail, err := l.Log.Tail(ctx, since)
	before := l.highest
	tail.Moved = slices.DeleteFunc(tail.Moved, func(p backend.Position) bool {
		l.highest = max(l.highest, p.After)
		return p.After <= before
	})
	return tail, err
}

// lossy is a log that does not say everything it hears.
type lossy struct{ stream.Log }

func (l lossy) Listen(ctx context.Context, wake func()) error {
	var heard atomic.Int64
	return l.Log.Listen(ctx, func() {
		if heard.Add(1)%3 != 0 {
			wake()
		}
	})
}
