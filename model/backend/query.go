package backend

import (
	"fmt"
	"math"
	"slices"

	"assay/model"
)

// span is what one read asks of one topic, after coalescing (API-077).
type span struct {
	topic *topicLog
	// cursor is the lowest that the request names for the topic, highest the highest.
	cursor, highest uint64
	// entries counts how often the request names the topic; absent is true
	// when the lowest cursor was left out.
	entries int
	absent  bool
}

// spans coalesces the entries of a read, in order of first mention.
func (j *judge) spans(entries []Asked) []*span {
	var out []*span
	byTopic := make(map[Bytes]*span)
	for _, e := range entries {
		cursor := uint64(0)
		if e.Cursor != nil {
			cursor = *e.Cursor
		}
		s := byTopic[e.Topic]
		if s == nil {
			s = &span{topic: j.topic(e.Topic, e.Log), cursor: cursor, absent: e.Cursor == nil}
			byTopic[e.Topic] = s
			out = append(out, s)
		}
		s.entries++
		s.highest = max(s.highest, cursor)
		if cursor < s.cursor {
			s.cursor, s.absent = cursor, e.Cursor == nil
		}
	}
	return out
}

// query judges one answered query (section 6).
func (j *judge) query(x *exchange) {
	q, r := x.call.Query, x.answer
	switch {
	case r.Code == Unimplemented && !j.subject.served[MethodQuery]:
		j.out.Unimplemented["query"]++
		return
	case len(x.defects) > 0:
		j.readRefusal(x, callQuery)
		return
	}
	spans := j.spans(q.Entries)
	switch {
	case j.tooLong(x):
	case r.Code != OK:
		j.unanswered(x, spans)
	case r.Query == nil:
		j.breached(queryUnion, x, "a query response", "an answer that does not decode"+text(r))
	default:
		v := &reading{judge: j, x: x, spans: spans, page: r.Query, query: q}
		v.whole()
	}
}

// tooLong judges a response that came although it is above the byte limit (API-134).
func (j *judge) tooLong(x *exchange) bool {
	limit := j.terms.Limit(limitResponseBytes)
	if length(x.answer.WireLen) <= limit {
		return false
	}
	j.breached(nothingOmitted, x, fmt.Sprintf("a failure: the response is above %d bytes", limit), fmt.Sprintf("%d bytes", x.answer.WireLen))
	return true
}

// readRefusal judges the answer to a read that has something wrong with it.
func (j *judge) readRefusal(x *exchange, witness string) {
	first := x.defects[0]
	switch {
	case j.mute(x):
		j.doubt(first.breaks[0], x, "answered "+x.answer.Code.String()+", which says nothing of the request")
	case x.answer.Code == OK:
		j.accepted(x)
	case j.wrongCode(x):
		j.demonstrated(x, witness)
		j.wording(x, witness)
	}
}

// rowMost bounds what a page spends on a row beside its envelope.
const rowMost = metaMost + 16

// pageBytes bounds the length of a page of at most limit rows: least from the
// rows known to be there before the call, most from everything that may be.
// least is 0 where most shows that it is not above bound.
func pageBytes(x *exchange, spans []*span, limit, bound uint64) (least, most uint64) {
	var sizes []uint64
	var rows, largest uint64
	for _, s := range spans {
		rows += s.topic.rows
		most += s.topic.bytes
		largest = max(largest, s.topic.largest)
	}
	rows = min(rows, limit)
	most = min(most, rows*largest)
	if most <= bound {
		return 0, most + rows*rowMost
	}
	for _, s := range spans {
		for _, e := range s.topic.above(s.cursor) {
			if e.event < x.invoked {
				sizes = append(sizes, length(e.size))
			}
		}
	}
	slices.Sort(sizes)
	for _, size := range sizes[:min(uint64(len(sizes)), limit)] {
		least += size
	}
	return least, most + rows*rowMost
}

// quiet reports whether nothing a query asks for could change during it.
func quiet(x *exchange, spans []*span) bool {
	return !slices.ContainsFunc(spans, func(s *span) bool { return !s.topic.quiet(x) })
}

// unanswered judges a refusal of a query with nothing wrong.
func (j *judge) unanswered(x *exchange, spans []*span) {
	if len(x.call.Query.Entries) == 0 {
		return // no requirement says what becomes of an empty query
	}
	limit, _ := j.terms.pageLimit(x.call.Query.Limit)
	bound := j.terms.Limit(limitResponseBytes)
	least, most := pageBytes(x, spans, limit, bound)
	size := x.answer.Code == OutOfRange || x.answer.Code == ResourceExhausted
	switch {
	case size && least > bound && quiet(x, spans):
		j.held(nothingOmitted, x, callQuery)
		j.held(sizeCode, x, callQuery)
	case size && most > bound:
		// The page may be too long for a response: a legal refusal (API-134).
	case least > bound && quiet(x, spans) && !j.mute(x):
		j.breached(sizeCode, x, "OUT_OF_RANGE or RESOURCE_EXHAUSTED for a page above the response limit", x.answer.Code.String()+text(x.answer))
	default:
		j.refusedSound(x, "OK: nothing is wrong with the query", j.acceptableQuery(x, spans)...)
	}
}

// acceptableQuery names the requirements by which a sound query is answered: of
// what is special about it, the first.
func (j *judge) acceptableQuery(x *exchange, spans []*span) []model.Assertion {
	q := x.call.Query
	aboveHead := slices.ContainsFunc(spans, func(s *span) bool {
		return s.cursor > 0 && s.topic.head(x.invoked) != nil && len(s.topic.above(s.cursor)) == 0
	})
	switch {
	case uint64(len(q.Entries)) == j.terms.Limit(limitQueryTopics):
		return []model.Assertion{queryCountOK}
	case slices.ContainsFunc(spans, func(s *span) bool { return s.highest == math.MaxInt64 }):
		if aboveHead {
			return []model.Assertion{cursorAccepted, aboveHeadEmpty}
		}
		return []model.Assertion{cursorAccepted}
	case aboveHead:
		return []model.Assertion{aboveHeadEmpty}
	case len(spans) < len(q.Entries):
		return []model.Assertion{coalesced}
	case uint64(q.Limit) > j.terms.Limit(limitQueryMost):
		return []model.Assertion{limitRule}
	case j.subject.explicit && slices.ContainsFunc(q.Entries, func(e Asked) bool { return e.Cursor == nil }):
		return []model.Assertion{cursorAbsent}
	default:
		return []model.Assertion{queryUnion}
	}
}

// aboveHead reports whether the span starts above all that its topic is known
// to hold (API-015).
func (s *span) aboveHead() bool {
	n := len(s.topic.ordered)
	return n > 0 && s.cursor > s.topic.ordered[n-1].meta.Sequence
}
