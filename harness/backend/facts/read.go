package facts

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"

	"assay/harness/check"
	"assay/model"
	rules "assay/model/backend"
)

// Read reads a history as facts. The order of event i is i+1.
func Read(events []model.Event) *check.Facts { return read(events).facts }

// reading is a history on its way to facts, and what is needed to speak of it
// afterwards.
type reading struct {
	facts   *check.Facts
	terms   rules.Terms
	logs    map[rules.Bytes]check.Log
	kinds   []rules.Kind // by log
	entries map[identity]check.Entry
	calls   map[int]*span
	// copies has, by entry, the publishes that send it.
	copies map[check.Entry][]*span
	// streams are the subscriptions, by call.
	streams map[int]*stream
	// backwards are the calls that lack what a read had shown before.
	backwards map[int]bool
}

// identity names an entry: equal content on two topics is two entries.
type identity struct {
	topic  rules.Bytes
	digest rules.Digest
}

// span is one call with its events; returned is check.Never when it has none.
type span struct {
	call              *rules.Call
	answer            *rules.Return
	number            int
	invoked, returned check.Order
	entries           []check.Entry
}

func read(events []model.Event) *reading {
	v := &reading{facts: check.New(sizes(events)), logs: make(map[rules.Bytes]check.Log), kinds: make([]rules.Kind, 1),
		entries: make(map[identity]check.Entry), calls: make(map[int]*span), copies: make(map[check.Entry][]*span), streams: make(map[int]*stream), backwards: make(map[int]bool)}
	v.facts.OneSequence = true
	var order []*span
	for i, e := range events {
		switch value := e.Value.(type) {
		case *rules.Terms:
			if value != nil {
				v.terms = *value
			}
		case *rules.Call:
			if e.Phase == model.Invoke && value != nil && v.calls[e.Call] == nil {
				s := &span{call: value, number: e.Call, invoked: check.Order(i + 1), returned: check.Never}
				v.calls[e.Call] = s
				order = append(order, s)
			}
		case *rules.Return:
			if s := v.calls[e.Call]; s != nil && e.Phase == model.Return && value != nil && s.answer == nil {
				s.answer, s.returned = value, check.Order(i+1)
			}
		}
	}
	// Topics are named first, so that a log has the name of its intent and not
	// only bytes.
	for _, s := range order {
		v.name(s.call)
	}
	for _, s := range order {
		switch c := s.call; {
		case c.Method == rules.MethodPublish && c.Publish != nil:
			v.publish(s)
		case s.answer == nil || s.answer.Lost != rules.Answered || s.answer.Garbled != "" || s.answer.Code != rules.OK:
		case c.Method == rules.MethodQuery && c.Query != nil && s.answer.Query != nil:
			v.query(s)
		case c.Method == rules.MethodNewest && c.Newest != nil && s.answer.Newest != nil:
			v.newest(s)
		}
	}
	v.follow(events)
	return v
}

// sizes counts what a history will need, so that columns grow once.
func sizes(events []model.Event) (s check.Sizes) {
	for _, e := range events {
		switch value := e.Value.(type) {
		case *rules.Call:
			switch {
			case value == nil:
			case value.Publish != nil:
				s.Appends++
				s.Items += len(value.Publish.Envelopes)
			case value.Query != nil:
				s.Pages++
				s.Spans += len(value.Query.Entries)
			case value.Newest != nil:
				s.HeadReads++
				s.Heads += len(value.Newest.Entries)
			}
		case *rules.Return:
			if value != nil && value.Query != nil {
				s.PageRows += len(value.Query.Rows)
			}
		case *rules.Response:
			if value != nil && value.Messages != nil {
				s.StreamMoments += len(value.Messages.Rows)
			}
		}
	}
	s.Entries, s.Rows = s.Items, s.Items
	return s
}

// identitySeries is the series of all identity topics (API-014).
const identitySeries = 1

func (v *reading) log(topic rules.Bytes, l rules.Log) check.Log {
	if id, ok := v.logs[topic]; ok {
		return id
	}
	name, series := l.String(), uint32(0)
	if l.Name == "" {
		name = "topic " + topic.String()
	}
	if l.Kind == rules.Identity {
		series = identitySeries
	}
	id := v.facts.Log(name, series)
	v.logs[topic] = id
	v.kinds = append(v.kinds, l.Kind)
	return id
}

