package craft_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"assay/harness/backend/craft"
	"assay/model/backend"
)

// life is an update with a signature of every kind that needs no chain.
func life(nonce uint64, second int64, ns uint32) backend.Envelope {
	inbox := backend.InboxRef{Creator: w1, Nonce: nonce}
	return backend.Envelope{Log: inbox.Log(), Update: &backend.IdentityUpdate{Inbox: inbox, Second: second, Nanosecond: ns, Actions: []backend.Action{
		create(w1), add(i1, by(w1)), add(pk, by(i1)), revoke(w3, backend.Signing{Party: w1, Variant: backend.Delegated}), recoverBy(pk, by(w1)),
	}}}
}

func TestEqualSeedsMakeEqualUpdatesAndOthersShareNothing(t *testing.T) {
	make := func(seed uint64, nonce, scope string) ([]byte, backend.Artefact) {
		b, a, err := craft.New(seed, nonce, scope).Envelope(life(0, 5, 6))
		if err != nil {
			t.Fatal(err)
		}
		return b, a
	}
	first, a := make(1, "n", "s")
	if again, b := make(1, "n", "s"); !bytes.Equal(again, first) || a != b {
		t.Error("made again, the update differs")
	}
	for _, c := range []struct {
		seed         uint64
		nonce, scope string
	}{{2, "n", "s"}, {1, "m", "s"}, {1, "n", "r"}} {
		if other, b := make(c.seed, c.nonce, c.scope); bytes.Equal(other, first) || b.Topic == a.Topic {
			t.Errorf("seed %d, nonce %s and scope %s make the same update or topic", c.seed, c.nonce, c.scope)
		}
	}
}

func TestAnUpdateOfTheSameSecondCarriesTheSameSignatures(t *testing.T) {
	r := newReference(t, craft.New(1, "n", "s"), noWallets{})
	one, _ := r.make(*life(0, 5, 6).Update)
	two, _ := r.make(*life(0, 5, 7).Update)
	three, _ := r.make(*life(0, 6, 6).Update)
	for i, a := range one.GetActions() {
		if fmt.Sprint(a) != fmt.Sprint(two.GetActions()[i]) {
			t.Errorf("action %d differs within a second", i)
		}
		if fmt.Sprint(a) == fmt.Sprint(three.GetActions()[i]) {
			t.Errorf("action %d is the same a second later", i)
		}
	}
	if one.GetClientTimestampNs()+1 != two.GetClientTimestampNs() {
		t.Error("the updates do not differ by a nanosecond")
	}
}

