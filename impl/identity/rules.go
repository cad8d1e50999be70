package identity

import "fmt"

// Rules is the state machine as data: for each verb the preconditions in the
// order in which they are asked, the text that is signed, and what a
// revocation takes along. [ReferenceRules] is the only complete set; a copy
// with one part replaced is how a deliberate fault is made.
type Rules struct {
	Text           func(Update) string
	Create         []Precondition
	Add            []Precondition
	Revoke         []Precondition
	ChangeRecovery []Precondition
	// Revoked lists whom the revocation of subject removes from the members.
	Revoked func(s *State, subject Identifier) []Identifier
}

// Precondition is one row of a table.
type Precondition struct {
	Rule Rule
	// Breaks says what is wrong with the step, and nothing when the rule holds.
	Breaks func(s *State, step Step) string
}

// Step is a verified action: who it is about and who was proved to have signed.
type Step struct {
	Verb    Verb
	Subject Identifier
	Nonce   uint64
	By      Signed
	Joining Signed // Add only
}

// signed lists the signatures of the step.
func (step Step) signed() []Signed {
	if step.Verb == Add {
		return []Signed{step.By, step.Joining}
	}
	return []Signed{step.By}
}

// The preconditions by name. A name says what must hold.
const (
	RuleNoInboxYet         Rule = "there is no inbox yet"
	RuleOwnerSigns         Rule = "the owner signs the creation"
	RuleLegacyCreates      Rule = "a delegated key creates only the inbox of nonce 0"
	RuleOwnerIsAddress     Rule = "an address is 0x and 40 hexadecimal digits"
	RuleInboxExists        Rule = "the inbox exists"
	RuleUnused             Rule = "no signature was used by an earlier update"
	RuleJoinerSigns        Rule = "the new member signs for itself"
	RuleNotSelf            Rule = "nobody adds itself"
	RuleLegacyAdds         Rule = "a delegated key adds only to the inbox of nonce 0"
	RuleSameChain          Rule = "a member signs on the chain it joined on"
	RuleMayAdd             Rule = "who adds is a member or the recovery identifier"
	RuleOutsiderNoLegacy   Rule = "a recovery identifier outside the inbox uses no delegated key"
	RuleNoInstallationTree Rule = "an installation adds no installation"
	RuleNoLegacy           Rule = "a delegated key neither revokes nor recovers"
	RuleRecoverySigns      Rule = "the recovery identifier signs"
)

