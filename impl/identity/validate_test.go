package identity

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/spec/gen/xmtp/identity/associations"
)

func address(w wallet) LookupKey { return LookupKey{Ethereum, w.id().Value} }

func requireChange(t *testing.T, got Change, added, removed []LookupKey) {
	t.Helper()
	if !slices.Equal(got.Added, added) || !slices.Equal(got.Removed, removed) {
		t.Fatalf("added %v, removed %v; want added %v, removed %v", got.Added, got.Removed, added, removed)
	}
}

func TestCreations(t *testing.T) {
	for _, nonce := range []uint64{0, 1, 10, 18446744073709551615} {
		t.Run(fmt.Sprintf("nonce %d is accepted", nonce), func(t *testing.T) {
			requireChange(t, newInbox(t, w1(), nonce).accept(create(w1(), nonce)), []LookupKey{address(w1())}, nil)
		})
	}
	for _, kind := range []associations.IdentifierKind{0, 1, 77} {
		t.Run(fmt.Sprintf("identifier kind %d reads as an address", kind), func(t *testing.T) {
			b := newInbox(t, w1(), 0)
			u := b.sign(create(w1(), 0))
			u.Actions[0].GetCreateInbox().InitialIdentifierKind = kind
			b.acceptWire(u)
		})
	}
	for name, hashed := range map[string]string{
		"a separator before the nonce": addressW1 + "-0",
		"a padded nonce":               addressW1 + "00",
		"no nonce":                     addressW1,
		"another nonce":                addressW1 + "1",
		"the checksummed address":      "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A0",
	} {
		t.Run("an inbox id made of "+name+" is refused", func(t *testing.T) {
			b := newInbox(t, w1(), 0)
			b.id = fmt.Sprintf("%x", sha256.Sum256([]byte(hashed)))
			b.refuse(InvalidUpdate, RuleInboxMatches, create(w1(), 0))
		})
	}
	t.Run("a passkey in upper-case hex signs in lower case and is accepted", func(t *testing.T) {
		b := newInbox(t, k1(), 0)
		u := b.sign(create(k1(), 0))
		u.Actions[0].GetCreateInbox().InitialIdentifier = strings.ToUpper(publicK)
		requireChange(t, b.acceptWire(u), []LookupKey{{Passkey, publicK}}, nil)
	})
	t.Run("a relying party is no part of a passkey", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0))
		u := b.sign(add(w1(), k1()))
		a, z := "a", "z"
		u.Actions[0].GetAdd().RelyingParty = &a
		u.Actions[0].GetAdd().NewMemberIdentifier.GetPasskey().RelyingParty = &z
		b.acceptWire(u)
		b.accept(add(k1(), i1()))
	})
	t.Run("an update without actions on an existing inbox is accepted", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0))
		requireChange(t, b.accept(), nil, nil)
	})
}

