package backend

import (
	"math"

	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// identityCases lists the lives of inboxes: what a first update may be, how
// members come and go, what a recovery identifier may do, what a replay is, and
// every flaw that an update, an action or a signature can have, alone.
func identityCases() []identityCase {
	var out []identityCase
	for _, more := range [][]identityCase{firstUpdates(), members(), recoveries(), replays(), updateFlaws(), actionFlaws(), signatureFlaws(), oddities(), contractCases()} {
		out = append(out, more...)
	}
	return out
}

func firstUpdates() []identityCase {
	at := func(l *life, second int64, nanosecond uint32) *life {
		return l.with(func(u *rules.IdentityUpdate) { u.Second, u.Nanosecond = second, nanosecond })
	}
	return []identityCase{
		{name: "a wallet creates an inbox", life: born(w1)},
		{name: "a passkey creates an inbox", life: born(k1)},
		{name: "an inbox is created with an installation in one update", life: unborn(w1).then(create(w1), add(i1, w1))},
		{name: "the largest nonce makes an inbox", life: (&life{inbox: rules.InboxRef{Creator: w1, Nonce: math.MaxUint64}, second: 1}).then(create(w1))},
		{name: "two nonces make two inboxes of one wallet", life: (&life{inbox: rules.InboxRef{Creator: w1, Nonce: 1}, second: 1}).then(create(w1))},
		{name: "a first update that adds is refused", life: unborn(w1).then(add(i1, w1))},
		{name: "an add before the create of one update is refused", life: unborn(w1).then(add(i1, w1), create(w1))},
		{name: "two creates in one update are refused", life: unborn(w1).then(create(w1), create(w1))},
		{name: "a second create of an inbox is refused", life: born(w1).then(create(w1))},
		{name: "a create signed by another wallet is refused", life: unborn(w1).then(rules.Action{Kind: rules.CreateInbox, Subject: w1, By: by(w2)})},
		{name: "a first update without actions is refused", life: unborn(w1).then()},
		{name: "an update without actions of an inbox", life: born(w1).then()},
		{name: "the second is floored in the signed text", life: at(unborn(w1).then(create(w1)), 1_700_000_000, 999_999_999)},
		{name: "a time in the upper half of its field is signed as negative", life: at(unborn(w1).then(create(w1)), math.MinInt64/1_000_000_000, 0)},
		{name: "the last nanosecond before 1970 is signed as such", life: at(unborn(w1).then(create(w1)), -1, 999_999_999)},
	}
}

func members() []identityCase {
	return []identityCase{
		{name: "a wallet adds a wallet", life: born(w1).then(add(w2, w1))},
		{name: "a wallet adds a passkey", life: born(w1).then(add(k1, w1))},
		{name: "an installation adds a wallet", life: born(w1).then(add(i1, w1)).then(add(w2, i1))},
		{name: "an installation adds a passkey", life: born(w1).then(add(i1, w1)).then(add(k1, i1))},
		{name: "an installation cannot add an installation", life: born(w1).then(add(i1, w1)).then(add(i2, i1))},
		{name: "a passkey adds an installation", life: born(w1).then(add(k1, w1)).then(add(i2, k1))},
		{name: "a stranger cannot add", life: born(w1).then(add(i2, w3))},
		{name: "a new member signs for itself", life: born(w1).then(rules.Action{Kind: rules.AddAssociation, Subject: w2, By: by(w1), New: by(w3)})},
		{name: "a new installation signs for itself", life: born(w1).then(rules.Action{Kind: rules.AddAssociation, Subject: i1, By: by(w1), New: by(i2)})},
		{name: "nobody adds itself", life: born(w1).then(add(w1, w1))},
		{name: "a member is added again", life: born(w1).then(add(w2, w1)).then(add(w2, w1))},
		{name: "one update adds three members", life: born(w1).then(add(w2, w1), add(i1, w2), add(k1, i1))},
		{name: "an update whose last action fails adds nobody", life: born(w1).then(add(w2, w1), add(i1, w1), add(i2, w3)).then(add(k1, w2))},
		{name: "a revoked member cannot add", life: born(w1).then(add(i1, w1)).then(revoke(i1, w1)).then(add(w2, i1))},
		{name: "a revoked member comes back", life: born(w1).then(add(i1, w1)).then(revoke(i1, w1)).then(add(i1, w1)).then(add(w2, i1))},
		{name: "a member that is not the recovery identifier cannot revoke", life: born(w1).then(add(w2, w1)).then(add(i1, w1)).then(revoke(i1, w2))},
		{name: "an installation cannot revoke itself", life: born(w1).then(add(i1, w1)).then(revoke(i1, i1))},
		{name: "revoking a member takes the installations it added", life: born(w1).then(add(w2, w1)).then(add(i2, w2)).then(add(i1, w1)).then(revoke(w2, w1)).then(add(w3, i2)).then(add(w3, i1))},
		{name: "revocation goes one level deep", life: born(w1).then(add(i1, w1)).then(add(w2, w1)).then(add(i2, w2)).then(revoke(w1, w1)).then(add(w3, i2)).then(add(k1, i1))},
		{name: "revoking an installation leaves the wallet it added", life: born(w1).then(add(i1, w1)).then(add(w3, i1)).then(revoke(i1, w1)).then(add(i2, w3))},
		{name: "somebody who never was a member is revoked", life: born(w1).then(revoke(w3, w1))},
		{name: "one signature serves several actions of one update", life: born(w1).then(add(i1, w1), add(i2, w1))},
	}
}

func recoveries() []identityCase {
	handed := func() *life { return born(w1).then(add(i1, w1)).then(recovery(w2, w1)) }
	return []identityCase{
		{name: "a recovery identifier that revoked itself still adds and revokes", life: born(w1).then(add(w2, w1)).then(revoke(w1, w1)).then(add(i3, w1)).then(revoke(w2, w1))},
		{name: "recovery passes to somebody who signs nothing", life: handed()},
		{name: "the former recovery identifier cannot revoke", life: handed().then(revoke(i1, w1))},
		{name: "the new recovery identifier revokes", life: handed().then(revoke(i1, w2))},
		{name: "the new recovery identifier adds without being a member", life: handed().then(add(i2, w2)).then(add(w3, w1))},
		{name: "revoking a recovery identifier that is no member takes its installations", life: handed().then(add(i2, w2)).then(revoke(w2, w2)).then(add(w3, i2))},
		{name: "a change of recovery counts for the next action", life: born(w1).then(add(i1, w1)).then(recovery(w2, w1), revoke(i1, w1))},
		{name: "a change of recovery lets the new one sign the next action", life: born(w1).then(add(i1, w1)).then(recovery(w2, w1), revoke(i1, w2))},
		{name: "a passkey becomes the recovery identifier", life: born(w1).then(add(i1, w1)).then(recovery(k1, w1)).then(revoke(i1, k1))},
		{name: "a member cannot change recovery", life: born(w1).then(add(w2, w1)).then(recovery(w2, w2))},
		{name: "recovery passes on and comes back", life: handed().then(recovery(w1, w2)).then(revoke(i1, w1))},
	}
}

func replays() []identityCase {
	again := func(l *life, i int) *life { return l.again(i) }
	duplicate := func(l *life, i int) *life { l.updates = append(l.updates, l.updates[i]); return l }
	return []identityCase{
		{name: "an update published twice is a duplicate", life: duplicate(born(w1).then(add(w2, w1)), 1), decides: []spec.ID{backendreq.API033}},
		{name: "an add is replayed", life: again(born(w1).then(add(w2, w1)), 1)},
		{name: "an add is replayed after the revocation", life: again(born(w1).then(add(w2, w1)).then(revoke(w2, w1)), 1)},
		{name: "a create is replayed", life: again(born(w1), 0)},
		{name: "a revocation is replayed after the member came back", life: again(born(w1).then(add(w2, w1)).then(revoke(w2, w1)).then(add(w2, w1)), 2)},
		{name: "a change of recovery is replayed", life: again(born(w1).then(recovery(w2, w1)).then(recovery(w1, w2)), 1)},
		{name: "a passkey's add is replayed", life: again(born(k1).then(add(i1, k1)), 1)},
		{name: "a stored create is published again after more updates", life: duplicate(born(w1).then(add(w2, w1)).then(add(i1, w2)), 0), decides: []spec.ID{backendreq.API035}},
		{name: "a stored add is published again after its member was revoked", life: duplicate(born(w1).then(add(w2, w1)).then(revoke(w2, w1)), 1), decides: []spec.ID{backendreq.API035}},
		{name: "the signatures of a refused update are not spent", life: spared()},
	}
}

// spared has an update refused for one bad signature, then publishes it with
// that one signature mended: the text and the other signature are the same.
func spared() *life {
	l := born(w1).then(add(i1, w1)).joined(rules.PlainEd25519)
	mended := l.updates[1]
	mended.Actions = []rules.Action{add(i1, w1)}
	l.updates = append(l.updates, mended)
	return l
}

// updateFlaws has one case for each flaw of a whole update that a wallet's or a
// passkey's inbox can show.
func updateFlaws() []identityCase {
	var out []identityCase
	bases := []func() *life{
		func() *life { return unborn(w1).then(create(w1), add(i1, w1)) },
		func() *life {
			l := unborn(w1).then(create(w1), add(i1, w1))
			return l.with(func(u *rules.IdentityUpdate) { u.Nanosecond = 999_999_999 })
		},
		func() *life {
			l := unborn(w1).then(create(w1))
			return l.with(func(u *rules.IdentityUpdate) { u.Second = -1 })
		},
		func() *life { return born(w1).then(recovery(k1, w1)) },
	}
	for _, f := range rules.UpdateFlaws() {
		for _, base := range bases {
			l := base()
			if f.Fits(l.updates[len(l.updates)-1]) {
				c := identityCase{name: slug(f), life: l.flaw(f)}
				if f.NoTopic() {
					c.decides = []spec.ID{backendreq.API047}
				}
				out = append(out, c)
				break
			}
		}
	}
	return out
}

func actionFlaws() []identityCase {
	var out []identityCase
	bases := []func() *life{
		func() *life { return born(w1).then(add(i1, w1)) },
		func() *life { return unborn(w1).then(create(w1)) },
		func() *life { return unborn(k1).then(create(k1)) },
	}
	for _, f := range rules.ActionFlaws() {
		for _, base := range bases {
			l := base()
			u := l.updates[len(l.updates)-1]
			if f.Fits(u.Actions[0]) {
				out = append(out, identityCase{name: slug(f), life: l.with(func(u *rules.IdentityUpdate) { u.Actions[0].Flaw = f })})
				break
			}
		}
	}
	return out
}

// signatureFlaws has one case for each flaw of each kind of signature, as that
// of a new member and as that of the one who allows an add.
func signatureFlaws() []identityCase {
	var out []identityCase
	for _, p := range []rules.Party{w2, i1, k1} {
		for _, f := range rules.SignatureFlaws(p.Kind) {
			if f.Fits(rules.Signing{Party: p}) {
				out = append(out, identityCase{name: "joining " + p.Kind.String() + " with " + slug(f), life: born(w1).then(add(p, w1)).joined(f)})
			}
		}
	}
	for _, f := range []rules.SignatureFlaw{rules.SignatureMissing, rules.OverOtherText, rules.RawKeccak, rules.EthereumCut, rules.EthereumZeros} {
		out = append(out,
			identityCase{name: "creating with " + slug(f), life: unborn(w1).then(create(w1)).signed(f)},
			identityCase{name: "revoking with " + slug(f), life: born(w1).then(add(i1, w1)).then(revoke(i1, w1)).signed(f)},
			identityCase{name: "changing recovery with " + slug(f), life: born(w1).then(recovery(w2, w1)).signed(f)},
		)
	}
	return out
}

// oddities are what some rule sets allow and others do not: they show which
// variant a subject is, and accuse nobody.
func oddities() []identityCase {
	joined := func(p rules.Party, v rules.SignatureVariant) *life {
		return born(w1).then(rules.Action{Kind: rules.AddAssociation, Subject: p, By: by(w1), New: rules.Signing{Party: p, Variant: v}})
	}
	var out []identityCase
	for _, p := range []rules.Party{w2, k1} {
		for _, v := range rules.SignatureVariants(p.Kind) {
			if v.Fits(p) && v != rules.AsContract && v != rules.Delegated {
				out = append(out, identityCase{name: "joining " + p.Kind.String() + " with " + slug(v), life: joined(p, v)})
			}
		}
	}
	for _, v := range rules.ActionVariants() {
		for _, a := range []rules.Action{create(w1), create(k1), add(w2, w1), add(k1, w1)} {
			if !v.Fits(a) {
				continue
			}
			a.Variant = v
			l := born(w1).then(a)
			if a.Kind == rules.CreateInbox {
				l = unborn(a.Subject).then(a)
			}
			out = append(out, identityCase{name: "with " + slug(v), life: l})
			break
		}
	}
	out = append(out, identityCase{name: "an inbox id in upper case", life: unborn(w1).then(create(w1)).with(func(u *rules.IdentityUpdate) { u.Variant = rules.InboxUpper })})
	for i := range out {
		out[i].name = "odd " + out[i].name
	}
	return out
}

func contractCases() []identityCase {
	contract := func(b rules.Behaviour) rules.Party {
		return rules.Party{Kind: rules.Contract, Name: "s1", Behaviour: b}
	}
	s1 := contract(rules.Plainly)
	on := func(p rules.Party, f func(*rules.Signing)) *life {
		s := by(p)
		f(&s)
		return unborn(p).then(rules.Action{Kind: rules.CreateInbox, Subject: p, By: s})
	}
	block := func(b rules.Block) func(*rules.Signing) {
		return func(s *rules.Signing) { s.Block = b }
	}
	out := []identityCase{
		{name: "a contract creates an inbox", life: born(s1)},
		{name: "a contract adds an installation", life: born(s1).then(add(i1, s1))},
		{name: "a wallet adds a contract", life: born(w1).then(add(s1, w1))},
		{name: "a contract that says no", life: born(contract(rules.Never))},
		{name: "a contract that says yes to everything", life: born(contract(rules.Always))},
		{name: "a contract that reverts", life: born(contract(rules.Reverts))},
		{name: "a contract that answers in four bytes", life: born(contract(rules.Short))},
		{name: "a contract with a dirty answer", life: born(contract(rules.Dirty))},
		{name: "a contract that is not deployed", life: born(contract(rules.Counterfactual))},
		{name: "a contract asked at the block before its switch", life: on(contract(rules.Toggled), block(rules.AtDeployment))},
		{name: "a contract asked after its switch", life: on(contract(rules.Toggled), block(rules.AfterSwitch))},
		{name: "a block above the head", life: on(s1, block(rules.AboveHead))},
		{name: "a chain without a route", life: on(s1, func(s *rules.Signing) { s.Chain = rules.NoRoute })},
		{name: "a chain of another namespace", life: on(s1, func(s *rules.Signing) { s.Chain = rules.CosmosChain })},
		{name: "a checksummed account", life: on(s1, func(s *rules.Signing) { s.Variant = rules.AccountChecksummed })},
		{name: "a contract signs for another contract", life: unborn(s1).then(rules.Action{Kind: rules.CreateInbox, Subject: s1, By: by(contract(rules.Always))})},
		{name: "a contract's add is replayed", life: born(s1).then(add(i1, s1)).again(1)},
		{name: "a wallet that joined as a contract signs as a wallet", life: unborn(w1).then(rules.Action{Kind: rules.CreateInbox, Subject: w1, By: rules.Signing{Party: w1, Variant: rules.AsContract}}).then(add(i1, w1))},
		{name: "a wallet that joined as a wallet signs as a contract", life: born(w1).then(rules.Action{Kind: rules.AddAssociation, Subject: i1, By: rules.Signing{Party: w1, Variant: rules.AsContract}})},
		{name: "a hundred contract signatures", life: hundred(100), decides: []spec.ID{backendreq.API044}},
		{name: "a hundred and one contract signatures", life: hundred(101), decides: []spec.ID{backendreq.API044}},
	}
	for _, f := range rules.SignatureFlaws(rules.Contract) {
		p := s1
		if f == rules.WrapperMissing {
			p = contract(rules.Counterfactual)
		}
		if f.Fits(by(p)) {
			out = append(out, identityCase{name: "a contract with " + slug(f), life: unborn(p).then(create(p)).signed(f)})
		}
	}
	for i := range out {
		out[i].needs = true
		if len(out[i].decides) == 0 {
			out[i].decides = nil
		}
	}
	return out
}

// hundred creates an inbox and adds installations in one update that carries n
// contract signatures.
func hundred(n int) *life {
	s1 := rules.Party{Kind: rules.Contract, Name: "s1"}
	actions := []rules.Action{create(s1)}
	for i := range n - 1 {
		actions = append(actions, add(rules.Party{Kind: rules.Installation, Name: numberedName(i)}, s1))
	}
	return unborn(s1).then(actions...)
}

func numberedName(i int) string { return "n" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }
