package backend

import (
	"fmt"
	"slices"

	"assay/model"
)

// Witnesses that identity updates, and contract signatures in them, can be
// accepted at all: a refusal says something only beside one.
const (
	updateWitness = "publish:identity update"
	walletWitness = "publish:contract signature"
)

// Names of the limits on identity updates and the calls about them.
const (
	limitIdentityEntries = "max_identity_entries"
	limitWallets         = "max_scw_signatures"
	limitLookup          = "max_lookup_identifiers"
)

// updatesAnswered judges what only identity updates can be answered with:
// ABORTED, and UNAVAILABLE for a chain that does not answer. It reports whether
// that was all there is to judge.
func (j *judge) updatesAnswered(p *publication) bool {
	x, r := p.exchange, p.answer
	all := j.identity.rulings[p]
	if len(all) == 0 {
		return false
	}
	switch {
	case r.Code == Aborted:
		j.aborted(p, all)
		return true
	case r.Code == Unavailable && slices.ContainsFunc(all, func(v *judged) bool { return !v.duplicate && v.ruling.chain == mustSeekChain }):
		j.held(chainFailure, x, walletWitness)
		return true
	case r.Code == OK || r.Code == InvalidArgument || r.Code == Unimplemented:
		return false
	}
	for _, v := range all {
		if v.duplicate {
			continue
		}
		for _, f := range v.ruling.findings() {
			if f.anyCode || f.unavailable && r.Code == Unavailable {
				j.note(walletRefused, f.basis, fmt.Sprintf("answers %s to %s", r.Code, f.what))
				return true
			}
		}
		if r.Code == Unavailable && v.ruling.chain == maySeekChain {
			return true // the chain was away for a while of it
		}
	}
	return false
}

// note remarks which of several legal answers a subject gives, once.
func (j *judge) note(a model.Assertion, b model.Basis, text string) {
	if b == model.Spec {
		b = model.Companion // what is open in the specification is a companion's to say
	}
	r := model.Remark{Requirement: a.Requirement, Basis: b, Text: text}
	if !slices.Contains(j.out.Remarks, r) {
		j.out.Remarks = append(j.out.Remarks, r)
	}
}

// aborted judges an ABORTED, which says that another update of an inbox was
// committed while this one was validated (API-051).
func (j *judge) aborted(p *publication, all []*judged) {
	maybe := false
	for _, v := range all {
		if v.inbox == nil || v.duplicate {
			continue
		}
		if len(v.rivals) > 0 {
			j.held(abortedRaces, p.exchange, updateWitness)
			j.beaten(p, v)
			return
		}
		maybe = maybe || v.races
	}
	if maybe {
		j.doubt(abortedRaces, p.exchange, "another update of the inbox may have been committed meanwhile")
		return
	}
	j.breached(abortedRaces, p.exchange, "no ABORTED: no other update of its inbox was committed while the publish ran", "ABORTED"+text(p.answer))
}

// beaten records that an update which applied before a rival's commit and does
// not after it was turned down (API-051).
func (j *judge) beaten(p *publication, v *judged) {
	if len(v.rivals) == 0 || v.least == v.most {
		return
	}
	certainly := func(n int) Ruling {
		var all []Ruling
		for _, w := range v.inbox.after[n] {
			all = append(all, v.conditions.Apply(w.state, v.entry.intent))
		}
		return merge(all)
	}
	if certainly(v.least).MustAccept() && certainly(v.most).MustRefuse() {
		j.held(oneWinner, p.exchange, updateWitness)
	}
}

// updatesRefused records what the refusal of identity updates shows besides that
// something was wrong with them.
func (j *judge) updatesRefused(p *publication) {
	for _, v := range j.identity.rulings[p] {
		if v.inbox != nil && !v.duplicate {
			j.beaten(p, v)
		}
		j.variants(p, v, "refuses")
	}
	j.openPackages(p, "refuses")
}

// variants remarks what a subject made of the odd parts of an update.
func (j *judge) variants(p *publication, v *judged, verb string) {
	if v.duplicate || len(j.identity.rulings[p]) > 1 || verb == "refuses" && len(p.defects) > 1 {
		return // which of several was looked at cannot be seen
	}
	if v.ruling.MustRefuse() {
		return
	}
	for _, f := range v.ruling.findings() {
		if !f.sure() {
			j.note(f.breaks, f.basis, verb+" "+f.what)
		}
	}
}

