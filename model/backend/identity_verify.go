package backend

import (
	"fmt"
	"slices"

	"assay/model"
)

// callVerify is the witness that a verification found a signature valid that is.
const callVerify = "call:verify"

// walletVerdict is what may be said of one signature of a verification.
type walletVerdict struct {
	valid, invalid bool // which answers are legal
	// refusable is true when the whole call may be refused for it, with any code
	// if anyCode; unavailable when the chain may be blamed, must when it has to be.
	refusable, anyCode, unavailable, must bool
}

func (v walletVerdict) exact() bool { return v.valid != v.invalid && !v.must }

// contracts is what a history tells of contract wallets before a call.
type contracts struct {
	deployed, switched map[Party]int
	// asked is when each question was first put to a subject.
	asked map[question]int
}

// question is a verification of a numbered block, of which a verdict may be kept.
type question struct {
	by      Signing
	content string
	hash    HashFlaw
}

// surveyContracts notes when wallets were deployed, and switched, and what was asked.
func (j *judge) surveyContracts(order []*exchange) {
	d := &contracts{deployed: make(map[Party]int), switched: make(map[Party]int), asked: make(map[question]int)}
	j.contracts = d
	note := func(x *exchange, s Signing) {
		if s.Party.Kind != Contract || s.Block == Newest || s.Block == AboveHead || s.Block == Genesis {
			return
		}
		if _, ok := d.deployed[s.Party]; !ok {
			d.deployed[s.Party] = x.invoked
		}
		if _, ok := d.switched[s.Party]; !ok && s.Block == AfterSwitch {
			d.switched[s.Party] = x.invoked
		}
	}
	for _, x := range order {
		switch x.call.Method {
		case MethodPublish:
			for _, s := range x.call.Publish.Envelopes {
				if s.Intent.Update == nil {
					continue
				}
				for _, a := range s.Intent.Update.Actions {
					for _, g := range a.Signings() {
						note(x, g)
					}
				}
			}
		case MethodVerify:
			for _, e := range x.call.Verify.Entries {
				note(x, e.By)
				q := question{e.By, e.Content, e.Hash}
				if _, ok := d.asked[q]; !ok {
					d.asked[q] = x.invoked
				}
			}
		}
	}
}

// verdict tells what may be said of one entry (API-123; malformed entries and
// chains without a route are open).
func (j *judge) verdict(x *exchange, e Verification) walletVerdict {
	s := e.By
	if s.Party.Kind == Wallet && s.Variant == OrdinarySignature {
		s.Variant = AsContract
	}
	c := j.conditions(x)
	v := walletVerdict{valid: true}
	if e.Hash == Hash31 || e.Hash == Hash33 || e.Hash == HashEmpty {
		return walletVerdict{invalid: true, refusable: true, unavailable: true}
	}
	p := c.prove(&IdentityUpdate{}, s, &texts{update: &IdentityUpdate{}})
	for _, f := range p.findings {
		switch {
		case !f.sure():
			v.invalid, v.refusable, v.anyCode, v.unavailable = true, true, true, true
		case f.anyCode:
			v = walletVerdict{invalid: true, refusable: true, anyCode: true, unavailable: true}
		default:
			v.valid, v.invalid = false, true
			v.refusable = v.refusable || f.rule == RuleParts
			v.unavailable = v.unavailable || f.unavailable
		}
	}
	blind := s.Party.Kind == Contract && s.Party.Behaviour != Plainly && s.Party.Behaviour != Counterfactual
	if e.Hash == OtherHash && !blind && v.valid {
		v.valid, v.invalid = v.invalid, true
	}
	if s.Block == Newest && s.Party.Kind == Contract {
		j.now(x, s.Party, &v)
	}
	if c.Known && c.Node.Cut && !v.anyCode {
		first, asked := j.contracts.asked[question{e.By, e.Content, e.Hash}]
		remembered := s.Block != Newest && asked && first < x.invoked
		v.unavailable = true
		v.must = c.CutThroughout && !remembered && !v.refusable
	}
	return v
}

