package backend

import (
	"fmt"

	"assay/model"
)

// Node is what the harness knows of the chain behind a subject: a mark of a
// history, which holds from its event on. Without one nothing is known, and
// contract signatures are judged by what is stored alone (API-044).
type Node struct {
	// Routed is true when the subject was given a route to the run's chain,
	// SecondRouted when it has a second one to the same node.
	Routed       bool `json:"chain_routed"`
	SecondRouted bool `json:"chain_second_routed,omitempty"`
	// Cut is true while nothing answers on the chain's address.
	Cut bool `json:"chain_cut"`
}

// proof is what one signature shows, and what is wrong with it.
type proof struct {
	by       identifier
	chain    chainMark
	legacy   bool
	key      usedKey
	findings []finding
}

// text stands for the text that a signature is over: equal exactly when the
// texts are. later adds seconds.
func (u *IdentityUpdate) text(later int64) string {
	inbox, second := u.Inbox, u.Second+later
	var odd string
	switch {
	case u.Flaw == TextOtherInbox:
		inbox.Nonce++
	case u.Flaw == TextRoundedUp:
		second++
	case u.Flaw != SoundUpdate:
		odd = string(u.Flaw)
	}
	b := fmt.Appendf(make([]byte, 0, 64+32*len(u.Actions)), "%s%s %d %s", u.Variant, inbox, second, odd)
	for _, a := range u.Actions {
		if a.Kind == 0 {
			continue
		}
		id := a.named(u)
		for _, part := range [...]string{"; ", a.Kind.String(), " ", id.party.Kind.String(), " ", id.party.Name, " ", string(id.party.Behaviour), " ", string(id.form)} {
			b = append(b, part...)
		}
	}
	return string(b)
}

// named is whom the action is about, in the spelling that it has in the text.
func (a Action) named(u *IdentityUpdate) identifier {
	switch {
	case a.Variant == Checksummed, a.Kind == CreateInbox && u.Flaw == CreateChecksummed:
		return identifier{a.Subject, checksummedForm}
	case a.Variant == Compressed:
		return identifier{a.Subject, compressedForm}
	default:
		return identifier{party: a.Subject}
	}
}

// texts are the texts that the signatures of one update are over, made when
// they are first asked for: the right one, and that of the next second.
type texts struct {
	update *IdentityUpdate
	made   [2]string
}

func (t *texts) of(s Signing) string {
	later := 0
	if s.Flaw == OverOtherText {
		later = 1
	}
	if t.made[later] == "" {
		t.made[later] = t.update.text(int64(later))
	}
	return t.made[later]
}

// prove judges one signature of an update by itself (section 5.2).
func (c Conditions) prove(u *IdentityUpdate, s Signing, over *texts) proof {
	p := proof{by: identifier{party: s.Party}}
	p.flaw(u, s)
	p.variant(s)
	p.key = s.key(over.of(s))
	if s.OnChain() {
		p.chain = chainMark{true, s.Chain}
		c.asked(&p, s)
	}
	return p
}

// key names the signature that a party makes over a text.
func (s Signing) key(text string) usedKey {
	base := s.Party.String() + " " + text
	switch s.Party.Kind {
	case Passkey:
		// What the browser and the authenticator add is signed as well; the half
		// of s, and the form of the key, are not.
		writing := string(s.Variant)
		switch s.Variant {
		case UpperS, LowerS:
			base += fmt.Sprintf(" salt %d", s.Salt)
		case CompressedKey:
			base, writing = base+fmt.Sprintf(" salt %d", s.Salt), ""
		default:
			base += fmt.Sprintf(" salt %d %s", s.Salt, s.Variant)
		}
		return usedKey{base, writing}
	case Contract:
		return usedKey{base: fmt.Sprintf("%s salt %d", base, s.Salt)}
	case Wallet:
		if s.Variant == Delegated {
			return usedKey{base: s.Party.String() + " vouches"}
		}
		return usedKey{base, string(s.Variant)}
	default:
		return usedKey{base: base}
	}
}

func (p *proof) must(r Rule, breaks model.Assertion, reasons reasonSet, what string) {
	p.findings = append(p.findings, finding{rule: r, breaks: breaks, reasons: reasons, basis: model.Spec, what: what})
}

func (p *proof) may(r Rule, b model.Basis, reasons reasonSet, what string) {
	p.findings = append(p.findings, finding{rule: r, breaks: signatureRefused, reasons: reasons, basis: b, what: what})
}

