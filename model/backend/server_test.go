package backend

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
)

// server is a simple correct backend: a map of topics and one sequence. It
// answers what the specification asks, written without a look at the rules.
type server struct {
	limits   Terms
	sequence uint64
	clock    uint64
	rows     map[Bytes][]Row
	known    map[envelopeKey]Meta
	// sizes are the canonical lengths of what was stored.
	sizes map[Digest]int
}

func newServer(limits Terms) *server {
	limits.Limits = maps.Clone(limits.Limits)
	return &server{limits: limits, sequence: 100, clock: 1_700_000_000_000_000_000, rows: make(map[Bytes][]Row), known: make(map[envelopeKey]Meta), sizes: make(map[Digest]int)}
}

// copied is a second server with the same rows: a replica as it is now.
func (s *server) copied() *server {
	c := *s
	c.rows, c.known, c.sizes = maps.Clone(s.rows), maps.Clone(s.known), maps.Clone(s.sizes)
	return &c
}

// commit stores what is new and returns the metadata of all, in order.
func (s *server) commit(sent []Sent) []Meta {
	s.clock += 1_000_000
	out := make([]Meta, 0, len(sent))
	for _, e := range sent {
		m, ok := s.known[keyOf(e)]
		if !ok {
			m = s.fresh(e)
			s.known[keyOf(e)] = m
			s.rows[m.Topic] = append(s.rows[m.Topic], Row{HasMeta: true, Meta: m, HasEnvelope: true, Identity: e.Artefact.Identity})
		}
		out = append(out, m)
	}
	return out
}

func (s *server) fresh(e Sent) Meta {
	s.sequence += 3
	s.sizes[e.Artefact.Identity] = e.Artefact.CanonicalLen
	m := Meta{HasCursor: true, Sequence: s.sequence, ServerNS: s.clock, HasTopic: true, Topic: e.Artefact.Topic, HasHash: true}
	hash := sha256.Sum256(append([]byte("hash of "), e.Artefact.Identity[:]...))
	m.Hash = Bytes(hash[:])
	day := uint64(86_400_000_000_000)
	switch k := e.Intent.Log.Kind; {
	case k == Group && e.Intent.Form != Plain:
		m.CommitOrProposal = true
	case k == Group && s.limits.Limits[retentionGroup] > 0:
		m.ExpiryNS = m.ServerNS + s.limits.Limits[retentionGroup]*1_000_000_000
	case k == Group || k == Welcome || k == KeyPackage:
		m.ExpiryNS = m.ServerNS + 90*day
	}
	return m
}

// publish refuses what is wrong, or stores it.
func (s *server) publish(c *Call) Return {
	if r, ok := s.refuse(c); ok {
		return r
	}
	metas := s.commit(c.Publish.Envelopes)
	return Return{Publish: &Published{Metas: metas}, WireLen: 100 * len(metas)}
}

func (s *server) refuse(c *Call) (Return, bool) {
	if uint64(c.CanonicalLen) > s.limits.Limit(limitRequestBytes) {
		return Return{Code: OutOfRange, Text: "the request is too long"}, true
	}
	topics := make(map[Bytes]bool)
	for i, e := range c.Publish.Envelopes {
		topics[e.Artefact.Topic] = true
		if uint64(e.Artefact.CanonicalLen) > s.limits.Limit(limitEnvelopeBytes) {
			return invalid(i, ReasonTooLarge), true
		}
		if e.Intent.Flaw != Sound {
			return invalid(i, ReasonMalformedPayload), true
		}
	}
	if uint64(len(topics)) > s.limits.Limit(limitPublishTopics) {
		return invalid(-1, ReasonTooLarge), true
	}
	return Return{}, false
}

// invalid is an INVALID_ARGUMENT with a publish error; no index for -1.
func invalid(index int, reason Reason) Return {
	d := Detail{Reason: reason}
	if index >= 0 {
		i := uint32(index)
		d.Index = &i
	}
	return Return{Code: InvalidArgument, Text: "the request is not valid", Details: []Detail{d}}
}

func unreadable(what string) (Return, bool) { return Return{Code: InvalidArgument, Text: what}, true }

func (s *server) refuseRead(entries []Asked, limit string, cursors bool) (Return, bool) {
	if uint64(len(entries)) > s.limits.Limit(limit) {
		return unreadable("too many topics")
	}
	for _, e := range entries {
		switch {
		case e.Flaw != SoundTopic:
			return unreadable("no such topic")
		case cursors && e.Log.Kind == KeyPackage:
			return unreadable("key packages are not queried")
		case cursors && e.Cursor != nil && *e.Cursor > math.MaxInt64:
			return unreadable("no such cursor")
		}
	}
	return Return{}, false
}

