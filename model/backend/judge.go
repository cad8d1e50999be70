// Package backend is the executable specification of the backend API: what a
// call may legally answer, given what a history shows to be stored. Start with
// Judge, and read publish.go and stored.go beside sections 4 and 5 of the
// specification, query.go and page.go beside section 6, newest.go beside section
// 7, defect.go beside section 11, service.go beside sections 11 to 13,
// stream_course.go and stream_judge.go beside sections 8 and 9.
//
// It judges intents, lengths and observations, and never a byte: craft says
// which identity an artefact has, and equal identity means equal envelope.
// Message hashes are judged by length and by relation, never recomputed. The
// package does not check what a client must do, nor how a subject words its
// errors. Where the specification leaves room it accepts every legal outcome.
package backend

import (
	"slices"

	"assay/model"
)

// Judge evaluates every rule on a history of this suite. It is a pure function
// of the events; the same events give the same judgements in the same order.
// No history, however odd, makes it panic.
func Judge(events []model.Event) model.Judged {
	j := &judge{
		events: events, topics: make(map[Bytes]*topicLog), ids: make(map[uint64]*entry), hashes: make(map[Bytes]*entry),
		belongs: make(map[Digest]Bytes), flawed: make(map[Digest]attempt), calls: make(map[int]*exchange), pubs: make(map[*exchange]*publication), subject: newKnown(),
		streams: make(map[int]*subscription), floods: make(map[Code][]*subscription),
	}
	j.out.Witnesses = make(map[string]bool)
	j.out.Unimplemented = make(map[string]int)
	j.survey()
	for i, e := range events {
		switch x := j.calls[e.Call]; {
		case x == nil:
			if a, ok := e.Value.(*Awaited); ok && a != nil {
				j.awaited(i, e.At, a)
			}
		case x.call.subscribes():
			j.stream(x, i, e)
		case x.answer != nil && x.returned == i:
			j.start = len(j.out.Judgements)
			j.call(x)
		}
	}
	j.conclude()
	j.once()
	return j.out
}

// judge walks one history.
type judge struct {
	events []model.Event
	terms  Terms
	topics map[Bytes]*topicLog
	// ids maps every sequence id to the envelope it names (API-010), hashes
	// every message hash to the envelope that has it (API-020).
	ids    map[uint64]*entry
	hashes map[Bytes]*entry
	// belongs maps what publishes sent to the topic it belongs to, flawed what
	// was wrong in itself to the publish that sent it.
	belongs map[Digest]Bytes
	flawed  map[Digest]attempt
	calls   map[int]*exchange
	pubs    map[*exchange]*publication
	// streams are the subscriptions by call, order has them as they began.
	streams map[int]*subscription
	order   []*subscription
	// floods are the subscriptions that failed when more was sent than a bucket
	// holds, by the code of their end.
	floods map[Code][]*subscription
	// subject is what the whole history tells about the subject.
	subject known
	// identity is what the history tells of identity updates.
	identity  *identities
	packages  *packages
	contracts *contracts
	out       model.Judged
	// start is the first judgement of the call that is being judged.
	start int
	// clock is the highest server time any answer showed, in nanoseconds.
	clock uint64
}

// exchange is one call of the history and what came of it.
type exchange struct {
	number   int
	invoked  int // event index
	returned int // event index, or the number of events when it never returned
	call     *Call
	answer   *Return // nil when it never returned
	// defects are what is wrong with the request.
	defects []defect
}

// answered reports whether the subject answered with a status of its own.
func (x *exchange) answered() bool { return x.answer != nil && x.answer.Lost == Answered }

func (j *judge) call(x *exchange) {
	if !x.answered() {
		return // what a call without an answer did shows elsewhere, or not at all (API-037)
	}
	switch x.call.Method {
	case MethodPublish:
		j.publish(j.pubs[x])
	case MethodQuery:
		j.query(x)
	case MethodNewest:
		j.newest(x)
	case MethodLookup:
		j.lookup(x)
	case MethodVerify:
		j.verify(x)
	case MethodConfiguration:
		j.configuration(x)
	case MethodHealth:
		j.health(x)
	case MethodOther:
		j.other(x)
	case MethodSettings:
		j.settings(x)
	}
}

// held records that an assertion held on a call, given a witness.
func (j *judge) held(a model.Assertion, x *exchange, needs string) {
	const most = 4 // one of them counts, see once; a call on a thousand topics offers a thousand
	same := 0
	for _, v := range j.out.Judgements[j.start:] {
		if v.Assertion.Name != a.Name || !v.Held() {
			continue
		}
		if same++; same == most || v.Needs == needs || v.Needs == "" {
			return
		}
	}
	j.out.Judgements = append(j.out.Judgements, model.Judgement{Assertion: a, Call: x.number, Needs: needs})
}

// breached records that no legal outcome explains what was seen. more are the
// events that prove it besides the call's own.
func (j *judge) breached(a model.Assertion, x *exchange, expected, got string, more ...int) {
	for _, v := range j.out.Judgements[j.start:] {
		if v.Assertion.Name == a.Name && v.Breach != nil {
			return
		}
	}
	events := append(slices.Clone(more), x.invoked, x.returned)
	slices.Sort(events)
	j.out.Judgements = append(j.out.Judgements, model.Judgement{Assertion: a, Call: x.number,
		Breach: &model.Breach{Expected: expected, Got: got, Events: slices.Compact(events)}})
}

// doubt records that a call could not be judged.
func (j *judge) doubt(a model.Assertion, x *exchange, why string) {
	for _, v := range j.out.Judgements[j.start:] {
		if v.Assertion.Name == a.Name && v.Doubt != "" {
			return
		}
	}
	j.out.Judgements = append(j.out.Judgements, model.Judgement{Assertion: a, Call: x.number, Doubt: why})
}

// check records held or breached.
func (j *judge) check(ok bool, a model.Assertion, x *exchange, needs, expected, got string, more ...int) {
	if ok {
		j.held(a, x, needs)
	} else {
		j.breached(a, x, expected, got, more...)
	}
}

func (j *judge) witness(name string) { j.out.Witnesses[name] = true }

func (j *judge) remark(a model.Assertion, b model.Basis, text string) {
	j.out.Remarks = append(j.out.Remarks, model.Remark{Requirement: a.Requirement, Basis: b, Text: text})
}

// once leaves one judgement of each assertion on each call: the breach if there
// is one, else what held beside its witness, else what held without, else the
// doubt. Rows and topics of one call are not observations of their own.
func (j *judge) once() {
	rank := func(v model.Judgement) int {
		switch {
		case v.Breach != nil:
			return 3
		case v.Doubt != "":
			return 0
		case v.Needs == "" || j.out.Witnesses[v.Needs]:
			return 2
		default:
			return 1
		}
	}
	all := j.out.Judgements
	kept := all[:0]
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].Call == all[from].Call {
			to++
		}
		first := len(kept)
		for _, v := range all[from:to] {
			at := slices.IndexFunc(kept[first:], func(k model.Judgement) bool { return k.Assertion.Name == v.Assertion.Name })
			switch {
			case at < 0:
				kept = append(kept, v)
			case rank(v) > rank(kept[first+at]):
				kept[first+at] = v
			}
		}
		from = to
	}
	j.out.Judgements = kept
}
