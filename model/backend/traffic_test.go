package backend

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// choose draws a number from 0 to n-1.
type choose func(n int, label string) int

// traffic is a correct server with clients that call it at the same time. Ids are
// taken before rows commit, transactions abort, answers get lost, some lost
// publishes land later, and a replica lags.
type traffic struct {
	*story
	choose choose
	// open are the calls in flight, by actor; late are lost publishes that may
	// still land.
	open map[string]*flight
	late []*flight
	// taken are the ids of running transactions, by topic: rows above one are hidden.
	taken map[Bytes][]uint64
	// views are what the server looked like at some time, newest last.
	views     []*server
	published []Envelope
	fresh     int
	// loss is the number of answers of which one is lost, and lostly what was
	// published without an answer.
	loss   int
	lostly [][]Envelope
	// troubled is true once a sound request met trouble. Trouble that only ever
	// meets requests with a defect is what a history cannot tell from an answer
	// to them (see evades).
	troubled bool
}

// flight is one call in flight: a publish takes its ids, commits or aborts; a
// read takes its snapshot.
type flight struct {
	*turn
	begun, settled, aborted bool
	metas                   []Meta
	rows                    []Row
	answer                  *Return
}

// session plays a whole session and returns its story.
func session(c choose) *story {
	w := &traffic{choose: c, open: make(map[string]*flight), taken: make(map[Bytes][]uint64)}
	w.story = tell(w.limits)
	w.views = []*server{w.view()}
	w.loss = pick(c, "loss", 6, 20, math.MaxInt32)
	for range 20 + c(60, "steps") {
		w.step()
	}
	w.calm()
	return w.story
}

// calm ends what is in flight, repeats what was lost, and reads every topic.
func (w *traffic) calm() {
	for _, actor := range []string{"A", "B", "C", "D"} {
		f := w.open[actor]
		for i := 0; f != nil && !f.ready() && i < 50; i++ {
			w.advance(f)
		}
		if f != nil && f.ready() {
			w.end(actor, f)
		}
	}
	if len(w.open) > 0 || w.choose(2, "calm") == 0 {
		return
	}
	w.headers, w.late = nil, nil
	for _, envelopes := range w.lostly {
		f := &flight{turn: w.publish("A", envelopes...)}
		w.take(f)
		if f.answer != nil {
			f.answers(*f.answer)
			continue
		}
		w.settle(f)
		w.end("A", f)
	}
	logs := []Log{groupLog("g"), welcomeLog("w"), commitLog("c"), welcomeLog("x")}
	for _, l := range logs {
		r := w.view().answer(w.query("A", 1, all(l)).answeredBy(w.view()).call)
		for cursor := uint64(0); r.Query != nil && r.Query.HasMore; {
			cursor = r.Query.Rows[len(r.Query.Rows)-1].Meta.Sequence
			r = w.view().answer(w.query("A", 0, after(l, cursor)).answeredBy(w.view()).call)
		}
		w.newest("A", true, all(l)).answeredBy(w.view())
	}
	w.query("A", 3, all(logs[0]), all(logs[1]), all(logs[2])).answeredBy(w.view())
	w.query("A", 100, all(logs[0])).answeredBy(w.view())
}

// limits draws what the subject publishes about itself.
func (w *traffic) limits(t *Terms) {
	t.NoReplica = w.choose(2, "no replica") == 0
	set := configured
	if w.choose(2, "published or configured") == 0 {
		set = limit
	}
	if w.choose(3, "small limits") > 0 {
		set(limitQueryMost, uint64(4+w.choose(4, "page")))(t)
		set(limitQueryDefault, uint64(2+w.choose(3, "default page")))(t)
		set(limitQueryTopics, 4)(t)
		set(limitNewestFull, 3)(t)
		set(limitPublishTopics, 3)(t)
		set(limitEnvelopeBytes, 120)(t)
		set(limitResponseBytes, uint64(300+w.choose(900, "response bytes")))(t)
	}
}

// pick draws one of values.
func pick[T any](c choose, label string, values ...T) T { return values[c(len(values), label)] }

