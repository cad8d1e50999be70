package backend

import (
	"slices"

	"assay/model"
)

// known is what the whole history tells about a subject, needed before the
// first call is judged.
type known struct {
	// kinds are those of which a publish succeeded, served the methods of which
	// a call did. A subject that serves a call for one request and answers
	// UNIMPLEMENTED to another gives a wrong code.
	kinds  map[Kind]bool
	served map[Method]bool
	// general are codes that requests with nothing wrong were answered with: a
	// code that comes to all alike says nothing of the request it answers.
	general map[Code]bool
	// flawed counts, by code, the spells in which requests with a defect were
	// answered so: a sound request that succeeds ends a spell, so that one time
	// of trouble is one spell however many requests it hits.
	flawed map[Code]int
	spell  map[Code]bool
	// lax are the limits that a request of too many distinct topics passed.
	lax map[string]bool
	// bare are those of them that answered calls without client headers.
	bare map[Code]bool
	// plain is true when a call without client headers succeeded, explicit when
	// a query did that left no cursor out.
	plain, explicit bool
	// works is true when a call other than a health check succeeded.
	works bool
	// largest is the longest request that succeeded, exhausted the shortest one
	// without a defect that was answered RESOURCE_EXHAUSTED; -1 for none.
	largest, exhausted int
}

func newKnown() known {
	return known{kinds: make(map[Kind]bool), served: make(map[Method]bool), general: make(map[Code]bool), flawed: make(map[Code]int), spell: make(map[Code]bool), lax: make(map[string]bool), bare: make(map[Code]bool), exhausted: -1}
}

// survey pairs calls with their answers and finds every publish and what became
// of it, before anything is judged: a read is judged knowing which publishes
// were open around it.
func (j *judge) survey() {
	var order []*exchange
	for i, e := range j.events {
		switch v := e.Value.(type) {
		case *Terms:
			if v != nil {
				j.terms = *v
			}
		case *Call:
			if v != nil && e.Phase == model.Invoke && j.calls[e.Call] == nil && v.whole() {
				x := &exchange{number: e.Call, invoked: i, returned: len(j.events), call: v}
				j.calls[e.Call] = x
				order = append(order, x)
			}
		case *Response:
			if x := j.calls[e.Call]; v != nil && x != nil && e.Phase == model.Receive {
				j.subject.served[x.call.Method] = true
			}
		case *Return:
			if x := j.calls[e.Call]; v != nil && e.Phase == model.Return && x != nil && x.answer == nil {
				x.returned, x.answer = i, v
			}
		}
	}
	for _, x := range order {
		x.defects = j.defects(x.call)
		j.learn(x)
		if x.call.Method == MethodPublish {
			j.pubs[x] = &publication{exchange: x, outcome: j.effect(x)}
		}
	}
	j.identities(order)
	for _, x := range order {
		if p := j.pubs[x]; p != nil {
			p.outcome = j.effect(x)
			j.enter(p)
		}
	}
}

// whole reports whether the part that the method names is there.
func (c *Call) whole() bool {
	switch c.Method {
	case MethodPublish:
		return c.Publish != nil
	case MethodQuery:
		return c.Query != nil
	case MethodNewest:
		return c.Newest != nil
	case MethodLookup:
		return c.Lookup != nil
	case MethodVerify:
		return c.Verify != nil
	case MethodStatic:
		return c.Static != nil
	default:
		return true
	}
}

// wrong reports whether the request must be refused.
func (x *exchange) wrong() bool {
	return slices.ContainsFunc(x.defects, func(d defect) bool { return d.certain })
}

