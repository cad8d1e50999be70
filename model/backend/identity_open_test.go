package backend

import (
	"slices"
	"strings"
	"testing"

	"assay/model"
)

// Histories about which the specification says nothing against a subject.
func TestWhatIsOpenAboutIdentitiesIsNoBreach(t *testing.T) {
	create2 := at(2, inbox1(), create(w(1)))
	added := next(3, add(i(1), w(1)))
	contract := func(b Behaviour, f func(*Signing)) IdentityUpdate {
		return at(1, inboxOf(c(b)), create(c(b)).by(f))
	}
	plain := func(*Signing) {}
	routed := Node{Routed: true}
	for name, tell1 := range map[string]func(h *story){
		"a lost create was stored: what builds on it applies": func(h *story) {
			h.update("A", made()).lands().lost()
			h.update("A", added).answered()
		},
		"a lost create may be stored: another one is refused": func(h *story) {
			h.update("A", made()).lost()
			h.update("A", create2).answers(invalid(0, iiu))
		},
		"a lost create was not stored: another one is accepted": func(h *story) {
			h.update("A", made()).lost()
			h.update("A", create2).answered()
		},
		"a lost create lands late: the next is aborted, and a second refused": func(h *story) {
			h.update("A", made()).lost()
			h.shows(inbox1())
			h.update("A", create2).code(Aborted)
			h.update("A", create2).answers(invalid(0, iiu))
		},
		"a create without an answer is sent again": func(h *story) {
			h.update("A", made()).lands().lost()
			h.update("A", made()).answered()
		},
		"an update is unavailable, and so not known to be stored or not": func(h *story) {
			h.update("A", made()).code(Unavailable)
			h.update("A", create2).answers(invalid(0, iiu))
		},
		"nothing is known of a chain: yes": func(h *story) { h.update("A", contract(Plainly, plain)).answered() },
		"nothing is known of a chain: no":  func(h *story) { h.update("A", contract(Plainly, plain)).answers(invalid(0, sig)) },
		"nothing is known of a chain: neither": func(h *story) {
			h.update("A", contract(Plainly, plain)).code(Unavailable)
			h.update("A", contract(Always, plain)).code(FailedPrecondition)
		},
		"a chain without a route is refused with any code": func(h *story) {
			h.node(routed)
			h.update("A", contract(Plainly, onChain(NoRoute, AtDeployment))).code(FailedPrecondition)
			h.update("A", contract(Plainly, onChain(CosmosChain, AtDeployment))).code(Unavailable)
			h.update("A", contract(Plainly, onChain(WordyChain, AtDeployment))).answers(invalid(0, mal))
		},
		"a contract without an answer is no chain": func(h *story) {
			h.node(routed)
			h.update("A", contract(Reverts, plain)).code(Unavailable)
			h.update("A", contract(Reverts, plain)).answers(invalid(0, sig))
		},
		"a chain is cut while an update is on its way": func(h *story) {
			h.node(routed)
			u := h.update("A", contract(Plainly, plain))
			h.node(Node{Routed: true, Cut: true})
			u.code(Unavailable)
			h.node(routed)
			h.update("A", contract(Plainly, plain)).answered()
		},
		"a chain is cut, and a stored contract signature with it": func(h *story) {
			h.node(routed)
			h.update("A", contract(Plainly, plain)).answered()
			h.node(Node{Routed: true, Cut: true})
			u := at(2, inboxOf(c(Plainly)), create(c(Plainly)))
			u.Actions = []Action{{Flaw: KindUnset}}
			h.update("A", u).code(Unavailable)
			h.update("A", u).answers(invalid(0, mal))
		},
		"two stored updates of one inbox come again together: yes": func(h *story) {
			h.updates(made(), added)
			h.puts("A", updating(made()), updating(added)).answered()
		},
		"two stored updates of one inbox come again together: no": func(h *story) {
			h.updates(made(), added)
			h.puts("A", updating(made()), updating(added)).answers(invalid(-1, iiu))
		},
		"an update fails among malformed envelopes, and either answers": func(h *story) {
			created(h)
			h.puts("A", updating(create2), flawed(PayloadUnset)).answers(invalid(1, mal))
			h.puts("A", updating(create2), flawed(PayloadUnset)).answers(invalid(0, iiu))
		},
		"a package of an installation that is in no inbox is refused": func(h *story) {
			h.puts("A", packaging(soundPackage(1))).answers(invalid(0, ReasonInvalidKeyPackage))
		},
		"a package of an installation that was just revoked is refused": func(h *story) {
			h.updates(made(), added, next(4, revoke(i(1), w(1))))
			h.puts("A", packaging(soundPackage(1))).answers(invalid(0, ReasonInvalidKeyPackage))
		},
		"suite 3 is refused, suite 1 accepted": func(h *story) {
			h.updates(made(), added)
			h.puts("A", packaging(soundPackage(1))).answers(invalid(0, ReasonInvalidKeyPackage))
			one := soundPackage(2)
			one.Suite = 1
			h.puts("A", packaging(one)).answered()
		},
		"suite 3 is refused, and nothing else was tried": func(h *story) {
			h.updates(made(), added)
			h.puts("A", packaging(soundPackage(1))).answers(invalid(0, ReasonInvalidKeyPackage))
		},
		"a package with a trailing byte has either reason": func(h *story) {
			h.updates(made(), added)
			k := soundPackage(1)
			k.Flaw = PackageTrailing
			h.puts("A", packaging(k)).answers(invalid(0, mal))
			h.puts("A", packaging(k)).answers(invalid(0, ReasonInvalidKeyPackage))
		},
		"a lookup under kind 0 finds, misses or is refused": func(h *story) {
			created(h)
			l := Lookup{w(1), KindZeroSpelling}
			h.lookup(l).finds(inbox1())
			h.lookup(l).finds(InboxRef{})
			h.lookup(l).code(InvalidArgument)
		},
		"nonsense is missed or refused": func(h *story) {
			created(h)
			h.lookup(Lookup{w(1), NonsenseSpelling}).finds(InboxRef{})
			h.lookup(Lookup{w(1), EmptySpelling}).code(InvalidArgument)
			h.lookup(Lookup{k(1), PrefixedSpelling}).code(InvalidArgument)
		},
		"a malformed hash is no yes, or refused": func(h *story) {
			h.node(routed)
			v := Verification{By: Signing{Party: c(Plainly)}, Content: "1", Hash: Hash31}
			h.verify(v).says(false)
			h.verify(v).code(InvalidArgument)
		},
		"a verification on a chain without a route": func(h *story) {
			h.node(routed)
			v := Verification{By: Signing{Party: c(Plainly), Chain: NoRoute}, Content: "1"}
			h.verify(v).says(false)
			h.verify(v).code(Unavailable)
			h.verify(v).code(NotFound)
		},
		"without a chain, too many signatures are refused somehow": func(h *story) {
			h.verify(slices.Repeat([]Verification{{By: Signing{Party: c(Plainly)}}}, 101)...).code(Unavailable)
		},
		"a contract that is switched meanwhile says either": func(h *story) {
			h.node(routed)
			at := Verification{By: Signing{Party: c(Toggled)}, Content: "1"}
			off := Verification{By: Signing{Party: c(Toggled), Block: AfterSwitch}, Content: "1"}
			now := Verification{By: Signing{Party: c(Toggled), Block: Newest}, Content: "1"}
			h.verify(at, now).says(true, true)
			h.verify(off, now).says(false, false)
			h.verify(now).says(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := tell()
			tell1(h)
			h.innocent(t)
		})
	}
}

