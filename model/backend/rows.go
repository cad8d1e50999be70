package backend

import (
	"fmt"

	"assay/model"
)

// known judges a row that a read returned for a topic: some publish of this
// history stored it, as it is, once. agrees is what metadata that differs from
// the published breaches. It reports whether the row is sound.
func (j *judge) known(x *exchange, where string, t *topicLog, row Row, agrees model.Assertion) bool {
	m := row.Meta
	if e := t.stored[row.Identity]; e != nil {
		if e.meta.Sequence != m.Sequence {
			j.displaced(x, where, t, e, m)
			return false
		}
		return j.sameMeta(x, where, e, m, agrees)
	}
	if e := t.at(m.Sequence); e != nil {
		j.breached(payloadIntact, x, fmt.Sprintf("%sthe payload published as sequence id %d", where, m.Sequence), "another payload", e.proof, e.event)
		if t.log.Kind == CommitLog {
			j.breached(logEntryReturned, x, fmt.Sprintf("%sentry and signature as published under sequence id %d", where, m.Sequence), "something else", e.proof, e.event)
		}
		return false
	}
	if tries := t.attempts[row.Identity]; len(tries) > 0 && tries[0].invoked < x.returned {
		return j.revealed(x, where, t, row, agrees)
	}
	if p := t.turnedDown[row.Identity]; p != nil && p.invoked < x.returned {
		events := []int{p.invoked}
		if p.answer != nil {
			events = append(events, p.returned)
		}
		j.breached(atomicRefusal, x, where+"nothing of a publish that is refused", fmt.Sprintf("its envelope, as sequence id %d", m.Sequence), events...)
		return false
	}
	j.stranger(x, where, t, row)
	return false
}

// stranger judges a row whose payload was not published on its topic: it belongs
// elsewhere, it should have been refused, or nobody published it.
func (j *judge) stranger(x *exchange, where string, t *topicLog, row Row) {
	got := fmt.Sprintf("one as sequence id %d", row.Meta.Sequence)
	if home, ok := j.belongs[row.Identity]; ok {
		a := topicFromPayload
		if len(home) != len(t.topic) || home[0] != t.topic[0] {
			a = topicForm
		}
		j.breached(a, x, where+"no envelope of topic "+home.String()+" on topic "+t.topic.String(), got)
		return
	}
	if p, ok := j.flawed[row.Identity]; ok && p.invoked < x.returned {
		a, _ := p.request()[p.index].Intent.Flaw.refusal()
		if p.answered() && p.answer.Code != OK {
			a = atomicRefusal
		}
		j.breached(a, x, where+"no envelope that has to be refused", got, p.invoked)
		return
	}
	j.breached(payloadIntact, x, where+"a payload that this run published on topic "+t.log.String(), "another, "+got)
}

// displaced judges a known envelope under an id that is not its own: it was
// stored twice, or a publish answered with an id that is not its own, or its id
// belongs to another envelope.
func (j *judge) displaced(x *exchange, where string, t *topicLog, e *entry, m Meta) {
	expected := fmt.Sprintf("%sone row, sequence id %d, for what was published as that", where, e.meta.Sequence)
	got := fmt.Sprintf("sequence id %d", m.Sequence)
	once := e.repeats == 0 && e.twins == 0 && len(t.attempts[e.identity]) == 1
	other := t.at(m.Sequence)
	switch {
	case other != nil && other.by != nil && other.by == e.by:
		j.breached(metaPerEntry, x, expected+", by metadata in request order", got+", which the same response gave another envelope", e.proof, e.event)
	case other != nil:
		j.breached(payloadIntact, x, fmt.Sprintf("%sthe payload published as sequence id %d", where, m.Sequence), fmt.Sprintf("the payload of sequence id %d", e.meta.Sequence), other.proof, other.event)
	case once && e.by != nil && !e.shown && e.intent.Log.Kind == CommitLog:
		j.breached(logPosition, x, expected, got, e.proof, e.event)
	case once && e.by != nil && !e.shown:
		j.breached(metaAgrees, x, expected, got, e.proof, e.event)
	case e.repeats == 0 && e.twins > 0 && len(t.attempts[e.identity]) == 1:
		j.breached(collapsed, x, expected, got+" as well", e.proof, e.event)
	case e.reencoded && m.Hash != e.meta.Hash:
		j.breached(sameValue, x, expected, got+" as well", e.proof, e.event)
	default:
		j.breached(storedOnce, x, expected, got+" as well", e.proof, e.event)
		if e.retried {
			j.breached(retryWorks, x, expected, got+" as well", e.proof, e.event)
		}
	}
}

