package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"assay/model"
)

// madeOf makes a Sent of an intent about identities: equal intents have equal
// identities, and a flaw leads to the topic that it leads to.
func madeOf(e Envelope) Sent {
	value := e
	value.Encoding = Canonical
	b, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	a := Artefact{Identity: sha256.Sum256(b), WireLen: 300, CanonicalLen: 300, Topic: topicOf(e.Log)}
	switch u := e.Update; {
	case u != nil && u.Flaw.NoTopic(), e.Package != nil && e.Package.Flaw.NoTopic():
		a.Topic = ""
	case u != nil && u.Flaw.OtherTopic():
		a.Topic = topicOf(Log{Kind: Identity, Name: string(u.Flaw) + u.Inbox.String()})
	}
	return Sent{Intent: e, Artefact: a}
}

// puts publishes envelopes of any kind, identity updates and key packages too.
func (h *story) puts(actor string, envelopes ...Envelope) *turn {
	c := &Call{Method: MethodPublish, Publish: &PublishCall{}}
	for _, e := range envelopes {
		s := sent(e)
		if e.Update != nil || e.Package != nil {
			s = madeOf(e)
		}
		c.Publish.Envelopes = append(c.Publish.Envelopes, s)
		c.WireLen += s.Artefact.WireLen + 4
		c.CanonicalLen += s.Artefact.CanonicalLen + 4
	}
	return h.invoke(actor, c)
}

func updating(u IdentityUpdate) Envelope { return Envelope{Log: u.Inbox.Log(), Update: &u} }

func packaging(k KeyPackageIntent) Envelope {
	return Envelope{Log: k.Installation.Log(), Package: &k}
}

// update publishes one identity update.
func (h *story) update(actor string, u IdentityUpdate) *turn { return h.puts(actor, updating(u)) }

// updates publishes updates one after the other, all accepted, and shows them to
// a query.
func (h *story) updates(us ...IdentityUpdate) {
	for _, u := range us {
		h.update("A", u).answered()
		h.shows(u.Inbox)
	}
}

// shows reads an inbox.
func (h *story) shows(r InboxRef) { h.query("A", 0, all(r.Log())).answered() }

// node marks the state of the chain.
func (h *story) node(n Node) {
	h.events = append(h.events, model.Event{Phase: model.Mark, Actor: "harness", Value: &n})
}

// lookup asks for identifiers.
func (h *story) lookup(entries ...Lookup) *turn {
	c := &Call{Method: MethodLookup, Lookup: &LookupCall{}}
	for _, l := range entries {
		c.Lookup.Entries = append(c.Lookup.Entries, LookedUp{Lookup: l, Identifier: l.Party.String() + " " + string(l.Spelling), Kind: uint32(l.Party.Kind)})
	}
	return h.invoke("A", c)
}

// finds answers a lookup: inboxes in order, of the zero creator for none.
func (u *turn) finds(inboxes ...InboxRef) *turn {
	out := &InboxIDs{}
	for i, r := range inboxes {
		a := InboxID{Identifier: u.call.Lookup.Entries[i].Identifier, Kind: u.call.Lookup.Entries[i].Kind}
		if r != (InboxRef{}) {
			id := hex.EncodeToString([]byte(topicOf(r.Log())[1:]))
			a.Inbox = &id
		}
		out.Entries = append(out.Entries, a)
	}
	return u.answers(Return{InboxIDs: out})
}

// verify asks about contract signatures.
func (h *story) verify(entries ...Verification) *turn {
	c := &Call{Method: MethodVerify, Verify: &VerifyCall{}}
	for _, v := range entries {
		c.Verify.Entries = append(c.Verify.Entries, Verifying{Verification: v, Account: v.By.Party.String()})
	}
	return h.invoke("A", c)
}

// says answers a verification.
func (u *turn) says(valid ...bool) *turn {
	out := &WalletAnswers{}
	for _, v := range valid {
		out.Entries = append(out.Entries, WalletAnswer{Valid: v})
	}
	return u.answers(Return{Verified: out})
}