// now tells what a wallet says at the newest block, as far as the history does.
func (j *judge) now(x *exchange, p Party, v *walletVerdict) {
	deployed, ok := j.contracts.deployed[p]
	if p.Behaviour == Counterfactual {
		return
	}
	if !ok || deployed > x.invoked {
		v.invalid, v.unavailable = true, true // a wallet that is not there yet
		return
	}
	if p.Behaviour != Toggled {
		return
	}
	switched, ok := j.contracts.switched[p]
	switch {
	case !ok || switched > x.returned:
	case switched <= x.invoked:
		v.valid, v.invalid = false, true
	default:
		v.invalid = true
	}
}

// verify judges one answered verification (section 10).
func (j *judge) verify(x *exchange) {
	c, r := x.call.Verify, x.answer
	if r.Code == Unimplemented && !j.subject.served[MethodVerify] {
		j.out.Unimplemented["verify"]++
		return
	}
	routed := j.conditions(x)
	if len(x.defects) > 0 {
		if r.Code == OK || routed.Known && routed.Node.Routed && !routed.Node.Cut {
			j.readRefusal(x, callVerify)
		}
		return // without a chain, any refusal will do
	}
	all := make([]walletVerdict, len(c.Entries))
	for i, e := range c.Entries {
		all[i] = j.verdict(x, e.Verification)
	}
	some := func(f func(walletVerdict) bool) bool { return slices.ContainsFunc(all, f) }
	expected := verifyEach
	if uint64(len(c.Entries)) == j.terms.Limit(limitWallets) {
		expected = verifyCountOK
	}
	must := some(func(v walletVerdict) bool { return v.must })
	switch {
	case j.tooLong(x), r.Code != OK && len(c.Entries) == 0:
	case r.Code != OK && some(func(v walletVerdict) bool { return v.anyCode }):
		j.note(verifyEach, model.Companion, "answers "+r.Code.String()+" to a signature on a chain that it may not have")
	case r.Code == Unavailable && must:
		j.held(verifyFailure, x, callVerify)
	case r.Code == Unavailable && some(func(v walletVerdict) bool { return v.unavailable }):
	case r.Code == InvalidArgument && some(func(v walletVerdict) bool { return v.refusable }):
	case r.Code != OK && must && !j.mute(x):
		j.breached(verifyFailure, x, "UNAVAILABLE: the chain does not answer", r.Code.String()+text(r))
	case r.Code != OK:
		j.refusedSound(x, "OK: nothing is wrong with the request", expected)
	case r.Verified == nil:
		j.breached(verifyEach, x, "a verification response", "an answer that does not decode"+text(r))
	case must:
		j.breached(verifyFailure, x, "UNAVAILABLE: the chain does not answer", "OK")
	default:
		j.verified(x, all)
	}
}

// verified judges the results of a verification, one for each entry.
func (j *judge) verified(x *exchange, all []walletVerdict) {
	entries, got := x.call.Verify.Entries, x.answer.Verified.Entries
	if len(got) != len(entries) {
		j.breached(verifyEach, x, fmt.Sprintf("%d results", len(entries)), fmt.Sprint(len(got)))
		return
	}
	exact, yes := 0, false
	for i, v := range all {
		if g := got[i].Valid; g && !v.valid || !g && !v.invalid {
			j.breached(verifyEach, x, fmt.Sprintf("entry %d, by %s: is_valid %v", i, entries[i].By.Party, !g), fmt.Sprint(g))
			return
		}
		if v.exact() {
			exact++
			yes = yes || v.valid
		}
	}
	needs := callVerify
	if yes {
		j.witness(callVerify)
		needs = ""
	}
	if exact > 0 {
		j.held(verifyEach, x, needs)
		j.headers(x, callVerify)
	}
	if uint64(len(entries)) == j.terms.Limit(limitWallets) {
		j.held(verifyCountOK, x, callVerify)
	}
}