// revealed takes in a row that only a publish without a success can have stored:
// reading it confirms that publish (API-037).
func (j *judge) revealed(x *exchange, where string, t *topicLog, row Row, agrees model.Assertion) bool {
	m := row.Meta
	tries := t.attempts[row.Identity]
	p := tries[0]
	s := p.request()[p.index]
	if !m.HasTopic || m.Topic != t.topic {
		a := topicFromPayload
		if agrees.Name == newestMetadata.Name {
			a = newestMetadata
		}
		j.breached(a, x, where+"topic "+t.topic.String(), m.Topic.String())
		return false
	}
	breaches := len(j.out.Judgements)
	if !j.enterRow(x, where, t, &entry{identity: row.Identity, intent: s.Intent, meta: m, event: x.returned, proof: p.invoked, size: s.Artefact.CanonicalLen, shown: true}) {
		return false
	}
	switch {
	case len(tries) > 1 || !p.unknowable():
	case p.landed == 0:
		p.landed = x.returned
		j.owe(p.publication, x)
	default:
		if p.owed--; p.owed == 0 {
			j.held(landsWhole, x, "")
		}
	}
	for _, v := range j.out.Judgements[breaches:] {
		if v.Breach != nil {
			return false
		}
	}
	return true
}

// owe notes what else must be stored now that one row of a publish is: all of
// it, by that publish or as its duplicate, under ids that only a read or a retry
// can tell (API-030).
func (j *judge) owe(p *publication, x *exchange) {
	named := make(map[Digest]bool)
	for _, s := range p.request() {
		a := s.Artefact
		t := j.topics[a.Topic]
		if t == nil || t.stored[a.Identity] != nil || named[a.Identity] {
			continue
		}
		named[a.Identity] = true
		p.owed++
		t.owed = append(t.owed, debt{identity: a.Identity, by: p, proof: []int{p.invoked, x.invoked, x.returned}})
	}
}

// sameMeta judges a row's metadata against the published one, field by field.
func (j *judge) sameMeta(x *exchange, where string, e *entry, m Meta, agrees model.Assertion) bool {
	p := e.meta
	if agrees.Name == newestMetadata.Name {
		d := difference(p, m)
		j.check(d == "", newestMetadata, x, "", where+"the published metadata", d, e.proof, e.event)
		e.shown = e.shown || d == ""
		return d == ""
	}
	ok := true
	field := func(a model.Assertion, same bool, expected, got string) {
		if !same {
			j.breached(a, x, where+expected, got, e.proof, e.event)
			ok = false
		}
	}
	if m != p {
		field(hashOfValue, m.HasHash && m.Hash == p.Hash, "message hash "+p.Hash.String(), m.Hash.String())
		field(topicFromPayload, m.HasTopic && m.Topic == p.Topic, "topic "+p.Topic.String(), m.Topic.String())
		field(expiry, m.ExpiryNS == p.ExpiryNS, fmt.Sprintf("expiry_ns %d as published", p.ExpiryNS), fmt.Sprint(m.ExpiryNS))
		field(groupFlag, m.CommitOrProposal == p.CommitOrProposal, fmt.Sprintf("is_commit_or_proposal %v as published", p.CommitOrProposal), fmt.Sprint(m.CommitOrProposal))
		field(agrees, m.ServerNS == p.ServerNS, fmt.Sprintf("server_ns %d as published", p.ServerNS), fmt.Sprint(m.ServerNS))
	}
	if !ok {
		return false
	}
	e.shown = true
	for _, a := range []model.Assertion{hashOfValue, topicFromPayload, expiry, groupFlag, agrees, payloadIntact} {
		j.held(a, x, "")
	}
	if e.intent.Log.Kind == CommitLog {
		j.held(logPosition, x, "")
		j.held(logEntryReturned, x, "")
	}
	return true
}
