package backend

import (
	"fmt"
	"strings"
)

// newest judges one answered newest-envelope read (section 7). Such a read may
// be served by a replica that lags (API-018): unless the harness knows that
// there is none, an older head or a missing one is no breach.
func (j *judge) newest(x *exchange) {
	n, r := x.call.Newest, x.answer
	switch {
	case r.Code == Unimplemented && !j.subject.served[MethodNewest]:
		j.out.Unimplemented["newest"]++
		return
	case len(x.defects) > 0:
		j.readRefusal(x, callNewest)
		return
	}
	spans := j.spans(n.Entries)
	switch {
	case j.tooLong(x):
	case r.Code != OK:
		j.noHeads(x, spans)
	case r.Newest == nil:
		j.breached(newestPresent, x, "a newest response", "an answer that does not decode"+text(r))
	default:
		j.heads(x, r.Newest, spans)
		if uint64(len(n.Entries)) == j.terms.Limit(newestLimit(n)) {
			j.held(newestCountOK, x, callNewest)
		}
	}
}

// noHeads judges a refusal of a newest read with nothing wrong.
func (j *judge) noHeads(x *exchange, spans []*span) {
	n := x.call.Newest
	if len(n.Entries) == 0 {
		return // no requirement says what becomes of an empty read
	}
	most := uint64(len(spans)) * rowMost
	for _, s := range spans {
		if n.Full {
			most += s.topic.largest
		}
	}
	if size := x.answer.Code == OutOfRange || x.answer.Code == ResourceExhausted; size && most > j.terms.Limit(limitResponseBytes) {
		return // the response may be too long: a legal refusal (API-134)
	}
	a := newestPresent
	switch {
	case uint64(len(n.Entries)) == j.terms.Limit(newestLimit(n)):
		a = newestCountOK
	case len(spans) < len(n.Entries):
		a = newestOnce
	}
	j.refusedSound(x, "OK: nothing is wrong with the request", a)
}

// heads judges the results of a newest response, then what it leaves out.
func (j *judge) heads(x *exchange, h *Heads, spans []*span) {
	byTopic := make(map[Bytes]*span)
	for _, s := range spans {
		byTopic[s.topic.topic] = s
	}
	got := make(map[*span]bool)
	for i, row := range h.Rows {
		where := fmt.Sprintf("result %d: ", i)
		s := byTopic[row.Asked]
		switch {
		case s == nil:
			j.breached(newestPresent, x, where+"a topic that was asked for", row.Asked.String())
		case got[s]:
			j.breached(newestOnce, x, where+"one result for topic "+s.topic.log.String(), "a second")
		default:
			got[s] = true
			j.head(x, where, s, row)
		}
	}
	for _, s := range spans {
		if !got[s] {
			j.headless(x, s)
		}
	}
}

// head judges one result against what is stored on its topic.
func (j *judge) head(x *exchange, where string, s *span, row Row) {
	t, m := s.topic, row.Meta
	still := t.quiet(x)
	switch {
	case still && len(t.ordered) == 0 && len(t.owes()) == 0 && (!row.HasEnvelope || t.turnedDown[row.Identity] == nil):
		j.breached(newestPresent, x, "no result for topic "+t.log.String()+", which has no envelope", fmt.Sprintf("%ssequence id %d", where, m.Sequence))
		return
	case !row.HasMeta || !m.HasCursor || !m.HasHash || !m.HasTopic || len(m.Hash) != 32:
		j.breached(newestMetadata, x, where+"cursor, message hash of 32 bytes and topic", partsOf(row))
		return
	case row.HasEnvelope != x.call.Newest.Full:
		j.breached(newestMode, x, fmt.Sprintf("%senvelope present %v", where, x.call.Newest.Full), fmt.Sprint(row.HasEnvelope))
		return
	case !j.sameHead(x, where, t, row, still):
		return
	}
	j.held(newestMode, x, "")
	j.held(newestPresent, x, "")
	if s.entries > 1 {
		j.held(newestOnce, x, "")
	}
	j.witness(callNewest)
	j.witness(topicWitness(t.topic))
	j.headers(x, callNewest)
	t.saw(x.returned, m.Sequence)
	top := t.head(x.invoked)
	switch {
	case top == nil:
	case m.Sequence >= top.meta.Sequence:
		if len(t.ordered) > 1 { // of one envelope, the newest is the oldest as well
			j.held(newestHighest, x, "")
			if t.log.Kind == KeyPackage {
				j.held(packageNewest, x, "")
			}
		}
	case j.terms.NoReplica && still:
		j.breached(newestHighest, x, fmt.Sprintf("%sat least sequence id %d", where, top.meta.Sequence), fmt.Sprint(m.Sequence), top.proof, top.event)
		if t.log.Kind == KeyPackage {
			j.breached(packageNewest, x, fmt.Sprintf("%sat least sequence id %d", where, top.meta.Sequence), fmt.Sprint(m.Sequence), top.proof, top.event)
		}
	default:
		j.doubt(newestHighest, x, "an older head, which a replica may serve")
	}
}

// sameHead judges that a result is an envelope of its topic, as it was published.
// still tells that nobody was writing the topic.
func (j *judge) sameHead(x *exchange, where string, t *topicLog, row Row, still bool) bool {
	if row.HasEnvelope {
		if !j.known(x, where, t, row, newestMetadata) {
			return false
		}
		j.held(payloadIntact, x, "")
		return true
	}
	m := row.Meta
	if e := t.at(m.Sequence); e != nil {
		return j.sameMeta(x, where, e, m, newestMetadata)
	}
	other := j.ids[m.Sequence]
	switch {
	case other != nil:
		j.breached(uniqueID, x, where+"an id of topic "+t.log.String(), fmt.Sprintf("%d, which names an envelope on topic %s", m.Sequence, other.meta.Topic), other.proof, other.event)
	case m.Topic != t.topic:
		j.breached(newestMetadata, x, where+"topic "+t.topic.String(), m.Topic.String())
	case still && len(t.owes()) == 0:
		j.breached(newestHighest, x, where+"a sequence id that a publish returned on topic "+t.log.String(), fmt.Sprint(m.Sequence))
	}
	return false
}

// headless judges that a topic without a result has no envelope (API-081).
func (j *judge) headless(x *exchange, s *span) {
	t := s.topic
	still := t.quiet(x)
	top := t.head(x.invoked)
	switch {
	case top == nil && still && len(t.owes()) == 0:
		j.held(newestPresent, x, callNewest)
	case top == nil:
	case j.terms.NoReplica && still:
		j.breached(newestPresent, x, fmt.Sprintf("a result for topic %s, whose head is %d", t.log, top.meta.Sequence), "none", top.proof, top.event)
	default:
		j.doubt(newestPresent, x, "a missing result, which a replica may still lack")
	}
}

func partsOf(r Row) string {
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
	return strings.Join(out, ", ")
}
