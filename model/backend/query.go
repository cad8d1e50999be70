package backend

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"assay/model"
)

const (
	callQuery  = "call:query"
	callNewest = "call:newest"
)

func topicWitness(t Bytes) string { return "topic:" + t.String() }

// readDefects lists what is wrong with the entries of a read request.
func (j *judge) readDefects(entries []Asked, countLimit string, count model.Assertion, cursors bool) []defect {
	var out []defect
	if limit := j.terms.Limit(countLimit); limit > 0 && uint64(len(entries)) > limit {
		out = append(out, defect{assertion: count, certain: true, what: fmt.Sprintf("%d topics where %d are allowed", len(entries), limit)})
	}
	for i, e := range entries {
		if e.Flaw != SoundTopic {
			out = append(out, defect{assertion: badTopicRefused, certain: true, what: fmt.Sprintf("entry %d: %s", i, e.Flaw)})
		} else if cursors && e.Log.Kind == KeyPackage {
			out = append(out, defect{assertion: keyPackageRead, certain: true, what: fmt.Sprintf("entry %d: a key-package topic", i)})
		}
		if cursors && e.Cursor != nil && *e.Cursor > math.MaxInt64 {
			out = append(out, defect{assertion: cursorRange, certain: true, what: fmt.Sprintf("entry %d: cursor %d", i, *e.Cursor)})
		}
	}
	return out
}

// readRefusal judges the answer to a read that has something wrong with it.
func (j *judge) readRefusal(call int, r *Return, defects []defect, witness string) {
	for i, d := range defects {
		if slices.ContainsFunc(defects[:i], func(o defect) bool { return o.assertion == d.assertion }) {
			continue
		}
		switch {
		case transient(r.Code):
			j.doubt(d.assertion, call, "answered "+r.Code.String()+", which says nothing of the request")
		case r.Code != InvalidArgument:
			j.breached(d.assertion, call, "INVALID_ARGUMENT for "+d.what, r.Code.String()+text(r))
		case oneAssertion(defects):
			j.held(d.assertion, call, witness)
			if d.assertion == queryCount || d.assertion == newestCount {
				j.held(limitEnforced, call, witness)
			}
		}
	}
	if r.Code == InvalidArgument {
		j.check(r.Text != "", plainText, call, witness, "a status text that says what is wrong", "an empty text")
	}
}

func oneAssertion(defects []defect) bool {
	return !slices.ContainsFunc(defects, func(d defect) bool { return d.assertion != defects[0].assertion })
}

// span is what one query asks of one topic, after coalescing (API-077).
type span struct {
	topic  *topicLog
	cursor uint64
	// entries counts how often the request names the topic; absent is true
	// when the lowest cursor was left out.
	entries int
	absent  bool
}

// spans coalesces the entries of a query, in order of first mention.
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
		if cursor < s.cursor {
			s.cursor, s.absent = cursor, e.Cursor == nil
		}
	}
	return out
}

// query judges one answered query (section 6). invoked and returned are the
// call's event indices.
func (j *judge) query(call, invoked, returned int, c *Call, r *Return) {
	q := c.Query
	switch {
	case r.Lost != Answered:
		return
	case r.Code == Unimplemented:
		j.out.Unimplemented["query"]++
		return
	}
	if defects := j.readDefects(q.Entries, limitQueryTopics, queryCount, true); len(defects) > 0 {
		j.readRefusal(call, r, defects, callQuery)
		return
	}
	spans := j.spans(q.Entries)
	if r.Code != OK {
		j.unanswered(call, invoked, returned, c, r, spans)
		return
	}
	if r.Query == nil {
		j.breached(queryUnion, call, "a query response", "an answer that does not decode: "+r.Garbled)
		return
	}
	v := &reading{judge: j, call: call, invoked: invoked, returned: returned, spans: spans, page: r.Query, query: q}
	v.whole()
	if limit := j.terms.Limit(limitResponseBytes); limit > 0 && uint64(r.WireLen) > limit {
		j.breached(nothingOmitted, call, fmt.Sprintf("a failure: the response is above %d bytes", limit), fmt.Sprintf("OK with %d bytes", r.WireLen))
	}
}