// name adds the logs that a request names.
func (v *reading) name(c *rules.Call) {
	if c.Publish != nil {
		for _, s := range c.Publish.Envelopes {
			if s.Artefact.Topic != "" {
				v.log(s.Artefact.Topic, s.Intent.Log)
			}
		}
	}
	for _, entries := range [][]rules.Asked{asked(c.Query), askedNewest(c.Newest)} {
		for _, e := range entries {
			if e.Flaw == rules.SoundTopic && e.Topic != "" {
				v.log(e.Topic, e.Log)
			}
		}
	}
}

func asked(q *rules.QueryCall) []rules.Asked {
	if q == nil {
		return nil
	}
	return q.Entries
}

func askedNewest(n *rules.NewestCall) []rules.Asked {
	if n == nil {
		return nil
	}
	return n.Entries
}

func (v *reading) entry(topic rules.Bytes, l rules.Log, d rules.Digest) check.Entry {
	key := identity{topic, d}
	e, ok := v.entries[key]
	if !ok {
		e = v.facts.Entry(v.log(topic, l))
		v.entries[key] = e
	}
	return e
}

// digest summarises the metadata of an envelope. The sequence id and the topic
// are the row's own; everything else must repeat wherever the envelope appears.
func digest(m rules.Meta) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, n := range []uint64{m.ServerNS, m.ExpiryNS} {
		binary.BigEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	flags := byte(0)
	if m.HasHash {
		flags |= 1
	}
	if m.CommitOrProposal {
		flags |= 2
	}
	h.Write([]byte{flags})
	h.Write([]byte(m.Hash))
	return max(h.Sum64(), 1) // 0 says that there is none
}

func complete(m rules.Meta) bool {
	return m.HasCursor && m.HasTopic && m.Sequence > 0 && m.Sequence <= math.MaxInt64
}

// publish adds an append.
func (v *reading) publish(s *span) {
	a := check.Append{Call: s.number, Invoked: s.invoked, Returned: s.returned, Outcome: v.outcome(s)}
	for i, e := range s.call.Publish.Envelopes {
		if e.Artefact.Topic == "" {
			continue
		}
		x := v.entry(e.Artefact.Topic, e.Intent.Log, e.Artefact.Identity)
		a.Entries = append(a.Entries, x)
		if c := v.copies[x]; len(c) == 0 || c[len(c)-1] != s {
			v.copies[x] = append(c, s)
		}
		if a.Outcome == check.Stored {
			m := s.answer.Publish.Metas[i]
			a.Rows = append(a.Rows, v.facts.Row(x, m.Sequence, digest(m)))
		}
		if e.Intent.Log.Kind == rules.Identity {
			a.Conditions = append(a.Conditions, check.Condition{Log: v.logs[e.Artefact.Topic], Token: token(e.Intent)})
		}
	}
	if a.Outcome == check.Contended && len(a.Conditions) == 0 {
		a.Outcome = check.Refused // nothing in it can lose a race; the model says so
	}
	a.Partial = v.partial(s.call)
	s.entries = a.Entries
	v.facts.Append(a)
}

// partial reports whether a publish can be refused although everything in it is
// stored: for an envelope without a topic, a bound it breaks, or two updates of
// one inbox (API-031, 050).
func (v *reading) partial(c *rules.Call) bool {
	topics, updates := make(map[rules.Bytes]bool), make(map[rules.Bytes]rules.Digest)
	for _, e := range c.Publish.Envelopes {
		a := e.Artefact
		if d, again := updates[a.Topic]; a.Topic == "" || again && d != a.Identity {
			return true
		}
		topics[a.Topic] = true
		if e.Intent.Log.Kind == rules.Identity {
			updates[a.Topic] = a.Identity
		}
	}
	return uint64(len(topics)) > v.terms.Limit("max_publish_topics") || uint64(max(c.WireLen, c.CanonicalLen)) > v.terms.Limit("max_request_bytes")
}

// creates is the token of an update that creates its inbox: of two such updates
// one is stored, because an inbox is created once (API-051).
const creates = 1

