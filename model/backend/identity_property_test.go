package backend

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"assay/model"
)

// registry is a correct backend for identities whose publishes take steps: what
// stands between two steps of one publish is somebody else's. It decides with
// Apply; what is tried here is what the judge makes of concurrency, loss, lag and
// a chain that comes and goes.
type registry struct {
	choose func(n int, label string) int
	story  *story
	inbox  map[Bytes]*shelf
	node   Node
	proven map[Digest]bool // updates whose contracts were asked once
	open   []*work
	past   []map[Bytes]*shelf // what a replica may still show
	// aborted are updates to be sent again.
	aborted []IdentityUpdate
}

// shelf is one inbox: its log's length and what it means.
type shelf struct {
	ref   InboxRef
	topic Bytes
	state *Associations
	head  uint64
}

// work is a publish on its way through the backend.
type work struct {
	*turn
	// heads are what was validated against; result is set when all is decided.
	heads     map[Bytes]uint64
	after     map[Bytes]*Associations
	result    *Return
	validated bool
	gone      bool // the client has given up
}

func (g *registry) pick(what string, n int) int { return g.choose(n, what) }

func (g *registry) conditions() Conditions { return Conditions{Known: true, Node: g.node} }

func (g *registry) shelf(topic Bytes, ref InboxRef) *shelf {
	s := g.inbox[topic]
	if s == nil {
		s = &shelf{ref: ref, topic: topic}
		g.inbox[topic] = s
	}
	return s
}

// keep remembers how everything is now, for a replica that lags.
func (g *registry) keep() {
	now := make(map[Bytes]*shelf)
	for t, s := range g.inbox {
		c := *s
		now[t] = &c
	}
	g.past = append(g.past, now)
}

// step moves one publish on.
func (g *registry) step(w *work) {
	switch {
	case w.result != nil:
		if !w.gone {
			w.answers(*w.result)
		}
		g.open = slices.DeleteFunc(g.open, func(o *work) bool { return o == w })
	case !w.validated:
		g.validate(w)
	default:
		g.commit(w)
	}
}

// stored reports whether the backend has an envelope.
func (g *registry) stored(s Sent) bool { _, ok := g.story.server.known[keyOf(s)]; return ok }

func (g *registry) validate(w *work) {
	w.validated = true
	w.heads, w.after = make(map[Bytes]uint64), make(map[Bytes]*Associations)
	for i, s := range w.call.Publish.Envelopes {
		u := s.Intent.Update
		if g.stored(s) {
			continue
		}
		if s.Artefact.Topic == "" {
			r := invalid(i, mal)
			w.result = &r
			return
		}
		if _, twice := w.heads[s.Artefact.Topic]; twice {
			if keyOf(s) == keyOf(w.call.Publish.Envelopes[0]) {
				continue
			}
			r := invalid(i, iiu)
			w.result = &r
			return
		}
		b := g.shelf(s.Artefact.Topic, u.Inbox)
		w.heads[b.topic] = b.head
		c := g.conditions()
		wallets := countWallets(u) > 0
		if g.node.Cut && (wallets && !g.proven[s.Artefact.Identity] || b.state != nil && b.state.wallets && g.pick("cold cache", 2) == 0) {
			w.result = &Return{Code: Unavailable, Text: "the chain does not answer"}
			return
		}
		c.Node.Cut = false
		ruling := c.Apply(b.state, u)
		if ruling.MustRefuse() || !ruling.MustAccept() && g.pick("refuse what is open", 2) == 0 {
			g.refuse(w, i, ruling)
			return
		}
		if wallets {
			g.proven[s.Artefact.Identity] = true
		}
		w.after[b.topic] = nil
	}
}

// refuse gives one of the legal reasons.
func (g *registry) refuse(w *work, i int, ruling Ruling) {
	reasons, any := ruling.Reasons()
	if any {
		reasons = []Reason{mal, iiu, sig}
	}
	r := invalid(i, reasons[g.pick("reason", len(reasons))])
	w.result = &r
}

