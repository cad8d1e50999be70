package backend

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/model"
)

// story tells a history call by call. An honest server answers in it unless the
// teller distorts its answer or gives another.
type story struct {
	server *server
	// terms are what the history opens with, nil for a history without any.
	terms   *Terms
	events  []model.Event
	calls   int
	headers []string
	// now is the time of the next event.
	now time.Duration
}

// tell starts a story about a subject without a replica that publishes the
// specification's limits; adjust changes that before the first call.
func tell(adjust ...func(*Terms)) *story {
	t := &Terms{Published: true, NoReplica: true, Limits: make(map[string]uint64)}
	for _, a := range adjust {
		a(t)
	}
	return &story{server: newServer(*t), terms: t}
}

// history is what was told, as Judge takes it.
func (h *story) history() []model.Event {
	events := h.events
	if h.terms != nil {
		events = append([]model.Event{{Phase: model.Mark, Actor: "harness", Value: h.terms}}, events...)
	}
	events = slices.Clone(events)
	for i := range events {
		events[i].Index = i
	}
	return events
}

func (h *story) judged() model.Judged { return Judge(h.history()) }

// turn is one call of a story, open until it is answered.
type turn struct {
	story  *story
	number int
	actor  string
	call   *Call
}

func (h *story) invoke(actor string, c *Call) *turn {
	h.calls++
	c.Headers = h.headers
	h.events = append(h.events, model.Event{At: h.now, Phase: model.Invoke, Actor: actor, Call: h.calls, Value: c})
	return &turn{h, h.calls, actor, c}
}

func (h *story) publish(actor string, envelopes ...Envelope) *turn {
	c := &Call{Method: MethodPublish, Publish: &PublishCall{}}
	for _, e := range envelopes {
		s := sent(e)
		c.Publish.Envelopes = append(c.Publish.Envelopes, s)
		c.WireLen += s.Artefact.WireLen + 4
		c.CanonicalLen += s.Artefact.CanonicalLen + 4
	}
	return h.invoke(actor, c)
}

func (h *story) query(actor string, limit uint32, reads ...Read) *turn {
	q := &QueryCall{Limit: limit}
	for _, r := range reads {
		q.Entries = append(q.Entries, asked(r))
	}
	return h.invoke(actor, &Call{Method: MethodQuery, Query: q, WireLen: 40 * len(reads), CanonicalLen: 40 * len(reads)})
}

func (h *story) newest(actor string, full bool, reads ...Read) *turn {
	n := &NewestCall{Full: full}
	for _, r := range reads {
		n.Entries = append(n.Entries, asked(r))
	}
	return h.invoke(actor, &Call{Method: MethodNewest, Newest: n, WireLen: 40 * len(reads), CanonicalLen: 40 * len(reads)})
}

func (h *story) ask(m Method) *turn { return h.invoke("A", &Call{Method: m}) }

func (h *story) other(path string) *turn {
	return h.invoke("A", &Call{Method: MethodOther, Path: path})
}

// answered gives the honest answer of this moment, distorted.
func (u *turn) answered(distort ...func(*Return)) *turn {
	return u.answeredBy(u.story.server, distort...)
}

func (u *turn) answeredBy(s *server, distort ...func(*Return)) *turn {
	r := s.answer(u.call)
	for _, d := range distort {
		d(&r)
	}
	return u.answers(r)
}

// answers gives any answer; the server never hears of the call.
func (u *turn) answers(r Return) *turn {
	u.story.events = append(u.story.events, model.Event{At: u.story.now, Phase: model.Return, Actor: u.actor, Call: u.number, Value: &r})
	return u
}

// code answers with a bare code and a text.
func (u *turn) code(c Code) *turn { return u.answers(Return{Code: c, Text: "so it is"}) }

// lost ends the call without an answer.
func (u *turn) lost() *turn { return u.answers(Return{Lost: LostCut}) }

// lands commits the publish on the server and tells nobody.
func (u *turn) lands() *turn {
	u.story.server.commit(u.call.Publish.Envelopes)
	return u
}

// The topics and envelopes most stories use.
func group(content string) Envelope { return on(groupLog("g"), content) }

func welcome(content string) Envelope { return on(welcomeLog("w"), content) }

func entryOf(content string) Envelope { return on(commitLog("c"), content) }

func on(l Log, content string) Envelope { return Envelope{Log: l, Content: content} }

func groupLog(name string) Log { return Log{Kind: Group, Name: name} }

func welcomeLog(name string) Log { return Log{Kind: Welcome, Name: name} }

func commitLog(name string) Log { return Log{Kind: CommitLog, Name: name} }

func formed(e Envelope, f Form) Envelope { e.Form = f; return e }

func encoded(e Envelope, c Encoding) Envelope { e.Encoding = c; return e }

func sized(e Envelope, n int) Envelope { e.Size = n; return e }

func flawed(f Flaw) Envelope {
	for k := Unset; k <= CommitLog; k++ {
		if slices.Contains(Flaws(k), f) {
			return Envelope{Log: Log{Kind: k, Name: "x"}, Content: "bad", Flaw: f}
		}
	}
	panic("no kind has the flaw " + string(f))
}

func many(n int, of func(content string) Envelope) []Envelope {
	var out []Envelope
	for i := range n {
		out = append(out, of(fmt.Sprint("m", i)))
	}
	return out
}

func all(l Log) Read { return Read{Log: l} }

