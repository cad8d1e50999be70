package facts

import (
	"slices"

	"assay/harness/check"
	"assay/model"
	rules "assay/model/backend"
	"assay/spec/gen/backendreq"
)

// form says what the rules of subscriptions decide for one form of them: the
// specification states them once and has the static form deliver the same
// (API-112), but each form has its own requirement for its first frame.
type form struct {
	answer, order, gap, early, target model.Assertion
}

var (
	bidirectional = form{
		answer: asserted("registration-is-answered-once", backendreq.API094),
		order:  asserted("registration-ascends", backendreq.API095),
		gap:    asserted("registration-has-no-gap", backendreq.API096),
		early:  asserted("registration-is-answered-before-its-rows", backendreq.API096),
		target: asserted("target-is-a-head-and-fixed", backendreq.API097),
	}
	static = form{
		answer: asserted("static-registration-is-answered-once", backendreq.API111),
		order:  asserted("static-registration-ascends", backendreq.API112),
		gap:    asserted("static-registration-has-no-gap", backendreq.API112),
		early:  asserted("static-targets-precede-rows", backendreq.API111),
		target: asserted("static-target-is-a-head-and-fixed", backendreq.API111),
	}

	streamAbove  = asserted("registration-begins-above-its-cursor", backendreq.API091)
	streamLate   = asserted("nothing-follows-a-removal", backendreq.API100)
	streamNoOp   = asserted("active-topic-added-again-keeps-its-place", backendreq.API100)
	streamPrefix = asserted("subscription-shows-a-prefix", backendreq.API011)
	streamFresh  = asserted("target-shows-what-had-returned", backendreq.API016)
	resumed      = asserted("new-connection-delivers-from-its-cursors", backendreq.API102)
)

func formOf(m rules.Method) (form, bool) {
	switch m {
	case rules.MethodSubscribe:
		return bidirectional, true
	case rules.MethodStatic:
		return static, true
	default:
		return form{}, false
	}
}

// assertions maps a rule that a subscription breached or upheld.
func (f form) assertions(r check.Rule) []model.Assertion {
	switch r {
	case check.StreamAnswer:
		return []model.Assertion{f.answer}
	case check.StreamAscending:
		return []model.Assertion{f.order}
	case check.StreamGap:
		return []model.Assertion{f.gap, streamPrefix}
	case check.StreamEarly:
		return []model.Assertion{f.early}
	case check.StreamLate:
		return []model.Assertion{streamLate}
	case check.StreamTarget:
		return []model.Assertion{f.target}
	case check.Fresh:
		return []model.Assertion{f.target, streamFresh}
	case check.Known, check.Asked:
		return []model.Assertion{f.gap}
	default:
		return nil
	}
}

// streamBreached adds what a breach says of the registration it is about: that it
// resumes an earlier one (API-102), or that an add of the active topic moved it
// (API-100).
func (v *reading) streamBreached(f check.Finding) (out []model.Assertion) {
	s := v.streams[f.Call]
	if s == nil {
		return nil
	}
	if f.Rule == check.StreamAscending && len(f.Positions) == 1 && s.span.call.Method == rules.MethodSubscribe {
		out = append(out, streamAbove) // one position, which is not above the cursor
	}
	for _, g := range s.made {
		if g.log != f.Log {
			continue
		}
		if g.resumes && f.Rule != check.StreamAscending && !slices.Contains(out, resumed) {
			out = append(out, resumed)
		}
		if f.Rule == check.Fresh || len(f.Positions) == 0 || slices.Contains(out, streamNoOp) {
			continue
		}
		// A row that came again, or one that was left out, on the wrong side of the
		// cursor that the add brought.
		p := f.Positions[0]
		if f.Rule == check.StreamAscending {
			p = f.Positions[len(f.Positions)-1]
		}
		if slices.ContainsFunc(g.Again, func(cursor uint64) bool { return (p > cursor) == (f.Rule == check.StreamAscending) }) {
			out = append(out, streamNoOp)
		}
	}
	return out
}

// held maps a rule that held on one of a subscription's registrations. Nothing is
// proved by absence alone: that nothing followed a removal counts where the topic
// grew and the subscription went on.
func (s *stream) held(r check.Rule) []model.Assertion {
	f, _ := formOf(s.span.call.Method)
	switch r {
	case check.NotRefused, check.Known:
		return nil
	case check.Fresh:
		return []model.Assertion{streamFresh}
	case check.StreamLate:
		if !slices.ContainsFunc(s.made, func(g *registration) bool { return g.proved }) {
			return nil
		}
	case check.StreamGap:
		out := f.assertions(r)
		if slices.ContainsFunc(s.made, func(g *registration) bool { return g.resumes && g.Rows > 0 }) {
			out = append(out, resumed)
		}
		return out
	case check.StreamAscending:
		out := f.assertions(r)
		if s.span.call.Method == rules.MethodSubscribe && slices.ContainsFunc(s.made, func(g *registration) bool { return g.After > 0 && g.Rows > 0 }) {
			out = append(out, streamAbove)
		}
		if slices.ContainsFunc(s.made, func(g *registration) bool { return g.kept }) {
			out = append(out, streamNoOp)
		}
		return out
	}
	if out := f.assertions(r); out != nil {
		return out
	}
	if a, ok := plain(r); ok {
		return []model.Assertion{a}
	}
	return nil
}
