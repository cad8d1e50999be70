package backend

import (
	"sort"

	"assay/model"
)

// outcome is what a publish certainly did, as far as its answer tells.
type outcome uint8

const (
	unsettled outcome = iota // no answer, or one that does not prove rollback (API-037)
	committed                // a success
	refused                  // an answer that promises that nothing was stored
)

// publication is one publish of the history with its interval and effect.
type publication struct {
	call     int
	invoked  int // event index
	returned int // event index, or the number of events when it never returned
	request  *PublishCall
	outcome  outcome
}

// entry is one envelope known to be stored.
type entry struct {
	identity Digest
	intent   Envelope
	meta     Meta
	// event is the index of the event that proved it stored, and proof the
	// invoke event of the publish it belongs to.
	event, proof int
	// acknowledged is false while only a read has shown it.
	acknowledged bool
	// size is the canonical length of the envelope in bytes.
	size int
	// repeats counts the times it was published again.
	repeats int
}

// topicLog is what is known of one topic.
type topicLog struct {
	topic   Bytes
	log     Log
	stored  map[Digest]*entry
	ordered []*entry // ascending by sequence id
	hashes  map[Bytes]*entry
	// writers are the publishes that name the topic and were not refused.
	writers []*publication
	// turnedDown maps what refused publishes tried to store to their calls.
	turnedDown map[Digest]*publication
	// possible maps what unsettled or open publishes may store to them.
	possible map[Digest]*publication
	// seen holds the growing highest sequence id that reads returned.
	seen []sighting
}

type sighting struct {
	event    int
	sequence uint64
}

func (l *topicLog) insert(e *entry) {
	l.stored[e.identity] = e
	l.hashes[e.meta.Hash] = e
	i := sort.Search(len(l.ordered), func(i int) bool { return l.ordered[i].meta.Sequence >= e.meta.Sequence })
	l.ordered = append(l.ordered, nil)
	copy(l.ordered[i+1:], l.ordered[i:])
	l.ordered[i] = e
}

// at returns the entry with the sequence id, or nil.
func (l *topicLog) at(sequence uint64) *entry {
	i := sort.Search(len(l.ordered), func(i int) bool { return l.ordered[i].meta.Sequence >= sequence })
	if i < len(l.ordered) && l.ordered[i].meta.Sequence == sequence {
		return l.ordered[i]
	}
	return nil
}

// above returns the entries after the cursor, ascending.
func (l *topicLog) above(cursor uint64) []*entry {
	i := sort.Search(len(l.ordered), func(i int) bool { return l.ordered[i].meta.Sequence > cursor })
	return l.ordered[i:]
}

// quiet reports whether no publish could have changed the topic between two
// events, and nothing unsettled can still land.
func (l *topicLog) quiet(from, to int) bool {
	for _, w := range l.writers {
		if w.invoked >= to {
			continue
		}
		switch w.outcome {
		case committed:
			if w.returned > from {
				return false
			}
		case unsettled:
			for _, s := range w.request.Envelopes {
				if s.Artefact.Topic == l.topic && l.stored[s.Artefact.Identity] == nil {
					return false
				}
			}
		}
	}
	return true
}

// seenBefore returns the highest sequence id that a read had returned before
// the event, with that read's event.
func (l *topicLog) seenBefore(event int) (sighting, bool) {
	i := sort.Search(len(l.seen), func(i int) bool { return l.seen[i].event >= event })
	if i == 0 {
		return sighting{}, false
	}
	return l.seen[i-1], true
}

// judge walks one history.
type judge struct {
	events []model.Event
	terms  Terms
	topics map[Bytes]*topicLog
	// ids maps every sequence id to the envelope it names (API-010).
	ids  map[uint64]*entry
	pubs map[int]*publication
	// invokes maps a call number to the index of its invoke event.
	invokes map[int]int
	out     model.Judged
	// clock is the highest server time any answer showed, in nanoseconds.
	clock uint64
}

func (j *judge) topic(b Bytes, l Log) *topicLog {
	t := j.topics[b]
	if t == nil {
		t = &topicLog{topic: b, log: l, stored: make(map[Digest]*entry), hashes: make(map[Bytes]*entry), turnedDown: make(map[Digest]*publication), possible: make(map[Digest]*publication)}
		j.topics[b] = t
	}
	return t
}

