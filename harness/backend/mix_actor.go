package backend

import (
	"context"
	"fmt"
	"time"

	"assay/harness/run"
	rules "assay/model/backend"
)

// Perform drives every actor of the load at once and returns when all have done
// what they meant to. Whatever the subject answers is in the history.
func (m Mix) Perform(ctx context.Context, s *Session, l run.Load) error {
	return m.perform(ctx, s, l, nil)
}

// perform drives the actors, with or without disturbances.
func (m Mix) perform(ctx context.Context, s *Session, l run.Load, d *disturber) error {
	end := &last{ids: make(map[rules.Log]uint64)}
	return run.Together(ctx, l.Actors, func(ctx context.Context, n int, b *run.Barrier) error {
		a := newActor(s, n)
		for i, in := range m.Script(l, n) {
			if m.Wave > 0 && i > 0 && i%m.Wave == 0 {
				if err := b.Wait(ctx); err != nil {
					return err
				}
			}
			if err := a.do(ctx, in); err != nil {
				return err
			}
			if err := d.done(ctx); err != nil {
				return err
			}
		}
		if m.Redeem {
			if err := m.redeem(ctx, a, b); err != nil {
				return err
			}
		}
		if !m.listens() {
			return nil
		}
		return m.finish(ctx, a, n == l.Actors[0], b, end)
	})
}

// lastCopies is how often everybody sends one envelope at once at the end.
const lastCopies = 2

// redeem sends the same envelope as everybody else, at the same moment, and then
// again what was not answered.
func (m Mix) redeem(ctx context.Context, a *actor, b *run.Barrier) error {
	for i := range lastCopies {
		if err := b.Wait(ctx); err != nil {
			return err
		}
		e := rules.Envelope{Log: m.Topics[0], Content: fmt.Sprint("last", i)}
		if _, err := a.Publish(ctx, a.name, e, e); err != nil {
			return err
		}
	}
	return a.redeem(ctx)
}

// Settle reads everything that the mix can have stored, after all actors: each
// topic by itself and all of them together, following has_more. What was of
// unknown outcome is decided here, if it ever is.
func (m Mix) Settle(ctx context.Context, s *Session, l run.Load) error {
	a := &actor{Session: s, name: "settle", cursors: make(map[rules.Log]uint64)}
	var logs []rules.Log
	seen := make(map[rules.Log]bool)
	for _, n := range l.Actors {
		for _, in := range m.Script(l, n) {
			for _, e := range in.envelopes {
				if e.Flaw == rules.Sound && !seen[e.Log] {
					seen[e.Log] = true
					logs = append(logs, e.Log)
				}
			}
		}
	}
	whole := uint32(s.Limit("max_query_limit"))
	for i, log := range logs {
		limit := whole
		if i == 0 && len(m.Pages) > 0 {
			limit = settlePage // nobody writes any more, so every has_more can be told
		}
		if err := a.page(ctx, []rules.Log{log}, false, limit); err != nil {
			return err
		}
	}
	if len(logs) > 0 { // and once from above the newest, where nothing is
		above := a.cursors[logs[0]] + 1
		if _, err := s.Query(ctx, a.name, 0, rules.Read{Log: logs[0], Cursor: &above}); err != nil {
			return err
		}
	}
	const together = 100
	for from := 0; from < len(logs); from += together {
		some := logs[from:min(from+together, len(logs))]
		if err := a.page(ctx, some, false, whole); err != nil {
			return err
		}
		if _, err := s.Newest(ctx, a.name, true, readsOf(some)...); err != nil {
			return err
		}
	}
	return nil
}

// settlePage is the size of the small pages by which one topic is read at the end.
const settlePage = 5

// actor is one client of a load: where it is on each topic.
type actor struct {
	*Session
	name    string
	cursors map[rules.Log]uint64
	// lost are the publishes that were not answered.
	lost [][]rules.Envelope
	// listener is its subscription, nil before the first.
	listener *listener
}

func (a *actor) listening() *listener {
	if a.listener == nil {
		a.listener = &listener{Session: a.Session, name: a.name + "s", cursors: make(map[rules.Log]uint64)}
	}
	return a.listener
}

func newActor(s *Session, n int) *actor {
	return &actor{Session: s, name: fmt.Sprint("a", n), cursors: make(map[rules.Log]uint64)}
}

