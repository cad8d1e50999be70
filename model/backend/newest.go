package backend

import (
	"fmt"
	"slices"
)

// newest judges one answered newest-envelope read (section 7). Such a read may
// be served by a replica that lags (API-018): unless the harness knows that
// there is none, an older head or a missing one is no breach.
func (j *judge) newest(call, invoked, returned int, c *Call, r *Return) {
	n := c.Newest
	switch {
	case r.Lost != Answered:
		return
	case r.Code == Unimplemented:
		j.out.Unimplemented["newest"]++
		return
	}
	limit := limitNewestMetadata
	if n.Full {
		limit = limitNewestFull
	}
	if defects := j.readDefects(n.Entries, limit, newestCount, false); len(defects) > 0 {
		j.readRefusal(call, r, defects, callNewest)
		return
	}
	spans := j.spans(n.Entries)
	switch {
	case r.Code != OK:
		a := newestPresent
		if uint64(len(n.Entries)) == j.terms.Limit(limit) {
			a = newestCountOK
		} else if len(spans) < len(n.Entries) {
			a = newestOnce
		}
		if transient(r.Code) || r.Code == OutOfRange && n.Full {
			j.doubt(a, call, "a sound newest-envelope read was answered "+r.Code.String())
			return
		}
		j.breached(a, call, "OK: nothing is wrong with the request", r.Code.String()+text(r))
		return
	case r.Newest == nil:
		j.breached(newestPresent, call, "a newest response", "an answer that does not decode: "+r.Garbled)
		return
	}
	j.heads(call, invoked, returned, n, r.Newest, spans)
	if r.Newest != nil && uint64(len(n.Entries)) == j.terms.Limit(limit) {
		j.held(newestCountOK, call, callNewest)
	}
}

// heads judges the rows of a newest response, topic by topic.
func (j *judge) heads(call, invoked, returned int, n *NewestCall, h *Heads, spans []*span) {
	byTopic := make(map[Bytes]*span)
	for _, s := range spans {
		byTopic[s.topic.topic] = s
	}
	got := make(map[*span]Row)
	for i, row := range h.Rows {
		where := fmt.Sprintf("result %d: ", i)
		s := byTopic[row.Asked]
		switch {
		case s == nil:
			j.breached(newestPresent, call, where+"a topic that was asked for", row.Asked.String())
			continue
		case !row.HasMeta || !row.Meta.HasCursor || !row.Meta.HasHash || !row.Meta.HasTopic || len(row.Meta.Hash) != 32:
			j.breached(newestMetadata, call, where+"cursor, message hash of 32 bytes and topic", present(row))
			continue
		}
		if _, twice := got[s]; twice {
			j.breached(newestOnce, call, where+"one result for topic "+s.topic.log.String(), "a second")
			continue
		}
		got[s] = row
		j.check(row.HasEnvelope == n.Full, newestMode, call, "", fmt.Sprintf("%senvelope present %v", where, n.Full), fmt.Sprint(row.HasEnvelope))
		j.head(call, invoked, returned, where, n, s, row)
	}
	for _, s := range spans {
		j.presence(call, invoked, returned, s, got)
	}
	if len(spans) < len(n.Entries) && len(got) > 0 {
		j.held(newestOnce, call, "")
	}
}

// head judges one result against what is stored on its topic.
func (j *judge) head(call, invoked, returned int, where string, n *NewestCall, s *span, row Row) {
	t := s.topic
	if n.Full && row.HasEnvelope {
		if !j.knownRow(call, returned, where, t, row, newestMetadata) {
			return
		}
	} else {
		e := t.at(row.Meta.Sequence)
		if e == nil {
			if t.quiet(invoked, returned) {
				j.breached(newestHighest, call, where+"a sequence id that a publish returned on topic "+t.log.String(), fmt.Sprint(row.Meta.Sequence))
			}
			return
		}
		if !j.sameMeta(call, where, e, row.Meta, newestMetadata) {
			return
		}
	}
	j.witness(callNewest)
	j.witness(topicWitness(t.topic))
	t.saw(returned, []Row{row})
	if top := certainHead(t, invoked); top != nil {
		switch {
		case row.Meta.Sequence >= top.meta.Sequence:
			j.held(newestHighest, call, "")
		case j.terms.NoReplica && t.quiet(invoked, returned):
			j.breached(newestHighest, call, fmt.Sprintf("%sat least sequence id %d", where, top.meta.Sequence), fmt.Sprint(row.Meta.Sequence), top.proof, top.event)
		default:
			j.doubt(newestHighest, call, "an older head, which a replica may serve")
		}
	}
}

// certainHead is the highest entry that was stored before the event.
func certainHead(t *topicLog, before int) *entry {
	for i := len(t.ordered) - 1; i >= 0; i-- {
		if t.ordered[i].event < before {
			return t.ordered[i]
		}
	}
	return nil
}

// presence judges that a topic with envelopes has a result and one without has
// none (API-081). A result for an empty topic was judged as an unknown row.
func (j *judge) presence(call, invoked, returned int, s *span, got map[*span]Row) {
	t := s.topic
	row, ok := got[s]
	top := certainHead(t, invoked)
	switch {
	case ok && len(t.ordered) == 0 && t.quiet(invoked, returned):
		j.breached(newestPresent, call, "no result for topic "+t.log.String()+", which has no envelope", fmt.Sprintf("sequence id %d", row.Meta.Sequence))
	case ok:
		j.held(newestPresent, call, "")
	case top == nil:
		if t.quiet(invoked, returned) {
			j.held(newestPresent, call, callNewest)
		}
	case j.terms.NoReplica && t.quiet(invoked, returned):
		j.breached(newestPresent, call, fmt.Sprintf("a result for topic %s, whose head is %d", t.log, top.meta.Sequence), "none", top.proof, top.event)
	default:
		j.doubt(newestPresent, call, "a missing result, which a replica may still lack")
	}
}

func present(r Row) string {
	var out []string
	if r.HasMeta && r.Meta.HasCursor {
		out = append(out, "cursor")
	}
	if r.HasMeta && r.Meta.HasHash {
		out = append(out, fmt.Sprintf("hash of %d bytes", len(r.Meta.Hash)))
	}
	if r.HasMeta && r.Meta.HasTopic {
		out = append(out, "topic")
	}
	if len(out) == 0 {
		return "none"
	}
	return fmt.Sprint(slices.Compact(out))
}
