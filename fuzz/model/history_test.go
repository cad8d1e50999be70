package model_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"assay/model"
	"assay/model/backend"
)

// source hands out the choices that a history is made of; after its last byte
// every choice is the first.
type source struct{ data []byte }

func (s *source) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

func (s *source) n(n int) int { return int(s.byte()) % n }

func (s *source) yes() bool { return s.byte()&1 == 1 }

func pick[T any](s *source, values ...T) T { return values[s.n(len(values))] }

// number draws a number that rules compare: small, at the ends of ranges, or any.
func (s *source) number() uint64 {
	switch s.n(6) {
	case 0:
		return math.MaxInt64 - 1 + uint64(s.n(4))
	case 1:
		return math.MaxUint64 - uint64(s.n(2))
	case 2:
		return uint64(s.byte())<<56 | uint64(s.byte())
	default:
		return uint64(s.n(12))
	}
}

func (s *source) length() int {
	return pick(s, 0, 10, 80, -1, math.MaxInt, math.MinInt, 1<<20, 1<<20+1, 26_214_401)
}

func (s *source) text() string { return pick(s, "", "no", "\x00\xff\n", string(make([]byte, 300))) }

func (s *source) topic() backend.Bytes {
	return pick[backend.Bytes](s, "\x00aaaaaaaaaaaaaaaa", "\x01bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "\x04aaaaaaaaaaaaaaaa", "", "\x00", "\xff", "\x03cccccccccccccccccccccccccccccccc",
		"\x02dddddddddddddddddddddddddddddddd")
}

func (s *source) digest() backend.Digest { return backend.Digest{byte(s.n(6))} }

func (s *source) log() backend.Log {
	return backend.Log{Kind: pick(s, backend.Group, backend.Welcome, backend.CommitLog, backend.Identity, backend.KeyPackage, backend.Unset, backend.Kind(200)), Name: s.text()}
}

func (s *source) envelope() backend.Sent {
	kind := s.log()
	e := backend.Envelope{Log: kind, Form: backend.Form(s.n(9)), Encoding: backend.Encoding(s.n(6))}
	switch s.n(8) {
	case 0:
		e.Flaw = pick(s, append(backend.Flaws(kind.Kind), "a flaw that nobody knows")...)
	case 1:
		e.Update = &backend.IdentityUpdate{}
	case 2:
		e.Package = &backend.KeyPackageIntent{}
	}
	return backend.Sent{Intent: e, Artefact: backend.Artefact{Topic: s.topic(), Identity: s.digest(), WireLen: s.length(), CanonicalLen: s.length()}}
}

func (s *source) asked() []backend.Asked {
	var out []backend.Asked
	for range s.n(4) {
		a := backend.Asked{Read: backend.Read{Log: s.log()}, Topic: s.topic()}
		if s.yes() {
			c := s.number()
			a.Cursor = &c
		}
		if s.n(8) == 0 {
			a.Flaw = pick(s, backend.TopicFlaws()...)
		}
		out = append(out, a)
	}
	return out
}

func (s *source) call() *backend.Call {
	c := &backend.Call{WireLen: s.length(), CanonicalLen: s.length()}
	c.Method = pick(s, backend.MethodPublish, backend.MethodQuery, backend.MethodNewest, backend.MethodConfiguration, backend.MethodHealth, backend.MethodOther,
		backend.MethodLookup, backend.MethodVerify, backend.MethodSettings, "a method that nobody knows")
	// Often the part that the method names, sometimes another or none.
	switch part := pick(s, c.Method, c.Method, c.Method, backend.MethodPublish, ""); part {
	case backend.MethodPublish:
		c.Publish = &backend.PublishCall{}
		for range s.n(5) {
			c.Publish.Envelopes = append(c.Publish.Envelopes, s.envelope())
		}
	case backend.MethodQuery:
		c.Query = &backend.QueryCall{Entries: s.asked(), Limit: pick[uint32](s, 0, 1, 2, 5000, math.MaxUint32)}
	case backend.MethodNewest:
		c.Newest = &backend.NewestCall{Entries: s.asked(), Full: s.yes()}
	case backend.MethodLookup:
		c.Lookup = &backend.LookupCall{}
	case backend.MethodVerify:
		c.Verify = &backend.VerifyCall{}
	case backend.MethodOther:
		c.Path = pick(s, backend.RetiredGet, "", "/x/y")
	}
	if s.n(4) == 0 {
		c.Headers = []string{"authorization", "X-App-Version", "x-libxmtp-version"}
	}
	return c
}