// unanswered judges a refusal of a query with nothing wrong.
func (j *judge) unanswered(call, invoked, returned int, c *Call, r *Return, spans []*span) {
	a := queryUnion
	repeated := len(spans) < len(c.Query.Entries)
	switch {
	case uint64(len(c.Query.Entries)) == j.terms.Limit(limitQueryTopics):
		a = queryCountOK
	case slices.ContainsFunc(c.Query.Entries, func(e Asked) bool { return e.Cursor != nil && *e.Cursor == math.MaxInt64 }):
		a = cursorAccepted
	case repeated:
		a = coalesced
	case uint64(c.Query.Limit) > j.terms.Limit(limitQueryMost):
		a = limitRule
	case len(spans) == 1 && spans[0].cursor > 0 && len(spans[0].topic.above(spans[0].cursor)) == 0:
		a = aboveHeadEmpty
	}
	if r.Code == OutOfRange || r.Code == ResourceExhausted {
		least, most := uint64(0), uint64(0)
		limit := j.effectiveLimit(c.Query.Limit)
		for _, s := range spans {
			for _, e := range s.topic.above(s.cursor) {
				if limit == 0 {
					break
				}
				limit--
				size := uint64(e.size)
				least, most = least+size, most+size+metaMost+16
			}
		}
		if bound := j.terms.Limit(limitResponseBytes); most > bound {
			if least > bound {
				j.held(nothingOmitted, call, callQuery)
				j.held(sizeCode, call, callQuery)
			}
			return
		}
	}
	if transient(r.Code) {
		j.doubt(a, call, "a sound query was answered "+r.Code.String())
		return
	}
	j.breached(a, call, "OK: nothing is wrong with the query", r.Code.String()+text(r))
}

// effectiveLimit is the number of rows a query may return (API-071).
func (j *judge) effectiveLimit(asked uint32) uint64 {
	most := j.terms.Limit(limitQueryMost)
	switch {
	case asked == 0:
		return j.terms.Limit(limitQueryDefault)
	case uint64(asked) > most:
		return most
	default:
		return uint64(asked)
	}
}

// reading judges one page against the view of the call.
type reading struct {
	*judge
	call, invoked, returned int
	spans                   []*span
	page                    *Page
	query                   *QueryCall

	byTopic map[Bytes]*span
	rows    map[*span][]Row
	sound   bool // every row was known and in order
}

// whole judges the page row by row, then as one.
func (v *reading) whole() {
	v.byTopic = make(map[Bytes]*span)
	v.rows = make(map[*span][]Row)
	for _, s := range v.spans {
		v.byTopic[s.topic.topic] = s
	}
	v.sound = true
	repeated := len(v.spans) < len(v.query.Entries)
	union := queryUnion
	if repeated {
		union = coalesced
	}
	for i, row := range v.page.Rows {
		if !v.row(i, row, union) {
			v.sound = false
		}
	}
	limit := v.effectiveLimit(v.query.Limit)
	count := uint64(len(v.page.Rows))
	if count > limit {
		a := limitRule
		if len(v.spans) > 1 {
			a = limitTotal
		}
		v.breached(a, v.call, fmt.Sprintf("at most %d rows in all", limit), fmt.Sprint(count))
		v.sound = false
	}
	if len(v.page.Rows) > 0 && v.sound {
		v.witness(callQuery)
		for s := range v.rows {
			v.witness(topicWitness(s.topic.topic))
		}
		v.held(queryOrder, v.call, "")
	}
	quiet := true
	for _, s := range v.spans {
		quiet = quiet && s.topic.quiet(v.invoked, v.returned)
	}
	v.holes()
	if v.sound && quiet {
		v.exact(limit, union, repeated)
	}
	v.remember()
}

