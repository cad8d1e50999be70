package identity

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"assay/spec/gen/xmtp/identity/associations"
)

// scw is a contract wallet on chain 1; elsewhere is its address on chain 2.
func scw() contract       { return contract{"eip155:1:0x00000000000000000000000000000000000000aa", 5} }
func elsewhere() contract { return contract{"eip155:2:0x00000000000000000000000000000000000000aa", 5} }

// TestEachRuleDecides gives every rule one update that it alone refuses.
// before is the log that must be accepted first.
func TestEachRuleDecides(t *testing.T) {
	legacy := func(w wallet) delegated { return delegated{w, newWallet(0x99)} }
	wallets := verdicts{scw().account: true, elsewhere().account: true, "eip155:1:0xbad": false, "cosmos:hub:0xaa": true, "eip155:1:short": true}
	withSigned := func(a act, s *associations.Signature) act { a.signed = s; return a }

	cases := []struct {
		rule   Rule
		class  Class
		name   string
		owner  party
		nonce  uint64
		before [][]act
		acts   []act
		edit   func(*associations.IdentityUpdate)
	}{
		{rule: RuleDecodes, class: Malformed, name: "an action without a kind", acts: []act{create(w1(), 0)},
			edit: func(u *associations.IdentityUpdate) {
				u.Actions = append(u.Actions, &associations.IdentityAction{})
			}},
		{rule: RuleDecodes, class: Malformed, name: "a signature that is missing", acts: []act{create(w1(), 0)},
			edit: func(u *associations.IdentityUpdate) {
				u.Actions[0].GetCreateInbox().InitialIdentifierSignature = nil
			}},
		{rule: RuleDecodes, class: Malformed, name: "a signature without an arm", acts: []act{create(w1(), 0)},
			edit: func(u *associations.IdentityUpdate) {
				u.Actions[0].GetCreateInbox().InitialIdentifierSignature = &associations.Signature{}
			}},
		{rule: RuleDecodes, class: Malformed, name: "a new member that is missing", acts: []act{create(w1(), 0), add(w1(), w2())},
			edit: func(u *associations.IdentityUpdate) { u.Actions[1].GetAdd().NewMemberIdentifier = nil }},
		{rule: RuleDecodes, class: Malformed, name: "a new member without an arm", acts: []act{create(w1(), 0), add(w1(), w2())},
			edit: func(u *associations.IdentityUpdate) {
				u.Actions[1].GetAdd().NewMemberIdentifier = &associations.MemberIdentifier{}
			}},
		{rule: RuleDecodes, class: Malformed, name: "an adder's signature that is missing", acts: []act{create(w1(), 0), add(w1(), w2())},
			edit: func(u *associations.IdentityUpdate) { u.Actions[1].GetAdd().ExistingMemberSignature = nil }},
		{rule: RuleDecodes, class: Malformed, name: "a joiner's signature that is missing", acts: []act{create(w1(), 0), add(w1(), w2())},
			edit: func(u *associations.IdentityUpdate) { u.Actions[1].GetAdd().NewMemberSignature = nil }},
		{rule: RuleDecodes, class: Malformed, name: "a passkey text with a prefix", owner: k1(), acts: []act{create(k1(), 0)},
			edit: func(u *associations.IdentityUpdate) {
				u.Actions[0].GetCreateInbox().InitialIdentifier = "0x" + publicK
			}},
		{rule: RuleDecodes, class: Malformed, name: "a passkey text of odd length", owner: k1(), acts: []act{create(k1(), 0)},
			edit: func(u *associations.IdentityUpdate) {
				u.Actions[0].GetCreateInbox().InitialIdentifier = publicK[1:]
			}},
		{rule: RuleDecodes, class: Malformed, name: "a recovery passkey that is not hex", acts: []act{create(w1(), 0), recover_(w1(), k1().id())},
			edit: func(u *associations.IdentityUpdate) {
				u.Actions[1].GetChangeRecoveryAddress().NewRecoveryIdentifier = "passkey"
			}},
		{rule: RuleDecodes, class: Malformed, name: "an account id that is none", acts: []act{create(w1(), 0)},
			edit: func(u *associations.IdentityUpdate) {
				u.Actions[0].GetCreateInbox().InitialIdentifierSignature = contractSignature("eip/155:1:0xaa", 1, nil)
			}},
		{rule: RuleWalletSignatures, class: TooLarge, name: "101 contract signatures", owner: scw(), acts: manyAdds(51)},
		{rule: RuleAddressSignature, class: InvalidSignature, name: "an address signature of 3 bytes", acts: []act{withSigned(create(w1(), 0), addressSignature([]byte{1, 2, 3}))}},
		{rule: RuleContractSignature, class: InvalidSignature, name: "a contract that says no", acts: []act{withSigned(create(w1(), 0), contractSignature("eip155:1:0xbad", 1, make([]byte, 65)))}},
		{rule: RuleContractSignature, class: Unavailable, name: "a contract that cannot be asked", acts: []act{withSigned(create(w1(), 0), contractSignature("eip155:999999:0xaa", 1, make([]byte, 65)))}},
		{rule: RuleContractSignature, class: InvalidSignature, name: "a chain without a number", acts: []act{withSigned(create(w1(), 0), contractSignature("cosmos:hub:0xaa", 1, make([]byte, 65)))}},
		{rule: RuleInstallationSignature, class: InvalidSignature, name: "an installation's signature of another text", acts: []act{create(w1(), 0), add(w1(), i1())},
			edit: func(u *associations.IdentityUpdate) {
				u.Actions[1].GetAdd().NewMemberSignature = i1().sign("something else")
			}},
		{rule: RuleDelegatedSignature, class: InvalidSignature, name: "a delegated key that signed another text", acts: []act{withSigned(create(w1(), 0), legacy(w1()).sign("something else"))}},
		{rule: RulePasskeySignature, class: InvalidSignature, name: "a passkey's assertion of another text", owner: k1(), acts: []act{withSigned(create(k1(), 0), k1().sign("something else"))}},

		{rule: RuleInboxRemains, class: InvalidUpdate, name: "no action on an inbox that was never created"},
		{rule: RuleInboxMatches, class: InvalidUpdate, name: "a nonce of another inbox", acts: []act{create(w1(), 1)}},
		{rule: RuleInboxMatches, class: InvalidUpdate, name: "an inbox id in upper case", acts: []act{create(w1(), 0)},
			edit: func(u *associations.IdentityUpdate) {
				shouted := sign(strings.ToUpper(u.InboxId), u.ClientTimestampNs, create(w1(), 0))
				proto.Reset(u)
				proto.Merge(u, shouted)
			}},

		{rule: RuleNoInboxYet, class: InvalidUpdate, name: "a second create", before: [][]act{{create(w1(), 0)}}, acts: []act{create(w1(), 0)}},
		{rule: RuleNoInboxYet, class: InvalidUpdate, name: "two creates in one update", acts: []act{create(w1(), 0), create(w1(), 0)}},
		{rule: RuleOwnerSigns, class: InvalidUpdate, name: "a create signed by a stranger", acts: []act{create(imposter{w2(), w1().id()}, 0)}},
		{rule: RuleOwnerSigns, class: InvalidUpdate, name: "a create whose owner is checksummed", owner: imposter{w1(), EthereumAddress("0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A")},
			acts: []act{create(imposter{w1(), EthereumAddress("0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A")}, 0)}},
		{rule: RuleOwnerSigns, class: InvalidUpdate, name: "an owner of the wrong kind", acts: []act{create(imposter{i1(), w1().id()}, 0)}},
		{rule: RuleLegacyCreates, class: InvalidUpdate, name: "a delegated key with nonce 1", nonce: 1, acts: []act{create(legacy(w1()), 1)}},
		{rule: RuleOwnerIsAddress, class: InvalidUpdate, name: "an owner that is no address", owner: contract{"eip155:1:short", 1}, acts: []act{create(contract{"eip155:1:short", 1}, 0)}},
		{rule: RuleInboxExists, class: InvalidUpdate, name: "an add before the create", acts: []act{add(w1(), i1()), create(w1(), 0)}},
		{rule: RuleInboxExists, class: InvalidUpdate, name: "a revocation before the create", acts: []act{revoke(w1(), i1().id())}},
		{rule: RuleInboxExists, class: InvalidUpdate, name: "a change of recovery before the create", acts: []act{recover_(w1(), w2().id())}},
		{rule: RuleJoinerSigns, class: InvalidUpdate, name: "a joiner's signature by another", before: [][]act{{create(w1(), 0)}}, acts: []act{add(w1(), imposter{w3(), w2().id()})}},
		{rule: RuleJoinerSigns, class: InvalidUpdate, name: "a joiner of the wrong kind", before: [][]act{{create(w1(), 0)}}, acts: []act{add(w1(), imposter{w3(), i1().id()})}},
		{rule: RuleNotSelf, class: InvalidUpdate, name: "a member that adds itself", before: [][]act{{create(w1(), 0)}}, acts: []act{add(w1(), w1())}},
		{rule: RuleNotSelf, class: InvalidUpdate, name: "a recovery identifier that adds itself", before: [][]act{{create(w1(), 0), recover_(w1(), w2().id())}}, acts: []act{add(w2(), w2())}},
		{rule: RuleLegacyAdds, class: InvalidUpdate, name: "a delegated key in an inbox of nonce 1", nonce: 1, before: [][]act{{create(w1(), 1)}}, acts: []act{add(legacy(w1()), i1())}},
		{rule: RuleLegacyAdds, class: InvalidUpdate, name: "an installation that brings a foreign delegated key", before: [][]act{{create(w1(), 0), add(w1(), i1())}}, acts: []act{add(i1(), legacy(w2()))}},
		{rule: RuleSameChain, class: InvalidUpdate, name: "a contract that adds from another chain", owner: scw(), before: [][]act{{create(scw(), 0)}}, acts: []act{add(elsewhere(), w1())}},
		{rule: RuleSameChain, class: InvalidUpdate, name: "a contract that revokes from another chain", owner: scw(), before: [][]act{{create(scw(), 0)}}, acts: []act{revoke(elsewhere(), w1().id())}},
		{rule: RuleSameChain, class: InvalidUpdate, name: "a contract that hands over from another chain", owner: scw(), before: [][]act{{create(scw(), 0)}}, acts: []act{recover_(elsewhere(), w1().id())}},
		{rule: RuleSameChain, class: InvalidUpdate, name: "a plain key in the place of a contract", owner: scw(), before: [][]act{{create(scw(), 0), add(scw(), i1()), add(scw(), contractOf(w1()))}}, acts: []act{add(w1(), w2())}},
		{rule: RuleSameChain, class: InvalidUpdate, name: "a contract in the place of a plain key", before: [][]act{{create(w1(), 0)}}, acts: []act{add(contractOf(w1()), w2())}},
		{rule: RuleMayAdd, class: InvalidUpdate, name: "a stranger that adds", before: [][]act{{create(w1(), 0)}}, acts: []act{add(w3(), i2())}},
		{rule: RuleOutsiderNoLegacy, class: InvalidUpdate, name: "a recovery identifier outside that adds with a delegated key",
			before: [][]act{{create(w1(), 0), revoke(w1(), w1().id())}}, acts: []act{add(legacy(w1()), i1())}},
		{rule: RuleNoInstallationTree, class: InvalidUpdate, name: "an installation that adds one", before: [][]act{{create(w1(), 0), add(w1(), i1())}}, acts: []act{add(i1(), i2())}},
		{rule: RuleNoLegacy, class: InvalidUpdate, name: "a delegated key that revokes", before: [][]act{{create(w1(), 0)}}, acts: []act{revoke(legacy(w1()), i1().id())}},
		{rule: RuleNoLegacy, class: InvalidUpdate, name: "a delegated key that hands over", before: [][]act{{create(w1(), 0)}}, acts: []act{recover_(legacy(w1()), w2().id())}},
		{rule: RuleRecoverySigns, class: InvalidUpdate, name: "a member that revokes", before: [][]act{{create(w1(), 0), add(w1(), w2()), add(w1(), i1())}}, acts: []act{revoke(w2(), i1().id())}},
		{rule: RuleRecoverySigns, class: InvalidUpdate, name: "an installation that revokes itself", before: [][]act{{create(w1(), 0), add(w1(), i1())}}, acts: []act{revoke(i1(), i1().id())}},
		{rule: RuleRecoverySigns, class: InvalidUpdate, name: "a member that hands over", before: [][]act{{create(w1(), 0), add(w1(), w2())}}, acts: []act{recover_(w2(), w2().id())}},
	}
	wallets[contractOf(w1()).account] = true

	decided := map[Rule]bool{RuleUnused: true, RuleVerifiedInTime: true} // the replay and deadline tests
	for _, c := range cases {
		decided[c.rule] = true
		t.Run(string(c.rule)+": "+c.name+" is refused", func(t *testing.T) {
			if c.owner == nil {
				c.owner = w1()
			}
			b := newInbox(t, c.owner, c.nonce)
			b.v = validator(wallets)
			for _, acts := range c.before {
				b.accept(acts...)
			}
			u := b.sign(c.acts...)
			if c.edit != nil {
				c.edit(u)
			}
			b.refuseWire(c.class, c.rule, u)
		})
	}
	for _, rule := range everyRule() {
		if !decided[rule] {
			t.Errorf("no case is decided by the rule %q", rule)
		}
	}
}