func TestBothMandatorySuitesRefusedIsABreach(t *testing.T) {
	h := tell()
	h.updates(made(), next(3, add(i(1), w(1))))
	for _, suite := range []uint16{3, 1} {
		k := soundPackage(uint32(suite))
		k.Suite = suite
		h.puts("A", packaging(k)).answers(invalid(0, ReasonInvalidKeyPackage))
	}
	if got := breaches(h.judged()); !slices.Equal(got, []string{packageAccepted.String()}) {
		t.Errorf("breaches %q", got)
	}
}

// A subject that refuses every update, each time with the right reason, has
// shown nothing: it may refuse all alike.
func TestWhoRefusesEverythingEarnsNothing(t *testing.T) {
	h := tell()
	h.publish("A", group("1")).answered()
	h.query("A", 0, all(groupLog("g"))).answered()
	h.update("A", next(1, add(i(1), w(1)))).answers(invalid(0, iiu))
	h.update("A", made().with(TextNewline)).answers(invalid(0, sig))
	h.puts("A", packaging(KeyPackageIntent{Installation: i(1), Inbox: inbox1(), Flaw: LeafCut})).answers(invalid(0, ReasonInvalidKeyPackage))
	h.node(Node{Routed: true})
	h.update("A", at(1, inboxOf(c(Never)), create(c(Never)))).answers(invalid(0, sig))
	h.lookup(Lookup{Party: w(1)}, Lookup{w(1), OtherKindSpelling}).finds(InboxRef{}, InboxRef{})
	h.verify(Verification{By: Signing{Party: c(Never)}}).says(false)
	j := h.innocent(t)
	for _, a := range identityAssertions() {
		if proves(j, a) {
			t.Errorf("%s is proved", a)
		}
	}
}

