package craft_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"assay/harness/backend/craft"
	"assay/model/backend"
)

// BenchmarkUpdate makes updates of one action whose keys are known, and beside
// them bare signatures of the same number and kind.
func BenchmarkUpdate(b *testing.B) {
	for _, x := range []struct {
		name string
		a    backend.Action
	}{
		{"create by a wallet", create(w1)},
		{"add a wallet by a wallet", add(w2, by(w1))},
		{"add an installation by a wallet", add(i1, by(w1))},
		{"add a passkey by a passkey", add(pk, by(backend.Party{Kind: backend.Passkey, Name: "k2"}))},
	} {
		b.Run(x.name, func(b *testing.B) {
			c := craft.New(1, "n", "s")
			inbox := backend.InboxRef{Creator: w1}
			for i := range b.N {
				e := backend.Envelope{Log: inbox.Log(), Update: &backend.IdentityUpdate{Inbox: inbox, Second: int64(i), Actions: []backend.Action{x.a}}}
				if _, _, err := c.Envelope(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("a bare secp256k1 signature", func(b *testing.B) {
		key, err := crypto.ToECDSA(crypto.Keccak256(nil))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := crypto.Sign(crypto.Keccak256([]byte("a")), key); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFreshParties(b *testing.B) {
	c := craft.New(1, "n", "s")
	for i := range b.N {
		p := backend.Party{Kind: backend.Wallet, Name: "w"}
		inbox := backend.InboxRef{Creator: p, Nonce: uint64(i)}
		e := backend.Envelope{Log: inbox.Log(), Update: &backend.IdentityUpdate{Inbox: inbox, Actions: []backend.Action{create(p)}}}
		if _, _, err := c.Envelope(e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkKeyPackage(b *testing.B) {
	c := craft.New(1, "n", "s")
	for i := range b.N {
		k := backend.KeyPackageIntent{Installation: i1, Inbox: backend.InboxRef{Creator: w1}, Serial: uint32(i)}
		if _, _, err := c.Envelope(backend.Envelope{Log: i1.Log(), Package: &k}); err != nil {
			b.Fatal(err)
		}
	}
}