func after(l Log, cursor uint64) Read { return Read{Log: l, Cursor: &cursor} }

// at returns the id of the i-th row of a topic on the server, from 0.
func (h *story) at(l Log, i int) uint64 { return h.server.rows[topicOf(l)][i].Meta.Sequence }

// Distortions of an honest answer.
func meta(i int, change func(*Meta)) func(*Return) {
	return func(r *Return) { change(&r.Publish.Metas[i]) }
}

func row(i int, change func(*Row)) func(*Return) {
	return func(r *Return) {
		if r.Query != nil {
			change(&r.Query.Rows[i])
		} else {
			change(&r.Newest.Rows[i])
		}
	}
}

func without(i int) func(*Return) {
	return func(r *Return) {
		if r.Query != nil {
			r.Query.Rows = slices.Delete(r.Query.Rows, i, i+1)
		} else {
			r.Newest.Rows = slices.Delete(r.Newest.Rows, i, i+1)
		}
	}
}

// moved puts the rows of the last page on another topic.
func (h *story) moved(t Bytes) {
	r := h.events[len(h.events)-1].Value.(*Return)
	for i := range r.Query.Rows {
		r.Query.Rows[i].Meta.Topic = t
	}
}

func more(yes bool) func(*Return) { return func(r *Return) { r.Query.HasMore = yes } }

// limit sets a limit that the subject publishes; configured one that the
// harness set and the subject publishes.
func limit(name string, v uint64) func(*Terms) {
	return func(t *Terms) { t.Limits[name] = v }
}

func configured(name string, v uint64) func(*Terms) {
	return func(t *Terms) {
		t.Limits[name] = v
		if t.Configured == nil {
			t.Configured = make(map[string]uint64)
		}
		t.Configured[name] = v
	}
}

func withReplica(t *Terms) { t.NoReplica = false }

// breaches lists the names of the breached assertions, sorted, each once.
func breaches(j model.Judged) []string {
	var out []string
	for _, v := range j.Breaches() {
		out = append(out, v.Assertion.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func explain(j model.Judged) string {
	var out []string
	for _, v := range j.Breaches() {
		out = append(out, fmt.Sprintf("  call %d: %s: expected %s, got %s, events %v", v.Call, v.Assertion, v.Breach.Expected, v.Breach.Got, v.Breach.Events))
	}
	return strings.Join(out, "\n")
}

// proves reports whether the assertion held on some call, beside its witness.
func proves(j model.Judged, a model.Assertion) bool {
	return slices.ContainsFunc(j.Judgements, func(v model.Judgement) bool {
		return v.Assertion == a && v.Held() && (v.Needs == "" || j.Witnesses[v.Needs])
	})
}

// innocent fails the test when anything in the story is called a breach.
func (h *story) innocent(t *testing.T) model.Judged {
	t.Helper()
	j := h.judged()
	if len(j.Breaches()) > 0 {
		t.Fatalf("an innocent history breaches\n%s", explain(j))
	}
	return j
}

// print writes the calls and answers of a story, one a line.
func (h *story) print() string {
	var out []string
	for i, e := range h.history() {
		switch v := e.Value.(type) {
		case *Terms:
			out = append(out, fmt.Sprintf("%d terms %+v", i, *v))
		case *Call:
			out = append(out, fmt.Sprintf("%d %s calls %d: %s", i, e.Actor, e.Call, printed(v)))
		case *Return:
			out = append(out, fmt.Sprintf("%d %s gets %d: %s", i, e.Actor, e.Call, answered(v)))
		}
	}
	return strings.Join(out, "\n")
}

func printed(c *Call) string {
	out := string(c.Method)
	switch c.Method {
	case MethodPublish:
		for _, s := range c.Publish.Envelopes {
			out += fmt.Sprintf(" [%s %q %s %s size %d %s]", s.Intent.Log, s.Intent.Content, s.Intent.Form, s.Intent.Encoding, s.Artefact.CanonicalLen, s.Intent.Flaw)
		}
	case MethodQuery:
		out += fmt.Sprintf(" limit %d%s", c.Query.Limit, reads(c.Query.Entries))
	case MethodNewest:
		out += fmt.Sprintf(" full %v%s", c.Newest.Full, reads(c.Newest.Entries))
	}
	return out
}

func reads(entries []Asked) string {
	out := ""
	for _, e := range entries {
		out += fmt.Sprintf(" [%s %s", e.Log, e.Flaw)
		if e.Cursor != nil {
			out += fmt.Sprintf("after %d", *e.Cursor)
		}
		out += "]"
	}
	return out
}

func answered(r *Return) string {
	out := r.Code.String() + " " + string(r.Lost)
	for _, d := range r.Details {
		out += " " + d.Reason.String()
	}
	switch {
	case r.Publish != nil:
		for _, m := range r.Publish.Metas {
			out += fmt.Sprintf(" %d", m.Sequence)
		}
	case r.Query != nil:
		for _, row := range r.Query.Rows {
			out += fmt.Sprintf(" %d:%.2s", row.Meta.Sequence, row.Meta.Topic)
		}
		out += fmt.Sprintf(" more %v", r.Query.HasMore)
	case r.Newest != nil:
		for _, row := range r.Newest.Rows {
			out += fmt.Sprintf(" %d:%.2s", row.Meta.Sequence, row.Meta.Topic)
		}
	}
	return out
}