// everyRule lists the rules of the tables, and those outside them.
func everyRule() []Rule {
	rules := []Rule{
		RuleDecodes, RuleWalletSignatures, RuleAddressSignature, RuleContractSignature, RuleInstallationSignature,
		RuleDelegatedSignature, RulePasskeySignature, RuleVerifiedInTime, RuleInboxRemains, RuleInboxMatches,
	}
	r := ReferenceRules()
	for _, table := range [][]Precondition{r.Create, r.Add, r.Revoke, r.ChangeRecovery} {
		for _, p := range table {
			rules = append(rules, p.Rule)
		}
	}
	return rules
}

// contractOf is an address key's own address, signing as if it were a
// contract: verifiers of ERC-6492 accept the key's signature there.
func contractOf(w wallet) contract { return contract{"eip155:1:" + w.id().Value, 5} }

// manyAdds makes an update with 2n-1 contract signatures: one creation and n-1
// additions.
func manyAdds(n int) []act {
	acts := []act{create(scw(), 0)}
	for range n - 1 {
		acts = append(acts, add(scw(), elsewhere()))
	}
	return acts
}

func TestOneHundredContractSignaturesAreAccepted(t *testing.T) {
	b := newInbox(t, scw(), 0)
	other := contract{"eip155:1:0x00000000000000000000000000000000000000bb", 1}
	b.v = validator(verdicts{scw().account: true, other.account: true})
	acts := []act{create(scw(), 0)}
	for range 49 {
		acts = append(acts, add(scw(), other))
	}
	acts = append(acts, revoke(scw(), other.id()))
	u := b.sign(acts...)
	if n := CountWalletSignatures(u); n != 100 {
		t.Fatalf("counted %d signatures, made 100", n)
	}
	b.acceptWire(u)

	more := b.sign(append(acts, recover_(scw(), w1().id()))...)
	if n := CountWalletSignatures(more); n != 101 {
		t.Fatalf("counted %d signatures, made 101", n)
	}
	b.refuseWire(TooLarge, RuleWalletSignatures, more)
}