func (s *source) meta() backend.Meta {
	return backend.Meta{HasCursor: s.n(8) > 0, Sequence: s.number(), ServerNS: s.number(), HasHash: s.n(8) > 0, Hash: backend.Bytes(bytes.Repeat([]byte{byte(s.n(6))}, pick(s, 32, 32, 32, 0, 31))),
		HasTopic: s.n(8) > 0, Topic: s.topic(), ExpiryNS: s.number(), CommitOrProposal: s.yes()}
}

func (s *source) rows() []backend.Row {
	var out []backend.Row
	for range s.n(5) {
		out = append(out, backend.Row{HasMeta: s.n(8) > 0, Meta: s.meta(), HasEnvelope: s.n(8) > 0, Identity: s.digest(), Asked: s.topic()})
	}
	return out
}

func (s *source) answer() *backend.Return {
	r := &backend.Return{Code: backend.Code(s.n(18)), Text: s.text(), WireLen: s.length(), Serving: uint32(s.n(4))}
	if s.yes() {
		r.Code = backend.OK
	}
	switch s.n(10) {
	case 0:
		r.Lost = pick(s, backend.LostCut, backend.LostRefused, backend.LostTimeout)
	case 1:
		r.Garbled = s.text()
	}
	for range s.n(3) {
		d := backend.Detail{Reason: backend.Reason(s.n(8))}
		if s.yes() {
			i := pick[uint32](s, 0, 1, 2, 7, math.MaxUint32)
			d.Index = &i
		}
		r.Details = append(r.Details, d)
	}
	if s.yes() {
		r.Publish = &backend.Published{}
		for range s.n(5) {
			r.Publish.Metas = append(r.Publish.Metas, s.meta())
		}
	}
	if s.yes() {
		r.Query = &backend.Page{Rows: s.rows(), HasMore: s.yes()}
	}
	if s.yes() {
		r.Newest = &backend.Heads{Rows: s.rows()}
	}
	if s.n(4) == 0 {
		r.Configuration = &backend.Configuration{Identifier: s.text()}
		if s.yes() {
			r.Configuration.Limits = map[string]uint64{"max_query_topics": s.number(), "max_request_bytes": s.number()}
		}
	}
	if s.n(8) == 0 {
		r.InboxIDs, r.Verified, r.Settings = &backend.InboxIDs{}, &backend.WalletAnswers{}, &backend.Settings{}
	}
	return r
}

func (s *source) terms() *backend.Terms {
	t := &backend.Terms{Published: s.yes(), NoReplica: s.yes(), Direct: s.yes(), RetentionAssumed: s.yes()}
	if s.yes() {
		t.Limits = make(map[string]uint64)
		for _, name := range []string{"max_query_limit", "default_query_limit", "max_query_topics", "max_newest_full_topics", "max_publish_topics", "max_envelope_bytes",
			"max_request_bytes", "max_response_bytes", "group_message_seconds", "welcome_seconds"} {
			t.Limits[name] = s.number()
		}
	}
	if s.yes() {
		t.Configured = map[string]uint64{"max_query_limit": s.number(), "max_query_topics": s.number(), "no such limit": 1}
	}
	return t
}

// events makes a history: mostly calls and their answers, one after the other or
// overlapping, and now and then something out of place.
func events(data []byte) []model.Event {
	s := &source{data}
	out := []model.Event{{Phase: model.Mark, Value: s.terms()}}
	var open []int
	for call := 1; len(s.data) > 0 && call < 200; call++ {
		out = append(out, model.Event{Phase: model.Invoke, Actor: "A", Call: call, Value: s.call()})
		open = append(open, call)
		for len(open) > 0 && s.n(3) > 0 {
			i := s.n(len(open))
			out = append(out, model.Event{Phase: model.Return, Actor: "A", Call: open[i], Value: s.answer()})
			open = slices.Delete(open, i, i+1)
		}
		switch s.n(24) {
		case 0:
			out = append(out, model.Event{Phase: model.Return, Call: pick(s, 0, 1, call, 9999, -1), Value: s.answer()})
		case 1:
			out = append(out, model.Event{Phase: pick(s, model.Invoke, model.Return, model.Mark, model.Phase(9)), Call: call, Value: pick[any](s, nil, (*backend.Call)(nil),
				(*backend.Return)(nil), (*backend.Terms)(nil), "text", &backend.Call{}, &backend.Return{}, backend.Call{})})
		case 2:
			out = append(out, model.Event{Phase: model.Mark, Value: s.terms()})
		case 3:
			out = append(out, model.Event{Phase: model.Invoke, Call: pick(s, 1, call, call+1), Value: s.call()})
		}
	}
	for i := range out {
		out[i].Index = i
	}
	return out
}

