package backend

import (
	"fmt"
	"math"
	"slices"

	"assay/model"
)

// reading judges one page against the view of its query.
type reading struct {
	*judge
	x     *exchange
	spans []*span
	page  *Page
	query *QueryCall

	byTopic map[Bytes]*span
	rows    map[*span][]Row
	sound   bool // every row was known, asked for and in order
}

// whole judges the page row by row, then as one.
func (v *reading) whole() {
	v.byTopic = make(map[Bytes]*span)
	v.rows = make(map[*span][]Row)
	for _, s := range v.spans {
		v.byTopic[s.topic.topic] = s
	}
	v.sound = true
	for i, row := range v.page.Rows {
		v.sound = v.row(i, row) && v.sound
	}
	limit, known := v.terms.pageLimit(v.query.Limit)
	if count := uint64(len(v.page.Rows)); v.sound && known && count > limit {
		v.breached(v.tooMany(limit), v.x, fmt.Sprintf("at most %d rows in all", limit), fmt.Sprint(count))
		v.sound = false
	}
	if !v.sound {
		return
	}
	for _, s := range v.spans {
		if !v.prefix(s) {
			return
		}
	}
	v.seen()
	if !known {
		return
	}
	if quiet(v.x, v.spans) && v.lands(limit) {
		v.exact(limit)
	} else if count := uint64(len(v.page.Rows)); v.page.HasMore && count < limit && uint64(v.query.Limit) == limit {
		v.breached(hasMore, v.x, fmt.Sprintf("has_more false: the page has %d rows and the limit is %d", count, limit), "true")
	}
}

// tooMany names the requirement that a page above the limit breaks.
func (v *reading) tooMany(limit uint64) model.Assertion {
	asked, most := uint64(v.query.Limit), v.terms.Limit(limitQueryMost)
	switch {
	case asked > most && v.terms.moved(limitQueryMost), asked == 0 && v.terms.moved(limitQueryDefault):
		return limitEnforced
	case asked == 0 || asked > most:
		return limitRule
	}
	for _, rows := range v.rows {
		if uint64(len(rows)) > limit {
			return limitRule
		}
	}
	return limitTotal // each topic keeps the limit, the page does not
}

// row judges one row by itself and sorts it to its topic.
func (v *reading) row(i int, row Row) bool {
	where := fmt.Sprintf("row %d: ", i)
	m := row.Meta
	s := v.byTopic[m.Topic]
	switch {
	case !row.HasMeta || !m.HasCursor || m.Sequence == 0 || m.Sequence > math.MaxInt64:
		v.breached(uniqueID, v.x, where+"metadata with a sequence id", "none")
		return false
	case s == nil:
		for _, o := range v.spans {
			if e := o.topic.stored[row.Identity]; e != nil && row.HasEnvelope {
				v.breached(topicFromPayload, v.x, where+"topic "+e.meta.Topic.String(), m.Topic.String(), e.proof, e.event)
				return false
			}
		}
		v.breached(queryUnion, v.x, where+"a topic that was asked for", m.Topic.String())
		return false
	case !row.HasEnvelope:
		v.breached(payloadIntact, v.x, where+"the envelope", "none")
		return false
	case m.Sequence <= s.cursor:
		v.breached(queryUnion, v.x, fmt.Sprintf("%sonly ids above cursor %d", where, s.cursor), fmt.Sprint(m.Sequence))
		return false
	}
	inOrder := true
	if rows := v.rows[s]; len(rows) > 0 {
		inOrder = v.order(where, s, rows[len(rows)-1].Meta.Sequence, m.Sequence)
	}
	v.rows[s] = append(v.rows[s], row)
	return v.known(v.x, where, s.topic, row, metaAgrees) && inOrder
}

// order judges a row against the one before it on its topic (API-066, 072, 077).
func (v *reading) order(where string, s *span, last, next uint64) bool {
	switch {
	case next > last:
		return true
	case next == last && s.entries > 1:
		v.breached(coalesced, v.x, fmt.Sprintf("%ssequence id %d once", where, last), "a second time")
	case next == last:
		v.breached(queryUnion, v.x, fmt.Sprintf("%ssequence id %d once", where, last), "a second time")
	default:
		expected := fmt.Sprintf("%san id above %d on topic %s", where, last, s.topic.log)
		v.breached(queryOrder, v.x, expected, fmt.Sprint(next))
		if s.topic.log.Kind == CommitLog {
			v.breached(logComplete, v.x, expected, fmt.Sprint(next))
		}
	}
	return false
}

