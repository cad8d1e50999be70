package backend

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/model"
)

const callPublish = "call:publish"

// publish judges one answered publish (sections 4 and 5).
func (j *judge) publish(call int, c *Call, r *Return) {
	p := j.pubs[call]
	if slices.ContainsFunc(c.Publish.Envelopes, unsupported) {
		if r.Code == Unimplemented {
			j.out.Unimplemented["publish of identity updates and key packages"]++
		}
		return
	}
	defects := j.defects(c)
	certain := slices.ContainsFunc(defects, func(d defect) bool { return d.certain })
	switch {
	case r.Lost != Answered:
		return // may or may not have happened; later reads and retries tell (API-037)
	case r.Code == Unimplemented:
		j.out.Unimplemented["publish"]++
	case r.Code == OK && certain:
		for _, d := range defects {
			if d.certain {
				j.breached(d.assertion, call, "a refusal of "+d.what, "OK")
			}
		}
	case r.Code == OK:
		j.stored(p, c, r)
	case len(defects) > 0:
		j.refusal(call, c, r, defects, certain)
	default:
		j.unexpected(call, c, r)
	}
}

// refusal judges the answer to a request that has something wrong with it.
func (j *judge) refusal(call int, c *Call, r *Return, defects []defect, certain bool) {
	if transient(r.Code) {
		j.doubt(defects[0].assertion, call, "answered "+r.Code.String()+", which says nothing of the request")
		return
	}
	oversized := slices.ContainsFunc(defects, func(d defect) bool { return d.transport })
	legal := r.Code == InvalidArgument || r.Code == OutOfRange && oversized
	if !legal {
		a := defects[0].assertion
		if oversized {
			a = sizeCode
		}
		j.breached(a, call, "INVALID_ARGUMENT"+when(oversized, " or OUT_OF_RANGE")+" for "+describe(defects), r.Code.String()+text(r))
		return
	}
	// Only a request with one thing wrong shows that this one thing is refused.
	if certain && len(defects) == 1 {
		j.held(defects[0].assertion, call, callPublish)
		if defects[0].assertion == publishLimit {
			j.held(limitEnforced, call, callPublish)
		}
		if oversized {
			j.held(sizeCode, call, callPublish)
		}
	}
	j.check(r.Text != "" || r.Code == OutOfRange, plainText, call, callPublish, "a status text that says what is wrong", "an empty text")
	if r.Code == InvalidArgument {
		j.detail(call, c, r, defects)
	}
}

// detail judges the publish error of an INVALID_ARGUMENT (API-036, 040, 047).
func (j *judge) detail(call int, c *Call, r *Return, defects []defect) {
	if len(r.Details) == 0 {
		j.breached(errorDetail, call, "a publish-error detail for "+describe(defects), "none"+text(r))
		return
	}
	got := r.Details[0]
	type option struct {
		index   int
		reasons []Reason
		what    string
	}
	var options []option
	for kind := parseDefect; kind <= requestDefect; kind++ {
		for _, d := range defects {
			if d.kind != kind {
				continue
			}
			options = append(options, option{d.index, d.reasons, d.what})
			if d.certain && kind != requestDefect {
				break // the first failing envelope of this kind; those after it cannot answer
			}
		}
	}
	var expected []string
	indexed := false
	for _, o := range options {
		same := o.index < 0 && got.Index == nil || o.index >= 0 && got.Index != nil && int64(*got.Index) == int64(o.index)
		expected = append(expected, indexText(o.index)+" with "+reasonText(o.reasons)+" ("+o.what+")")
		if !same {
			continue
		}
		indexed = true
		if o.reasons == nil && got.Reason != ReasonUnspecified || slices.Contains(o.reasons, got.Reason) {
			j.held(errorDetail, call, callPublish)
			if shifted(c, o.index) {
				j.held(originalIndex, call, callPublish)
			}
			if len(options) == 1 && slices.Equal(o.reasons, []Reason{ReasonMalformedPayload}) {
				j.held(malformedReason, call, callPublish)
			}
			return
		}
	}
	want := strings.Join(expected, ", or ")
	have := "index none"
	if got.Index != nil {
		have = fmt.Sprintf("index %d", *got.Index)
	}
	have += " with " + got.Reason.String()
	switch {
	case !indexed && got.Index != nil && slices.ContainsFunc(options, func(o option) bool { return shifted(c, o.index) }):
		j.breached(originalIndex, call, want, have)
	case indexed && got.Reason != ReasonUnspecified && !slices.ContainsFunc(options, func(o option) bool { return o.reasons == nil }):
		j.breached(malformedReason, call, want, have)
	default:
		j.breached(errorDetail, call, want, have)
	}
}