func TestWhoMayAddWhom(t *testing.T) {
	start := func(t *testing.T) *inbox {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), i1()), add(w1(), k1()))
		return b
	}
	t.Run("an address adds an address", func(t *testing.T) {
		requireChange(t, start(t).accept(add(w1(), w2())), []LookupKey{address(w2())}, nil)
	})
	t.Run("an address adds an installation, which nobody looks up", func(t *testing.T) {
		requireChange(t, start(t).accept(add(w1(), i2())), nil, nil)
	})
	t.Run("an installation adds an address", func(t *testing.T) {
		requireChange(t, start(t).accept(add(i1(), w2())), []LookupKey{address(w2())}, nil)
	})
	t.Run("an installation adds a passkey", func(t *testing.T) {
		k := newPasskey(0x45)
		requireChange(t, start(t).accept(add(i1(), k)), []LookupKey{{Passkey, k.id().Text()}}, nil)
	})
	t.Run("a passkey adds an installation", func(t *testing.T) {
		b := start(t)
		b.accept(add(k1(), i2()))
		b.accept(add(i2(), w2()))
	})
	t.Run("a member is added again and changes its adder", func(t *testing.T) {
		b := start(t)
		b.accept(add(w1(), w2()), add(w1(), i2()))
		requireChange(t, b.accept(add(w2(), i2())), nil, nil)
		b.accept(revoke(w1(), w2().id()))
		b.refuse(InvalidUpdate, RuleMayAdd, add(i2(), w3()))
	})
	t.Run("a delegated key of nonce 0 adds", func(t *testing.T) {
		b := start(t)
		b.accept(add(delegated{w1(), newWallet(0x99)}, i2()))
	})
	t.Run("the adder decides over a delegated key of the joiner", func(t *testing.T) {
		start(t).accept(add(w1(), delegated{w2(), newWallet(0x99)}))
	})
	t.Run("an update applies as a whole or not at all", func(t *testing.T) {
		b := start(t)
		b.refuse(InvalidUpdate, RuleMayAdd, add(w1(), w2()), add(w2(), i2()), add(w3(), i3()))
		b.refuse(InvalidUpdate, RuleMayAdd, add(i2(), w3()))
		requireChange(t, b.accept(add(w1(), w2())), []LookupKey{address(w2())}, nil)
	})
	t.Run("a bad signature is said before a rule that is broken", func(t *testing.T) {
		b := start(t)
		u := b.sign(add(w3(), i2()))
		u.Actions[0].GetAdd().NewMemberSignature = i2().sign("something else")
		b.refuseWire(InvalidSignature, RuleInstallationSignature, u)
	})
}

func TestRevocation(t *testing.T) {
	t.Run("a revoked installation adds nobody", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), i1()))
		requireChange(t, b.accept(revoke(w1(), i1().id())), nil, nil)
		b.refuse(InvalidUpdate, RuleMayAdd, add(i1(), w2()))
	})
	t.Run("a revocation takes along the installations that the member added and no other", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), w2()), add(w1(), i1()), add(w2(), i2()))
		requireChange(t, b.accept(revoke(w1(), w2().id())), nil, []LookupKey{address(w2())})
		b.refuse(InvalidUpdate, RuleMayAdd, add(i2(), w3()))
		b.accept(add(i1(), w3()))
	})
	t.Run("a revocation does not reach installations of a wallet that the member added", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), i1()), add(w1(), w2()), add(w2(), i2()))
		requireChange(t, b.accept(revoke(w1(), w1().id())), nil, []LookupKey{address(w1())})
		b.refuse(InvalidUpdate, RuleMayAdd, add(i1(), w3()))
		b.accept(add(i2(), w3()))
	})
	t.Run("addresses and passkeys that an installation added stay", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), i1()), add(i1(), w3()), add(i1(), k1()))
		requireChange(t, b.accept(revoke(w1(), i1().id())), nil, nil)
		b.accept(add(w3(), i2()), add(k1(), i3()))
	})
	t.Run("a recovery identifier that revoked itself still adds and revokes", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), w2()))
		b.accept(revoke(w1(), w1().id()))
		b.accept(add(w1(), i3()))
		requireChange(t, b.accept(revoke(w1(), w2().id())), nil, []LookupKey{address(w2())})
	})
	t.Run("naming who never was a member changes nothing and is accepted", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0))
		requireChange(t, b.accept(revoke(w1(), w3().id())), nil, nil)
	})
	t.Run("a member named in other letter case stays", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), w2()))
		requireChange(t, b.accept(revoke(w1(), EthereumAddress("0x1563915E194D8CfBA1943570603F7606A3115508"))), nil, nil)
		b.accept(add(w2(), i2()))
	})
	t.Run("a revoked member comes back with fresh signatures", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), w2()))
		b.accept(revoke(w1(), w2().id()))
		requireChange(t, b.accept(add(w1(), w2())), []LookupKey{address(w2())}, nil)
	})
	t.Run("what one update adds and revokes leaves no trace", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0))
		requireChange(t, b.accept(add(w1(), w2()), revoke(w1(), w2().id())), nil, nil)
		requireChange(t, b.accept(add(w1(), w2())), []LookupKey{address(w2())}, nil)
		requireChange(t, b.accept(revoke(w1(), w2().id()), add(w1(), w2())), nil, nil)
	})
}

