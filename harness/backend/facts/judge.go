package facts

import (
	"slices"

	"assay/harness/check"
	"assay/model"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

func asserted(name string, id spec.ID) model.Assertion {
	return model.Assertion{Name: name, Requirement: id, Basis: model.Spec}
}

// The assertions that a history of concurrent calls is evidence for. Their names
// say "concurrent" where package model/backend has one of the same meaning.
var (
	oneEnvelope  = asserted("concurrent-id-names-one-envelope", backendreq.API010)
	acrossTopics = asserted("concurrent-id-is-unique-across-topics", backendreq.API010)
	prefix       = asserted("concurrent-read-is-a-prefix", backendreq.API011)
	forward      = asserted("concurrent-reads-do-not-go-backwards", backendreq.API011)
	order        = asserted("concurrent-publishes-follow-real-time", backendreq.API011)
	identities   = asserted("concurrent-identity-updates-follow-commit-order", backendreq.API014)
	primary      = asserted("concurrent-query-reads-the-primary", backendreq.API018)
	fresh        = asserted("concurrent-read-shows-what-had-returned", backendreq.API016)
	atomic       = asserted("concurrent-publish-is-atomic", backendreq.API030)
	nothingOf    = asserted("concurrent-refusal-stores-nothing", backendreq.API030)
	metadata     = asserted("concurrent-read-repeats-metadata", backendreq.API032)
	storedOnce   = asserted("concurrent-duplicate-is-stored-once", backendreq.API033)
	duplicate    = asserted("concurrent-duplicate-keeps-metadata", backendreq.API033)
	collapsed    = asserted("concurrent-equal-envelopes-share-metadata", backendreq.API034)
	copies       = asserted("copies-published-at-once-share-metadata", backendreq.API035)
	copiesMatch  = asserted("copies-published-at-once-succeed-alike", backendreq.API036)
	copySucceeds = asserted("concurrent-copy-of-what-is-stored-succeeds", backendreq.API033)
	oneWinner    = asserted("concurrent-creations-have-one-winner", backendreq.API051)
	loserOut     = asserted("concurrent-loser-stores-nothing", backendreq.API051)
	contention   = asserted("concurrent-abort-has-a-cause", backendreq.API051)
	logOrder     = asserted("concurrent-commit-log-keeps-its-order", backendreq.API066)
	union        = asserted("concurrent-page-holds-what-was-asked", backendreq.API072)
	ascending    = asserted("concurrent-page-ascends", backendreq.API072)
	hasMore      = asserted("concurrent-has-more-is-true", backendreq.API073)
	limitTotal   = asserted("concurrent-page-keeps-its-limit", backendreq.API076)
	snapshot     = asserted("concurrent-page-has-one-snapshot", backendreq.API077)
	rowOnce      = asserted("concurrent-page-shows-a-row-once", backendreq.API077)
	highest      = asserted("concurrent-head-is-the-highest", backendreq.API083)
)

// Requirements lists the requirements that Judge can speak of: a scenario that
// has its history judged here lists those it drives.
func Requirements() []spec.ID {
	return []spec.ID{backendreq.API010, backendreq.API011, backendreq.API014, backendreq.API016, backendreq.API030, backendreq.API032, backendreq.API033,
		backendreq.API034, backendreq.API035, backendreq.API036, backendreq.API051, backendreq.API066, backendreq.API072, backendreq.API073,
		backendreq.API076, backendreq.API077, backendreq.API083, backendreq.API094, backendreq.API095, backendreq.API096, backendreq.API097, backendreq.API100,
		backendreq.API018, backendreq.API102, backendreq.API111, backendreq.API112}
}

// Concurrent reports whether any two calls of a history overlap, or one is a
// subscription. Of a history without either package model/backend has an exact
// view, and Judge adds nothing.
func Concurrent(events []model.Event) bool {
	open := make(map[int]bool)
	for _, e := range events {
		switch e.Phase {
		case model.Send, model.Receive:
			return true
		case model.Invoke:
			if len(open) > 0 {
				return true
			}
			open[e.Call] = true
		case model.Return:
			delete(open, e.Call)
		}
	}
	return false
}

// Judge evaluates the rules of ordered logs on a history. It is a pure function
// of the events.
func Judge(events []model.Event) model.Judged {
	v := read(events)
	report := check.Run(v.facts)
	j := model.Judged{Witnesses: make(map[string]bool), Unimplemented: make(map[string]int)}
	for _, f := range report.Findings {
		if f.Rule == check.Forward {
			v.backwards[f.Call] = true
		}
	}
	broken := make(map[int][]model.Assertion)
	for _, f := range report.Findings {
		b := &model.Breach{Expected: f.Expected, Got: f.Got}
		for _, at := range f.Proof {
			b.Events = append(b.Events, int(at)-1)
		}
		for _, a := range v.breached(f) {
			if !slices.Contains(broken[f.Call], a) {
				broken[f.Call] = append(broken[f.Call], a)
				j.Judgements = append(j.Judgements, model.Judgement{Assertion: a, Call: f.Call, Breach: b})
			}
		}
	}
	last := 0
	var done []model.Assertion
	report.Held(func(call int, r check.Rule) {
		if call != last {
			last, done = call, done[:0]
		}
		for _, a := range v.held(call, r) {
			// An assertion counts once for a call, whichever of its rules held.
			if !slices.Contains(done, a) && !slices.Contains(broken[call], a) {
				done = append(done, a)
				j.Judgements = append(j.Judgements, model.Judgement{Assertion: a, Call: call})
			}
		}
	})
	return j
}

// Combine adds what Judge found to what package model/backend found of the same
// history. A breach of a requirement by a call is reported once: the model's own,
// which knows the call better, stays.
func Combine(sequential, concurrent model.Judged) model.Judged {
	type breach struct {
		call int
		id   spec.ID
	}
	known := make(map[breach]bool)
	for _, v := range sequential.Breaches() {
		known[breach{v.Call, v.Assertion.Requirement}] = true
	}
	out := sequential
	out.Judgements = slices.Clip(out.Judgements)
	for _, v := range concurrent.Judgements {
		if v.Breach == nil || !known[breach{v.Call, v.Assertion.Requirement}] {
			out.Judgements = append(out.Judgements, v)
		}
	}
	return out
}

// plain maps the rules whose requirement depends on nothing else.
func plain(r check.Rule) (model.Assertion, bool) {
	switch r {
	case check.OnePosition:
		return oneEnvelope, true
	case check.AcrossLogs:
		return acrossTopics, true
	case check.StoredOnce:
		return storedOnce, true
	case check.Collapsed:
		return collapsed, true
	case check.ReadMetadata:
		return metadata, true
	case check.Ascending:
		return ascending, true
	case check.Once:
		return rowOnce, true
	case check.Limit:
		return limitTotal, true
	case check.More:
		return hasMore, true
	case check.Prefix:
		return prefix, true
	case check.Forward:
		return forward, true
	case check.Below, check.InOrder:
		return order, true
	case check.Snapshot:
		return snapshot, true
	case check.Atomic:
		return atomic, true
	case check.Series:
		return identities, true
	case check.OneWinner:
		return oneWinner, true
	case check.Contention:
		return contention, true
	default:
		return model.Assertion{}, false
	}
}

// assertions maps a rule on a call: what the call is decides some of them.
func (v *reading) assertions(call int, r check.Rule) []model.Assertion {
	if a, ok := plain(r); ok {
		return []model.Assertion{a}
	}
	s := v.calls[call]
	method := rules.Method("")
	if s != nil {
		method = s.call.Method
	}
	if form, ok := formOf(method); ok {
		if out := form.assertions(r); out != nil {
			return out
		}
	}
	switch r {
	case check.Fresh:
		switch method {
		case rules.MethodQuery:
			return []model.Assertion{fresh}
		case rules.MethodNewest:
			return []model.Assertion{highest}
		}
	case check.SameMetadata:
		if s != nil && v.overlaps(s) {
			return []model.Assertion{copies}
		}
		return []model.Assertion{duplicate}
	case check.Alike:
		if s != nil && v.overlaps(s) {
			return []model.Assertion{copiesMatch}
		}
		return []model.Assertion{copySucceeds}
	case check.NotRefused:
		return []model.Assertion{nothingOf}
	case check.Known, check.Asked:
		switch method {
		case rules.MethodQuery:
			return []model.Assertion{union}
		case rules.MethodNewest:
			return []model.Assertion{highest}
		}
	}
	return nil
}

// overlaps reports whether a publish was open at the same time as another that
// sends one of its envelopes.
func (v *reading) overlaps(s *span) bool {
	for _, e := range s.entries {
		for _, o := range v.copies[e] {
			if o != s && o.invoked < s.returned && s.invoked < o.returned {
				return true
			}
		}
	}
	return false
}

// breached adds what a breach says beside its rule: a commit log that loses or
// reorders an entry, or a loser of a race that is stored after all.
func (v *reading) breached(f check.Finding) []model.Assertion {
	out := v.assertions(f.Call, f.Rule)
	switch f.Rule {
	case check.StreamGap, check.StreamAscending, check.Fresh:
		out = append(out, v.streamBreached(f)...)
	}
	if s := v.calls[f.Call]; f.Rule == check.Fresh && v.backwards[f.Call] && s != nil && s.call.Method == rules.MethodQuery {
		// What is missing had been acknowledged and read, so the primary holds it.
		out = append(out, primary)
	}
	switch f.Rule {
	case check.Prefix, check.Below, check.InOrder, check.StreamGap:
		if int(f.Log) < len(v.kinds) && v.kinds[f.Log] == rules.CommitLog {
			out = append(out, logOrder)
		}
	case check.NotRefused:
		for _, at := range f.Proof {
			for _, s := range v.calls {
				if s.invoked == at && s.answer != nil && s.answer.Code == rules.Aborted {
					out = append(out, loserOut)
				}
			}
		}
	}
	return out
}

// held adds what a rule that held says beside its own assertion.
func (v *reading) held(call int, r check.Rule) []model.Assertion {
	s := v.calls[call]
	if s == nil {
		return nil
	}
	if x := v.streams[call]; x != nil {
		return x.held(r)
	}
	switch r {
	case check.Fresh, check.Forward:
		if s.call.Method == rules.MethodQuery {
			return append(v.assertions(call, r), primary)
		}
	case check.NotRefused:
		return nil // that nothing of a refusal was shown is no evidence by itself
	case check.SameMetadata:
		if v.overlaps(s) {
			return []model.Assertion{copies, copiesMatch}
		}
	case check.Prefix:
		if v.showsCommitLog(s) {
			return []model.Assertion{prefix, logOrder}
		}
	}
	return v.assertions(call, r)
}

// showsCommitLog reports whether a query shows two entries of a commit log.
func (v *reading) showsCommitLog(s *span) bool {
	if s.answer == nil || s.answer.Query == nil {
		return false
	}
	n := 0
	for _, r := range s.answer.Query.Rows {
		if l, ok := v.logs[r.Meta.Topic]; ok && v.kinds[l] == rules.CommitLog {
			n++
		}
	}
	return n > 1
}