func (g *registry) commit(w *work) {
	for _, s := range w.call.Publish.Envelopes {
		if b := g.inbox[s.Artefact.Topic]; !g.stored(s) && b.head != w.heads[s.Artefact.Topic] {
			w.result = &Return{Code: Aborted, Text: "the inbox changed"}
			g.aborted = append(g.aborted, *s.Intent.Update)
			return
		}
	}
	fresh := slices.DeleteFunc(slices.Clone(w.call.Publish.Envelopes), g.stored)
	metas := g.story.server.commit(w.call.Publish.Envelopes)
	for i, s := range w.call.Publish.Envelopes {
		if !slices.ContainsFunc(fresh, func(f Sent) bool { return keyOf(f) == keyOf(s) }) {
			continue
		}
		b := g.inbox[s.Artefact.Topic]
		if b.head == metas[i].Sequence {
			continue // its twin was taken
		}
		c := g.conditions()
		c.Node.Cut, c.Sequence = false, metas[i].Sequence
		after := c.Apply(b.state, s.Intent.Update).After()
		b.state, b.head = after[g.pick("what it means", len(after))], metas[i].Sequence
	}
	w.result = &Return{Publish: &Published{Metas: metas}, WireLen: 100 * len(metas)}
	g.keep()
}

// lookup answers from now, or from some time before.
func (g *registry) lookup(l Lookup, lag bool) *string {
	shelves := g.inbox
	if lag && len(g.past) > 0 {
		shelves = g.past[g.pick("lag", len(g.past))]
	}
	s := l.seeks()
	if !s.found {
		return nil
	}
	var best *shelf
	var since uint64
	for _, b := range shelves {
		at, ok := b.state.has(s.id)
		if ok && (best == nil || at.high > since) {
			best, since = b, at.high
		}
	}
	if best == nil {
		return nil
	}
	id := hex.EncodeToString([]byte(best.topic[1:]))
	return &id
}

// lifeInboxes are the inboxes of a session.
func lifeInboxes() []InboxRef {
	return []InboxRef{inboxOf(w(1)), {Creator: w(1), Nonce: 1}, inboxOf(k(1)), inboxOf(c(Always))}
}

// update draws an update: half of the time by somebody who may.
func (g *registry) update() IdentityUpdate {
	parties := []Party{w(1), w(2), i(1), i(2), k(1), c(Always)}
	ref := lifeInboxes()[g.pick("inbox", len(lifeInboxes())+2)%len(lifeInboxes())] // the first two are busier
	u := at(int64(g.pick("second", 6)), ref)
	u.Nanosecond = uint32(g.pick("nanosecond", 2))
	state := g.shelf(topicOf(ref.Log()), ref).state
	someone := func(what string) Party { return parties[g.pick(what, len(parties))] }
	for range 1 + g.pick("actions", 2) {
		signer := Signing{Party: someone("signer")}
		if members := state.Members(); state != nil && g.pick("honest signer", 3) > 0 {
			signer = sound(state, append(members, state.recovery.party)[g.pick("member", len(members)+1)])
		}
		switch kind := g.pick("action", 8); {
		case state == nil && kind < 6 && len(u.Actions) == 0:
			u.Actions = append(u.Actions, create(ref.Creator))
		case kind == 7:
			p := someone("heir")
			if p.Kind == Installation {
				p = w(2)
			}
			u.Actions = append(u.Actions, Action{Kind: ChangeRecovery, Subject: p, By: signer})
		case kind >= 5:
			p := someone("revoked")
			if g.pick("the creator", 2) == 0 {
				p = ref.Creator
			}
			u.Actions = append(u.Actions, Action{Kind: RevokeAssociation, Subject: p, By: signer})
		default:
			u.Actions = append(u.Actions, Action{Kind: AddAssociation, Subject: someone("joins"), By: signer})
		}
	}
	switch g.pick("odd", 12) {
	case 0:
		u.Flaw = []UpdateFlaw{TextNewline, InboxNotHex, InboxSeparator}[g.pick("flaw", 3)]
	case 1:
		a := u.Actions[0]
		u.Actions[0] = a.by(oddBy([]SignatureVariant{OrdinarySignature, HighS, Delegated}[g.pick("variant", 3)]))
		if !u.Actions[0].By.Variant.Fits(u.Actions[0].By.Party) {
			u.Actions[0] = a
		}
	}
	return u
}

