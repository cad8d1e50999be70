package facts

import (
	"slices"

	"assay/harness/check"
	"assay/model"
	rules "assay/model/backend"
)

// stream is one subscription on its way to facts. Both forms are read alike: a
// static one is an update that its Started acknowledges.
type stream struct {
	span   *span
	course *rules.Course
	made   []*registration
	// latest is the last event that brought rows.
	latest check.Order
}

// registration is one topic of a subscription, and what its facts are.
type registration struct {
	*rules.Registration
	log check.Log
	id  check.Stream
	// blind is true once a row came that cannot be placed: what is missing after
	// it may be that one.
	blind bool
	// resumes is true when an earlier connection had delivered rows of the topic
	// and this one starts among them or behind them (API-102).
	resumes bool
	// again is true once an add of the active topic was acknowledged, kept when a
	// row came after that; proved when rows of others arrived after its topic had
	// grown behind its removal (API-100).
	again, kept, proved bool
}

// follow reads the frames of every subscription.
func (v *reading) follow(events []model.Event) {
	var ended []*stream
	for i, e := range events {
		s := v.streams[e.Call]
		switch value := e.Value.(type) {
		case *rules.Call:
			x := v.calls[e.Call]
			if x == nil || x.call != value || value.Method != rules.MethodSubscribe && value.Method != rules.MethodStatic {
				continue
			}
			s = &stream{span: x, course: rules.NewCourse(value, i, v.terms)}
			v.streams[e.Call] = s
			if u := s.course.Asked(); u != nil {
				v.register(s, u, ended)
			}
		case *rules.Request:
			if s != nil && value != nil && e.Phase == model.Send {
				if u := s.course.Send(i, value); u != nil {
					v.register(s, u, ended)
				}
			}
		case *rules.Response:
			if s != nil && value != nil && e.Phase == model.Receive && !s.course.Left {
				v.frame(s, i, value)
			}
		case *rules.Return:
			if s != nil && value == s.span.answer {
				ended = append(ended, s)
			}
		}
	}
	v.prove()
}

// prove finds the removals after which something could have followed.
func (v *reading) prove() {
	removed := make(map[check.Log][]*registration)
	latest := make(map[*registration]check.Order)
	for _, s := range v.streams {
		for _, g := range s.made {
			if g.Removed >= 0 && s.course.Removed(g.Registration) {
				removed[g.log] = append(removed[g.log], g)
				latest[g] = s.latest
			}
		}
	}
	if len(removed) == 0 {
		return
	}
	for _, x := range v.calls {
		if x.call.Publish == nil || v.outcome(x) != check.Stored {
			continue
		}
		for _, e := range x.call.Publish.Envelopes {
			for _, g := range removed[v.logs[e.Artefact.Topic]] {
				g.proved = g.proved || x.invoked > check.Order(g.Removed+1) && x.returned < latest[g]
			}
		}
	}
}

// register adds what an update registers. ended are the subscriptions that were
// over before.
func (v *reading) register(s *stream, u *rules.Change, ended []*stream) {
	for _, r := range u.Adds {
		g := &registration{Registration: r, log: v.log(r.Topic, r.Log)}
		for _, before := range ended {
			g.resumes = g.resumes || slices.ContainsFunc(before.made, func(b *registration) bool {
				return b.log == g.log && b.Rows > 0 && r.After <= b.Last
			})
		}
		g.id = v.facts.Register(check.Registration{Call: s.span.number, Invoked: check.Order(u.Sent + 1), Log: g.log, After: r.After, Lag: !v.terms.NoReplica})
		r.Key = uint32(len(s.made))
		s.made = append(s.made, g)
	}
}

// frame takes one frame that arrived.
func (v *reading) frame(s *stream, at int, r *rules.Response) {
	var u *rules.Change
	wrong := ""
	switch {
	case r.Started != nil:
		u, wrong = s.course.Started(at, r.Started)
	case r.Applied != nil:
		u, wrong = s.course.Applied(at, r.Applied)
	case r.Messages != nil:
		for _, row := range r.Messages.Rows {
			v.delivered(s, at, row)
		}
	}
	if u == nil || wrong != "" {
		return
	}
	order := check.Order(at + 1)
	for _, g := range u.Removes {
		v.facts.Removed(s.made[g.Key].id, order)
	}
	for _, g := range u.Again {
		s.made[g.Key].again = true
	}
	for _, g := range u.Adds {
		v.facts.Answered(s.made[g.Key].id, order, g.Target)
	}
}

// delivered takes one row.
func (v *reading) delivered(s *stream, at int, row rules.Row) {
	m := row.Meta
	owner, standing := s.course.Owner(m.Topic, m.Sequence)
	if standing == rules.Stranger {
		if !row.HasMeta || !complete(m) {
			s.course.Left = true // it may be a row of any registration
		}
		return
	}
	g := s.made[owner.Key]
	if !row.HasMeta || !complete(m) || !row.HasEnvelope {
		g.blind = true
	}
	if g.blind {
		return
	}
	owner.Shows(m.Sequence)
	g.kept = g.kept || g.again
	s.latest = check.Order(at + 1)
	v.facts.Framed(g.id, check.Order(at+1), v.row(row, m.Topic))
}