func token(e rules.Envelope) uint32 {
	if e.Update != nil && slices.ContainsFunc(e.Update.Actions, func(a rules.Action) bool { return a.Kind == rules.CreateInbox }) {
		return creates
	}
	return 0
}

// outcome says what an answer proves (API-030, 031, 037, 051). An OK that does
// not name a sequence id for every envelope proves nothing that can be placed.
func (v *reading) outcome(s *span) check.Outcome {
	r := s.answer
	if r == nil || r.Lost != rules.Answered || r.Garbled != "" {
		return check.Unknown
	}
	switch r.Code {
	case rules.OK:
		p, sent := r.Publish, s.call.Publish.Envelopes
		if p == nil || len(p.Metas) != len(sent) {
			return check.Unknown
		}
		for i, m := range p.Metas {
			if !complete(m) || sent[i].Artefact.Topic == "" || m.Topic != sent[i].Artefact.Topic {
				return check.Unknown
			}
		}
		return check.Stored
	case rules.InvalidArgument:
		return check.Refused
	case rules.Aborted:
		return check.Contended
	}
	// No other code proves rollback: a size code may be about the response.
	return check.Unknown
}

// spans coalesces the entries of a read (API-077, 084); ok is false when one of
// them must be refused.
func (v *reading) spans(entries []rules.Asked) (out []check.Span, ok bool) {
	index := make(map[check.Log]int)
	for _, e := range entries {
		if e.Flaw != rules.SoundTopic || e.Topic == "" || e.Cursor != nil && *e.Cursor > math.MaxInt64 {
			return nil, false
		}
		after := uint64(0)
		if e.Cursor != nil {
			after = *e.Cursor
		}
		l := v.logs[e.Topic]
		if i, twice := index[l]; twice {
			out[i].After = min(out[i].After, after)
			continue
		}
		index[l] = len(out)
		out = append(out, check.Span{Log: l, After: after})
	}
	return out, len(out) > 0
}

// limit returns the number of rows a query may return (API-071), 0 when it is
// not known.
func (v *reading) limit(q *rules.QueryCall) uint32 {
	most, usual := v.terms.Limit("max_query_limit"), v.terms.Limit("default_query_limit")
	n := min(uint64(q.Limit), most)
	if q.Limit == 0 {
		if n = usual; usual > most {
			return 0
		}
	}
	return uint32(min(n, math.MaxUint32))
}

// query adds a page. One with a row that cannot be placed is left out whole.
func (v *reading) query(s *span) {
	spans, ok := v.spans(s.call.Query.Entries)
	if !ok {
		return
	}
	p := check.Page{Call: s.number, Invoked: s.invoked, Returned: s.returned, Limit: v.limit(s.call.Query), More: s.answer.Query.HasMore, Spans: spans}
	for _, r := range s.answer.Query.Rows {
		if !r.HasMeta || !complete(r.Meta) || !r.HasEnvelope {
			return
		}
		p.Rows = append(p.Rows, v.row(r, r.Meta.Topic))
	}
	v.facts.Page(p)
}

func (v *reading) row(r rules.Row, topic rules.Bytes) check.Row {
	return v.facts.Row(v.entry(topic, rules.Log{}, r.Identity), r.Meta.Sequence, digest(r.Meta))
}

// newest adds a head read. Unless the harness knows that there is no replica,
// one may have answered (API-018).
func (v *reading) newest(s *span) {
	spans, ok := v.spans(s.call.Newest.Entries)
	if !ok {
		return
	}
	rows := make(map[check.Log]rules.Row)
	for _, r := range s.answer.Newest.Rows {
		l, known := v.logs[r.Asked]
		if !known || !r.HasMeta || !complete(r.Meta) || r.Meta.Topic != r.Asked {
			return
		}
		rows[l] = r
	}
	h := check.Heads{Call: s.number, Invoked: s.invoked, Returned: s.returned, Lag: !v.terms.NoReplica}
	for _, x := range spans {
		head := check.Head{Log: x.Log}
		if r, ok := rows[x.Log]; ok {
			head.Position, head.Meta = r.Meta.Sequence, digest(r.Meta)
			if r.HasEnvelope {
				head.Row = v.row(r, r.Asked)
			}
		}
		h.Heads = append(h.Heads, head)
	}
	v.facts.Heads(h)
}