// row judges one row by itself and sorts it to its topic.
func (v *reading) row(i int, row Row, union model.Assertion) bool {
	where := fmt.Sprintf("row %d: ", i)
	m := row.Meta
	s := v.byTopic[m.Topic]
	switch {
	case !row.HasMeta || !m.HasCursor || m.Sequence == 0:
		v.breached(uniqueID, v.call, where+"metadata with a sequence id", "none")
		return false
	case s == nil:
		v.breached(union, v.call, where+"a topic that was asked for", m.Topic.String())
		return false
	case !row.HasEnvelope:
		v.breached(payloadIntact, v.call, where+"the envelope", "none")
		return false
	case m.Sequence <= s.cursor:
		v.breached(union, v.call, fmt.Sprintf("%sonly ids above cursor %d", where, s.cursor), fmt.Sprint(m.Sequence))
		return false
	}
	ok := true
	if rows := v.rows[s]; len(rows) > 0 {
		last := rows[len(rows)-1].Meta.Sequence
		switch {
		case m.Sequence == last:
			v.breached(union, v.call, fmt.Sprintf("%ssequence id %d once", where, last), "a second time")
			return false
		case m.Sequence < last:
			v.breached(queryOrder, v.call, fmt.Sprintf("%san id above %d on topic %s", where, last, s.topic.log), fmt.Sprint(m.Sequence))
			ok = false
		}
	}
	v.rows[s] = append(v.rows[s], row)
	return v.known(where, s.topic, row, metaAgrees) && ok
}

// known judges a row against what was published on its topic.
func (v *reading) known(where string, t *topicLog, row Row, agrees model.Assertion) bool {
	return v.knownRow(v.call, v.returned, where, t, row, agrees)
}

// knownRow judges a row that a read returned for a topic: some publish of this
// history stored it, as it is, once.
func (j *judge) knownRow(call, returned int, where string, t *topicLog, row Row, agrees model.Assertion) bool {
	m := row.Meta
	j.clock = max(j.clock, m.ServerNS)
	if e := t.stored[row.Identity]; e != nil {
		if e.meta.Sequence != m.Sequence {
			if other := t.at(m.Sequence); other != nil {
				j.breached(payloadIntact, call, fmt.Sprintf("%sthe payload published as sequence id %d", where, m.Sequence), fmt.Sprintf("the payload of sequence id %d", e.meta.Sequence), other.proof, other.event)
			} else {
				j.breached(storedOnce, call, fmt.Sprintf("%sone row, sequence id %d, for what was published as that", where, e.meta.Sequence), fmt.Sprintf("sequence id %d as well", m.Sequence), e.proof, e.event)
			}
			return false
		}
		return j.sameMeta(call, where, e, m, agrees)
	}
	if e := t.at(m.Sequence); e != nil {
		j.breached(payloadIntact, call, fmt.Sprintf("%sthe payload published as sequence id %d", where, m.Sequence), "another payload", e.proof, e.event)
		return false
	}
	if p := t.possible[row.Identity]; p != nil && p.invoked < returned {
		// A read confirms what an unsettled or open publish may have stored.
		var intent Envelope
		size := 0
		for _, s := range p.request.Envelopes {
			if s.Artefact.Identity == row.Identity && s.Artefact.Topic == t.topic {
				intent, size = s.Intent, s.Artefact.CanonicalLen
			}
		}
		e := &entry{identity: row.Identity, intent: intent, meta: m, event: returned, proof: p.invoked, size: size}
		if other := j.ids[m.Sequence]; other != nil && other.meta.Topic != m.Topic {
			j.breached(uniqueID, call, where+"a sequence id of its own", fmt.Sprintf("%d, which names an envelope on topic %s", m.Sequence, other.meta.Topic), other.proof, other.event)
			return false
		}
		j.ids[m.Sequence] = e
		t.insert(e)
		return true
	}
	if p := t.turnedDown[row.Identity]; p != nil {
		j.breached(atomicRefusal, call, where+"nothing of a publish that was refused", fmt.Sprintf("its envelope, as sequence id %d", m.Sequence), p.invoked, p.returned)
		return false
	}
	j.breached(payloadIntact, call, where+"a payload that this run published on topic "+t.log.String(), fmt.Sprintf("another, as sequence id %d", m.Sequence))
	return false
}