// shifted reports whether equal envelopes stand before the index, so that an
// index counted after collapse would differ from the original one (API-036).
func shifted(c *Call, index int) bool {
	seen := make(map[Bytes]map[Digest]bool)
	for i, s := range c.Publish.Envelopes {
		if i >= index {
			return false
		}
		a := s.Artefact
		if a.Topic == "" {
			continue
		}
		if seen[a.Topic] == nil {
			seen[a.Topic] = make(map[Digest]bool)
		}
		if seen[a.Topic][a.Identity] {
			return true
		}
		seen[a.Topic][a.Identity] = true
	}
	return false
}

// unexpected judges an answer other than OK to a request with nothing wrong.
func (j *judge) unexpected(call int, c *Call, r *Return) {
	a := j.acceptance(c, r)
	if r.Code == OutOfRange || r.Code == ResourceExhausted {
		// A response that may exceed its cap is a legal refusal, after commit or before (API-037, 134).
		if uint64(len(c.Publish.Envelopes))*metaMost > j.terms.Limit(limitResponseBytes) {
			return
		}
	}
	if transient(r.Code) {
		j.doubt(a, call, "a sound request was answered "+r.Code.String())
		return
	}
	got := r.Code.String()
	if len(r.Details) > 0 {
		got += " " + r.Details[0].Reason.String()
		if i := r.Details[0].Index; i != nil {
			got += fmt.Sprintf(" at index %d", *i)
		}
	}
	j.breached(a, call, "OK: nothing is wrong with the request", got+text(r))
}

// acceptance names the requirement that makes a sound request acceptable: that
// of the payload a refusal points at, of the limit it reaches, or of a retry.
func (j *judge) acceptance(c *Call, r *Return) model.Assertion {
	if len(r.Details) > 0 && r.Details[0].Index != nil {
		if i := int64(*r.Details[0].Index); i < int64(len(c.Publish.Envelopes)) {
			return accepts(c.Publish.Envelopes[i].Intent.Log.Kind)
		}
	}
	if j.atLimit(c) {
		return publishInLimit
	}
	if len(c.Publish.Envelopes) == 0 {
		return publishInLimit
	}
	return accepts(c.Publish.Envelopes[0].Intent.Log.Kind)
}

func accepts(k Kind) model.Assertion {
	switch k {
	case Welcome:
		return welcomeAccepted
	case CommitLog:
		return logEntryAccepted
	default:
		return groupAccepted
	}
}

// atLimit reports whether a request reaches a limit exactly or nearly.
func (j *judge) atLimit(c *Call) bool {
	const near = 64
	topics := make(map[Bytes]bool)
	for _, s := range c.Publish.Envelopes {
		topics[s.Artefact.Topic] = true
		if limit := j.terms.Limit(limitEnvelopeBytes); limit > 0 && uint64(s.Artefact.CanonicalLen) == limit {
			return true
		}
	}
	if limit := j.terms.Limit(limitPublishTopics); limit > 0 && uint64(len(topics)) == limit {
		return true
	}
	limit := j.terms.Limit(limitRequestBytes)
	return limit > 0 && uint64(c.CanonicalLen)+near > limit
}

// metaLeast and metaMost bound the encoded length of one metadata entry in a
// response, from the field widths of the wire schema.
const metaMost = 140