// session plays some dozens of steps and returns the history.
func lifeSession(choose func(int, string) int) *story {
	replica := choose(2, "replica") == 1
	h := tell(func(terms *Terms) { terms.NoReplica = !replica })
	g := &registry{choose: choose, story: h, inbox: make(map[Bytes]*shelf), node: Node{Routed: true}, proven: make(map[Digest]bool)}
	h.node(g.node)
	var reads []Read
	for _, r := range lifeInboxes() {
		reads = append(reads, all(r.Log()))
	}
	var sentBefore []IdentityUpdate
	busy := func(actor string) bool {
		return slices.ContainsFunc(g.open, func(w *work) bool { return w.actor == actor && !w.gone })
	}
	for range 10 + choose(80, "steps") {
		actor := []string{"A", "B", "C"}[g.pick("actor", 3)]
		switch what := g.pick("step", 12); {
		case what < 4 && !busy(actor):
			u := g.update()
			if len(sentBefore) > 0 && g.pick("again", 5) == 0 {
				u = sentBefore[g.pick("which", len(sentBefore))]
			} else if n := len(g.aborted); n > 0 && g.pick("resend", 2) == 0 {
				u, g.aborted = g.aborted[n-1], g.aborted[:n-1]
			}
			sentBefore = append(sentBefore, u)
			es := []Envelope{updating(u)}
			if g.pick("twin", 10) == 0 {
				es = append(es, updating(u))
			}
			g.open = append(g.open, &work{turn: h.puts(actor, es...)})
		case what < 9 && len(g.open) > 0:
			g.step(g.open[g.pick("which", len(g.open))])
		case what == 9 && len(g.open) > 0:
			if w := g.open[g.pick("lost", len(g.open))]; !w.gone && g.pick("really", 3) == 0 {
				w.gone = true
				w.lost()
			}
		case what == 10 && !busy(actor):
			entries := []Lookup{{Party: w(1)}, {Party: w(2)}, {Party: k(1)}, {w(1), OtherKindSpelling}, {Party: c(Always)}, {w(2), ChecksummedSpelling}}
			u := h.lookup(entries...)
			out := &InboxIDs{}
			for _, e := range u.call.Lookup.Entries {
				out.Entries = append(out.Entries, InboxID{Identifier: e.Identifier, Kind: e.Kind, Inbox: g.lookup(e.Lookup, replica)})
			}
			u.answers(Return{InboxIDs: out})
		case what == 11 && g.pick("chain", 3) == 0:
			g.node.Cut = !g.node.Cut
			h.node(g.node)
		case what == 11 && !busy(actor):
			h.query(actor, 0, reads...).answered()
		}
	}
	for len(g.open) > 0 {
		g.step(g.open[0])
	}
	return h
}

func TestNoIdentitySessionWithACorrectBackendIsCalledABreach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := lifeSession(func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) })
		if j := h.judged(); len(j.Breaches()) > 0 {
			t.Fatalf("a correct backend breaches\n%s\nin\n%s", explain(j), recounted(h))
		}
	})
}

func TestNoUniformlyDrawnIdentitySessionIsCalledABreach(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	proved := make(map[string]int)
	for n := range 3000 {
		h := lifeSession(func(n int, _ string) int { return random.IntN(n) })
		j := h.judged()
		if len(j.Breaches()) > 0 {
			t.Fatalf("session %d: a correct backend breaches\n%s\nin\n%s", n, explain(j), recounted(h))
		}
		for _, v := range j.Judgements {
			if v.Held() && (v.Needs == "" || j.Witnesses[v.Needs]) {
				proved[v.Assertion.Name]++
			}
		}
	}
	for _, a := range []model.Assertion{identityOrder, dependentPublish, staleDuplicate, updateAccepted, signatureRefused, strangerRefused, replayRefused, stateRefused,
		oneWinner, abortedRaces, resendWorks, lookupLatest, lookupReveals, lookupAbsent, severalInbox, chainFailure} {
		if proved[a.Name] < 5 {
			t.Errorf("%s was proved %d times: the sessions hardly reach it", a, proved[a.Name])
		}
	}
}

// recounted writes what identity calls of a story say, one a line.
func recounted(h *story) string {
	out := ""
	for n, e := range h.history() {
		out += fmt.Sprintf("%d %s %d ", n, e.Actor, e.Call)
		switch v := e.Value.(type) {
		case *Call:
			if v.Publish != nil {
				for _, s := range v.Publish.Envelopes {
					out += fmt.Sprintf("%s %s%s second %d.%d: %+v; ", s.Intent.Update.Inbox, s.Intent.Update.Flaw, s.Intent.Update.Variant, s.Intent.Update.Second, s.Intent.Update.Nanosecond, s.Intent.Update.Actions)
				}
			} else {
				out += string(v.Method)
			}
		case *Return:
			out += fmt.Sprintf("%s %s %v", v.Code, v.Lost, v.Details)
			if v.Publish != nil {
				out += fmt.Sprintf(" ids %d", v.Publish.Metas[0].Sequence)
			}
			if v.InboxIDs != nil {
				for _, e := range v.InboxIDs.Entries {
					out += " " + answerText(e.Inbox)
				}
			}
		default:
			out += fmt.Sprintf("%+v", v)
		}
		out += "\n"
	}
	return out
}
