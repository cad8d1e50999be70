package backend

import (
	"fmt"
	"math"
	"slices"
)

// stored judges a successful publish and takes what it stored into the view
// (sections 4 and 5.1).
func (j *judge) stored(p *publication) {
	x, metas, request := p.exchange, p.answer.Publish.Metas, p.request()
	if limit := j.terms.Limit(limitResponseBytes); length(p.answer.WireLen) > limit {
		j.breached(nothingOmitted, x, fmt.Sprintf("a failure: the response is above %d bytes", limit), fmt.Sprintf("OK with %d bytes", p.answer.WireLen))
	}
	if !j.parallel(x, request, metas) {
		j.unsettle(p)
		return
	}
	if len(request) == 0 {
		return
	}
	complete := true
	first := make(map[envelopeKey]int)
	var own []*entry
	for i, s := range request {
		m := metas[i]
		if !j.complete(x, i, s, m) {
			complete = false
			continue
		}
		j.clock = max(j.clock, m.ServerNS)
		t := j.topic(s.Artefact.Topic, s.Intent.Log)
		key := keyOf(s)
		if k, ok := first[key]; ok {
			j.twin(x, k, i, request, metas, t)
			continue
		}
		first[key] = i
		if e := t.stored[s.Artefact.Identity]; e != nil {
			j.again(p, i, t, e)
			continue
		}
		e := &entry{identity: s.Artefact.Identity, intent: s.Intent, meta: m, event: p.returned, proof: p.invoked, by: p, size: s.Artefact.CanonicalLen}
		e.retried = retried(p, t, e.identity)
		if !j.enterRow(x, fmt.Sprintf("entry %d: ", i), t, e) {
			complete = false
			continue
		}
		if t.alone(e.identity, p) {
			own = append(own, e)
		}
	}
	j.oneTime(x, own)
	if !complete {
		j.unsettle(p)
		return
	}
	j.held(metaPerEntry, x, "")
	j.witness(callPublish)
	j.headers(x, callPublish)
	j.acknowledged(p)
}

// envelopeKey is what tells stored envelopes apart (API-033).
type envelopeKey struct {
	topic    Bytes
	identity Digest
}

func keyOf(s Sent) envelopeKey { return envelopeKey{s.Artefact.Topic, s.Artefact.Identity} }

// unsettle takes back that a publish is known to have committed what it says.
func (j *judge) unsettle(p *publication) {
	p.outcome = unsettled
	done := make(map[Bytes]bool)
	for _, s := range p.request() {
		if t := s.Artefact.Topic; t != "" && !done[t] {
			done[t] = true
			j.topics[t].unsettle(p)
		}
	}
}

// parallel judges that metadata stands in request order, one for each envelope
// (API-032, 034). It tells a wrong order by topics that are there, elsewhere.
func (j *judge) parallel(x *exchange, request []Sent, metas []Meta) bool {
	distinct := make(map[envelopeKey]bool)
	topics := make(map[Bytes]int)
	for _, s := range request {
		distinct[keyOf(s)] = true
		topics[s.Artefact.Topic]++
	}
	if len(metas) != len(request) {
		expected, got := fmt.Sprintf("%d metadata entries", len(request)), fmt.Sprint(len(metas))
		j.breached(metaPerEntry, x, expected, got)
		if len(metas) == len(distinct) {
			j.breached(collapsed, x, expected+": one for each copy of an envelope", got)
		}
		return false
	}
	moved := -1
	for i, m := range metas {
		topics[m.Topic]--
		if m.Topic != request[i].Artefact.Topic && moved < 0 {
			moved = i
		}
	}
	if moved < 0 {
		return true
	}
	for _, n := range topics {
		if n != 0 {
			return true // some topic is wrong, and complete says which
		}
	}
	j.breached(metaPerEntry, x, fmt.Sprintf("the metadata of envelope %d, on topic %s, at its place", moved, request[moved].Artefact.Topic),
		"that of another envelope of the request")
	return false
}