// ReferenceRules returns the rules this package stands for.
//
// Four things that look forgotten are let pass on purpose, because refusing
// them would refuse updates that inboxes already hold: adding a current
// member again (its entry is overwritten), an update without actions on an
// existing inbox, revoking or handing recovery to an address that is not in
// lowercase (the first changes nothing, the second leaves nobody who could
// recover), and a recovery identifier outside the inbox that signs through a
// contract on any chain.
func ReferenceRules() Rules {
	exists := Precondition{RuleInboxExists, func(s *State, _ Step) string {
		if s == nil {
			return "nothing created this inbox before"
		}
		return ""
	}}
	unused := Precondition{RuleUnused, usedBefore}
	sameChain := Precondition{RuleSameChain, onAnotherChain}
	recovers := []Precondition{
		exists,
		unused,
		sameChain,
		{RuleNoLegacy, func(_ *State, step Step) string {
			if step.By.Scheme == ByDelegatedKey {
				return fmt.Sprintf("%v signs with a delegated key", step.By.By)
			}
			return ""
		}},
		{RuleRecoverySigns, func(s *State, step Step) string {
			if step.By.By != s.recovery {
				return fmt.Sprintf("signed by %v, not by %v", step.By.By, s.recovery)
			}
			return ""
		}},
	}
	return Rules{
		Text: Text,
		Create: []Precondition{
			{RuleNoInboxYet, func(s *State, _ Step) string {
				if s != nil {
					return "this inbox was created before"
				}
				return ""
			}},
			{RuleOwnerSigns, func(_ *State, step Step) string {
				if step.By.By != step.Subject {
					return fmt.Sprintf("signed by %v, not by %v", step.By.By, step.Subject)
				}
				return ""
			}},
			{RuleLegacyCreates, func(_ *State, step Step) string {
				if step.By.Scheme == ByDelegatedKey && step.Nonce != 0 {
					return fmt.Sprintf("a delegated key signs for nonce %d", step.Nonce)
				}
				return ""
			}},
			{RuleOwnerIsAddress, func(_ *State, step Step) string {
				if step.Subject.Kind == Ethereum && !hasAddressShape(step.Subject.Value) {
					return fmt.Sprintf("%v has another shape", step.Subject)
				}
				return ""
			}},
		},
		Add: []Precondition{
			exists,
			unused,
			{RuleJoinerSigns, func(_ *State, step Step) string {
				if step.Joining.By != step.Subject {
					return fmt.Sprintf("signed by %v, not by %v", step.Joining.By, step.Subject)
				}
				return ""
			}},
			{RuleNotSelf, func(_ *State, step Step) string {
				if step.By.By == step.Joining.By {
					return fmt.Sprintf("%v signs both sides", step.By.By)
				}
				return ""
			}},
			{RuleLegacyAdds, legacyElsewhere},
			sameChain,
			{RuleMayAdd, func(s *State, step Step) string {
				if _, member := s.Member(step.By.By); !member && step.By.By != s.recovery {
					return fmt.Sprintf("%v is neither", step.By.By)
				}
				return ""
			}},
			{RuleOutsiderNoLegacy, func(s *State, step Step) string {
				if _, member := s.Member(step.By.By); !member && step.By.Scheme == ByDelegatedKey {
					return fmt.Sprintf("%v signs with a delegated key", step.By.By)
				}
				return ""
			}},
			{RuleNoInstallationTree, func(_ *State, step Step) string {
				if step.By.By.Kind == Installation && step.Subject.Kind == Installation {
					return fmt.Sprintf("%v adds %v", step.By.By, step.Subject)
				}
				return ""
			}},
		},
		Revoke:         recovers,
		ChangeRecovery: recovers,
		Revoked:        revokedWith,
	}
}

// usedBefore keeps a stored signature from working twice. The signatures of
// the running update are not in the state yet, so one of them may serve
// several of its actions.
func usedBefore(s *State, step Step) string {
	for _, sig := range step.signed() {
		if s.hasUsed(sig) {
			return fmt.Sprintf("a signature by %v was used before", sig.By)
		}
	}
	return ""
}

// onAnotherChain compares the chain of a member with that of its signature;
// no chain at all is a chain of its own. Who is no member has none on record.
func onAnotherChain(s *State, step Step) string {
	member, ok := s.Member(step.By.By)
	if ok && member.Chain != step.By.Chain {
		return fmt.Sprintf("%v joined on %v and signs on %v", step.By.By, member.Chain, step.By.Chain)
	}
	return ""
}

// legacyElsewhere confines a delegated key to the inbox that its wallet's
// nonce 0 yields. The wallet meant is the adding party's; an installation has
// no such inbox, and then it is the one of the wallet behind the key (the
// older reading skips the check there, and any installation could bring any
// old key into any inbox).
func legacyElsewhere(s *State, step Step) string {
	for _, sig := range step.signed() {
		if sig.Scheme != ByDelegatedKey {
			continue
		}
		wallet := step.By.By
		if wallet.Kind == Installation {
			wallet = sig.By
		}
		if InboxID(wallet, 0) != s.inboxID {
			return fmt.Sprintf("this is not the inbox of nonce 0 of %v", wallet)
		}
	}
	return ""
}

// revokedWith removes the subject and, one level deep, the installations that
// it added. Addresses and passkeys that it added stay, and so do their
// installations: an installation lives by the party that vouched for it, a
// wallet lives on its own.
func revokedWith(s *State, subject Identifier) []Identifier {
	gone := []Identifier{subject}
	for id, member := range s.members {
		if id.Kind == Installation && member.AddedBy == subject {
			gone = append(gone, id)
		}
	}
	return gone
}