// sameMeta judges a row's metadata against the published one, field by field.
func (j *judge) sameMeta(call int, where string, e *entry, m Meta, agrees model.Assertion) bool {
	p := e.meta
	ok := true
	field := func(a model.Assertion, same bool, expected, got string) {
		j.check(same, a, call, "", where+expected, got, e.proof, e.event)
		ok = ok && same
	}
	if agrees == newestMetadata {
		d := difference(p, m)
		field(newestMetadata, d == "", "the published metadata", d)
		return ok
	}
	field(hashOfValue, m.HasHash && m.Hash == p.Hash, "message hash "+p.Hash.String(), m.Hash.String())
	field(topicFromPayload, m.HasTopic && m.Topic == p.Topic, "topic "+p.Topic.String(), m.Topic.String())
	field(expiry, m.ExpiryNS == p.ExpiryNS, fmt.Sprintf("expiry_ns %d as published", p.ExpiryNS), fmt.Sprint(m.ExpiryNS))
	field(groupFlag, m.CommitOrProposal == p.CommitOrProposal, fmt.Sprintf("is_commit_or_proposal %v as published", p.CommitOrProposal), fmt.Sprint(m.CommitOrProposal))
	field(agrees, m.ServerNS == p.ServerNS, fmt.Sprintf("server_ns %d as published", p.ServerNS), fmt.Sprint(m.ServerNS))
	if ok {
		j.held(payloadIntact, call, "")
		if e.intent.Log.Kind == CommitLog {
			j.held(logPosition, call, "")
		}
	}
	return ok
}

// holes judges that no row is missing below one that was returned: what was
// committed before the call began is visible to it, in a prefix (API-011).
func (v *reading) holes() {
	for _, s := range v.spans {
		rows := v.rows[s]
		if len(rows) == 0 {
			continue
		}
		have := make(map[uint64]bool, len(rows))
		top := uint64(0)
		for _, r := range rows {
			have[r.Meta.Sequence] = true
			top = max(top, r.Meta.Sequence)
		}
		for _, e := range s.topic.above(s.cursor) {
			if e.meta.Sequence >= top {
				break
			}
			if e.event < v.invoked && !have[e.meta.Sequence] {
				a := prefixHole
				if s.topic.log.Kind == CommitLog {
					v.breached(logComplete, v.call, fmt.Sprintf("sequence id %d before %d", e.meta.Sequence, top), "a read without it", e.proof, e.event)
				}
				v.breached(a, v.call, fmt.Sprintf("sequence id %d before %d on topic %s", e.meta.Sequence, top, s.topic.log), "a read without it", e.proof, e.event)
				v.sound = false
				return
			}
		}
		v.held(prefixHole, v.call, "")
	}
}

// exact judges a page whose topics nobody else was writing.
func (v *reading) exact(limit uint64, union model.Assertion, repeated bool) {
	matched := uint64(0)
	var missing []*entry
	for _, s := range v.spans {
		have := make(map[uint64]bool)
		for _, r := range v.rows[s] {
			have[r.Meta.Sequence] = true
		}
		for _, e := range s.topic.above(s.cursor) {
			matched++
			if !have[e.meta.Sequence] {
				missing = append(missing, e)
			}
		}
	}
	count := uint64(len(v.page.Rows))
	want := min(matched, limit)
	needs := ""
	if count == 0 {
		needs = v.emptyWitness()
	}
	more := matched > limit
	v.check(v.page.HasMore == more, hasMore, v.call, v.moreWitness(needs), fmt.Sprintf("has_more %v: %d rows matched a limit of %d", more, matched, limit), fmt.Sprint(v.page.HasMore))
	if count != want {
		sort.Slice(missing, func(a, b int) bool { return missing[a].meta.Sequence < missing[b].meta.Sequence })
		v.missing(union, count, want, limit, missing)
		return
	}
	v.held(union, v.call, needs)
	v.shape(limit, matched, repeated, needs)
}

// moreWitness is the witness that has_more needs: a page of rows is its own.
func (v *reading) moreWitness(needs string) string {
	if needs == "" {
		return ""
	}
	return callQuery
}