func TestAnOlderLookupIsDoubtedWhereAReplicaMayAnswer(t *testing.T) {
	for name, h := range map[string]*story{"the only database": tell(), "a replica": tell(withReplica)} {
		created(h)
		h.lookup(Lookup{Party: w(1)}).finds(InboxRef{})
		j := h.judged()
		doubted := slices.ContainsFunc(j.Judgements, func(v model.Judgement) bool { return v.Assertion == lookupLatest && v.Doubt != "" })
		if breached := len(j.Breaches()) > 0; breached == doubted || doubted != (name == "a replica") {
			t.Errorf("%s: breached %v, doubted %v", name, breached, doubted)
		}
	}
}

func TestASubjectThatLacksACallIsCountedForIt(t *testing.T) {
	h := tell()
	h.update("A", made()).code(Unimplemented)
	h.puts("A", packaging(soundPackage(1))).code(Unimplemented)
	h.lookup(Lookup{Party: w(1)}).code(Unimplemented)
	h.verify(Verification{By: Signing{Party: c(Plainly)}}).code(Unimplemented)
	j := h.innocent(t)
	for call, n := range map[string]int{"publish of identity updates and key packages": 2, "lookup": 1, "verify": 1} {
		if j.Unimplemented[call] != n {
			t.Errorf("%s: counted %d times, not %d", call, j.Unimplemented[call], n)
		}
	}
}

// Which of the readings a subject has is worth a note, with the basis of the
// reading and never with a verdict.
func TestTheReadingThatASubjectShowsIsNoted(t *testing.T) {
	again := next(5, add(w(2), w(1)))
	odd := func(v SignatureVariant) IdentityUpdate { return next(6, add(i(3), w(1)).by(oddBy(v))) }
	package1 := soundPackage(1)
	package1.Variant = CredentialX509
	for name, c := range map[string]struct {
		tell  func(h *story)
		basis model.Basis
		text  string
	}{
		"a member is added again":           {func(h *story) { h.update("A", again).answered() }, model.Upstream, "accepts a member added again"},
		"a member is not added again":       {func(h *story) { h.update("A", again).answers(invalid(0, iiu)) }, model.Upstream, "refuses a member added again"},
		"an update has no actions":          {func(h *story) { h.update("A", next(5)).answered() }, model.Upstream, "accepts an update without actions"},
		"V has a chain":                     {func(h *story) { h.update("A", odd(ChainV)).answers(invalid(0, sig)) }, model.Upstream, "refuses a signature: V with a chain id"},
		"somebody signs by a delegated key": {func(h *story) { h.update("A", odd(Delegated)).answers(invalid(0, iiu)) }, model.Companion, "refuses a signature: through a delegated key"},
		"a key package has an odd credential": {func(h *story) { h.puts("A", packaging(package1)).answers(invalid(0, ReasonInvalidKeyPackage)) }, model.Companion,
			"refuses a key package: credential of X.509"},
	} {
		t.Run(name, func(t *testing.T) {
			h := tell()
			h.updates(made(), next(2, add(w(2), w(1)), add(i(1), w(1))))
			c.tell(h)
			remarks := h.innocent(t).Remarks
			if !slices.ContainsFunc(remarks, func(r model.Remark) bool { return r.Basis == c.basis && strings.Contains(r.Text, c.text) }) {
				t.Errorf("noted are %+v", remarks)
			}
		})
	}
}