func TestManyMayCraftAtOnce(t *testing.T) {
	c := craft.New(1, "n", "s")
	want, _, err := craft.New(1, "n", "s").Envelope(life(3, 5, 6))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for nonce := range uint64(5) {
				b, _, err := c.Envelope(life(nonce, 5, 6))
				if err != nil || nonce == 3 && !bytes.Equal(b, want) {
					t.Errorf("nonce %d: %v, or another update", nonce, err)
				}
				k := backend.KeyPackageIntent{Installation: i1, Serial: uint32(nonce), Inbox: backend.InboxRef{Creator: w1}}
				if _, _, err := c.Envelope(backend.Envelope{Log: i1.Log(), Package: &k}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestEncodingsOfAnUpdateHaveOneIdentity(t *testing.T) {
	c := craft.New(1, "n", "s")
	k := backend.KeyPackageIntent{Installation: i1, Inbox: backend.InboxRef{Creator: w1}}
	for _, e := range []backend.Envelope{life(0, 5, 6), life(7, -5, 0), {Log: i1.Log(), Package: &k}} {
		_, first, err := c.Envelope(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, e.Encoding = range []backend.Encoding{backend.Reordered, backend.Padded, backend.Explicit} {
			_, a, err := c.Envelope(e)
			if err != nil || a.Identity != first.Identity || a.Topic != first.Topic || a.CanonicalLen != first.CanonicalLen {
				t.Errorf("%s on %s: %+v beside %+v, %v", e.Encoding, e.Log, a, first, err)
			}
		}
	}
}

func TestIntentsThatHaveNoBytesAreRefused(t *testing.T) {
	c := craft.New(1, "n", "s")
	inbox := backend.InboxRef{Creator: w1}
	of := func(actions ...backend.Action) backend.Envelope {
		return backend.Envelope{Log: inbox.Log(), Update: &backend.IdentityUpdate{Inbox: inbox, Actions: actions}}
	}
	change := func(e backend.Envelope, f func(*backend.Envelope)) backend.Envelope {
		u := *e.Update
		e.Update = &u
		f(&e)
		return e
	}
	flawed := func(a backend.Action, f backend.ActionFlaw) backend.Action { a.Flaw = f; return a }
	k := backend.KeyPackageIntent{Installation: i1, Inbox: inbox}
	packaged := func(f func(*backend.KeyPackageIntent)) backend.Envelope {
		k := k
		f(&k)
		return backend.Envelope{Log: i1.Log(), Package: &k}
	}
	for name, e := range map[string]backend.Envelope{
		"another log":                              change(of(create(w1)), func(e *backend.Envelope) { e.Log.Name = "wallet w1/1" }),
		"another flaw beside the update's":         change(of(create(w1)), func(e *backend.Envelope) { e.Flaw = backend.IdentityInboxShort }),
		"trailing bytes":                           change(of(create(w1)), func(e *backend.Envelope) { e.Trailing = 1 }),
		"a size it has not":                        change(of(create(w1)), func(e *backend.Envelope) { e.Size = 10_000 }),
		"an update and a key package":              change(of(create(w1)), func(e *backend.Envelope) { e.Package = &k }),
		"a second beyond 64 bits":                  change(of(create(w1)), func(e *backend.Envelope) { e.Update.Second = 9223372037 }),
		"too many nanoseconds":                     change(of(create(w1)), func(e *backend.Envelope) { e.Update.Nanosecond = 1e9 }),
		"an update flaw that changes nothing":      change(of(create(w1)), func(e *backend.Envelope) { e.Update.Flaw = backend.TextBlankLine }),
		"an update flaw that nobody knows":         change(of(create(w1)), func(e *backend.Envelope) { e.Update.Flaw = "sideways" }),
		"a variant and a flaw of the inbox":        change(of(create(w1)), func(e *backend.Envelope) { e.Update.Flaw, e.Update.Variant = backend.Inbox62, backend.InboxUpper }),
		"a flaw and an action of no kind":          change(of(backend.Action{Flaw: backend.KindUnset}), func(e *backend.Envelope) { e.Update.Flaw = backend.TextNewline }),
		"an action of no kind":                     of(backend.Action{}),
		"an action of an unknown kind":             of(backend.Action{Kind: 9, Subject: w1, By: by(w1)}),
		"a create for an installation":             of(create(i1)),
		"nobody signs":                             of(backend.Action{Kind: backend.RevokeAssociation, Subject: w1}),
		"a new member's signature on a revocation": of(backend.Action{Kind: backend.RevokeAssociation, Subject: w1, By: by(w1), New: by(w2)}),
		"an action flaw of another kind":           of(flawed(create(w1), backend.SubjectMissing)),
		"an action variant of another kind":        of(backend.Action{Kind: backend.CreateInbox, Subject: w1, Variant: backend.PasskeyUpper}),
		"a signature flaw of another kind":         of(add(w2, backend.Signing{Party: w1, Flaw: backend.PlainEd25519})),
		"a variant of another kind":                of(add(w2, backend.Signing{Party: i1, Variant: backend.ParityV})),
		"a salted wallet":                          of(add(w2, backend.Signing{Party: w1, Salt: 1})),
		"a wallet that names a chain":              of(add(w2, backend.Signing{Party: w1, Chain: backend.NoRoute})),
		"a contract without a chain":               of(create(w1), add(w2, by(contractThat(backend.Always)))),
		"a party without a name":                   of(create(backend.Party{Kind: backend.Wallet})),
		"a wallet that behaves":                    of(create(backend.Party{Kind: backend.Wallet, Name: "w", Behaviour: backend.Always})),
		"a key package of a wallet":                {Log: w1.Log(), Package: &backend.KeyPackageIntent{Installation: w1, Inbox: inbox}},
		"a key package on another log":             {Log: i2.Log(), Package: &k},
		"a key package with flaw and variant":      packaged(func(k *backend.KeyPackageIntent) { k.Flaw, k.Variant = backend.LeafCut, backend.Version0 }),
		"a key package flaw nobody knows":          packaged(func(k *backend.KeyPackageIntent) { k.Flaw = "sideways" }),
		"a key package variant nobody knows":       packaged(func(k *backend.KeyPackageIntent) { k.Variant = "sideways" }),
		"a lifetime nobody knows":                  packaged(func(k *backend.KeyPackageIntent) { k.Lifetime = "sideways" }),
		"an inbox of nobody":                       packaged(func(k *backend.KeyPackageIntent) { k.Inbox = backend.InboxRef{} }),
	} {
		if b, _, err := c.Envelope(e); err == nil {
			t.Errorf("%s: made %d bytes", name, len(b))
		}
	}
}