// updatesStored records what the success of a publish shows of its identity
// updates.
func (j *judge) updatesStored(p *publication) {
	x := p.exchange
	for _, v := range j.identity.rulings[p] {
		if v.inbox == nil {
			continue
		}
		needs := topicWitness(v.inbox.topic)
		if v.duplicate {
			j.repeated(p, v)
			continue
		}
		j.inOrder(p, v)
		j.variants(p, v, "accepts")
		if !v.ruling.MustAccept() {
			continue
		}
		j.witness(updateWitness)
		j.held(updateAccepted, x, needs)
		if v.conditions.Known && v.conditions.Node.Routed && countWallets(v.entry.intent) > 0 {
			j.witness(walletWitness)
			j.held(walletAccepted, x, needs)
			if countWallets(v.entry.intent) == v.conditions.maxWallets() {
				j.held(walletCountOK, x, needs)
			}
		}
		if v.entry.position == v.conditions.maxEntries()-1 {
			j.held(logFullOK, x, needs)
		}
		if j.builtOn(p, v) {
			j.held(dependentPublish, x, needs)
		}
		if slices.ContainsFunc(v.entry.tries, func(q attempt) bool { return q.returned < p.invoked && q.answered() && q.answer.Code == Aborted }) {
			j.held(resendWorks, x, needs)
		}
	}
}

// repeated records that an update which is stored already succeeded again,
// although it would not apply now (API-035, 148).
func (j *judge) repeated(p *publication, v *judged) {
	if v.ruling.MustRefuse() {
		j.held(staleDuplicate, p.exchange, "")
	}
	if v.least >= v.conditions.maxEntries() {
		j.held(fullRetry, p.exchange, "")
	}
}

// inOrder judges that a stored update has a higher id than every update that was
// stored before its publish began, of whatever inbox (API-014).
func (j *judge) inOrder(p *publication, v *judged) {
	e := v.entry
	if e.position < 0 || e.certain < p.returned {
		return // whoever proved it first was judged
	}
	top, n := j.identity.before(e.possible)
	switch {
	case n == 0:
	case top.sequence > e.sequence:
		proof := []int{e.possible, top.certain}
		if top.possible < never {
			proof = append(proof, top.possible)
		}
		j.breached(identityOrder, p.exchange, fmt.Sprintf("an id above %d, that of an identity update which had returned before", top.sequence), fmt.Sprint(e.sequence), proof...)
	case j.identity.places[top] != v.inbox:
		j.held(identityOrder, p.exchange, "")
	}
}

// builtOn reports whether an update applies only because of the entry before it,
// which had returned (API-017).
func (j *judge) builtOn(p *publication, v *judged) bool {
	n := v.entry.position
	if n < 1 || v.inbox.stored[n-1].certain >= p.invoked {
		return false
	}
	return j.refusedBehind(v, n-1)
}

// refusedBehind reports whether an update must be refused behind the first n
// entries of its inbox.
func (j *judge) refusedBehind(v *judged, n int) bool {
	for _, w := range v.inbox.after[n] {
		if !v.conditions.Apply(w.state, v.entry.intent).MustRefuse() {
			return false
		}
	}
	return true
}

// updateAcceptance names the requirement by which an identity update that was
// refused must be accepted.
func (j *judge) updateAcceptance(p *publication, index int) (model.Assertion, bool) {
	at := slices.IndexFunc(j.identity.rulings[p], func(v *judged) bool { return v.index == index && v.inbox != nil })
	if at < 0 {
		return model.Assertion{}, false
	}
	v := j.identity.rulings[p][at]
	signature := len(p.answer.Details) > 0 && p.answer.Details[0].Reason == ReasonInvalidSignature
	wallets := countWallets(v.entry.intent)
	switch {
	case v.duplicate && v.least >= v.conditions.maxEntries():
		return fullRetry, true
	case v.duplicate && v.ruling.MustRefuse():
		return staleDuplicate, true
	case v.duplicate:
		return duplicateMeta, true
	}
	if a, ok := j.special(p, p.request()[index], false); ok && !v.duplicate {
		return a, true
	}
	switch {
	case j.heedless(p, v):
		return dependentPublish, true
	case slices.ContainsFunc(v.entry.tries, func(q attempt) bool { return q.returned < p.invoked && q.answered() && q.answer.Code == Aborted }):
		return resendWorks, true
	case v.least == v.conditions.maxEntries()-1:
		return logFullOK, true
	case wallets > 0 && wallets == v.conditions.maxWallets():
		return walletCountOK, true
	case wallets > 0 && signature:
		return walletAccepted, true
	default:
		return updateAccepted, true
	}
}

// heedless reports whether a subject refused an update as if what it builds on
// were not there, and took it later though nothing had changed: it looked at
// data older than what had returned (API-017).
func (j *judge) heedless(p *publication, v *judged) bool {
	n := v.least
	if n < 1 || v.least != v.most || v.entry.position != n {
		return false
	}
	return j.refusedBehind(v, n-1)
}