// judge holds the judge to its promises on a history.
func judge(t *testing.T, events []model.Event) {
	t.Helper()
	start := time.Now()
	j := backend.Judge(events)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("judging %d events took %s", len(events), took)
	}
	if again := backend.Judge(events); !reflect.DeepEqual(j, again) {
		t.Errorf("two judgements of one history differ")
	}
	type key struct {
		name string
		call int
	}
	seen := make(map[key]bool)
	for _, v := range j.Judgements {
		k := key{v.Assertion.Name, v.Call}
		if seen[k] {
			t.Errorf("%s is judged twice on call %d", v.Assertion, v.Call)
		}
		seen[k] = true
		if v.Assertion.Name == "" || v.Assertion.Basis == 0 {
			t.Errorf("a judgement of call %d names no assertion", v.Call)
		}
		if v.Breach == nil {
			continue
		}
		e := v.Breach.Events
		if len(e) == 0 || !slices.IsSorted(e) || e[0] < 0 || e[len(e)-1] >= len(events) {
			t.Errorf("%s is breached by events %v of %d", v.Assertion, e, len(events))
		}
		const most = 4000
		if len(v.Breach.Expected) > most || len(v.Breach.Got) > most {
			t.Errorf("%s is breached in %d and %d bytes of words", v.Assertion, len(v.Breach.Expected), len(v.Breach.Got))
		}
	}
}

func FuzzJudge(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 300 {
		seed := make([]byte, 100+40*i)
		for k := range seed {
			seed[k] = byte(random.Uint32())
		}
		f.Add(seed)
	}
	f.Add([]byte(nil))
	f.Add(bytes.Repeat([]byte{1}, 500))
	f.Fuzz(func(t *testing.T, data []byte) { judge(t, events(data)) })
}

// line is one event as FuzzDecoded reads it.
type line struct {
	Phase model.Phase     `json:"phase"`
	Call  int             `json:"call"`
	Value json.RawMessage `json:"value"`
}

func (p line) decode() (any, error) {
	var v any = new(backend.Terms)
	switch p.Phase {
	case model.Invoke:
		v = new(backend.Call)
	case model.Return:
		v = new(backend.Return)
	}
	if err := json.Unmarshal(p.Value, v); err != nil {
		return nil, fmt.Errorf("event of call %d: %w", p.Call, err)
	}
	return v, nil
}

// encode writes an event as a line of FuzzDecoded; nil when it cannot be written.
func encode(e model.Event) []byte {
	value, err := json.Marshal(e.Value)
	if err != nil {
		return nil
	}
	out, err := json.Marshal(map[string]any{"phase": uint8(e.Phase), "call": e.Call, "value": json.RawMessage(value)})
	if err != nil {
		return nil
	}
	return out
}

func FuzzDecoded(f *testing.F) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 60 {
		seed := make([]byte, 800)
		for k := range seed {
			seed[k] = byte(random.Uint32())
		}
		var lines [][]byte
		for _, e := range events(seed) {
			lines = append(lines, encode(e))
		}
		f.Add(bytes.Join(lines, []byte("\n")))
	}
	f.Add([]byte(`{"phase":1,"call":1,"value":{"method":"publish","publish":{"envelopes":[{}]}}}` + "\n" + `{"phase":2,"call":1,"value":{"code":0,"publish":{"metas":[{}]}}}`))
	f.Add([]byte(`{"phase":1,"call":1,"value":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var history []model.Event
		for _, raw := range bytes.Split(data, []byte("\n")) {
			var l line
			if json.Unmarshal(raw, &l) != nil {
				continue
			}
			v, err := l.decode()
			if err != nil {
				continue
			}
			history = append(history, model.Event{Index: len(history), Phase: l.Phase, Call: l.Call, Value: v})
		}
		judge(t, history)
	})
}