// prefix judges that no row is missing below one that was returned: what was
// committed before the call began is visible to it, in a prefix (API-011).
func (v *reading) prefix(s *span) bool {
	rows := v.rows[s]
	if len(rows) == 0 {
		return true
	}
	at := 0
	for _, e := range s.topic.above(s.cursor) {
		for at < len(rows) && rows[at].Meta.Sequence < e.meta.Sequence {
			at++
		}
		if at == len(rows) {
			break
		}
		if rows[at].Meta.Sequence == e.meta.Sequence || e.event >= v.x.invoked {
			continue
		}
		v.hole(s, e, rows[len(rows)-1].Meta.Sequence)
		return false
	}
	v.held(prefixHole, v.x, "")
	return true
}

// hole names the requirements that a missing row breaks, when a later one of
// its topic is there.
func (v *reading) hole(s *span, e *entry, top uint64) {
	expected := fmt.Sprintf("sequence id %d before %d on topic %s", e.meta.Sequence, top, s.topic.log)
	say := func(a model.Assertion) { v.breached(a, v.x, expected, "a page without it", e.proof, e.event) }
	switch {
	case s.entries > 1 && e.meta.Sequence <= s.highest:
		say(coalesced) // the page starts at a cursor that is not the lowest
		return
	case v.expired(e):
		say(noFilter)
		return
	}
	say(prefixHole)
	say(queryUnion)
	if s.topic.log.Kind == CommitLog {
		say(logComplete)
	}
}

// expired reports whether a row is past its expiry by the subject's own clock.
func (v *reading) expired(e *entry) bool { return e.meta.ExpiryNS > 0 && e.meta.ExpiryNS <= v.clock }

// seen records a sound page: its witnesses, and how far it saw (API-011).
func (v *reading) seen() {
	for _, s := range v.spans {
		rows := v.rows[s]
		if len(rows) == 0 {
			continue
		}
		v.witness(callQuery)
		v.witness(topicWitness(s.topic.topic))
		if len(rows) > 1 {
			v.held(queryOrder, v.x, "")
		}
		top := rows[len(rows)-1].Meta.Sequence
		s.topic.saw(v.x.returned, top)
		s.topic.cover(coverage{event: v.x.returned, cursor: s.cursor, top: top})
	}
	v.headers(v.x, callQuery)
}

// lands judges a publish that landed without an answer: all of it is stored, so
// a page that nothing cuts shows it from the beginning of its topic (API-030).
// It reports whether the page can be judged exactly.
func (v *reading) lands(limit uint64) bool {
	certain := true
	for _, s := range v.spans {
		for _, d := range s.topic.owes() {
			cut := v.page.HasMore || uint64(len(v.page.Rows)) >= limit
			if s.cursor == 0 && !cut && d.by.landed < v.x.invoked {
				v.breached(landsWhole, v.x, "every envelope of a publish of which another was read", "a page of topic "+s.topic.log.String()+" without one", d.proof...)
			}
			certain = false
		}
	}
	return certain
}

// exact judges a page whose topics nobody was writing: it is what is stored
// above the cursors, cut at the limit, and it says whether more is (API-072, 073).
func (v *reading) exact(limit uint64) {
	matched := uint64(0)
	for _, s := range v.spans {
		matched += uint64(len(s.topic.above(s.cursor)))
	}
	count, more := uint64(len(v.page.Rows)), matched > limit
	bound := v.terms.Limit(limitResponseBytes)
	if least, _ := pageBytes(v.x, v.spans, limit, bound); least > bound {
		v.breached(nothingOmitted, v.x, fmt.Sprintf("a failure: the page needs more than %d bytes", bound), fmt.Sprintf("OK with %d rows", count))
		return
	}
	if count != min(matched, limit) {
		v.short(count, min(matched, limit), limit)
		return
	}
	witness := ""
	if count == 0 {
		witness = v.emptyWitness()
	}
	v.held(queryUnion, v.x, witness)
	expected := fmt.Sprintf("has_more %v: %d rows matched a limit of %d", more, matched, limit)
	if more && v.page.HasMore {
		v.witness(pageMore)
		v.held(hasMore, v.x, "")
	} else {
		// A subject that never says true has not shown that false means anything.
		v.check(v.page.HasMore == more, hasMore, v.x, pageMore, expected, fmt.Sprint(v.page.HasMore))
	}
	v.shape(limit, matched)
}

// pageMore is the witness that a page said, rightly, that there is more.
const pageMore = "page:more"

// emptyWitness names the witness that an empty page needs: a row of one of its
// topics when they have any, else any row at all.
func (v *reading) emptyWitness() string {
	for _, s := range v.spans {
		if len(s.topic.ordered) > 0 {
			return topicWitness(s.topic.topic)
		}
	}
	return callQuery
}

