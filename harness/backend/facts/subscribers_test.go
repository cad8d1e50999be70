package facts_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/harness/backend/facts"
	"assay/model"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// fault is something that a subject does wrong on its subscriptions.
type fault string

// listener is one subscription and the server's side of it. Frames wait in both
// directions for as long as chance likes.
type listener struct {
	sub
	static  bool
	ids     uint64
	wanted  map[rules.Bytes]bool
	inbox   []*rules.Request
	outbox  []*rules.Response
	regs    map[rules.Bytes]*enrolled
	removed []*enrolled
	got     map[rules.Bytes]uint64 // the client's durable cursors
}

type enrolled struct {
	log   rules.Log
	floor uint64
}

// subscribers is traffic in which some clients publish and others listen.
type subscribers struct {
	*story
	r       *rand.Rand
	srv     *server
	logs    []rules.Log
	fault   fault
	replica bool
	view    map[rules.Bytes][]rules.Row // what the serving database shows
	open    []*under
	ears    []*listener
	cursors map[rules.Bytes]uint64
	made    int
}

func listened(seed uint64, steps int, f fault) []model.Event {
	r := rand.New(rand.NewPCG(seed, 7))
	w := &subscribers{story: newStory(seed%2 == 0), r: r, fault: f, replica: seed%2 != 0, cursors: make(map[rules.Bytes]uint64),
		logs: []rules.Log{group("g"), group("h"), commitLog("c")},
		srv:  &server{r: r, next: 5, stored: make(map[rules.Bytes][]rules.Row), pending: make(map[uint64]rules.Bytes)}}
	w.look()
	for range steps {
		switch n := r.IntN(10); {
		case n < 2 && len(w.open) < 3:
			w.publish()
		case n < 4:
			w.advance()
		case n < 5 && len(w.ears) < 3:
			w.listen()
		case len(w.ears) > 0:
			w.turn(w.ears[r.IntN(len(w.ears))])
		}
	}
	return w.events
}

// look takes the moment that reads are served from: now, or for a replica some
// time that is not before the last.
func (w *subscribers) look() {
	if w.view == nil || !w.replica || w.r.IntN(3) == 0 {
		w.view = make(map[rules.Bytes][]rules.Row)
		for _, l := range w.logs {
			w.view[topic(l)] = w.srv.visible(topic(l))
		}
	}
}

func (w *subscribers) publish() {
	w.made++
	u := &under{}
	for k := range 1 + w.r.IntN(3) {
		u.items = append(u.items, item{log: w.logs[w.r.IntN(len(w.logs))], content: fmt.Sprint(w.made, k)})
	}
	u.c = publish(u.items...)
	u.call = w.begin(u.c)
	w.open = append(w.open, u)
}

// advance takes a publish one step further: it takes ids, settles, is answered.
func (w *subscribers) advance() {
	if len(w.open) == 0 {
		return
	}
	k := w.r.IntN(len(w.open))
	u := w.open[k]
	switch u.step++; u.step {
	case 1:
		for _, i := range u.items {
			w.srv.next += uint64(1 + w.r.IntN(2))
			u.ids = append(u.ids, w.srv.next)
			w.srv.pending[w.srv.next] = topic(i.log)
		}
	case 2:
		u.ret = code(rules.Unavailable)
		if w.r.IntN(5) > 0 {
			u.ret = published()
		}
		for n, i := range u.items {
			delete(w.srv.pending, u.ids[n])
			if u.ret.Publish != nil {
				t := topic(i.log)
				row := i.row(u.ids[n])
				row.Meta.ServerNS = 1000 + u.ids[0] // one transaction has one time
				w.srv.stored[t] = append(w.srv.stored[t], row)
				slices.SortFunc(w.srv.stored[t], func(a, b rules.Row) int { return int(a.Meta.Sequence) - int(b.Meta.Sequence) })
				u.ret.Publish.Metas = append(u.ret.Publish.Metas, row.Meta)
			}
		}
	default:
		if w.r.IntN(6) == 0 {
			u.ret = lost()
		}
		w.end(u.call, u.ret)
		w.open = slices.Delete(w.open, k, k+1)
	}
}

func (w *subscribers) asked(l rules.Log) rules.Asked {
	cursor := uint64(0)
	switch w.r.IntN(4) {
	case 0:
		cursor = w.cursors[topic(l)]
	case 1:
		cursor = uint64(w.r.IntN(int(w.srv.next) + 5))
	}
	return from(l, cursor)
}