// query returns the lowest ids of all topics together, as one snapshot has them.
func (s *server) query(q *QueryCall) Return {
	if r, ok := s.refuseRead(q.Entries, limitQueryTopics, true); ok {
		return r
	}
	cursors := make(map[Bytes]uint64)
	for _, e := range q.Entries {
		c := uint64(0)
		if e.Cursor != nil {
			c = *e.Cursor
		}
		if old, ok := cursors[e.Topic]; !ok || c < old {
			cursors[e.Topic] = c
		}
	}
	var rows []Row
	for t, c := range cursors {
		for _, r := range s.rows[t] {
			if r.Meta.Sequence > c {
				rows = append(rows, r)
			}
		}
	}
	sort.Slice(rows, func(i, k int) bool { return rows[i].Meta.Sequence < rows[k].Meta.Sequence })
	limit, most := int(q.Limit), int(s.limits.Limit(limitQueryMost))
	if limit == 0 {
		limit = int(s.limits.Limit(limitQueryDefault))
	}
	limit = min(limit, most)
	p := &Page{HasContinuation: true, HasMore: len(rows) > limit, Rows: rows[:min(limit, len(rows))]}
	p.Rows = slices.Clone(p.Rows)
	return s.fitting(Return{Query: p, WireLen: s.length(p.Rows)})
}

// length is what rows take in a response: metadata and framing take about a
// hundred bytes beside an envelope.
func (s *server) length(rows []Row) int {
	n := 4
	for _, r := range rows {
		n += 110
		if r.HasEnvelope {
			n += s.sizes[r.Identity]
		}
	}
	return n
}

// fitting gives an answer, or refuses it whole when it is too long (API-134).
func (s *server) fitting(r Return) Return {
	if uint64(r.WireLen) > s.limits.Limit(limitResponseBytes) {
		return Return{Code: OutOfRange, Text: "the response is too long"}
	}
	return r
}

func (s *server) newest(n *NewestCall) Return {
	if r, ok := s.refuseRead(n.Entries, newestLimit(n), false); ok {
		return r
	}
	h := &Heads{}
	done := make(map[Bytes]bool)
	for _, e := range n.Entries {
		rows := s.rows[e.Topic]
		if done[e.Topic] || len(rows) == 0 {
			continue
		}
		done[e.Topic] = true
		row := rows[len(rows)-1]
		for _, r := range rows {
			if r.Meta.Sequence > row.Meta.Sequence {
				row = r
			}
		}
		row.Asked = e.Topic
		if !n.Full {
			row.HasEnvelope, row.Identity = false, Digest{}
		}
		h.Rows = append(h.Rows, row)
	}
	return s.fitting(Return{Newest: h, WireLen: s.length(h.Rows)})
}

func (s *server) answer(c *Call) Return {
	switch c.Method {
	case MethodPublish:
		return s.publish(c)
	case MethodQuery:
		return s.query(c.Query)
	case MethodNewest:
		return s.newest(c.Newest)
	case MethodConfiguration:
		limits := make(map[string]uint64)
		for _, name := range published() {
			limits[name] = max(s.limits.Limit(name), 1)
		}
		return Return{Configuration: &Configuration{Identifier: "honest", Version: "1", Limits: limits, Published: []string{"limits"}}}
	case MethodHealth:
		return Return{Serving: serving}
	default:
		return Return{Code: Unimplemented, Text: "no such method"}
	}
}

// topicOf and sent stand in for craft.
func topicOf(l Log) Bytes {
	if l.Kind == Unset {
		return ""
	}
	h := sha256.Sum256([]byte(l.Name))
	return Bytes(append([]byte{byte(l.Kind - 1)}, h[:l.Kind.IdentifierLength()]...))
}

func sent(e Envelope) Sent {
	value := e
	value.Encoding = Canonical // every encoding of one value has its identity
	size := max(e.Size, 80)
	a := Artefact{Identity: sha256.Sum256(fmt.Appendf(nil, "%+v", value)), WireLen: size, CanonicalLen: size}
	if e.Encoding != Canonical {
		a.WireLen += 4
	}
	if e.Flaw == Sound {
		a.Topic = topicOf(e.Log)
	}
	return Sent{Intent: e, Artefact: a}
}

func asked(r Read) Asked {
	t := topicOf(r.Log)
	switch r.Flaw {
	case SoundTopic:
	case TopicAbsent, TopicEmpty:
		t = ""
	default:
		t += Bytes(r.Flaw)
	}
	return Asked{Read: r, Topic: t}
}
