package backend

import (
	"fmt"
	"slices"

	"assay/model"
)

// Conditions are what an update is judged under besides the log of its inbox.
type Conditions struct {
	// Node is the way to the run's chain; Known is false when nothing is known of it.
	Node  Node
	Known bool
	// CutThroughout is true when the chain was cut for as long as the call
	// lasted, so that nobody could ask it anything.
	CutThroughout bool
	// MaxEntries is how many entries a log may hold (API-148), MaxWallets how
	// many contract signatures an update (API-044); 0 is the specification's.
	MaxEntries, MaxWallets int
	// Sequence is the sequence id that the update has, 0 when it is not known.
	Sequence uint64
}

func (c Conditions) maxEntries() int {
	if c.MaxEntries > 0 {
		return c.MaxEntries
	}
	return standardEntries
}

func (c Conditions) maxWallets() int {
	if c.MaxWallets > 0 {
		return c.MaxWallets
	}
	return standardWallets
}

// Apply judges an update against a state: whether it applies cleanly, and to
// what it leads (API-043, 044, 148). It changes nothing.
func (c Conditions) Apply(s *Associations, u *IdentityUpdate) Ruling {
	a := &application{Conditions: c, update: u, texts: texts{update: u}}
	r := Ruling{branches: a.run(s)}
	wallets := countWallets(u) > 0
	switch {
	case wallets && c.Known && c.Node.Cut && c.CutThroughout && a.asks:
		r.chain = mustSeekChain
	case c.Known && c.Node.Cut && (wallets || s != nil && s.wallets):
		r.chain = maySeekChain
	}
	return r
}

// merge is the ruling over everything that an inbox may look like.
func merge(all []Ruling) Ruling {
	var out Ruling
	must := len(all) > 0
	for _, r := range all {
		out.branches = append(out.branches, r.branches...)
		out.vague = out.vague || r.vague
		out.chain = max(out.chain, min(r.chain, maySeekChain))
		must = must && r.chain == mustSeekChain
	}
	if must {
		out.chain = mustSeekChain
	}
	return out
}

// countWallets counts the contract signatures of an update, equal ones as often
// as they occur (API-044).
func countWallets(u *IdentityUpdate) int {
	n := 0
	for _, a := range u.Actions {
		if a.Kind == 0 || a.Flaw == KindUnset {
			continue
		}
		for _, s := range a.Signings() {
			if s.OnChain() && s.Flaw != SignatureMissing && s.Flaw != SignatureUnset {
				n++
			}
		}
	}
	return n
}

// application is one update on its way through its actions.
type application struct {
	Conditions
	update *IdentityUpdate
	// asks is true when some contract signature of the update is for a chain to judge.
	asks  bool
	keys  []usedKey
	texts texts
}

// run follows every action on every state that the ones before it may leave.
func (a *application) run(s *Associations) []branch {
	u := a.update
	start := branch{after: s.clone()}
	if s.Unsure() {
		start.findings = append(start.findings, finding{rule: RuleInboxExists, breaks: stateRefused, reasons: anyReason, basis: model.Upstream, what: "a log that nobody can read"})
	}
	a.whole(&start, s)
	all := []branch{start}
	for i := range u.Actions {
		act := u.Actions[i]
		var next []branch
		proofs := a.proofs(act)
		for _, b := range all {
			next = append(next, a.step(b, act, proofs)...)
		}
		all = next
	}
	for i := range all {
		a.end(&all[i], s)
	}
	return all
}

// whole finds what is wrong with an update whatever its actions do.
func (a *application) whole(b *branch, s *Associations) {
	u := a.update
	if u.Flaw.NoTopic() {
		b.must(RuleInboxID, malformedRefused, unconverted, string(u.Flaw))
	}
	if u.Variant == InboxUpper {
		b.may(RuleInboxID, model.Companion, unconverted, "an "+string(u.Variant))
	}
	if n := countWallets(u); n > a.maxWallets() {
		b.must(RuleWalletCount, walletCount, anyReason, fmt.Sprintf("%d contract signatures where %d are allowed", n, a.maxWallets()))
	}
	if n := s.Entries(); n >= a.maxEntries() {
		b.must(RuleLogLength, logFull, updateOnly, fmt.Sprintf("a log of %d entries", n))
	}
	switch {
	case len(u.Actions) > 0:
	case s == nil:
		b.must(RuleInboxExists, stateRefused, updateOnly, "no action, and no inbox")
	default:
		b.may(RuleEmpty, model.Upstream, unconverted, "an update without actions")
	}
}

// proofs proves the signatures of an action, once for all branches.
func (a *application) proofs(act Action) []proof {
	if act.Kind == 0 || act.Flaw == KindUnset {
		return nil
	}
	var out []proof
	for _, s := range act.Signings() {
		p := a.prove(a.update, s, &a.texts)
		out = append(out, p)
		a.keys = append(a.keys, p.key)
		asked := s.OnChain() && !slices.ContainsFunc(p.findings, func(f finding) bool { return f.rule == RuleParts || f.anyCode })
		a.asks = a.asks || asked
	}
	return out
}

// end finds what is wrong with what the actions leave, and closes the log entry.
func (a *application) end(b *branch, before *Associations) {
	u := a.update
	if b.after == nil {
		return // an action that found no inbox has said so
	}
	inbox := b.after.inbox
	reasons := updateOnly
	if u.Flaw == CreateChecksummed {
		reasons = unsigned
	}
	if u.Flaw.OtherTopic() {
		b.must(RuleInboxMatches, stateRefused, reasons, string(u.Flaw))
	} else if inbox != u.Inbox && !b.after.unsure {
		b.must(RuleInboxMatches, stateRefused, updateOnly, fmt.Sprintf("an inbox %s, named as %s", inbox, u.Inbox))
	}
	if b.refused() {
		return
	}
	s := b.after
	s.entries++
	s.wallets = s.wallets || countWallets(u) > 0
	s.used = &usedUp{keys: a.keys, before: s.used}
	if before == nil {
		return
	}
	// Whoever was removed and added again may count from then or from now on.
	for id, m := range s.members {
		if old, ok := before.members[id]; ok && m.since != old.since {
			m.since = span64{old.since.low, m.since.high}
			s.members[id] = m
		}
	}
}

func (b *branch) add(f finding) { b.findings = append(b.findings, f) }

func (b *branch) must(r Rule, breaks model.Assertion, reasons reasonSet, what string) {
	basis := model.Spec
	if b.after.Unsure() && r.reads() {
		basis = model.Upstream // the state that would say so is not known
	}
	b.add(finding{rule: r, breaks: breaks, reasons: reasons, basis: basis, what: what})
}

func (b *branch) may(r Rule, basis model.Basis, reasons reasonSet, what string) {
	b.add(finding{rule: r, breaks: stateRefused, reasons: reasons, basis: basis, what: what})
}

// fork is a copy whose state and findings can go another way.
func (b branch) fork() branch {
	return branch{after: b.after.clone(), findings: slices.Clone(b.findings)}
}

const (
	standardEntries = 256
	standardWallets = 100
)