// flaw finds what is wrong with a signature whatever the state (identity facts,
// the first, second and fourth kind of defect).
func (p *proof) flaw(u *IdentityUpdate, s Signing) {
	f, what := s.Flaw, string(s.Flaw)
	blind := s.Party.Kind == Contract && s.Party.Behaviour != Plainly && s.Party.Behaviour != Counterfactual
	if f == SoundSignature && u.Flaw.OtherText() {
		f, what = OverOtherText, string(u.Flaw)
	}
	what += " by " + s.Party.String()
	switch {
	case f == SoundSignature:
	case f == SignatureMissing, f == SignatureUnset:
		p.must(RuleParts, partsRefused, unsigned, what)
	case s.Variant == Delegated:
		// Whoever has retired the form does not look at what is wrong with it.
		p.must(RuleSignature, signatureRefused, unsigned, what)
	case f == OverOtherText, f == RawKeccak, f == PrefixPadded, f == PrefixOffByOne:
		p.otherText(s, what, blind)
	case f == EthereumCut, f == EthereumLong, f == Ed25519Cut, f == RawRS, f == ClientDataGarbage, f == ChallengeMissing:
		p.must(RuleSignature, signatureRefused, misencoded, what)
	case f == Ed25519Key31, f == Ed25519NoPoint, f == AccountColons, f == AccountTwoParts:
		p.must(RuleParts, partsRefused, unsigned, what)
	case f == WrapperMissing:
		p.must(RuleWalletAnswer, walletRefused, signatureOnly, what)
	default:
		p.must(RuleSignature, signatureRefused, signatureOnly, what)
	}
}

// otherText finds a signature over another text than the update's. Recovered
// from a text that it is not over, an ECDSA signature is somebody else's.
func (p *proof) otherText(s Signing, what string, blind bool) {
	switch {
	case blind: // a contract that looks at no signature finds nothing wrong with one
	case s.OnChain():
		p.must(RuleWalletAnswer, walletRefused, signatureOnly, what)
	case s.Party.Kind == Wallet:
		p.must(RuleSigner, strangerRefused, wrongParty, what)
	default:
		p.must(RuleSignature, signatureRefused, signatureOnly, what)
	}
}

// variant finds what is odd about a signature: some subjects refuse it.
func (p *proof) variant(s Signing) {
	what := "a signature: " + string(s.Variant)
	switch s.Variant {
	case ChainV, HighS, HighSSameV:
		p.may(RuleEncoding, model.Upstream, wrongParty, what)
	case Delegated:
		p.legacy = true
		p.may(RuleLegacy, model.Companion, unsigned, what)
	case OtherOrigin, NoOrigin, CreateCeremony, NoAuthData:
		p.may(RuleEncoding, model.Companion, misencoded, what)
	case CompressedKey:
		p.by.form = compressedForm
		p.may(RuleSpelling, model.Companion, unsigned, what)
	}
}

// asked finds what a contract, or what stands in its place, answers (API-044).
func (c Conditions) asked(p *proof, s Signing) {
	if s.Flaw == AccountColons || s.Flaw == AccountTwoParts || s.Flaw == SignatureMissing || s.Flaw == SignatureUnset {
		return // nobody is asked
	}
	add := func(f finding) {
		f.rule, f.breaks = RuleWalletAnswer, walletRefused
		f.what = "a contract's signature " + f.what
		p.findings = append(p.findings, f)
	}
	free := func(b model.Basis, what string) {
		add(finding{reasons: anyReason, basis: b, unavailable: true, anyCode: true, what: what})
	}
	switch {
	case !c.Known:
		free(model.Companion, "on a chain that the subject may not have")
		return
	case s.Chain == PaddedChain:
		free(model.Upstream, "on a "+string(s.Chain))
		return
	case s.Chain != RunChain && s.Chain != SecondRoute, s.Chain == RunChain && !c.Node.Routed, s.Chain == SecondRoute && !c.Node.SecondRouted:
		// Refused, but what a chain without a route is answered with is open.
		add(finding{reasons: anyReason, basis: model.Spec, anyCode: true, what: "on a chain without a route"})
		return
	}
	switch b := s.Party.Behaviour; {
	case s.Block == AboveHead, s.Block == Genesis:
		free(model.Upstream, "at a block "+string(s.Block))
	case b == Never, b == Toggled && s.Block == AfterSwitch:
		add(finding{reasons: signatureOnly, basis: model.Spec, what: "which says no"})
	case b == Reverts, b == Short, b == Dirty:
		// No answer and no yes: whether that is a failure of the chain is open.
		add(finding{reasons: signatureOnly, basis: model.Spec, unavailable: true, what: "which gives no answer"})
	}
}
