package backend

import (
	"fmt"

	"assay/model"
)

// step follows one action on one state.
func (a *application) step(b branch, act Action, proofs []proof) []branch {
	b.findings = append([]finding(nil), b.findings...)
	if act.Kind == 0 || act.Flaw == KindUnset {
		b.must(RuleParts, partsRefused, unconverted, string(KindUnset))
		return []branch{b}
	}
	switch act.Flaw {
	case SubjectMissing, SubjectUnset, PasskeyPrefixed, PasskeyOdd:
		b.must(RuleParts, partsRefused, unconverted, string(act.Flaw))
	}
	switch act.Variant {
	case KindUnknown:
		b.may(RuleSpelling, model.Upstream, unsigned, "an action: "+string(act.Variant))
	case Checksummed:
		b.may(RuleSpelling, model.Upstream, unsigned, "an action: "+string(act.Variant))
	case Compressed:
		b.may(RuleSpelling, model.Companion, unsigned, "an action: "+string(act.Variant))
	}
	for _, p := range proofs {
		for _, f := range p.findings {
			b.add(f)
		}
		a.replay(&b, p)
	}
	switch act.Kind {
	case CreateInbox:
		return a.create(b, act, proofs[0])
	case AddAssociation:
		return a.addition(b, act, proofs[0], proofs[1])
	case RevokeAssociation:
		return a.revocation(b, act, proofs[0])
	default:
		return a.handover(b, act, proofs[0])
	}
}

// replay finds a signature that an entry of the log already carries. Another
// encoding of it is the same signature to some subjects.
func (a *application) replay(b *branch, p proof) {
	if b.after == nil {
		return
	}
	used, same := b.after.used.of(p.key)
	switch {
	case same && p.legacy:
		b.may(RuleLegacy, model.Companion, unsigned, "a delegated key used before")
	case same:
		b.must(RuleUnused, replayRefused, wrongParty, "a signature of "+p.by.String()+" used before")
	case used:
		b.may(RuleUnused, model.Upstream, wrongParty, "another encoding of a signature used before")
	}
}

// matches finds whether a signature is by the party that an action names.
func (b *branch) matches(r Rule, p proof, want identifier, who string) {
	switch {
	case p.by == want:
	case p.by.alike(want):
		b.may(RuleSpelling, model.Companion, unsigned, "a signature by another spelling of the party")
	default:
		b.must(r, strangerRefused, wrongParty, fmt.Sprintf("a signature of %s where %s signs, %s", p.by, who, want))
	}
}

func (a *application) create(b branch, act Action, by proof) []branch {
	if b.after != nil {
		b.must(RuleNoInboxYet, stateRefused, updateOnly, "a second create")
		return []branch{b}
	}
	subject := act.named(a.update)
	if subject.form == checksummedForm {
		b.must(RuleSigner, stateRefused, unsigned, "a create for a checksummed address")
	} else {
		b.matches(RuleSigner, by, subject, "the owner")
	}
	inbox := InboxRef{Creator: act.Subject, Nonce: a.update.Inbox.Nonce}
	if act.Flaw == OtherNonce {
		inbox.Nonce++
	}
	b.after = &Associations{
		inbox:         inbox,
		members:       map[identifier]member{subject: {chain: by.chain, since: exactly(a.Sequence)}},
		recovery:      subject,
		recoveryChain: by.chain,
	}
	return []branch{b}
}

// missing finds that there is no inbox to change.
func (b *branch) missing() bool {
	if b.after != nil {
		return false
	}
	b.must(RuleInboxExists, stateRefused, updateOnly, "an action on an inbox that nobody created")
	return true
}

// sameChain finds a member that signs on another chain than the one it joined on.
func (b *branch) sameChain(p proof) {
	m, ok := b.after.members[p.by]
	if ok && m.chain != p.chain {
		b.must(RuleSameChain, strangerRefused, wrongParty, fmt.Sprintf("%s joined on %s and signs on %s", p.by, m.chain, p.chain))
	}
}

// outsiderChain is sameChain for a recovery identifier that is no member; not
// every subject has a record of it.
func (b *branch) outsiderChain(p proof) {
	if b.after.standing(p.by) == absent && p.by == b.after.recovery && p.chain != b.after.recoveryChain {
		b.may(RuleSameChain, model.Upstream, wrongParty, "a recovery identifier outside the inbox on another chain than before")
	}
}

func (a *application) addition(b branch, act Action, by, joining proof) []branch {
	subject := act.named(a.update)
	if act.Flaw != SubjectMissing && act.Flaw != SubjectUnset {
		b.matches(RuleSigner, joining, subject, "the new member")
	}
	if by.by == joining.by {
		b.must(RuleNotSelf, stateRefused, updateOnly, fmt.Sprintf("%s on both sides", by.by))
	} else if by.by.alike(joining.by) {
		b.may(RuleNotSelf, model.Companion, wrongParty, "a party that adds another spelling of itself")
	}
	if by.by.party.Kind == Installation && act.Subject.Kind == Installation {
		b.must(RuleNoTree, strangerRefused, wrongParty, fmt.Sprintf("%s adds %s", by.by, subject))
	}
	if b.missing() {
		return []branch{b}
	}
	b.sameChain(by)
	b.outsiderChain(by)
	switch standing := b.after.standing(by.by); {
	case standing == present, by.by == b.after.recovery:
	case standing == resembling, by.by.alike(b.after.recovery):
		b.may(RuleSpelling, model.Companion, unsigned, "an addition by another spelling of a member")
	default:
		b.must(RuleMayAdd, strangerRefused, wrongParty, fmt.Sprintf("%s adds and may not", by.by))
	}
	return a.joined(b, subject, by, joining)
}

// joined puts the new member in. Whether one that is a member already keeps
// what is known of it, or is refused, is open.
func (a *application) joined(b branch, subject identifier, by, joining proof) []branch {
	fresh := member{adder: by.by, chain: joining.chain, since: exactly(a.Sequence)}
	old, again := b.after.members[subject]
	if !again {
		b.after.members[subject] = fresh
		if subject.form != checksummedForm {
			return []branch{b}
		}
		plain := b.fork()
		delete(plain.after.members, subject)
		plain.after.members[identifier{party: subject.party}] = fresh
		return []branch{b, plain}
	}
	if by.by == subject {
		return []branch{b} // it adds itself, and that is what is wrong with it
	}
	b.may(RuleNewMember, model.Upstream, updateOnly, "a member added again")
	kept := b.fork()
	fresh.since = old.since
	b.after.members[subject] = fresh
	if fresh == old {
		return []branch{b}
	}
	return []branch{b, kept}
}

// recovers finds whether the recovery identifier signs a revocation or handover.
func (b *branch) recovers(by proof) bool {
	if b.missing() {
		return false
	}
	b.sameChain(by)
	b.outsiderChain(by)
	b.matches(RuleRecoverySigns, by, b.after.recovery, "the recovery identifier")
	return true
}

func (a *application) revocation(b branch, act Action, by proof) []branch {
	if !b.recovers(by) {
		return []branch{b}
	}
	subject := act.named(a.update)
	if subject.form == plainForm {
		b.after.remove(subject)
		return []branch{b}
	}
	// A spelling that nobody has removes nobody, or whom it spells.
	plain := b.fork()
	b.after.remove(subject)
	plain.after.remove(identifier{party: subject.party})
	return []branch{b, plain}
}

// remove revokes one identifier and, one level deep, the installations that it
// added.
func (s *Associations) remove(id identifier) {
	delete(s.members, id)
	for m, of := range s.members {
		if m.party.Kind == Installation && of.adder == id {
			delete(s.members, m)
		}
	}
}

func (a *application) handover(b branch, act Action, by proof) []branch {
	if !b.recovers(by) {
		return []branch{b}
	}
	subject := act.named(a.update)
	hand := func(s *Associations, to identifier) {
		s.recovery, s.recoveryChain = to, s.members[to].chain
	}
	if subject.form == plainForm {
		hand(b.after, subject)
		return []branch{b}
	}
	plain := b.fork()
	hand(b.after, subject)
	hand(plain.after, identifier{party: subject.party})
	return []branch{b, plain}
}
