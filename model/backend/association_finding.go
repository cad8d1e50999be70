package backend

import (
	"slices"

	"assay/model"
)

// Rule names what an identity update is held to, in words, for tables.
type Rule string

// The rules of identity updates.
const (
	RuleInboxID       Rule = "the inbox id is 64 hexadecimal digits in lower case"
	RuleParts         Rule = "every part of an action is there"
	RuleSignature     Rule = "every signature verifies"
	RuleSigner        Rule = "every signature is by the party that the action names"
	RuleWalletCount   Rule = "an update carries a bounded number of contract signatures"
	RuleWalletAnswer  Rule = "every contract says yes on a chain that can be asked"
	RuleLogLength     Rule = "the log has room for another entry"
	RuleNoInboxYet    Rule = "only an inbox that is not there is created"
	RuleInboxExists   Rule = "only an inbox that is there is changed"
	RuleInboxMatches  Rule = "the inbox is the one that the update names"
	RuleUnused        Rule = "no signature was used by an earlier update"
	RuleNotSelf       Rule = "nobody adds itself"
	RuleMayAdd        Rule = "who adds is a member or the recovery identifier"
	RuleNoTree        Rule = "an installation adds no installation"
	RuleSameChain     Rule = "a member signs where it joined"
	RuleRecoverySigns Rule = "the recovery identifier signs"
	RuleEmpty         Rule = "an update has actions"
	RuleNewMember     Rule = "who is added is no member yet"
	RuleSpelling      Rule = "identifiers are spelt in one way"
	RuleLegacy        Rule = "nobody signs through a delegated key"
	RuleEncoding      Rule = "signatures are written in one way"
)

// Rules lists every rule.
func Rules() []Rule {
	return []Rule{RuleInboxID, RuleParts, RuleSignature, RuleSigner, RuleWalletCount, RuleWalletAnswer, RuleLogLength, RuleNoInboxYet,
		RuleInboxExists, RuleInboxMatches, RuleUnused, RuleNotSelf, RuleMayAdd, RuleNoTree, RuleSameChain, RuleRecoverySigns,
		RuleEmpty, RuleNewMember, RuleSpelling, RuleLegacy, RuleEncoding}
}

// reads reports whether the rule asks who is a member of the inbox.
func (r Rule) reads() bool {
	switch r {
	case RuleNoInboxYet, RuleInboxExists, RuleUnused, RuleMayAdd, RuleSameChain, RuleRecoverySigns:
		return true
	default:
		return false
	}
}

// reasonSet is a set of publish-error reasons.
type reasonSet uint8

// The sets that the four kinds of defects lead to. What "signature failure" means
// beyond a signature that does not verify the specification does not say.
const (
	malformedOnly reasonSet = 1 << ReasonMalformedPayload
	updateOnly    reasonSet = 1 << ReasonInvalidIdentityUpdate
	signatureOnly reasonSet = 1 << ReasonInvalidSignature
	packageOnly   reasonSet = 1 << ReasonInvalidKeyPackage
	wrongParty              = updateOnly | signatureOnly
	misencoded              = signatureOnly | malformedOnly
	unconverted             = malformedOnly | updateOnly
	unsigned                = malformedOnly | updateOnly | signatureOnly
	anyReason     reasonSet = malformedOnly | updateOnly | signatureOnly | packageOnly | 1<<ReasonTooLarge
)

// list returns the reasons; nil for any, as a defect has it.
func (s reasonSet) list() []Reason {
	if s == anyReason {
		return nil
	}
	out := []Reason{}
	for r := ReasonMalformedPayload; r <= ReasonTooLarge; r++ {
		if s&(1<<r) != 0 {
			out = append(out, r)
		}
	}
	return out
}

// finding is one thing that an update can be refused for.
type finding struct {
	rule Rule
	// breaks is what accepting the update breaches.
	breaks  model.Assertion
	reasons reasonSet
	// basis is Spec when the update must be refused for it; of any other, a
	// subject may refuse it or not, and either is worth a note.
	basis model.Basis
	// unavailable tells that UNAVAILABLE may answer it, anyCode any failure.
	unavailable, anyCode bool
	what                 string
}

func (f finding) sure() bool { return f.basis == model.Spec }

// branch is one thing that may become of a state: the state after, and what is
// wrong on the way there.
type branch struct {
	after    *Associations
	findings []finding
}

func (b branch) refused() bool { return slices.ContainsFunc(b.findings, finding.sure) }

// Ruling is what may come of an identity update, over everything that its inbox
// may look like.
type Ruling struct {
	branches []branch
	// chain is what the chain has to do with it.
	chain dependence
	// vague is true when there are more ways than anybody followed.
	vague bool
}

// dependence is whether an answer needs the run's chain.
type dependence uint8

const (
	needsNoChain dependence = iota
	// maySeekChain is of an update that a cut chain may make unavailable.
	maySeekChain
	// mustSeekChain is of one that nobody can verify without the chain that is cut.
	mustSeekChain
)

// MustAccept reports that an update has nothing wrong with it, whatever its
// inbox looks like.
func (r Ruling) MustAccept() bool {
	return !r.vague && r.chain != mustSeekChain && !slices.ContainsFunc(r.branches, func(b branch) bool { return len(b.findings) > 0 })
}

// MustRefuse reports that an update has something wrong with it, whatever its
// inbox looks like.
func (r Ruling) MustRefuse() bool {
	return !r.vague && (r.chain == mustSeekChain || !slices.ContainsFunc(r.branches, func(b branch) bool { return !b.refused() }))
}

// Unavailable reports whether UNAVAILABLE is a legal answer.
func (r Ruling) Unavailable() bool {
	return r.chain != needsNoChain || slices.ContainsFunc(r.findings(), func(f finding) bool { return f.unavailable || f.anyCode })
}

// Reasons are the legal reasons of a refusal, none when no refusal with
// INVALID_ARGUMENT is legal; any is true when every reason but 0 is legal.
func (r Ruling) Reasons() (reasons []Reason, any bool) {
	s := r.reasons()
	return s.list(), s == anyReason
}

func (r Ruling) reasons() reasonSet {
	var s reasonSet
	if r.vague {
		return anyReason
	}
	for _, b := range r.branches {
		if len(b.findings) > 0 && !b.refused() {
			return anyReason // nothing says that it is refused at all
		}
		for _, f := range b.findings {
			s |= f.reasons
		}
	}
	return s
}

func (r Ruling) findings() []finding {
	var out []finding
	for _, b := range r.branches {
		out = append(out, b.findings...)
	}
	return out
}

// Decides names the rule that an update is refused for, the first of several;
// "" when it is accepted.
func (r Ruling) Decides() Rule {
	if f := r.first(); f != nil {
		return f.rule
	}
	return ""
}

// first is the finding that tells most of why an update is refused.
func (r Ruling) first() *finding {
	var may *finding
	for _, b := range r.branches {
		for i, f := range b.findings {
			if f.sure() {
				return &b.findings[i]
			}
			if may == nil {
				may = &b.findings[i]
			}
		}
	}
	return may
}

// After are the states that the inbox may have once the update was accepted,
// none when it must be refused.
func (r Ruling) After() []*Associations {
	var out []*Associations
	for _, b := range r.branches {
		if !b.refused() {
			out = append(out, b.after)
		}
	}
	return distinct(out)
}

// distinct leaves one of several states that are the same.
func distinct(states []*Associations) []*Associations {
	if len(states) < 2 {
		return states
	}
	seen := make(map[string]bool)
	return slices.DeleteFunc(states, func(s *Associations) bool {
		k := s.key()
		double := seen[k]
		seen[k] = true
		return double
	})
}