// complete judges what every metadata entry must hold, against the intent.
// Nothing counts in favour unless all of it is there.
func (j *judge) complete(x *exchange, i int, s Sent, m Meta) bool {
	a := s.Artefact
	where := fmt.Sprintf("entry %d: ", i)
	ok := true
	wrong := func(yes bool) bool { ok = ok && !yes; return yes }
	switch {
	case wrong(!m.HasTopic || m.Topic == ""):
		j.breached(topicFromPayload, x, where+"the topic of the envelope", "none")
	case wrong(a.Topic == "" || len(m.Topic) != len(a.Topic) || m.Topic[0] != a.Topic[0]):
		j.breached(topicForm, x, where+"topic "+a.Topic.String(), m.Topic.String())
	case wrong(m.Topic != a.Topic):
		j.breached(topicFromPayload, x, where+"topic "+a.Topic.String(), m.Topic.String())
	}
	if wrong(!m.HasCursor || m.Sequence == 0 || m.Sequence > math.MaxInt64) {
		j.breached(uniqueID, x, where+"a sequence id from 1 to 2^63-1", fmt.Sprint(m.Sequence))
	}
	if wrong(!m.HasHash || len(m.Hash) != 32) {
		j.breached(hashLength, x, where+"a message hash of 32 bytes", fmt.Sprintf("%d bytes", len(m.Hash)))
	}
	if wrong(m.ServerNS == 0) {
		j.breached(metaPerEntry, x, where+"a server time", "0")
	}
	if ok {
		j.held(topicForm, x, "")
		j.held(topicFromPayload, x, "")
	}
	return ok
}

// twin judges the second of two equal envelopes in one request (API-034).
func (j *judge) twin(x *exchange, k, i int, request []Sent, metas []Meta, t *topicLog) {
	a := collapsed
	reencoded := request[k].Intent.Encoding != request[i].Intent.Encoding
	if reencoded && metas[k].Hash != metas[i].Hash {
		a = sameValue // not known for one value, so not collapsed
	}
	d := difference(metas[k], metas[i])
	j.check(d == "", a, x, "", fmt.Sprintf("entries %d and %d, of equal envelopes, to be equal", k, i), d)
	if d == "" && reencoded {
		j.held(sameValue, x, "")
	}
	if e := t.stored[request[i].Artefact.Identity]; e != nil {
		e.twins++
		e.reencoded = e.reencoded || reencoded
	}
}

// again judges metadata of an envelope that is known to be stored (API-033).
func (j *judge) again(p *publication, i int, t *topicLog, e *entry) {
	s, m := p.request()[i], p.answer.Publish.Metas[i]
	d := difference(e.meta, m)
	a := duplicateMeta
	switch {
	case s.Intent.Encoding != e.intent.Encoding && m.Hash != e.meta.Hash:
		a = sameValue // not known for the stored value, so no duplicate
	case e.by == nil:
		a = metaAgrees
	}
	j.check(d == "", a, p.exchange, "", fmt.Sprintf("the metadata stored for envelope %d", i), d, e.proof, e.event)
	if d == "" && s.Intent.Encoding != e.intent.Encoding {
		e.reencoded = true
		j.held(sameValue, p.exchange, "")
	}
	if d == "" && e.event < p.invoked {
		j.held(duplicateMeta, p.exchange, "")
	}
	if d == "" && e.by != nil && e.event > p.invoked && e.by.invoked < p.returned {
		j.held(copySucceeds, p.exchange, "")
	}
	e.retried = e.retried || retried(p, t, e.identity)
	e.repeats++
	if e.by == nil {
		e.by = p
	}
}

// retried reports whether the publish repeats one whose outcome its client could
// not know (API-037).
func retried(p *publication, t *topicLog, identity Digest) bool {
	return slices.ContainsFunc(t.attempts[identity], func(q attempt) bool {
		return q.publication != p && q.returned < p.invoked && q.unknowable()
	})
}

// enterRow judges an envelope that is seen stored for the first time, and takes
// it into the view. It reports whether that can be: an id that names another
// envelope says nothing of where this one is stored.
func (j *judge) enterRow(x *exchange, where string, t *topicLog, e *entry) bool {
	m := e.meta
	other := j.ids[m.Sequence]
	switch {
	case other != nil && other.meta.Hash == m.Hash:
		// The subject takes two values for one envelope, and the hash for both.
		j.hashOf(x, where, e)
		return false
	case other != nil:
		j.breached(uniqueID, x, where+"a sequence id of its own", fmt.Sprintf("%d, which names another envelope, on topic %s", m.Sequence, other.meta.Topic), other.proof, other.event)
		return false
	}
	j.held(uniqueID, x, "")
	j.ids[m.Sequence] = e
	j.late(x, where, t, e)
	j.flagOf(x, where, e)
	j.hashOf(x, where, e)
	j.expiryOf(x, where, e)
	t.insert(e)
	return true
}