func (w *subscribers) listen() {
	l := &listener{static: w.r.IntN(3) == 0, wanted: make(map[rules.Bytes]bool), regs: make(map[rules.Bytes]*enrolled), got: w.cursors}
	if !l.static {
		l.sub = sub{w.story, w.begin(&rules.Call{Method: rules.MethodSubscribe})}
		l.outbox = append(l.outbox, &rules.Response{Started: &rules.Started{KeepaliveMS: 30_000}})
	} else {
		var asked []rules.Asked
		for _, k := range w.r.Perm(len(w.logs))[:1+w.r.IntN(len(w.logs))] {
			asked = append(asked, w.asked(w.logs[k]))
		}
		l.sub = w.story.static(asked...)
		l.outbox = append(l.outbox, &rules.Response{Started: &rules.Started{KeepaliveMS: 30_000, Targets: w.enrol(l, asked)}})
	}
	w.ears = append(w.ears, l)
}

// enrol registers topics and reads their heads, at one moment.
func (w *subscribers) enrol(l *listener, adds []rules.Asked) (targets []rules.Target) {
	if w.fault != "stale target" {
		w.look()
	}
	for _, a := range adds {
		if e := l.regs[a.Topic]; e != nil {
			if w.fault == "add rewinds" {
				e.floor = *a.Cursor
			}
			continue
		}
		l.regs[a.Topic] = &enrolled{log: a.Log, floor: *a.Cursor}
		t := rules.Target{HasTopic: true, Topic: a.Topic}
		if rows := w.view[a.Topic]; len(rows) > 0 {
			t.Through = rows[len(rows)-1].Meta.Sequence
		}
		if w.fault == "target that was no head" && t.Through > 0 {
			t.Through += 1000
		}
		targets = append(targets, t)
	}
	return targets
}

// turn lets one thing happen on a subscription.
func (w *subscribers) turn(l *listener) {
	switch n := w.r.IntN(12); {
	case n < 2 && !l.static:
		w.write(l)
	case n < 4 && len(l.inbox) > 0:
		w.serve(l)
	case n < 7:
		w.deliver(l)
	case n < 11 && len(l.outbox) > 0:
		l.sub.got(l.outbox[0])
		if m := l.outbox[0].Messages; m != nil {
			for _, row := range m.Rows {
				w.cursors[row.Meta.Topic] = max(w.cursors[row.Meta.Topic], row.Meta.Sequence)
			}
		}
		l.outbox = l.outbox[1:]
	case w.r.IntN(20) == 0:
		w.end(l.call, lost())
		w.ears = slices.DeleteFunc(w.ears, func(x *listener) bool { return x == l })
	}
}

// write has the client send a frame.
func (w *subscribers) write(l *listener) {
	if w.r.IntN(4) == 0 {
		n := w.r.Uint64N(3)
		r := &rules.Request{Ping: &n}
		l.frame(model.Send, r)
		l.inbox = append(l.inbox, r)
		return
	}
	l.ids += uint64(1 + w.r.IntN(2))
	u := &rules.Update{ID: l.ids}
	for _, k := range w.r.Perm(len(w.logs))[:1+w.r.IntN(len(w.logs))] {
		if w.r.IntN(3) > 0 {
			u.Adds = append(u.Adds, w.asked(w.logs[k]))
		} else {
			u.Removes = append(u.Removes, rules.Asked{Read: rules.Read{Log: w.logs[k]}, Topic: topic(w.logs[k])})
		}
	}
	r := &rules.Request{Update: u}
	l.frame(model.Send, r)
	l.inbox = append(l.inbox, r)
}

// serve has the server take the next frame.
func (w *subscribers) serve(l *listener) {
	r := l.inbox[0]
	l.inbox = l.inbox[1:]
	if r.Ping != nil {
		l.outbox = append(l.outbox, &rules.Response{Pong: r.Ping})
		return
	}
	for _, x := range r.Update.Removes {
		if e := l.regs[x.Topic]; e != nil {
			delete(l.regs, x.Topic)
			l.removed = append(l.removed, e)
		}
	}
	targets := w.enrol(l, r.Update.Adds)
	at := len(l.outbox)
	if w.fault == "rows before their acknowledgement" {
		w.deliver(l)
	}
	l.outbox = slices.Insert(l.outbox, at, &rules.Response{Applied: &rules.Applied{ID: r.Update.ID, Targets: targets}})
	if w.fault == "rows before their acknowledgement" {
		l.outbox = append(append(l.outbox[:at:at], l.outbox[at+1:]...), l.outbox[at])
	}
}