func TestStoredSignaturesCannotBeUsedAgain(t *testing.T) {
	t.Run("an addition sent again a nanosecond later is refused", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0))
		u := b.sign(add(w1(), w2()))
		b.acceptWire(u)
		b.refuseWire(InvalidUpdate, RuleUnused, later(u))
	})
	t.Run("a revocation does not make the addition good again", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0))
		u := b.sign(add(w1(), w2()))
		b.acceptWire(u)
		b.accept(revoke(w1(), w2().id()))
		b.refuseWire(InvalidUpdate, RuleUnused, later(u))
	})
	t.Run("a revocation is not repeated after the member came back", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0), add(w1(), w2()))
		u := b.sign(revoke(w1(), w2().id()))
		b.acceptWire(u)
		b.accept(add(w1(), w2()))
		b.refuseWire(InvalidUpdate, RuleUnused, later(u))
	})
	t.Run("one used signature among new ones is enough", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0))
		first := b.sign(add(w1(), i1()))
		b.acceptWire(first)
		// The same second, so the adder's signature is over another text only
		// in its actions: take the joiner's from the first update.
		u := sign(b.id, b.now, add(w1(), i1()))
		u.Actions[0].GetAdd().ExistingMemberSignature = w1().sign(textOf(b.id, b.now, add(w1(), i1())))
		b.refuseWire(InvalidUpdate, RuleUnused, later(u))
	})
	t.Run("equal actions in the same second are a replay, a second later they are not", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0))
		b.acceptWire(sign(b.id, 5*second, revoke(w1(), w3().id())))
		b.refuseWire(InvalidUpdate, RuleUnused, sign(b.id, 5*second+1, revoke(w1(), w3().id())))
		b.acceptWire(sign(b.id, 6*second, revoke(w1(), w3().id())))
	})
	t.Run("one signature serves two actions of its own update", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		u := b.sign(create(w1(), 0), add(w1(), i1()))
		if !bytes.Equal(u.Actions[0].GetCreateInbox().InitialIdentifierSignature.GetErc_191().GetBytes(), u.Actions[1].GetAdd().ExistingMemberSignature.GetErc_191().GetBytes()) {
			t.Fatal("the two signatures differ, so nothing is reused")
		}
		b.acceptWire(u)
	})
	t.Run("a refused update uses nothing up", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		good := b.sign(create(w1(), 0), add(w1(), i1()))
		bad := later(good)
		bad.Actions[1].GetAdd().NewMemberSignature.GetInstallationKey().Bytes[3] ^= 1
		b.refuseWire(InvalidSignature, RuleInstallationSignature, bad)
		b.acceptWire(good)
	})
	t.Run("another V or the other half of S is the same signature", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		b.accept(create(w1(), 0))
		u := b.sign(revoke(w1(), w3().id()))
		b.acceptWire(u)
		sig := u.Actions[0].GetRevoke().RecoveryIdentifierSignature.GetErc_191().Bytes
		for _, v := range []byte{sig[64] - 27, sig[64] - 27 + 35, sig[64] - 27 + 37} {
			c := later(u)
			c.Actions[0].GetRevoke().RecoveryIdentifierSignature.GetErc_191().Bytes[64] = v
			b.refuseWire(InvalidUpdate, RuleUnused, c)
		}
		c := later(u)
		c.Actions[0].GetRevoke().RecoveryIdentifierSignature = addressSignature(flipS(sig))
		b.refuseWire(InvalidUpdate, RuleUnused, c)
	})
	t.Run("a passkey's twin in the other half of S is the same signature", func(t *testing.T) {
		b := newInbox(t, k1(), 0)
		b.accept(create(k1(), 0))
		u := b.sign(revoke(k1(), w3().id()))
		b.acceptWire(u)
		c := later(u)
		p := c.Actions[0].GetRevoke().RecoveryIdentifierSignature.GetPasskey()
		p.Signature = derTwin(t, p.Signature)
		b.refuseWire(InvalidUpdate, RuleUnused, c)
	})
	t.Run("a contract's signature at another block or in another spelling is the same signature", func(t *testing.T) {
		b := newInbox(t, scw(), 0)
		upper := "eip155:1:0x00000000000000000000000000000000000000AA"
		b.v = validator(verdicts{scw().account: true, upper: true})
		b.accept(create(scw(), 0))
		u := b.sign(revoke(scw(), w3().id()))
		b.acceptWire(u)
		c := later(u)
		c.Actions[0].GetRevoke().RecoveryIdentifierSignature.GetErc_6492().BlockNumber++
		b.refuseWire(InvalidUpdate, RuleUnused, c)
		c.Actions[0].GetRevoke().RecoveryIdentifierSignature.GetErc_6492().AccountId = upper
		b.refuseWire(InvalidUpdate, RuleUnused, c)
	})
	t.Run("a delegated key works once", func(t *testing.T) {
		b := newInbox(t, w1(), 0)
		d := delegated{w1(), newWallet(0x99)}
		b.accept(create(d, 0))
		b.refuse(InvalidUpdate, RuleUnused, add(d, i1()))
		b.accept(add(delegated{w1(), newWallet(0x98)}, i1()))
	})
}