// late judges that an envelope does not appear below what a read of its topic
// had seen: when a row is visible, every lower id of its topic is settled (API-011).
func (j *judge) late(x *exchange, where string, t *topicLog, e *entry) {
	began := e.proof
	if tries := t.attempts[e.identity]; len(tries) > 0 {
		began = min(began, tries[0].invoked)
	}
	expected, event := "", 0
	if c, ok := t.covers(e.meta.Sequence); ok {
		expected, event = fmt.Sprintf("%sto be visible to the query that returned id %d", where, c.top), c.event
	} else if s, ok := t.seenBefore(began); !ok {
		return // no read to compare with
	} else if e.meta.Sequence < s.sequence {
		expected, event = fmt.Sprintf("%san id above %d, which a read had returned before the publish began", where, s.sequence), s.event
	}
	if expected == "" {
		j.held(prefixLate, x, "")
		return
	}
	j.breached(prefixLate, x, expected, fmt.Sprintf("id %d", e.meta.Sequence), e.proof, event)
	if t.log.Kind == CommitLog {
		j.breached(logComplete, x, expected, fmt.Sprintf("id %d", e.meta.Sequence), e.proof, event)
	}
}

// flagOf judges is_commit_or_proposal (section 4, API-041).
func (j *judge) flagOf(x *exchange, where string, e *entry) {
	want := e.intent.Log.Kind == Group && e.intent.Form.Handshake()
	j.check(e.meta.CommitOrProposal == want, groupFlag, x, "",
		fmt.Sprintf("%sis_commit_or_proposal %v for a %s %s", where, want, e.intent.Form, e.intent.Log.Kind), fmt.Sprint(e.meta.CommitOrProposal))
}

// hashOf judges a new row's hash: 32 bytes, and no other envelope's, for two
// stored envelopes differ in value or the second would be a duplicate (API-020).
func (j *judge) hashOf(x *exchange, where string, e *entry) {
	h := e.meta.Hash
	if !e.meta.HasHash || len(h) != 32 {
		j.breached(hashLength, x, where+"a message hash of 32 bytes", fmt.Sprintf("%d bytes", len(h)))
		return
	}
	j.held(hashLength, x, "")
	if o := j.hashes[h]; o != nil {
		j.breached(hashOfValue, x, where+"a hash of its own for a value of its own", fmt.Sprintf("the hash of sequence id %d", o.meta.Sequence), o.proof, o.event)
		return
	}
	if len(j.hashes) > 0 {
		j.held(hashOfValue, x, "")
	}
	j.hashes[h] = e
}

// expiryOf judges the expiry of a new row (API-021).
func (j *judge) expiryOf(x *exchange, where string, e *entry) {
	m := e.meta
	seconds, expires := j.terms.retention(e.intent)
	switch {
	case !expires:
		j.check(m.ExpiryNS == 0, expiry, x, "", where+"expiry 0: such a row never expires", fmt.Sprint(m.ExpiryNS))
	case seconds > (math.MaxUint64-m.ServerNS)/1e9:
		j.doubt(expiry, x, "the retention runs past the end of time")
	case m.ExpiryNS != m.ServerNS+seconds*1e9 && (m.ExpiryNS == 0 || m.ExpiryNS > m.ServerNS) && (j.terms.RetentionAssumed || !j.terms.Published && len(j.terms.Configured) == 0):
		j.doubt(expiry, x, "the subject publishes no retention to compare with")
	default:
		j.check(m.ExpiryNS == m.ServerNS+seconds*1e9, expiry, x, "", fmt.Sprintf("%sexpiry %d s after server_ns", where, seconds),
			fmt.Sprintf("%.3f s", (float64(m.ExpiryNS)-float64(m.ServerNS))/1e9))
	}
}

// oneTime judges that the new rows of one publish carry one server time, that
// of the transaction that is to hold them all (section 4, API-030).
func (j *judge) oneTime(x *exchange, own []*entry) {
	if len(own) < 2 {
		return
	}
	for _, e := range own[1:] {
		if e.meta.ServerNS != own[0].meta.ServerNS {
			j.breached(oneServerTime, x, fmt.Sprintf("server_ns %d on every new envelope of the publish", own[0].meta.ServerNS), fmt.Sprint(e.meta.ServerNS))
			return
		}
	}
	j.held(oneServerTime, x, topicWitness(own[0].meta.Topic))
}

// acknowledged records what a complete success is evidence for, once a read has
// shown rows of the topic: that an envelope of its kind is accepted, and that a
// request at a limit is.
func (j *judge) acknowledged(p *publication) {
	request := p.request()
	told := make(map[Kind]bool)
	for _, s := range request {
		if k := s.Intent.Log.Kind; !told[k] && k != Identity && k != KeyPackage {
			told[k] = true
			j.held(accepts(k), p.exchange, topicWitness(s.Artefact.Topic))
		}
	}
	if j.atLimit(p.call) {
		j.held(publishInLimit, p.exchange, topicWitness(request[0].Artefact.Topic))
	}
	j.updatesStored(p)
	j.packagesStored(p)
}

// difference names the first field in which two metadata differ, "" for none.
func difference(a, b Meta) string {
	switch {
	case a.HasCursor != b.HasCursor || a.Sequence != b.Sequence:
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