func TestRecovery(t *testing.T) {
	handed := func(t *testing.T) *inbox {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), i1()))
		requireChange(t, b.accept(recover_(w1(), w2().id())), nil, nil)
		return b
	}
	t.Run("the former recovery identifier does not revoke", func(t *testing.T) {
		handed(t).refuse(InvalidUpdate, RuleRecoverySigns, revoke(w1(), i1().id()))
	})
	t.Run("the former recovery identifier still adds as a member", func(t *testing.T) {
		handed(t).accept(add(w1(), i2()))
	})
	t.Run("the new one revokes, adds and hands on without being a member", func(t *testing.T) {
		b := handed(t)
		b.accept(revoke(w2(), i1().id()))
		b.accept(add(w2(), i2()))
		b.accept(recover_(w2(), w3().id()))
		b.refuse(InvalidUpdate, RuleRecoverySigns, recover_(w2(), w2().id()))
	})
	t.Run("revoking a recovery identifier outside takes its installations along", func(t *testing.T) {
		b := handed(t)
		b.accept(add(w2(), i2()))
		b.accept(revoke(w2(), w2().id()))
		b.refuse(InvalidUpdate, RuleMayAdd, add(i2(), w3()))
	})
	t.Run("a change of recovery holds for the next action of the same update", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), i1()))
		b.refuse(InvalidUpdate, RuleRecoverySigns, recover_(w1(), w2().id()), revoke(w1(), i1().id()))
		b.accept(recover_(w1(), w2().id()), revoke(w2(), i1().id()))
	})
	t.Run("a passkey recovers", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), i1()))
		b.accept(recover_(w1(), k1().id()))
		b.accept(revoke(k1(), i1().id()))
	})
	t.Run("a checksummed address is stored as it is and recovers nothing", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), recover_(w1(), EthereumAddress("0x1563915E194D8CfBA1943570603F7606A3115508")))
		b.refuse(InvalidUpdate, RuleRecoverySigns, revoke(w2(), w1().id()))
	})
}

func TestContractWallets(t *testing.T) {
	t.Run("a contract creates, adds, revokes and hands over on its chain", func(t *testing.T) {
		b := newInbox(t, scw(), 0)
		b.v = validator(verdicts{scw().account: true})
		requireChange(t, b.accept(create(scw(), 0)), []LookupKey{{Ethereum, scw().id().Value}}, nil)
		b.accept(add(scw(), w2()))
		b.accept(revoke(scw(), w2().id()))
		b.accept(recover_(scw(), w2().id()))
	})
	t.Run("a checksummed account signs for the lowercase identifier", func(t *testing.T) {
		shouted := contract{"eip155:1:0x00000000000000000000000000000000000000AA", 5}
		b := newInbox(t, scw(), 0)
		b.v = validator(verdicts{shouted.account: true})
		b.accept(create(imposter{shouted, scw().id()}, 0))
	})
	t.Run("an account other than the identifier is another party", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.v = validator(verdicts{scw().account: true})
		b.refuse(InvalidUpdate, RuleOwnerSigns, create(imposter{scw(), w1().id()}, 0))
	})
	t.Run("a recovery identifier outside the inbox may sign on any chain", func(t *testing.T) {
		b := newInbox(t, scw(), 0)
		b.v = validator(verdicts{scw().account: true, elsewhere().account: true})
		b.accept(create(scw(), 0), revoke(scw(), scw().id()))
		b.accept(add(elsewhere(), i1()))
	})
	t.Run("a history with a contract needs its chain for an update without one", func(t *testing.T) {
		b := newInbox(t, scw(), 0)
		b.v = validator(verdicts{scw().account: true})
		b.accept(create(scw(), 0), add(scw(), w1()))
		u := b.sign(add(w1(), w2()))
		b.v = validator(verdicts{})
		b.refuseWire(Unavailable, RuleContractSignature, u)
	})
}

