package backend

import (
	"fmt"
	"math"
	"slices"

	"assay/model"
	rules "assay/model/backend"
	"assay/spec/gen/backendreq"
)

// visibleInOrder says that what can be read of identity updates follows the
// order of their ids over all inboxes, because that is the order in which they
// commit (API-014).
var visibleInOrder = model.Assertion{Name: "identity-updates-become-visible-in-id-order", Requirement: backendreq.API014, Basis: model.Spec}

// identityTopic is what is known of one inbox.
type identityTopic struct {
	ids []uint64 // stored, ascending
	// clear is true when every publish to the topic was answered as stored and
	// none overlapped another. Otherwise an id may have been held below one that
	// had committed, and hidden it.
	clear bool
	last  int // the return of the last publish
}

// sighted is an id that was certainly committed when an event happened.
type sighted struct {
	event int
	id    uint64
	topic rules.Bytes
}

// judgeIdentityOrder judges every query that reads inboxes: an update that it
// provably does not see has a higher id than all that had committed before.
func judgeIdentityOrder(events []model.Event) model.Judged {
	out := model.Judged{Witnesses: make(map[string]bool), Unimplemented: make(map[string]int)}
	calls := make(map[int]identityCall)
	topics, order := surveyInboxes(events, calls)
	if len(topics) < 2 {
		return out
	}
	var seen []sighted // growing ids
	note := func(event int, id uint64, topic rules.Bytes) {
		if n := len(seen); topics[topic] != nil && (n == 0 || id > seen[n-1].id) {
			seen = append(seen, sighted{event, id, topic})
		}
	}
	for _, number := range order {
		c := calls[number]
		switch {
		case c.answer.Publish != nil:
			for _, m := range c.answer.Publish.Metas {
				note(c.returned, m.Sequence, m.Topic)
			}
		case c.answer.Query != nil && c.call.Query != nil:
			judgeInboxPage(&out, number, c, topics, seen)
			for _, r := range c.answer.Query.Rows {
				note(c.returned, r.Meta.Sequence, r.Meta.Topic)
			}
		}
	}
	return out
}

// identityCall is one answered call.
type identityCall struct {
	call              *rules.Call
	answer            *rules.Return
	invoked, returned int
}

// surveyInboxes finds the inboxes of a history with what is stored in each, and
// the answered calls in the order of their answers.
func surveyInboxes(events []model.Event, calls map[int]identityCall) (topics map[rules.Bytes]*identityTopic, order []int) {
	topics = make(map[rules.Bytes]*identityTopic)
	for i, e := range events {
		switch v := e.Value.(type) {
		case *rules.Call:
			if v == nil || e.Phase != model.Invoke {
				continue
			}
			calls[e.Call] = identityCall{call: v, invoked: i, returned: math.MaxInt}
			for _, t := range inboxesOf(v) {
				x := topics[t]
				if x == nil {
					x = &identityTopic{clear: true, last: -1}
					topics[t] = x
				}
				if x.last == math.MaxInt {
					x.clear = false // another publish is open
				}
				x.last = math.MaxInt
			}
		case *rules.Return:
			c, ok := calls[e.Call]
			if !ok || v == nil || e.Phase != model.Return || c.answer != nil {
				continue
			}
			c.answer, c.returned = v, i
			calls[e.Call] = c
			answered := v.Lost == rules.Answered && v.Garbled == "" && v.Code == rules.OK
			if answered {
				order = append(order, e.Call)
			}
			for _, t := range inboxesOf(c.call) {
				topics[t].last = i
				topics[t].clear = topics[t].clear && answered && v.Publish != nil && len(v.Publish.Metas) == len(c.call.Publish.Envelopes)
			}
			if answered && v.Publish != nil {
				for _, m := range v.Publish.Metas {
					if x := topics[m.Topic]; x != nil && !slices.Contains(x.ids, m.Sequence) {
						x.ids = append(x.ids, m.Sequence)
					}
				}
			}
		}
	}
	for _, x := range topics {
		slices.Sort(x.ids)
		x.clear = x.clear && x.last != math.MaxInt
	}
	return topics, order
}

// inboxesOf lists the identity topics that a publish writes.
func inboxesOf(c *rules.Call) (out []rules.Bytes) {
	if c.Publish == nil {
		return nil
	}
	for _, s := range c.Publish.Envelopes {
		if t := s.Artefact.Topic; s.Intent.Log.Kind == rules.Identity && t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// judgeInboxPage judges one query. Only a page that was not cut shows that
// something was not there.
func judgeInboxPage(out *model.Judged, number int, c identityCall, topics map[rules.Bytes]*identityTopic, seen []sighted) {
	// What had been seen before the query began had committed before it read. What
	// the page itself shows proves nothing: its topics might, wrongly, have been
	// read at different moments.
	at := len(seen) - 1
	for at >= 0 && seen[at].event > c.invoked {
		at--
	}
	if c.answer.Query.HasMore || at < 0 {
		return
	}
	highest := seen[at]
	top := make(map[rules.Bytes]uint64)
	for _, r := range c.answer.Query.Rows {
		top[r.Meta.Topic] = max(top[r.Meta.Topic], r.Meta.Sequence)
	}
	asked := false
	for _, e := range c.call.Query.Entries {
		x := topics[e.Topic]
		if x == nil || !x.clear || e.Flaw != rules.SoundTopic || e.Topic == highest.topic {
			continue
		}
		from := top[e.Topic]
		if e.Cursor != nil {
			from = max(from, *e.Cursor)
		}
		i, found := slices.BinarySearch(x.ids, from)
		if found {
			i++
		}
		if i == len(x.ids) {
			continue
		}
		asked = true
		if x.ids[i] < highest.id {
			out.Judgements = append(out.Judgements, model.Judgement{Assertion: visibleInOrder, Call: number, Breach: &model.Breach{
				Expected: fmt.Sprintf("identity update %d of %s, because %d of another inbox had committed", x.ids[i], e.Log, highest.id),
				Got:      "a page without it", Events: proof(c, highest.event)}})
			return
		}
	}
	if asked {
		out.Judgements = append(out.Judgements, model.Judgement{Assertion: visibleInOrder, Call: number})
	}
}

// proof lists the events of a call and one more, ascending.
func proof(c identityCall, more int) []int {
	out := []int{c.invoked, c.returned, more}
	slices.Sort(out)
	return slices.Compact(out)
}