// survey finds every publish and what became of it, before anything is judged:
// a read is judged knowing which publishes were open around it.
func (j *judge) survey() {
	for i, e := range j.events {
		switch v := e.Value.(type) {
		case *Terms:
			j.terms = *v
		case *Call:
			if e.Phase != model.Invoke {
				continue
			}
			j.invokes[e.Call] = i
			if v.Method == MethodPublish && v.Publish != nil {
				j.pubs[e.Call] = &publication{call: e.Call, invoked: i, returned: len(j.events), request: v.Publish}
			}
		case *Return:
			if p := j.pubs[e.Call]; p != nil && e.Phase == model.Return {
				p.returned = i
				c := j.events[p.invoked].Value.(*Call)
				p.outcome = j.effect(c, v)
			}
		}
	}
	for _, e := range j.events {
		p := j.pubs[e.Call]
		if p == nil || e.Phase != model.Invoke {
			continue
		}
		named := make(map[Bytes]bool)
		for _, s := range p.request.Envelopes {
			a := s.Artefact
			if a.Topic == "" {
				continue
			}
			t := j.topic(a.Topic, s.Intent.Log)
			switch p.outcome {
			case refused:
				if t.turnedDown[a.Identity] == nil {
					t.turnedDown[a.Identity] = p
				}
				continue
			default:
				// The first that may have stored it: a retry is judged by what it retries.
				if q := t.possible[a.Identity]; q == nil || q.outcome == committed {
					t.possible[a.Identity] = p
				}
			}
			if !named[a.Topic] {
				named[a.Topic] = true
				t.writers = append(t.writers, p)
			}
		}
	}
}

// effect tells what an answer proves about a publish (API-031, 037, 051, 130).
func (j *judge) effect(c *Call, r *Return) outcome {
	if r.Lost != Answered || r.Garbled != "" {
		return unsettled
	}
	switch r.Code {
	case OK:
		if r.Publish == nil {
			return unsettled
		}
		return committed
	case InvalidArgument, Aborted, Unimplemented, Unauthenticated:
		return refused
	case OutOfRange, ResourceExhausted:
		// A size code promises rollback only when the request was the oversized message.
		if uint64(min(c.WireLen, c.CanonicalLen)) > j.terms.Limit(limitRequestBytes) {
			return refused
		}
	}
	return unsettled
}

// proof lists the events of a call, ascending.
func (j *judge) proof(call int, more ...int) []int {
	events := append([]int(nil), more...)
	if i, ok := j.invokes[call]; ok {
		events = append(events, i)
	}
	for i := len(j.events) - 1; i >= 0; i-- {
		if j.events[i].Call == call && j.events[i].Phase == model.Return {
			events = append(events, i)
			break
		}
	}
	sort.Ints(events)
	n := 0
	for i, e := range events {
		if i == 0 || e != events[n-1] {
			events[n] = e
			n++
		}
	}
	return events[:n]
}

// held records that an assertion held on a call, given a witness.
func (j *judge) held(a model.Assertion, call int, needs string) {
	j.out.Judgements = append(j.out.Judgements, model.Judgement{Assertion: a, Call: call, Needs: needs})
}

// breached records the opposite.
func (j *judge) breached(a model.Assertion, call int, expected, got string, more ...int) {
	j.out.Judgements = append(j.out.Judgements, model.Judgement{Assertion: a, Call: call,
		Breach: &model.Breach{Expected: expected, Got: got, Events: j.proof(call, more...)}})
}

// doubt records that a call could not be judged.
func (j *judge) doubt(a model.Assertion, call int, why string) {
	j.out.Judgements = append(j.out.Judgements, model.Judgement{Assertion: a, Call: call, Doubt: why})
}

// check records held or breached.
func (j *judge) check(ok bool, a model.Assertion, call int, needs, expected, got string, more ...int) {
	if ok {
		j.held(a, call, needs)
	} else {
		j.breached(a, call, expected, got, more...)
	}
}

func (j *judge) witness(name string) { j.out.Witnesses[name] = true }

func (j *judge) remark(a model.Assertion, b model.Basis, text string) {
	j.out.Remarks = append(j.out.Remarks, model.Remark{Requirement: a.Requirement, Basis: b, Text: text})
}

// Names of limits the rules use, as the catalogue spells them.
const (
	limitEnvelopeBytes  = "max_envelope_bytes"
	limitRequestBytes   = "max_request_bytes"
	limitResponseBytes  = "max_response_bytes"
	limitPublishTopics  = "max_publish_topics"
	limitQueryTopics    = "max_query_topics"
	limitQueryMost      = "max_query_limit"
	limitQueryDefault   = "default_query_limit"
	limitNewestMetadata = "max_newest_metadata_topics"
	limitNewestFull     = "max_newest_full_topics"
)

// retention returns the retention of an envelope in seconds (API-021); ok is
// false for a payload that never expires.
func (t Terms) retention(e Envelope) (seconds uint64, ok bool) {
	switch e.Log.Kind {
	case Group:
		if e.Form.Handshake() {
			return 0, false
		}
		return t.Limits["group_message_seconds"], true
	case Welcome:
		return t.Limits["welcome_seconds"], true
	case KeyPackage:
		return t.Limits["key_package_seconds"], true
	default:
		return 0, false
	}
}
