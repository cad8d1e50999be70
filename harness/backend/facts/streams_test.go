package facts_test

import (
	"slices"
	"testing"

	"assay/harness/backend/facts"
	"assay/model"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// sub is an open subscription in a story.
type sub struct {
	*story
	call int
}

func (s *story) subscribe() sub {
	x := sub{s, s.begin(&rules.Call{Method: rules.MethodSubscribe})}
	x.got(&rules.Response{Started: &rules.Started{KeepaliveMS: 30_000}})
	return x
}

func (s *story) static(asked ...rules.Asked) sub {
	return sub{s, s.begin(&rules.Call{Method: rules.MethodStatic, Static: &rules.StaticCall{Entries: asked}})}
}

func (x sub) frame(p model.Phase, v any) {
	x.add(model.Event{Phase: p, Actor: x.events[x.at()].Actor, Call: x.call, Value: v})
}

func (x sub) at() int {
	return slices.IndexFunc(x.events, func(e model.Event) bool { return e.Call == x.call })
}

func (x sub) got(r *rules.Response) { x.frame(model.Receive, r) }

func (x sub) update(id uint64, adds []rules.Asked, removes ...rules.Log) {
	u := &rules.Update{ID: id, Adds: adds}
	for _, l := range removes {
		u.Removes = append(u.Removes, rules.Asked{Read: rules.Read{Log: l}, Topic: topic(l)})
	}
	x.frame(model.Send, &rules.Request{Update: u})
}

func (x sub) applied(id uint64, targets ...rules.Target) {
	x.got(&rules.Response{Applied: &rules.Applied{ID: id, Targets: targets}})
}

func (x sub) started(targets ...rules.Target) {
	x.got(&rules.Response{Started: &rules.Started{KeepaliveMS: 30_000, Targets: targets}})
}

func (x sub) rows(rows ...rules.Row) {
	x.got(&rules.Response{Messages: &rules.Messages{Rows: rows}})
}

func through(l rules.Log, id uint64) rules.Target {
	return rules.Target{HasTopic: true, Topic: topic(l), Through: id}
}

func adds(asked ...rules.Asked) []rules.Asked { return asked }

func TestSubscriptionsAreJudgedFromTheirFrames(t *testing.T) {
	g, h, log := group("g"), group("h"), commitLog("c")
	one, two, three, four := item{log: g, content: "one"}, item{log: g, content: "two"}, item{log: g, content: "three"}, item{log: g, content: "four"}
	other, entry, later := item{log: h, content: "other"}, item{log: log, content: "1"}, item{log: log, content: "2"}
	stored := func(s *story, ids map[*item]uint64, items ...*item) {
		for _, i := range items {
			s.whole(publish(*i), published(i.meta(ids[i])))
		}
	}
	ids := map[*item]uint64{&one: 10, &two: 11, &three: 12, &four: 13, &other: 20, &entry: 30, &later: 31}
	r := func(i *item) rules.Row { return i.row(ids[i]) }

	for _, c := range []struct {
		name     string
		replica  bool
		tell     func(s *story)
		breaches []spec.ID
		holds    []spec.ID
	}{
		{name: "API-096: history and live rows arrive without a gap, held", holds: []spec.ID{backendreq.API011, backendreq.API016, backendreq.API094, backendreq.API095, backendreq.API096, backendreq.API097},
			tell: func(s *story) {
				stored(s, ids, &one, &two)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 11))
				x.rows(r(&one), r(&two))
				stored(s, ids, &three)
				x.rows(r(&three))
			}},
		{name: "API-096: a row between history and live is lost, violated", breaches: []spec.ID{backendreq.API011, backendreq.API096},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 10))
				stored(s, ids, &two, &three)
				x.rows(r(&one), r(&three))
			}},
		{name: "API-013: an aborted publish leaves a gap, no verdict against it",
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 10))
				s.whole(publish(two), code(rules.Aborted))
				stored(s, ids, &three)
				x.rows(r(&one), r(&three))
			}},
		{name: "API-037: a publish without an answer appears on the subscription, no verdict against it",
			tell: func(s *story) {
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				s.whole(publish(one), lost())
				x.applied(1, through(g, 10))
				x.rows(r(&one))
			}},
		{name: "API-018: a replica has not seen the publish yet, no verdict against it", replica: true,
			tell: func(s *story) {
				stored(s, ids, &one, &two)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 10))
				x.rows(r(&one))
			}},
		{name: "API-097: the only database has a target below a publish that had returned, violated", breaches: []spec.ID{backendreq.API016, backendreq.API097},
			tell: func(s *story) {
				stored(s, ids, &one, &two)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 10))
			}},
		{name: "API-097: a target that was no head, violated", breaches: []spec.ID{backendreq.API097},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 15))
			}},
		{name: "API-095: a row comes twice, violated", breaches: []spec.ID{backendreq.API095},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 10))
				x.rows(r(&one))
				x.rows(r(&one))
			}},
		{name: "API-091: a row at the cursor, violated", breaches: []spec.ID{backendreq.API091, backendreq.API095},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 10)))
				x.applied(1, through(g, 10))
				x.rows(r(&one))
			}},
		{name: "API-096: a row before the acknowledgement, violated", breaches: []spec.ID{backendreq.API096},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.rows(r(&one))
				x.applied(1, through(g, 10))
			}},
		{name: "API-096: rows of another registration come before the acknowledgement, no verdict against it",
			tell: func(s *story) {
				stored(s, ids, &one, &other)
				x := s.subscribe()
				x.update(1, adds(from(h, 0)))
				x.applied(1, through(h, 20))
				x.update(2, adds(from(g, 0)))
				x.rows(r(&other))
				x.applied(2, through(g, 10))
				x.rows(r(&one))
			}},
		{name: "API-100: a row after the removal was acknowledged, violated", breaches: []spec.ID{backendreq.API100},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 10))
				x.update(2, nil, g)
				x.applied(2)
				x.rows(r(&one))
			}},
		{name: "API-100: a row races the removal, no verdict against it",
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 10))
				x.update(2, nil, g)
				x.rows(r(&one))
				x.applied(2)
			}},
		{name: "API-100: the topic grows after its removal and only another arrives, held", holds: []spec.ID{backendreq.API100},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 0), from(h, 0)))
				x.applied(1, through(g, 10), through(h, 0))
				x.rows(r(&one))
				x.update(2, nil, g)
				x.applied(2)
				stored(s, ids, &two, &other)
				x.rows(r(&other))
			}},
		{name: "API-100: a topic is removed and added in one breath and begins again, no verdict against it",
			tell: func(s *story) {
				stored(s, ids, &one, &two)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 11))
				x.rows(r(&one), r(&two))
				x.update(2, nil, g)
				x.update(3, adds(from(g, 10)))
				x.applied(2)
				x.applied(3, through(g, 11))
				x.rows(r(&two))
			}},
		{name: "API-100: an active topic is added with a lower cursor and delivers again, violated", breaches: []spec.ID{backendreq.API095, backendreq.API100},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 10))
				x.rows(r(&one))
				x.update(2, adds(from(g, 0)))
				x.applied(2)
				x.rows(r(&one))
			}},
		{name: "API-100: an active topic is added with a higher cursor and skips, violated", breaches: []spec.ID{backendreq.API011, backendreq.API096, backendreq.API100},
			tell: func(s *story) {
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 0))
				stored(s, ids, &one)
				x.rows(r(&one))
				x.update(2, adds(from(g, 11)))
				x.applied(2)
				stored(s, ids, &two, &three)
				x.rows(r(&three))
			}},
		{name: "API-100: an active topic is added again and goes on, held", holds: []spec.ID{backendreq.API100},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 10))
				x.rows(r(&one))
				x.update(2, adds(from(g, 0)))
				x.applied(2)
				stored(s, ids, &two)
				x.rows(r(&two))
			}},
		{name: "API-102: a new connection goes on from its cursor, held", holds: []spec.ID{backendreq.API102},
			tell: func(s *story) {
				stored(s, ids, &one, &two, &three)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 12))
				x.rows(r(&one), r(&two))
				s.end(x.call, lost())
				y := s.subscribe()
				y.update(1, adds(from(g, 10)))
				y.applied(1, through(g, 12))
				y.rows(r(&two), r(&three))
			}},
		{name: "API-102: a new connection skips a row, violated", breaches: []spec.ID{backendreq.API011, backendreq.API096, backendreq.API102},
			tell: func(s *story) {
				stored(s, ids, &one, &two, &three)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 12))
				x.rows(r(&one))
				s.end(x.call, lost())
				y := s.subscribe()
				y.update(1, adds(from(g, 10)))
				y.applied(1, through(g, 12))
				y.rows(r(&three))
			}},
		{name: "API-066: a commit log has a gap on a subscription, violated", breaches: []spec.ID{backendreq.API011, backendreq.API066, backendreq.API096},
			tell: func(s *story) {
				stored(s, ids, &entry, &later)
				x := s.subscribe()
				x.update(1, adds(from(log, 0)))
				x.applied(1, through(log, 31))
				x.rows(r(&later))
			}},
		{name: "API-112: a static subscription delivers in order, held", holds: []spec.ID{backendreq.API111, backendreq.API112},
			tell: func(s *story) {
				stored(s, ids, &one, &two)
				x := s.static(from(g, 0), from(h, 0))
				x.started(through(g, 11), through(h, 0))
				x.rows(r(&one), r(&two))
			}},
		{name: "API-112: a static subscription skips, violated", breaches: []spec.ID{backendreq.API011, backendreq.API112},
			tell: func(s *story) {
				stored(s, ids, &one, &two)
				x := s.static(from(g, 0))
				x.started(through(g, 11))
				x.rows(r(&two))
			}},
		{name: "API-111: a static subscription delivers before Started, violated", breaches: []spec.ID{backendreq.API111},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.static(from(g, 0))
				x.rows(r(&one))
				x.started(through(g, 10))
			}},
		{name: "API-111: a static target was no head, violated", breaches: []spec.ID{backendreq.API111},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.static(from(g, 0))
				x.started(through(g, 9))
			}},
		{name: "API-032: a row has another time than its publish was answered with, violated", breaches: []spec.ID{backendreq.API032},
			tell: func(s *story) {
				stored(s, ids, &one)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 10))
				moved := r(&one)
				moved.Meta.ServerNS++
				x.rows(moved)
			}},
		{name: "API-018: a query lacks what a subscription had shown, violated", breaches: []spec.ID{backendreq.API011, backendreq.API016, backendreq.API018},
			tell: func(s *story) {
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 0))
				stored(s, ids, &one)
				x.rows(r(&one))
				s.whole(query(0, from(g, 0)), page(false))
			}},
		{name: "API-011: a query lacks what a subscription had shown of a publish that is still open, violated", breaches: []spec.ID{backendreq.API011},
			tell: func(s *story) {
				p := s.begin(publish(one))
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 0))
				x.rows(r(&one))
				s.whole(query(0, from(g, 0)), page(false))
				s.end(p, published(one.meta(10)))
			}},
		{name: "API-018: a query shows what a subscription had shown, held", holds: []spec.ID{backendreq.API018},
			tell: func(s *story) {
				stored(s, ids, &one)
				s.whole(query(0, from(g, 0)), page(false, r(&one)))
			}},
		{name: "API-094: a subject that acknowledges what it must refuse is followed no further",
			tell: func(s *story) {
				stored(s, ids, &one, &two)
				x := s.subscribe()
				x.update(0, adds(from(g, 0)))
				x.applied(0, through(g, 11))
				x.rows(r(&two))
			}},
		{name: "API-100: a subscription that ends in the middle of its history owes nothing",
			tell: func(s *story) {
				stored(s, ids, &one, &two)
				x := s.subscribe()
				x.update(1, adds(from(g, 0)))
				x.applied(1, through(g, 11))
				x.rows(r(&one))
				s.end(x.call, lost())
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(!c.replica)
			c.tell(s)
			if !facts.Concurrent(s.events) && len(c.holds) == 0 {
				t.Fatal("a history with a subscription counts as one without")
			}
			j := facts.Judge(s.events)
			if got := breached(j); !slices.Equal(got, c.breaches) {
				t.Fatalf("breached %v, want %v: %+v", got, c.breaches, j.Breaches())
			}
			for _, id := range c.holds {
				if held(j, id) == 0 {
					t.Errorf("%s is not held", id)
				}
			}
		})
	}
}