// do performs one intent.
func (a *actor) do(ctx context.Context, in Intent) error {
	var r *rules.Return
	var err error
	switch in.verb {
	case verbCut:
		r, err = a.PublishCut(ctx, a.name, in.envelopes...)
	case verbHasty:
		r, err = a.WithTimeout(max(in.patience, time.Millisecond)).Publish(ctx, a.name, in.envelopes...)
	case verbOwn:
		err = a.own(ctx, in.envelopes, in.full)
	case verbQuery:
		_, err = a.query(ctx, in.logs, in.forward, in.limit)
	case verbPage:
		err = a.page(ctx, in.logs, in.forward, in.limit)
	case verbNewest:
		_, err = a.Newest(ctx, a.name, in.full, readsOf(in.logs)...)
	case verbInbox:
		_, err = a.query(ctx, in.logs, false, 0)
	case verbChurn:
		err = a.listening().churn(ctx, in.changes)
	case verbReopen:
		if err = a.listening().close(); err == nil {
			err = a.listening().churn(ctx, in.changes)
		}
	case verbUpdate:
		err = a.update(ctx, in.envelopes)
	default:
		r, err = a.Publish(ctx, a.name, in.envelopes...)
	}
	if r != nil && (r.Lost != rules.Answered || r.Code == rules.Unavailable) {
		a.lost = append(a.lost, in.envelopes)
	}
	return err
}

// redeem sends again what was not answered.
func (a *actor) redeem(ctx context.Context) error {
	for _, envelopes := range a.lost {
		if _, err := a.Publish(ctx, a.name, envelopes...); err != nil {
			return err
		}
	}
	a.lost = nil
	return nil
}

// own publishes and reads from just below what it was given, or the whole topic
// as others do at the same time.
func (a *actor) own(ctx context.Context, envelopes []rules.Envelope, whole bool) error {
	r, err := a.Publish(ctx, a.name, envelopes...)
	if err != nil || r.Publish == nil || len(r.Publish.Metas) == 0 || r.Publish.Metas[0].Sequence == 0 {
		return err
	}
	read, limit := rules.Read{Log: envelopes[0].Log}, uint32(a.Limit("max_query_limit"))
	if below := r.Publish.Metas[0].Sequence - 1; !whole {
		read.Cursor, limit = &below, 0
	}
	_, err = a.Query(ctx, a.name, limit, read)
	return err
}

// updateAttempts bounds how often a lost identity update is sent again (API-052).
const updateAttempts = 3

// update sends an identity update, and sends it again after reading the inbox
// when it lost a race.
func (a *actor) update(ctx context.Context, envelopes []rules.Envelope) error {
	for i := 0; ; i++ {
		r, err := a.Publish(ctx, a.name, envelopes...)
		if err != nil || r.Code != rules.Aborted || i+1 == updateAttempts {
			return err
		}
		if _, err := a.Query(ctx, a.name, 0, rules.Read{Log: envelopes[0].Log}); err != nil {
			return err
		}
	}
}

// query reads topics and moves the actor's cursors by the client's rule (API-074).
func (a *actor) query(ctx context.Context, logs []rules.Log, forward bool, limit uint32) (*rules.Return, error) {
	at := make(map[rules.Log]uint64)
	if forward {
		at = a.cursors
	}
	return a.ask(ctx, logs, at, limit)
}

func (a *actor) ask(ctx context.Context, logs []rules.Log, at map[rules.Log]uint64, limit uint32) (*rules.Return, error) {
	reads := make([]rules.Read, len(logs))
	byTopic := make(map[rules.Bytes]rules.Log, len(logs))
	for i, l := range logs {
		reads[i] = rules.Read{Log: l}
		if c := at[l]; c > 0 {
			reads[i].Cursor = &c
		}
		byTopic[a.Topic(l)] = l
	}
	r, err := a.Query(ctx, a.name, limit, reads...)
	if err != nil || r.Query == nil {
		return r, err
	}
	for _, row := range r.Query.Rows {
		if l, ok := byTopic[row.Meta.Topic]; ok {
			at[l] = max(at[l], row.Meta.Sequence)
			a.cursors[l] = max(a.cursors[l], row.Meta.Sequence)
		}
	}
	return r, nil
}

// mostPages bounds one walk of has_more: a subject that says it for ever must
// not keep an actor.
const mostPages = 400

// page follows has_more from the start, or from where the actor is, to the end.
func (a *actor) page(ctx context.Context, logs []rules.Log, forward bool, limit uint32) error {
	at := make(map[rules.Log]uint64)
	if forward {
		for l, c := range a.cursors {
			at[l] = c
		}
	}
	for range mostPages {
		r, err := a.ask(ctx, logs, at, limit)
		if err != nil || r.Query == nil || !r.Query.HasMore || len(r.Query.Rows) == 0 {
			return err
		}
	}
	return nil
}

func readsOf(logs []rules.Log) []rules.Read {
	out := make([]rules.Read, len(logs))
	for i, l := range logs {
		out[i] = rules.Read{Log: l}
	}
	return out
}