// stored judges a successful publish and takes what it stored into the view.
func (j *judge) stored(p *publication, c *Call, r *Return) {
	call := p.call
	if r.Publish == nil {
		j.breached(metaPerEntry, call, "a publish response", "an answer that does not decode: "+r.Garbled)
		return
	}
	metas := r.Publish.Metas
	n := len(c.Publish.Envelopes)
	j.check(len(metas) == n, metaPerEntry, call, "", fmt.Sprintf("%d metadata entries", n), fmt.Sprintf("%d", len(metas)))
	if len(metas) != n {
		return
	}
	if limit := j.terms.Limit(limitResponseBytes); limit > 0 && uint64(r.WireLen) > limit {
		j.breached(nothingOmitted, call, fmt.Sprintf("a failure: the response is above %d bytes", limit), fmt.Sprintf("OK with %d bytes", r.WireLen))
	}
	first := make(map[*topicLog]map[Digest]int)
	var fresh []*entry
	retry := false
	for i, s := range c.Publish.Envelopes {
		m := metas[i]
		if !j.complete(call, i, s, m) {
			continue
		}
		j.clock = max(j.clock, m.ServerNS)
		t := j.topic(s.Artefact.Topic, s.Intent.Log)
		if first[t] == nil {
			first[t] = make(map[Digest]int)
		}
		if k, ok := first[t][s.Artefact.Identity]; ok {
			d := difference(metas[k], m)
			j.check(d == "", collapsed, call, "", fmt.Sprintf("entries %d and %d, of equal envelopes, to be equal", k, i), d)
			if e := t.stored[s.Artefact.Identity]; e != nil {
				e.repeats++
			}
			continue
		}
		first[t][s.Artefact.Identity] = i
		if e := t.stored[s.Artefact.Identity]; e != nil {
			d := difference(e.meta, m)
			a := duplicateMeta
			if !e.acknowledged {
				a = metaAgrees
			}
			j.check(d == "", a, call, "", fmt.Sprintf("the metadata stored for envelope %d", i), d, e.proof, e.event)
			e.acknowledged = true
			e.repeats++
			continue
		}
		e := &entry{identity: s.Artefact.Identity, intent: s.Intent, meta: m, event: p.returned, proof: p.invoked, acknowledged: true, size: s.Artefact.CanonicalLen}
		if q := t.possible[s.Artefact.Identity]; q != nil && q != p && q.outcome == unsettled && q.invoked < p.invoked {
			// The lost publish may have stored it: its time and id can be older than this request.
			retry = true
			j.fresh(call, q.invoked, i, t, e)
			continue
		}
		j.fresh(call, p.invoked, i, t, e)
		fresh = append(fresh, e)
	}
	j.shared(call, fresh)
	if retry {
		j.held(retryWorks, call, "")
	}
	if n > 0 {
		j.witness(callPublish)
	}
	if j.atLimit(c) {
		j.held(publishInLimit, call, "")
	}
}

// complete judges what every metadata entry must hold, against the intent.
func (j *judge) complete(call, i int, s Sent, m Meta) bool {
	a := s.Artefact
	where := fmt.Sprintf("entry %d: ", i)
	ok := m.HasTopic && m.HasCursor && m.Sequence > 0 && m.Sequence <= math.MaxInt64
	if !m.HasTopic || m.Topic == "" {
		j.breached(topicFromPayload, call, where+"the topic of the envelope", "none")
	} else {
		form := len(m.Topic) == len(a.Topic) && m.Topic[0] == a.Topic[0]
		j.check(form, topicForm, call, "", where+"topic "+a.Topic.String(), m.Topic.String())
		if form {
			j.check(m.Topic == a.Topic, topicFromPayload, call, "", where+"topic "+a.Topic.String(), m.Topic.String())
		}
		ok = ok && m.Topic == a.Topic
	}
	if !m.HasCursor || m.Sequence == 0 || m.Sequence > math.MaxInt64 {
		j.breached(uniqueID, call, where+"a sequence id from 1 to 2^63-1", fmt.Sprintf("%d", m.Sequence))
	}
	j.check(m.HasHash && len(m.Hash) == 32, hashLength, call, "", where+"a message hash of 32 bytes", fmt.Sprintf("%d bytes", len(m.Hash)))
	j.check(m.CommitOrProposal == (s.Intent.Log.Kind == Group && s.Intent.Form.Handshake()), groupFlag, call, "",
		fmt.Sprintf("%sis_commit_or_proposal %v for a %s %s", where, !m.CommitOrProposal, s.Intent.Form, s.Intent.Log.Kind), fmt.Sprint(m.CommitOrProposal))
	j.check(true, accepts(s.Intent.Log.Kind), call, "", "", "")
	if s.Intent.Log.Kind == CommitLog {
		j.check(m.HasCursor && m.Sequence > 0, logPosition, call, "", where+"a sequence id as the entry's position", "none")
	}
	return ok
}

// fresh judges an envelope that this publish stored, and takes it into the view.
// No publish before the event since can have stored it.
func (j *judge) fresh(call, since, i int, t *topicLog, e *entry) {
	m := e.meta
	where := fmt.Sprintf("entry %d: ", i)
	if other := j.ids[m.Sequence]; other != nil && (other.identity != e.identity || other.meta.Topic != m.Topic) {
		j.breached(uniqueID, call, where+"a sequence id of its own", fmt.Sprintf("%d, which names an envelope on topic %s", m.Sequence, other.meta.Topic), other.proof, other.event)
	} else {
		j.held(uniqueID, call, "")
	}
	j.ids[m.Sequence] = e
	if m.HasHash {
		j.distinctHash(call, where, t, e)
	}
	if s, ok := t.seenBefore(since); ok {
		j.check(m.Sequence > s.sequence, prefixLate, call, "", fmt.Sprintf("%san id above %d, which a read had returned before this publish began", where, s.sequence),
			fmt.Sprintf("%d", m.Sequence), s.event)
	}
	j.expiryOf(call, where, e)
	t.insert(e)
}

