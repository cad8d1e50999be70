package backend

import (
	"fmt"
	"time"

	"assay/model"
)

// tube is an open subscription of a story. Nobody answers on it but the teller.
type tube struct{ *turn }

// subscribe opens a bidirectional subscription that begins as it should.
func (h *story) subscribe(actor string) tube {
	return h.silent(actor).started()
}

// silent opens one that says nothing yet.
func (h *story) silent(actor string) tube {
	return tube{h.invoke(actor, &Call{Method: MethodSubscribe})}
}

func (h *story) static(actor string, reads ...Read) tube {
	c := &StaticCall{}
	for _, r := range reads {
		c.Entries = append(c.Entries, asked(r))
	}
	return tube{h.invoke(actor, &Call{Method: MethodStatic, Static: c, WireLen: 40 * len(reads), CanonicalLen: 40 * len(reads)})}
}

func (h *story) wait(d time.Duration) { h.now += d }

func (u tube) event(p model.Phase, v any) tube {
	u.story.events = append(u.story.events, model.Event{At: u.story.now, Phase: p, Actor: u.actor, Call: u.number, Value: v})
	return u
}

func (u tube) send(r Request) tube { return u.event(model.Send, &r) }

func (u tube) got(r Response) tube { return u.event(model.Receive, &r) }

func (u tube) started(targets ...Target) tube {
	return u.got(Response{Started: &Started{KeepaliveMS: 1000, Targets: targets}})
}

func (u tube) update(id uint64, adds []Read, removes ...Log) tube {
	x := &Update{ID: id}
	for _, r := range adds {
		x.Adds = append(x.Adds, asked(r))
	}
	for _, l := range removes {
		x.Removes = append(x.Removes, asked(Read{Log: l}))
	}
	return u.send(Request{Update: x})
}

func (u tube) applied(id uint64, targets ...Target) tube {
	return u.got(Response{Applied: &Applied{ID: id, Targets: targets}})
}

func (u tube) ping(nonce uint64) tube { return u.send(Request{Ping: &nonce}) }

func (u tube) pong(nonce uint64) tube { return u.got(Response{Pong: &nonce}) }

// rows delivers the rows of a topic from the i-th to before the k-th.
func (u tube) rows(l Log, i, k int) tube {
	return u.got(Response{Messages: &Messages{Rows: u.story.server.rows[topicOf(l)][i:k]}})
}

// head is the target of a topic as it is now.
func (h *story) head(l Log) Target {
	t := Target{HasTopic: true, Topic: topicOf(l)}
	if rows := h.server.rows[t.Topic]; len(rows) > 0 {
		t.Through = rows[len(rows)-1].Meta.Sequence
	}
	return t
}

// on subscribes to topics from the beginning and has them acknowledged.
func (h *story) following(actor string, logs ...Log) tube {
	u := h.subscribe(actor)
	var reads []Read
	var heads []Target
	for _, l := range logs {
		reads, heads = append(reads, all(l)), append(heads, h.head(l))
	}
	return u.update(1, reads).applied(1, heads...)
}

func (h *story) awaited(a Awaited) {
	h.events = append(h.events, model.Event{At: h.now, Phase: model.Mark, Actor: "harness", Value: &a})
}

// numbered are topics of a number.
func numbered(n int) (reads []Read) {
	for i := range n {
		reads = append(reads, all(welcomeLog(fmt.Sprint("n", i))))
	}
	return reads
}

func (h *story) heads(reads []Read) (out []Target) {
	for _, r := range reads {
		out = append(out, h.head(r.Log))
	}
	return out
}