// learn takes what one exchange tells about the subject.
func (j *judge) learn(x *exchange) {
	if !x.answered() || x.answer.Garbled != "" || x.call.subscribes() {
		return // how a subscription ends says little of how it was asked for
	}
	k, r, c := &j.subject, x.answer, x.call
	if r.Code != OK {
		if x.wrong() && !k.spell[r.Code] {
			k.flawed[r.Code]++
			k.spell[r.Code] = true
		}
		if !x.wrong() && c.Method != MethodOther && !(c.Method == MethodPublish && slices.ContainsFunc(c.Publish.Envelopes, stateful)) {
			k.general[r.Code] = true
			k.bare[r.Code] = k.bare[r.Code] || len(c.Headers) == 0
			if len(x.defects) == 0 && r.Code == ResourceExhausted && (k.exhausted < 0 || c.WireLen < k.exhausted) {
				k.exhausted = c.WireLen
			}
		}
		return
	}
	if len(x.defects) == 0 {
		clear(k.spell)
	}
	for _, d := range x.defects {
		if d.limit != "" && len(d.breaks) == 1 {
			k.lax[d.limit] = true
		}
	}
	k.largest = max(k.largest, c.WireLen)
	k.works = k.works || c.Method != MethodHealth
	k.plain = k.plain || len(c.Headers) == 0
	k.served[c.Method] = true
	switch c.Method {
	case MethodPublish:
		for _, s := range c.Publish.Envelopes {
			k.kinds[s.Intent.Log.Kind] = true
		}
	case MethodQuery:
		k.explicit = k.explicit || !slices.ContainsFunc(c.Query.Entries, func(e Asked) bool { return e.Cursor == nil })
	}
}

// effect tells what is certain about a publish (API-030, 031, 037, 051, 130).
func (j *judge) effect(x *exchange) outcome {
	r := x.answer
	if x.wrong() {
		if x.answered() && r.Code == OK {
			return unsettled // wrongly accepted, so anything may be stored
		}
		return refused // whatever its answer, none of it may be stored
	}
	if !x.answered() || r.Garbled != "" {
		return unsettled
	}
	switch r.Code {
	case OK:
		if r.Publish != nil && !slices.ContainsFunc(x.call.Publish.Envelopes, unsupported) {
			return committed
		}
	case InvalidArgument, Aborted:
		return refused
	}
	// No other code proves rollback: a size code may be about the response.
	return unsettled
}

func (j *judge) topic(b Bytes, l Log) *topicLog {
	t := j.topics[b]
	if t == nil {
		t = &topicLog{topic: b, log: l, stored: make(map[Digest]*entry), attempts: make(map[Digest][]attempt), turnedDown: make(map[Digest]*publication)}
		j.topics[b] = t
	}
	return t
}

// enter notes on every topic of a publish what it may store there.
func (j *judge) enter(p *publication) {
	named := make(map[*topicLog]bool)
	for i, s := range p.request() {
		a := s.Artefact
		if s.Intent.Flaw != Sound {
			if _, ok := j.flawed[a.Identity]; !ok {
				j.flawed[a.Identity] = attempt{p, i}
			}
		}
		if a.Topic == "" {
			continue
		}
		j.belongs[a.Identity] = a.Topic
		t := j.topic(a.Topic, s.Intent.Log)
		if p.outcome == refused {
			if t.turnedDown[a.Identity] == nil {
				t.turnedDown[a.Identity] = p
				if p.answered() && p.answer.Code == InvalidArgument {
					t.refusals = append(t.refusals, refusedEntry{a.Identity, p})
				}
			}
			continue
		}
		if tries := t.attempts[a.Identity]; len(tries) == 0 || tries[len(tries)-1].publication != p {
			t.attempts[a.Identity] = append(tries, attempt{p, i})
		}
		t.rows++
		t.bytes += length(a.CanonicalLen)
		t.largest = max(t.largest, length(a.CanonicalLen))
		if named[t] {
			continue
		}
		named[t] = true
		if p.outcome == unsettled {
			t.unsettle(p)
			continue
		}
		t.writers = append(t.writers, p)
		latest := p.returned
		if n := len(t.latest); n > 0 {
			latest = max(latest, t.latest[n-1])
		}
		t.latest = append(t.latest, latest)
	}
}

// length reads a length from a history, which somebody else may have written.
func length(n int) uint64 { return uint64(min(max(n, 0), 1<<40)) }