func (w *traffic) step() {
	actor := pick(w.choose, "actor", "A", "B", "C", "D")
	f := w.open[actor]
	switch {
	case f == nil && len(w.late) > 0 && w.choose(4, "land") == 0:
		i := w.choose(len(w.late), "which")
		late := w.late[i]
		w.late = slices.Delete(w.late, i, i+1)
		w.advance(late)
	case f == nil:
		w.begin(actor)
	case w.choose(3, "return") > 0 && f.ready():
		w.end(actor, f)
	default:
		w.advance(f)
	}
}

// refuseAny refuses a request that has something wrong with it.
func (s *server) refuseAny(c *Call) (Return, bool) {
	switch c.Method {
	case MethodPublish:
		return s.refuse(c)
	case MethodQuery:
		return s.refuseRead(c.Query.Entries, limitQueryTopics, true)
	case MethodNewest:
		return s.refuseRead(c.Newest.Entries, newestLimit(c.Newest), false)
	default:
		return Return{}, false
	}
}

// sound lists the envelopes of a publish with nothing wrong in them.
func (f *flight) sound() []Envelope {
	var out []Envelope
	if f.call.Method == MethodPublish {
		for _, s := range f.call.Publish.Envelopes {
			if s.Intent.Flaw == Sound {
				out = append(out, s.Intent)
			}
		}
	}
	return out
}

// ready reports whether the call can be answered.
func (f *flight) ready() bool {
	return f.answer != nil || f.call.Method == MethodPublish && f.settled
}

func (w *traffic) begin(actor string) {
	w.headers = pick(w.choose, "headers", nil, []string{"x-app-version", "x-libxmtp-version", "authorization"})
	var u *turn
	switch w.choose(6, "method") {
	case 0, 1:
		u = w.publish(actor, w.envelopes()...)
	case 2, 3:
		u = w.query(actor, pick[uint32](w.choose, "limit", 0, 1, 2, 3, 5, 100), w.reads()...)
	case 4:
		u = w.newest(actor, w.choose(2, "full") == 0, w.reads()...)
	default:
		u = w.invoke(actor, &Call{Method: pick(w.choose, "other", MethodConfiguration, MethodHealth)})
	}
	w.open[actor] = &flight{turn: u}
}

func (w *traffic) log() Log {
	return pick(w.choose, "log", groupLog("g"), groupLog("g"), welcomeLog("w"), commitLog("c"), welcomeLog("x"))
}

func (w *traffic) envelopes() []Envelope {
	var out []Envelope
	for range 1 + w.choose(4, "envelopes") {
		var e Envelope
		if len(w.published) > 0 && w.choose(3, "again") == 0 {
			e = w.published[w.choose(len(w.published), "which")]
		} else {
			w.fresh++
			e = on(w.log(), fmt.Sprint("m", w.fresh))
			e.Size = pick(w.choose, "size", 0, 0, 120, 121)
			if e.Log.Kind == Group {
				e.Form = pick(w.choose, "form", Plain, Plain, PrivateCommit, PublicProposal)
			}
		}
		e.Encoding = pick(w.choose, "encoding", Canonical, Canonical, Reordered)
		out = append(out, e)
	}
	w.published = append(w.published, out...)
	if w.choose(6, "flawed") == 0 {
		out = slices.Insert(out, w.choose(len(out)+1, "where"), flawed(pick(w.choose, "flaw", flaws()...)))
	}
	return out
}

func (w *traffic) reads() []Read {
	var out []Read
	for range 1 + w.choose(4, "reads") {
		r := Read{Log: w.log()}
		rows := w.server.rows[topicOf(r.Log)]
		cursor := uint64(0)
		switch w.choose(8, "cursor") {
		case 0, 1, 2:
			out = append(out, r)
			continue
		case 3, 4, 5:
			if len(rows) > 0 {
				cursor = rows[w.choose(len(rows), "row")].Meta.Sequence + uint64(w.choose(2, "beyond"))
			}
		case 6:
			cursor = math.MaxInt64 + uint64(w.choose(2, "too far"))
		}
		r.Cursor = &cursor
		if w.choose(20, "topic flaw") == 0 {
			r.Flaw = pick(w.choose, "flaw", TopicFlaws()...)
		}
		out = append(out, r)
	}
	return out
}