func TestVerificationStopsWithItsContext(t *testing.T) {
	b := newInbox(t, w1(), 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.v.Validate(ctx, nil, b.sign(create(w1(), 0)))
	requireRefusal(t, err, Unavailable, RuleVerifiedInTime)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestAnOutageKeepsItsCauseAndNotItsText(t *testing.T) {
	b := newInbox(t, scw(), 0)
	_, err := b.v.Validate(t.Context(), nil, b.sign(create(scw(), 0)))
	requireRefusal(t, err, Unavailable, RuleContractSignature)
	if !errors.Is(err, errOutage) || strings.Contains(err.Error(), errOutage.Error()) {
		t.Errorf("got %q with cause %v", err, errors.Unwrap(err))
	}
}

func TestWithoutAVerifierNoWalletCanBeAsked(t *testing.T) {
	b := newInbox(t, scw(), 0)
	b.v = validator(nil)
	b.refuse(Unavailable, RuleContractSignature, create(scw(), 0))
}

func TestAStoredUpdateThatFailsIsNamed(t *testing.T) {
	b := newInbox(t, scw(), 0)
	b.v = validator(verdicts{scw().account: true})
	b.accept(create(scw(), 0))
	b.accept(add(scw(), w1()))
	b.v = validator(verdicts{})
	_, err := b.v.Validate(t.Context(), b.history, b.sign(add(w1(), w2())))
	requireRefusal(t, err, Unavailable, RuleContractSignature)
	var refusal *Error
	if errors.As(err, &refusal); refusal.Stored != 0 || refusal.Action != 0 {
		t.Errorf("named stored update %d, action %d; want 0 and 0: %v", refusal.Stored, refusal.Action, err)
	}
}

func TestApplyLeavesTheStateItStartedFrom(t *testing.T) {
	r := ReferenceRules()
	verified := func(u *associations.IdentityUpdate) Verified {
		decoded, err := Decode(u)
		if err != nil {
			t.Fatal(err)
		}
		v, err := r.Verify(t.Context(), decoded, verdicts{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	id := InboxID(w1().id(), 0)
	one, err := r.Apply(nil, verified(sign(id, second, create(w1(), 0), add(w1(), i1()))))
	if err != nil {
		t.Fatal(err)
	}
	two, err := r.Apply(one, verified(sign(id, 2*second, revoke(w1(), i1().id()), recover_(w1(), w2().id()))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(one, verified(sign(id, 3*second, add(w1(), w3()), add(w1(), w1())))); err == nil {
		t.Fatal("a self-add was accepted")
	}
	if len(one.Members()) != 2 || one.Recovery() != w1().id() {
		t.Errorf("the first state changed: %v, recovery %v", one.Members(), one.Recovery())
	}
	if len(two.Members()) != 1 || two.Recovery() != w2().id() || two.InboxID() != id {
		t.Errorf("the second state is wrong: %v, recovery %v", two.Members(), two.Recovery())
	}
	member, ok := one.Member(i1().id())
	if want := (Member{AddedBy: w1().id(), AddedNS: second}); !ok || member != want {
		t.Errorf("the installation is recorded as %+v, want %+v", member, want)
	}
}

func TestARuleCanBeTakenOut(t *testing.T) {
	rules := ReferenceRules()
	rules.Add = slices.DeleteFunc(rules.Add, func(p Precondition) bool { return p.Rule == RuleNotSelf })
	b := newInbox(t, w1(), 0)
	b.v = NewValidator(Config{Rules: rules, Wallets: verdicts{}})
	b.accept(create(w1(), 0))
	b.accept(add(w1(), w1()))
	if untouched := ReferenceRules(); len(untouched.Add) != len(rules.Add)+1 {
		t.Error("taking a rule out of a copy changed the reference")
	}
}
