package chain_test

import (
	"bytes"
	"slices"
	"testing"

	"assay/harness/backend/chain"
	"assay/harness/backend/craft"
	"assay/harness/backend/wire"
	"assay/harness/postgres/pgtest"
	"assay/harness/subject"
	"assay/impl/backend/backendtest"
	"assay/impl/backend/config"
	"assay/model/backend"
)

// live is the reference backend on a real database and a simulated chain, with
// a client and a crafter.
type live struct {
	t     *testing.T
	chain *chain.Chain
	craft *craft.Crafter
	wire  *wire.Client
}

func run(t *testing.T) *live {
	t.Helper()
	c := start(t)
	b := backendtest.Start(t, pgtest.ForTest(t).URL(), backendtest.Options{Configure: func(o *config.Config) {
		o.Chains = map[string]string{"eip155:1337": c.URL(), "eip155:31337": c.URL()}
		o.Validation.MaxChainCallMS = 2000
	}})
	w, err := wire.Dial(subject.Endpoint{Scheme: "grpc", Address: b.Address}, wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return &live{t, c, craft.New(1, "n", t.Name()).WithChain(c), w}
}

func (l *live) publish(u backend.IdentityUpdate) backend.Return {
	l.t.Helper()
	request, _, _, err := l.craft.PublishRequest([]backend.Envelope{{Log: u.Inbox.Log(), Update: &u}})
	if err != nil {
		l.t.Fatal(err)
	}
	return l.wire.Publish(l.t.Context(), request)
}

func (l *live) lookup(ls ...backend.Lookup) []*string {
	l.t.Helper()
	request, _, err := l.craft.LookupRequest(ls)
	if err != nil {
		l.t.Fatal(err)
	}
	r := l.wire.Lookup(l.t.Context(), request)
	if r.Code != backend.OK || len(r.InboxIDs.Entries) != len(ls) {
		l.t.Fatalf("lookup: %+v", r)
	}
	var out []*string
	for _, e := range r.InboxIDs.Entries {
		out = append(out, e.Inbox)
	}
	return out
}

func (l *live) verify(vs ...backend.Verification) backend.Return {
	l.t.Helper()
	request, _, err := l.craft.VerifyRequest(vs)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.wire.Verify(l.t.Context(), request)
}

func create(p backend.Party) backend.IdentityUpdate {
	return backend.IdentityUpdate{Inbox: backend.InboxRef{Creator: p}, Second: 1, Actions: []backend.Action{{Kind: backend.CreateInbox, Subject: p}}}
}

func TestARunningBackendAcceptsContractsAndFindsThem(t *testing.T) {
	l := run(t)
	for _, b := range []backend.Behaviour{backend.Plainly, backend.Counterfactual, backend.Toggled} {
		p := party(b)
		if r := l.publish(create(p)); r.Code != backend.OK {
			t.Errorf("created by a contract that %q: %+v", b, r)
		}
		ids := l.lookup(backend.Lookup{Party: p}, backend.Lookup{Party: p, Spelling: backend.ChecksummedSpelling}, backend.Lookup{Party: backend.Party{Kind: backend.Wallet, Name: "nobody"}})
		topic := l.craft.Topic(backend.InboxRef{Creator: p}.Log())
		if ids[0] == nil || ids[1] == nil || *ids[0] != *ids[1] || "02"+*ids[0] != topic.String() || ids[2] != nil {
			t.Errorf("a contract that %q is found in %v, on topic %s", b, ids, topic)
		}
	}
	for _, b := range []backend.Behaviour{backend.Never, backend.Reverts} {
		if r := l.publish(create(party(b))); r.Code != backend.InvalidArgument && r.Code != backend.Unavailable {
			t.Errorf("created by a contract that %q: %+v", b, r)
		}
	}
	yes, no := backend.Verification{By: backend.Signing{Party: party(backend.Plainly)}}, backend.Verification{By: backend.Signing{Party: party(backend.Never), Block: backend.Newest}}
	r := l.verify(yes, no, yes)
	if r.Code != backend.OK || len(r.Verified.Entries) != 3 {
		t.Fatalf("verification: %+v", r)
	}
	if e := r.Verified.Entries; !e[0].Valid || e[1].Valid || !e[2].Valid || e[1].Number == nil {
		t.Errorf("verification: %+v", e)
	}
}

func TestARunningBackendIsUnavailableWhileItsChainIsCutAndNotAfter(t *testing.T) {
	l := run(t)
	for i, outage := range []chain.Outage{chain.Broken, chain.Silent, chain.Refusing, chain.Failing} {
		t.Run(outage.String(), func(t *testing.T) {
			l := *l
			l.t = t
			p := backend.Party{Kind: backend.Contract, Name: "c" + string(rune('0'+i))}
			u := create(p)
			e := []backend.Envelope{{Log: u.Inbox.Log(), Update: &u}}
			request, _, _, err := l.craft.PublishRequest(e)
			if err != nil {
				t.Fatal(err)
			}
			l.chain.Cut(outage)
			if r := l.wire.Publish(t.Context(), request); r.Code != backend.Unavailable {
				t.Errorf("cut: %+v", r)
			}
			verification := backend.Verification{By: backend.Signing{Party: p, Block: backend.Newest}}
			if r := l.verify(verification); r.Code != backend.Unavailable {
				t.Errorf("cut, a verification: %+v", r)
			}
			if r := l.publish(create(backend.Party{Kind: backend.Wallet, Name: p.Name})); r.Code != backend.OK {
				t.Errorf("cut, an update that needs no chain: %+v", r)
			}
			l.chain.Restore()
			again, _, _, err := l.craft.PublishRequest(e)
			if err != nil || !bytes.Equal(again, request) {
				t.Fatalf("made again, the request differs, %v", err)
			}
			if r := l.wire.Publish(t.Context(), again); r.Code != backend.OK {
				t.Errorf("restored, the same bytes: %+v", r)
			}
			if r := l.verify(verification); r.Code != backend.OK || !r.Verified.Entries[0].Valid {
				t.Errorf("restored, a verification: %+v", r)
			}
		})
	}
}

// A key package after its identity update, and an update right after the one it
// builds on (API-017): what is crafted is taken by the whole backend.
func TestARunningBackendTakesAnInboxsLife(t *testing.T) {
	l := run(t)
	w, i, k := backend.Party{Kind: backend.Wallet, Name: "w"}, backend.Party{Kind: backend.Installation, Name: "i"}, backend.Party{Kind: backend.Passkey, Name: "k"}
	inbox := backend.InboxRef{Creator: w}
	for n, u := range []backend.IdentityUpdate{
		{Actions: []backend.Action{{Kind: backend.CreateInbox, Subject: w}, {Kind: backend.AddAssociation, Subject: i, By: backend.Signing{Party: w}}}},
		{Actions: []backend.Action{{Kind: backend.AddAssociation, Subject: k, By: backend.Signing{Party: i}}}},
		{Actions: []backend.Action{{Kind: backend.RevokeAssociation, Subject: w, By: backend.Signing{Party: w}}}},
	} {
		u.Inbox, u.Second = inbox, int64(n)
		if r := l.publish(u); r.Code != backend.OK {
			t.Fatalf("update %d: %+v", n, r)
		}
	}
	if ids := l.lookup(backend.Lookup{Party: w}, backend.Lookup{Party: k}, backend.Lookup{Party: k, Spelling: backend.UpperSpelling}, backend.Lookup{Party: k, Spelling: backend.CompressedSpelling}); ids[0] != nil || ids[1] == nil || ids[2] == nil || ids[3] != nil {
		t.Errorf("found in %v", ids)
	}
	for _, suite := range []uint16{1, 3} {
		for _, f := range append(backend.KeyPackageFlaws(), backend.SoundPackage) {
			p := backend.KeyPackageIntent{Installation: i, Inbox: inbox, Suite: suite, Flaw: f}
			request, call, _, err := l.craft.PublishRequest([]backend.Envelope{{Log: i.Log(), Package: &p}})
			if err != nil {
				t.Fatal(err)
			}
			r := l.wire.Publish(t.Context(), request)
			if f == backend.SoundPackage {
				if r.Code != backend.OK || r.Publish.Metas[0].Topic != call.Envelopes[0].Artefact.Topic {
					t.Errorf("suite %d: %+v", suite, r)
				}
				continue
			}
			if r.Code != backend.InvalidArgument || len(r.Details) != 1 || !slices.Contains([]backend.Reason{backend.ReasonMalformedPayload, backend.ReasonInvalidKeyPackage}, r.Details[0].Reason) {
				t.Errorf("suite %d with flaw %q: %+v", suite, f, r)
			}
		}
	}
}
