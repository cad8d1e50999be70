package craft_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"assay/harness/backend/craft"
	"assay/impl/identity"
	"assay/model/backend"
)

// anyUpdate draws an update without asking whether it makes sense.
func anyUpdate(r *rand.Rand) backend.IdentityUpdate {
	parties := []backend.Party{w1, w2, w3, i1, i2, pk, contractThat(backend.Plainly), contractThat(backend.Never)}
	party := func() backend.Party { return parties[r.IntN(len(parties))] }
	rarely := func() bool { return r.IntN(8) == 0 }
	signing := func() backend.Signing {
		s := backend.Signing{Party: party()}
		if f := backend.SignatureFlaws(s.Party.Kind); rarely() {
			s.Flaw = f[r.IntN(len(f))]
		}
		if v := backend.SignatureVariants(s.Party.Kind); rarely() && len(v) > 0 {
			s.Variant = v[r.IntN(len(v))]
		}
		if rarely() {
			s.Salt = r.Uint32N(3)
		}
		if rarely() {
			s.Chain = backend.Chains()[r.IntN(len(backend.Chains()))]
		}
		return s
	}
	u := backend.IdentityUpdate{Inbox: backend.InboxRef{Creator: party(), Nonce: r.Uint64N(2)}, Second: r.Int64N(20) - 5, Nanosecond: r.Uint32N(3)}
	if c := u.Inbox.Creator; c.Kind != backend.Installation && r.IntN(2) == 0 {
		u.Actions = append(u.Actions, create(c))
	}
	for range r.IntN(3) {
		a := backend.Action{Kind: backend.ActionKind(1 + r.IntN(4)), Subject: party(), By: signing()}
		if a.Kind == backend.AddAssociation && rarely() {
			a.New = signing()
		}
		if f := backend.ActionFlaws(); rarely() {
			a.Flaw = f[r.IntN(len(f))]
		}
		if v := backend.ActionVariants(); rarely() {
			a.Variant = v[r.IntN(len(v))]
		}
		u.Actions = append(u.Actions, a)
	}
	if f := backend.UpdateFlaws(); rarely() {
		u.Flaw = f[r.IntN(len(f))]
	}
	if rarely() {
		u.Variant = backend.InboxUpper
	}
	return u
}

// Whatever is drawn is either refused with a reason or made, made again alike,
// and judged; nothing panics.
func TestAnyIntentIsMadeOrRefused(t *testing.T) {
	reference := onChain(t)(t, "any")
	again := reference.craft
	r := rand.New(rand.NewPCG(1, 2))
	made, refused := 0, 0
	classes := make(map[identity.Class]int)
	for range 2000 {
		u := anyUpdate(r)
		_, first, err := reference.craft.Envelope(backend.Envelope{Log: u.Inbox.Log(), Update: &u})
		if err != nil {
			refused++
			continue
		}
		made++
		if _, second, err := again.Envelope(backend.Envelope{Log: u.Inbox.Log(), Update: &u}); err != nil || second != first {
			t.Fatalf("%+v is made as %+v and then %+v, %v", u, first, second, err)
		}
		class, _ := reference.publish(u)
		classes[class]++
	}
	t.Logf("made %d, refused %d; the reference: %v", made, refused, fmt.Sprint(classes))
	if made < 300 || refused < 300 || classes[0] == 0 {
		t.Errorf("made %d, refused %d, accepted %d: the draw is lopsided", made, refused, classes[0])
	}
}

func TestAnyKeyPackageIsMade(t *testing.T) {
	c := craft.New(1, "n", "any package")
	r := rand.New(rand.NewPCG(3, 4))
	flaws := append(backend.KeyPackageFlaws(), "")
	variants := append(backend.KeyPackageVariants(), "")
	for range 1000 {
		k := backend.KeyPackageIntent{Installation: i1, Inbox: backend.InboxRef{Creator: pk}, Suite: uint16(r.IntN(8)), Serial: r.Uint32N(3),
			Lifetime: backend.Lifetimes()[r.IntN(len(backend.Lifetimes()))]}
		if r.IntN(2) == 0 {
			k.Flaw = flaws[r.IntN(len(flaws))]
		} else {
			k.Variant = variants[r.IntN(len(variants))]
		}
		_, _, err := c.Envelope(backend.Envelope{Log: i1.Log(), Package: &k})
		if err != nil {
			t.Fatalf("%+v: %v", k, err)
		}
	}
}