// deliver queues a frame of rows of some topics.
func (w *subscribers) deliver(l *listener) {
	w.look()
	m := &rules.Messages{}
	all := make([]*enrolled, 0, len(w.logs))
	for _, x := range w.logs {
		if e := l.regs[topic(x)]; e != nil && w.r.IntN(3) > 0 {
			all = append(all, e)
		}
	}
	if w.fault == "removed topic goes on" {
		all = append(all, l.removed...)
	}
	for _, e := range all {
		n := 1 + w.r.IntN(3)
		for _, row := range w.view[topic(e.log)] {
			if row.Meta.Sequence <= e.floor || n == 0 {
				continue
			}
			n--
			if w.fault != "rows come again" || w.r.IntN(3) > 0 {
				e.floor = row.Meta.Sequence
			}
			if w.fault == "rows get lost" && w.r.IntN(4) == 0 {
				continue
			}
			m.Rows = append(m.Rows, row)
		}
	}
	if len(m.Rows) > 0 {
		l.outbox = append(l.outbox, &rules.Response{Messages: m})
	}
}

func judgedWhole(events []model.Event) model.Judged {
	return facts.Combine(rules.Judge(events), facts.Judge(events))
}

func TestAnHonestSubjectOfManySubscriptionsIsNeverAccused(t *testing.T) {
	held := make(map[spec.ID]bool)
	for seed := range uint64(300) {
		j := judgedWhole(listened(seed, 300, ""))
		if len(j.Breaches()) > 0 {
			b := j.Breaches()[0]
			t.Fatalf("seed %d: call %d: %s: expected %s, got %s, events %v", seed, b.Call, b.Assertion, b.Breach.Expected, b.Breach.Got, b.Breach.Events)
		}
		for _, v := range j.Judgements {
			if v.Held() {
				held[v.Assertion.Requirement] = true
			}
		}
	}
	for _, id := range []spec.ID{backendreq.API011, backendreq.API016, backendreq.API090, backendreq.API091, backendreq.API093, backendreq.API094, backendreq.API095,
		backendreq.API096, backendreq.API097, backendreq.API099, backendreq.API100, backendreq.API102, backendreq.API111, backendreq.API112, backendreq.API164} {
		if !held[id] {
			t.Errorf("%s was never held", id)
		}
	}
}

func TestEveryFaultOfSubscriptionsIsFound(t *testing.T) {
	for f, want := range map[fault][]spec.ID{
		"rows get lost":                     {backendreq.API096, backendreq.API112, backendreq.API011},
		"rows come again":                   {backendreq.API095, backendreq.API112},
		"rows before their acknowledgement": {backendreq.API096},
		"removed topic goes on":             {backendreq.API100},
		"add rewinds":                       {backendreq.API100, backendreq.API095},
		"target that was no head":           {backendreq.API097, backendreq.API111},
		"stale target":                      {backendreq.API016},
	} {
		found := make(map[spec.ID]bool)
		for seed := range uint64(60) {
			for _, id := range breached(judgedWhole(listened(seed, 300, f))) {
				found[id] = true
			}
		}
		for _, id := range want {
			if !found[id] {
				t.Errorf("%s: %s is not breached, only %v", f, id, found)
			}
		}
	}
}

func TestNoOddSubscriptionMakesTheJudgesPanic(t *testing.T) {
	for seed := range uint64(200) {
		events := listened(seed, 200, "")
		r := rand.New(rand.NewPCG(seed, 9))
		for range 1 + r.IntN(8) {
			switch i, k := r.IntN(len(events)), r.IntN(len(events)); r.IntN(4) {
			case 0:
				events = slices.Delete(events, i, i+1)
			case 1:
				events[i].Value = events[k].Value
			case 2:
				events[i].Call, events[i].Phase = events[k].Call, events[k].Phase
			default:
				events[i], events[k] = events[k], events[i]
			}
		}
		for i := range events {
			events[i].Index = i
		}
		for _, v := range judgedWhole(events).Breaches() {
			for _, at := range v.Breach.Events {
				if at < 0 || at >= len(events) {
					t.Fatalf("seed %d: %s is proved by event %d of %d", seed, v.Assertion, at, len(events))
				}
			}
		}
	}
}