func TestVerifiedUpdatesAreRememberedWithinTheirBound(t *testing.T) {
	for _, remember := range []int{0, 1, 2, 100} {
		t.Run(fmt.Sprintf("a log of 30 with room for %d is judged alike", remember), func(t *testing.T) {
			b := newInbox(t, w1(), 0)
			b.v = NewValidator(Config{Rules: ReferenceRules(), Wallets: verdicts{}, Remember: remember})
			b.accept(create(w1(), 0))
			var last *associations.IdentityUpdate
			for i := range 29 {
				last = b.sign(revoke(w1(), newInstallation(byte(i)).id()))
				b.acceptWire(last)
			}
			b.refuseWire(InvalidUpdate, RuleUnused, later(last))
			if m := b.v.memory; m != nil && m.entries.Len() > remember {
				t.Errorf("%d updates are kept, room is for %d", m.entries.Len(), remember)
			}
		})
	}
	t.Run("an update with a contract is asked for every time", func(t *testing.T) {
		b := newInbox(t, scw(), 0)
		wallets := verdicts{scw().account: true}
		b.v = validator(wallets)
		b.accept(create(scw(), 0))
		wallets[scw().account] = false
		b.refuse(InvalidSignature, RuleContractSignature, add(scw(), w1()))
	})
}

func TestLookupKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		kind int32
		text string
		want LookupKey
	}{
		{"an address is lowered", 1, "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A", LookupKey{Ethereum, addressW1}},
		{"an unspecified kind is an address", 0, addressW1, LookupKey{Ethereum, addressW1}},
		{"nonsense is a key that nobody has", 1, "No Body!", LookupKey{Ethereum, ""}},
		{"a NUL never reaches a database", 1, "0x\x00", LookupKey{Ethereum, ""}},
		{"letters beyond ASCII do not fold onto ASCII", 1, "0x\u212a", LookupKey{Ethereum, ""}},
		{"the hex of an installation is an address nobody has", 1, publicI1, LookupKey{Ethereum, publicI1}},
		{"a passkey is lowered", 2, strings.ToUpper(publicK), LookupKey{Passkey, publicK}},
		{"the same text under another kind is another key", 2, addressW1[2:], LookupKey{Passkey, addressW1[2:]}},
		{"an empty passkey is hexadecimal", 2, "", LookupKey{Passkey, ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := NormalizeLookup(c.kind, c.text)
			if err != nil || got != c.want {
				t.Errorf("got %v and %v, want %v", got, err, c.want)
			}
		})
	}
	for name, c := range map[string]struct {
		kind int32
		text string
	}{
		"a passkey with a prefix":    {2, "0x00"},
		"a passkey of odd length":    {2, "000"},
		"a kind that does not exist": {3, addressW1},
		"a negative kind":            {-1, addressW1},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			if got, err := NormalizeLookup(c.kind, c.text); err == nil {
				t.Errorf("got %v", got)
			}
		})
	}
	if key, ok := i1().id().LookupKey(); ok {
		t.Errorf("an installation can be looked up as %v", key)
	}
}

func TestMessagesQuoteAndCutWhatPeersSent(t *testing.T) {
	b := newInbox(t, w1(), 0)
	_, err := b.v.Validate(t.Context(), nil, b.sign(create(imposter{w1(), EthereumAddress(strings.Repeat("\x1b[2J\n", 500))}, 0)))
	if err == nil || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Errorf("the message is %q", err)
	}
}
