package facts_test

import (
	"crypto/sha256"
	"fmt"
	"time"

	"assay/model"
	rules "assay/model/backend"
)

// story writes a history call by call.
type story struct {
	events []model.Event
	calls  int
}

func newStory(noReplica bool) *story {
	s := &story{}
	s.add(model.Event{Phase: model.Mark, Actor: "harness", Value: &rules.Terms{NoReplica: noReplica}})
	return s
}

func (s *story) add(e model.Event) {
	e.Index, e.At = len(s.events), time.Duration(len(s.events))
	s.events = append(s.events, e)
}

// begin adds an invocation by an actor of its own, so that any calls may overlap.
func (s *story) begin(c *rules.Call) int {
	s.calls++
	s.add(model.Event{Phase: model.Invoke, Actor: fmt.Sprint("actor", s.calls), Call: s.calls, Value: c})
	return s.calls
}

func (s *story) end(call int, r *rules.Return) {
	s.add(model.Event{Phase: model.Return, Actor: fmt.Sprint("actor", call), Call: call, Value: r})
}

// whole adds a call that overlaps with no other that ends before it.
func (s *story) whole(c *rules.Call, r *rules.Return) int {
	call := s.begin(c)
	s.end(call, r)
	return call
}

func group(name string) rules.Log     { return rules.Log{Kind: rules.Group, Name: name} }
func inbox(name string) rules.Log     { return rules.Log{Kind: rules.Identity, Name: name} }
func commitLog(name string) rules.Log { return rules.Log{Kind: rules.CommitLog, Name: name} }

func topic(l rules.Log) rules.Bytes {
	return rules.Bytes(fmt.Sprintf("%c%s", byte(l.Kind)-1, l.Name))
}

// item is an envelope by what matters here: its log and what tells it apart.
type item struct {
	log     rules.Log
	content string
	creates bool
}

func (i item) identity() rules.Digest { return sha256.Sum256([]byte(i.log.String() + "/" + i.content)) }

func (i item) sent() rules.Sent {
	e := rules.Envelope{Log: i.log, Content: i.content}
	if i.creates {
		e.Update = &rules.IdentityUpdate{Actions: []rules.Action{{Kind: rules.CreateInbox}}}
	}
	return rules.Sent{Intent: e, Artefact: rules.Artefact{Topic: topic(i.log), Identity: i.identity(), WireLen: 100, CanonicalLen: 100}}
}

func (i item) meta(id uint64) rules.Meta {
	d := i.identity()
	return rules.Meta{HasCursor: true, Sequence: id, ServerNS: 1000 + id, HasHash: true, Hash: rules.Bytes(d[:]), HasTopic: true, Topic: topic(i.log)}
}

func (i item) row(id uint64) rules.Row {
	return rules.Row{HasMeta: true, Meta: i.meta(id), HasEnvelope: true, Identity: i.identity()}
}

func publish(items ...item) *rules.Call {
	c := &rules.Call{Method: rules.MethodPublish, Publish: &rules.PublishCall{}}
	for _, i := range items {
		c.Publish.Envelopes = append(c.Publish.Envelopes, i.sent())
	}
	return c
}

func published(metas ...rules.Meta) *rules.Return {
	return &rules.Return{Publish: &rules.Published{Metas: metas}}
}

func query(limit uint32, asked ...rules.Asked) *rules.Call {
	return &rules.Call{Method: rules.MethodQuery, Query: &rules.QueryCall{Entries: asked, Limit: limit}}
}

func from(l rules.Log, cursor uint64) rules.Asked {
	return rules.Asked{Read: rules.Read{Log: l, Cursor: &cursor}, Topic: topic(l)}
}

func page(more bool, rows ...rules.Row) *rules.Return {
	return &rules.Return{Query: &rules.Page{Rows: rows, HasContinuation: true, HasMore: more}}
}

func newest(logs ...rules.Log) *rules.Call {
	c := &rules.Call{Method: rules.MethodNewest, Newest: &rules.NewestCall{}}
	for _, l := range logs {
		c.Newest.Entries = append(c.Newest.Entries, rules.Asked{Read: rules.Read{Log: l}, Topic: topic(l)})
	}
	return c
}

func heads(rows ...rules.Row) *rules.Return {
	for i := range rows {
		rows[i].Asked = rows[i].Meta.Topic
		rows[i].HasEnvelope, rows[i].Identity = false, rules.Digest{}
	}
	return &rules.Return{Newest: &rules.Heads{Rows: rows}}
}

func code(c rules.Code) *rules.Return { return &rules.Return{Code: c, Text: "no"} }

func lost() *rules.Return { return &rules.Return{Lost: rules.LostCut} }