// advance takes the next step of a call inside the server.
func (w *traffic) advance(f *flight) {
	if _, flawed := w.server.refuseAny(f.call); w.choose(25, "trouble") == 0 && !f.begun && f.answer == nil && (w.troubled || !flawed) {
		f.answer = &Return{Code: pick(w.choose, "code", Unavailable, DeadlineExceeded), Text: "not now"}
		return
	}
	switch {
	case f.answer != nil || f.settled:
	case f.call.Method != MethodPublish:
		w.read(f)
	case !f.begun:
		w.take(f)
	default:
		w.settle(f)
	}
}

// read takes the snapshot that the call is answered from.
func (w *traffic) read(f *flight) {
	from := w.view()
	if f.call.Method == MethodNewest && !w.story.terms.NoReplica {
		from = w.views[len(w.views)-1-w.choose(min(3, len(w.views)), "lag")]
	}
	r := from.answer(f.call)
	f.answer = &r
}

// take begins the transaction of a publish: duplicates are found, ids taken. A
// copy of an envelope that is in another transaction waits for it.
func (w *traffic) take(f *flight) {
	if r, refused := w.server.refuse(f.call); refused {
		f.answer = &r
		return
	}
	for _, o := range append(slices.Collect(maps.Values(w.open)), w.late...) {
		if o == f || !o.begun || o.settled {
			continue
		}
		for _, a := range o.call.Publish.Envelopes {
			if slices.ContainsFunc(f.call.Publish.Envelopes, func(b Sent) bool { return keyOf(a) == keyOf(b) }) {
				return
			}
		}
	}
	f.begun = true
	if w.choose(5, "clock back") == 0 {
		w.server.clock -= 7_000_000
	}
	w.server.clock += 1_000_000
	own := make(map[envelopeKey]Meta)
	for _, s := range f.call.Publish.Envelopes {
		m, ok := w.server.known[keyOf(s)]
		if !ok {
			m, ok = own[keyOf(s)]
		}
		if !ok {
			m = w.server.fresh(s)
			own[keyOf(s)] = m
			w.taken[m.Topic] = append(w.taken[m.Topic], m.Sequence)
			f.rows = append(f.rows, Row{HasMeta: true, Meta: m, HasEnvelope: true, Identity: s.Artefact.Identity})
		}
		f.metas = append(f.metas, m)
	}
}

// settle commits or aborts. An aborted publish leaves a gap and is answered UNAVAILABLE.
func (w *traffic) settle(f *flight) {
	f.settled = true
	f.aborted = w.choose(8, "abort") == 0 && len(f.rows) > 0
	for _, r := range f.rows {
		t := r.Meta.Topic
		w.taken[t] = slices.DeleteFunc(w.taken[t], func(id uint64) bool { return id == r.Meta.Sequence })
		if f.aborted {
			continue
		}
		w.server.known[envelopeKey{t, r.Identity}] = r.Meta
		rows := append(slices.Clone(w.server.rows[t]), r)
		slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Meta.Sequence, b.Meta.Sequence) })
		w.server.rows[t] = rows
	}
	w.views = append(w.views, w.view())
}

// view is the server with the rows that are visible: those below every id that
// is still taken on their topic.
func (w *traffic) view() *server {
	v := w.server.copied()
	for t, ids := range w.taken {
		v.rows[t] = slices.DeleteFunc(slices.Clone(v.rows[t]), func(r Row) bool {
			return slices.ContainsFunc(ids, func(id uint64) bool { return id < r.Meta.Sequence })
		})
	}
	return v
}

// end answers a call, or loses its answer.
func (w *traffic) end(actor string, f *flight) {
	delete(w.open, actor)
	switch {
	case w.choose(w.loss, "lost") == 0:
		w.lostly = append(w.lostly, f.sound())
		if f.call.Method == MethodPublish && !f.settled && f.answer == nil {
			w.late = append(w.late, f)
		}
		f.lost()
	case f.answer != nil:
		if _, refused := w.server.refuseAny(f.call); !refused && (f.answer.Code == Unavailable || f.answer.Code == DeadlineExceeded) {
			w.troubled = true
		}
		f.answers(*f.answer)
	case f.aborted:
		f.code(Unavailable)
	default:
		f.answers(w.server.fitting(Return{Publish: &Published{Metas: f.metas}, WireLen: 100 * len(f.metas)}))
	}
}