// short names the requirements that a page with too few rows breaks.
func (v *reading) short(count, want, limit uint64) {
	var missing []*entry
	var of []*span
	for _, s := range v.spans {
		stored := s.topic.above(s.cursor)
		for _, e := range stored[min(len(v.rows[s]), len(stored)):] {
			missing, of = append(missing, e), append(of, s)
		}
	}
	if len(missing) == 0 {
		return
	}
	expected, got := fmt.Sprintf("%d rows", want), fmt.Sprintf("%d, without sequence id %d", count, missing[0].meta.Sequence)
	say := func(a model.Assertion) {
		v.breached(a, v.x, expected, got, missing[0].proof, missing[0].event)
	}
	asked, most := uint64(v.query.Limit), v.terms.Limit(limitQueryMost)
	all := func(is func(i int) bool) bool {
		for i := range missing {
			if !is(i) {
				return false
			}
		}
		return true
	}
	switch {
	case want == limit && (asked == 0 && v.terms.moved(limitQueryDefault) || asked >= most && v.terms.moved(limitQueryMost)):
		say(limitEnforced)
	case want == limit && (asked == 0 || asked >= most):
		say(limitRule)
	case want == limit:
		say(queryUnion)
	case all(func(i int) bool { return v.expired(missing[i]) }):
		say(noFilter)
	case all(func(i int) bool { return of[i].entries > 1 && missing[i].meta.Sequence <= of[i].highest }):
		say(coalesced)
	default:
		// Nothing was cut: a row that a returned publish stored is not readable.
		say(queryUnion)
		say(ownWrite)
		if v.subject.explicit && all(func(i int) bool { return of[i].absent }) {
			say(cursorAbsent)
		}
		if slices.ContainsFunc(missing, func(e *entry) bool { return e.intent.Log.Kind == CommitLog }) {
			say(logComplete)
		}
	}
}

// shape records what else a correct page shows.
func (v *reading) shape(limit, matched uint64) {
	asked, most := uint64(v.query.Limit), v.terms.Limit(limitQueryMost)
	if matched > limit {
		v.cut(limit, asked, most)
	}
	if uint64(len(v.query.Entries)) == v.terms.Limit(limitQueryTopics) {
		v.held(queryCountOK, v.x, callQuery)
	}
	for _, s := range v.spans {
		rows := v.rows[s]
		if s.entries > 1 && len(rows) > 0 && (s.highest == s.cursor || rows[0].Meta.Sequence <= s.highest) {
			v.held(coalesced, v.x, "")
		}
		if matched < limit || matched == limit && !v.page.HasMore {
			v.uncut(s, rows)
		}
	}
}

// cut records what a page that the limit cut shows (API-071, 076, 131).
func (v *reading) cut(limit, asked, most uint64) {
	name := ""
	switch {
	case asked == 0:
		name = limitQueryDefault
	case asked > most:
		name = limitQueryMost
	}
	if name != "" {
		v.held(limitRule, v.x, "")
		if v.terms.named(name) {
			v.held(limitEnforced, v.x, "")
		}
	}
	// Were the limit one for each topic, this page would have had more rows.
	perTopic := uint64(0)
	for _, s := range v.spans {
		perTopic += min(uint64(len(s.topic.above(s.cursor))), limit)
	}
	if perTopic > limit {
		v.held(limitTotal, v.x, "")
	}
}

// uncut records what the rows of one topic show when all of them are there.
func (v *reading) uncut(s *span, rows []Row) {
	t, needs := s.topic, topicWitness(s.topic.topic)
	if len(rows) > 1 && t.log.Kind == CommitLog {
		v.held(logComplete, v.x, "")
	}
	if len(rows) > 0 && s.absent {
		v.held(cursorAbsent, v.x, "")
	}
	for _, r := range rows {
		e := t.stored[r.Identity]
		if e == nil {
			continue
		}
		if e.by != nil && e.by.returned < v.x.invoked {
			v.held(ownWrite, v.x, "")
		}
		if v.expired(e) {
			v.held(noFilter, v.x, "")
		}
		if e.repeats > 0 {
			v.held(storedOnce, v.x, "")
		}
		if e.retried && e.by != nil {
			v.held(retryWorks, v.x, "")
		}
	}
	// Only a page that begins below where a row would be shows its absence.
	if old := t.at(s.cursor); s.cursor == 0 || old != nil {
		for _, f := range t.refusals {
			if f.by.returned < v.x.invoked && t.stored[f.identity] == nil && (s.cursor == 0 || old.event < f.by.invoked) {
				v.held(atomicRefusal, v.x, needs)
				break
			}
		}
	}
	if s.aboveHead() {
		v.held(aboveHeadEmpty, v.x, needs)
		if s.cursor == math.MaxInt64 {
			v.held(cursorAccepted, v.x, needs)
		}
	}
}