// missing names the requirements that a short page breaks.
func (v *reading) missing(union model.Assertion, count, want, limit uint64, missing []*entry) {
	var events []int
	for _, e := range missing[:min(len(missing), 2)] {
		events = append(events, e.proof, e.event)
	}
	expected, got := fmt.Sprintf("%d rows", want), fmt.Sprintf("%d", count)
	if len(missing) > 0 {
		got += fmt.Sprintf(", without sequence id %d", missing[0].meta.Sequence)
	}
	v.breached(union, v.call, expected, got, events...)
	switch {
	case v.query.Limit == 0 && want == limit, uint64(v.query.Limit) > v.terms.Limit(limitQueryMost) && want == limit:
		v.breached(limitRule, v.call, expected, got, events...)
	case want < limit:
		// Nothing was cut: a row that a returned publish stored is not readable.
		v.breached(ownWrite, v.call, expected, got, events...)
		if slices.ContainsFunc(missing, func(e *entry) bool { return e.intent.Log.Kind == CommitLog }) {
			v.breached(logComplete, v.call, expected, got, events...)
		}
		if v.clock > 0 && slices.ContainsFunc(missing, func(e *entry) bool { return e.meta.ExpiryNS > 0 && e.meta.ExpiryNS <= v.clock }) {
			v.breached(noFilter, v.call, expected, got, events...)
		}
	}
}

// shape records what else a correct page shows.
func (v *reading) shape(limit, matched uint64, repeated bool, needs string) {
	cut := matched >= limit
	if v.query.Limit == 0 && cut || uint64(v.query.Limit) > v.terms.Limit(limitQueryMost) && cut {
		v.held(limitRule, v.call, "")
		v.held(limitEnforced, v.call, "")
	}
	if len(v.spans) > 1 && matched > limit {
		v.held(limitTotal, v.call, "")
	}
	if uint64(len(v.query.Entries)) == v.terms.Limit(limitQueryTopics) {
		v.held(queryCountOK, v.call, callQuery)
	}
	if !cut {
		for _, s := range v.spans {
			rows := v.rows[s]
			if len(rows) > 0 {
				v.held(ownWrite, v.call, "")
			}
			if len(rows) > 1 && s.topic.log.Kind == CommitLog {
				v.held(logComplete, v.call, "")
			}
			if len(rows) > 0 && s.absent {
				v.held(cursorAbsent, v.call, "")
			}
			if slices.ContainsFunc(rows, func(r Row) bool { return r.Meta.ExpiryNS > 0 && r.Meta.ExpiryNS <= v.clock }) {
				v.held(noFilter, v.call, "")
			}
			for identity, p := range s.topic.turnedDown {
				if p.returned < v.invoked && s.topic.stored[identity] == nil {
					v.held(atomicRefusal, v.call, topicWitness(s.topic.topic))
					break
				}
			}
			if len(s.topic.ordered) > 0 && s.cursor >= s.topic.ordered[len(s.topic.ordered)-1].meta.Sequence {
				v.held(aboveHeadEmpty, v.call, topicWitness(s.topic.topic))
				if s.cursor == math.MaxInt64 {
					v.held(cursorAccepted, v.call, topicWitness(s.topic.topic))
				}
			}
			for _, r := range rows {
				if e := s.topic.stored[r.Identity]; e != nil && e.repeats > 0 {
					v.held(storedOnce, v.call, "")
					break
				}
			}
		}
	}
}

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

// remember notes how far this read saw, for API-011.
func (v *reading) remember() {
	for s, rows := range v.rows {
		s.topic.saw(v.returned, rows)
	}
}

func (l *topicLog) saw(event int, rows []Row) {
	top := uint64(0)
	if n := len(l.seen); n > 0 {
		top = l.seen[n-1].sequence
	}
	for _, r := range rows {
		if r.Meta.Sequence > top {
			top = r.Meta.Sequence
			l.seen = append(l.seen, sighting{event: event, sequence: top})
		}
	}
}