// distinctHash judges that two stored envelopes of one topic differ in hash:
// they differ in value, or the second would have been a duplicate (API-020, 033).
func (j *judge) distinctHash(call int, where string, t *topicLog, e *entry) {
	if o := t.hashes[e.meta.Hash]; o != nil {
		j.breached(hashOfValue, call, where+"a hash of its own for a value of its own", "the hash of sequence id "+fmt.Sprint(o.meta.Sequence), o.proof, o.event)
		return
	}
	j.held(hashOfValue, call, "")
}

// expiryOf judges the expiry of a new entry (API-021).
func (j *judge) expiryOf(call int, where string, e *entry) {
	m := e.meta
	seconds, expires := j.terms.retention(e.intent)
	switch {
	case !expires:
		j.check(m.ExpiryNS == 0, expiry, call, "", where+"expiry 0: such a row never expires", fmt.Sprint(m.ExpiryNS))
	case seconds == 0 || !j.terms.Published && len(j.terms.Configured) == 0 && m.ExpiryNS != m.ServerNS+seconds*1e9 && m.ExpiryNS > m.ServerNS:
		j.doubt(expiry, call, "the subject publishes no retention to compare with")
	default:
		j.check(m.ExpiryNS == m.ServerNS+seconds*1e9, expiry, call, "", fmt.Sprintf("%sexpiry %d s after server_ns", where, seconds),
			fmt.Sprintf("%.3f s", (float64(m.ExpiryNS)-float64(m.ServerNS))/1e9))
	}
}

// shared judges that the new rows of one publish carry one server time (section 4).
func (j *judge) shared(call int, fresh []*entry) {
	if len(fresh) < 2 {
		return
	}
	for _, e := range fresh[1:] {
		if e.meta.ServerNS != fresh[0].meta.ServerNS {
			j.breached(oneServerTime, call, fmt.Sprintf("server_ns %d on every new envelope of the publish", fresh[0].meta.ServerNS), fmt.Sprint(e.meta.ServerNS))
			return
		}
	}
	j.held(oneServerTime, call, "")
}

// difference names the first field in which two metadata differ, "" for none.
func difference(a, b Meta) string {
	switch {
	case a.Sequence != b.Sequence:
		return fmt.Sprintf("sequence id %d beside %d", b.Sequence, a.Sequence)
	case a.ServerNS != b.ServerNS:
		return fmt.Sprintf("server_ns %d beside %d", b.ServerNS, a.ServerNS)
	case a.HasHash != b.HasHash || a.Hash != b.Hash:
		return fmt.Sprintf("message hash %q beside %q", b.Hash, a.Hash)
	case a.HasTopic != b.HasTopic || a.Topic != b.Topic:
		return fmt.Sprintf("topic %s beside %s", b.Topic, a.Topic)
	case a.ExpiryNS != b.ExpiryNS:
		return fmt.Sprintf("expiry_ns %d beside %d", b.ExpiryNS, a.ExpiryNS)
	case a.CommitOrProposal != b.CommitOrProposal:
		return fmt.Sprintf("is_commit_or_proposal %v beside %v", b.CommitOrProposal, a.CommitOrProposal)
	default:
		return ""
	}
}

// transient reports a code by which a subject says nothing of the request.
func transient(c Code) bool {
	switch c {
	case Unavailable, DeadlineExceeded, Canceled, ResourceExhausted, Unauthenticated, 7:
		return true
	default:
		return false
	}
}

func describe(defects []defect) string {
	const most = 3
	var out []string
	for i, d := range defects {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(defects)-most))
			break
		}
		out = append(out, d.what)
	}
	return strings.Join(out, ", ")
}

func indexText(i int) string {
	if i < 0 {
		return "no index"
	}
	return fmt.Sprintf("index %d", i)
}

func reasonText(rs []Reason) string {
	if rs == nil {
		return "a reason"
	}
	var out []string
	for _, r := range rs {
		out = append(out, r.String())
	}
	return strings.Join(out, " or ")
}

func when(b bool, s string) string {
	if b {
		return s
	}
	return ""
}

func text(r *Return) string {
	if r.Text == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", r.Text)
}
