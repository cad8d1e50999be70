package backend

import (
	"fmt"
	"slices"
	"sort"

	"assay/model"
)

// ruled judges what may come of the identity updates of a publish, and adds
// what is wrong with them to what is wrong with it.
func (j *judge) ruled(p *publication) {
	d := j.identity
	seen := make(map[envelopeKey]bool)
	count := make(map[Bytes]int)
	first := make(map[Bytes]int)
	for i, s := range p.request() {
		if s.Intent.Update == nil || s.Intent.Log.Kind != Identity || seen[keyOf(s)] {
			continue
		}
		topic := s.Artefact.Topic
		if topic == "" {
			r := j.conditions(p.exchange).Apply(nil, s.Intent.Update)
			d.rulings[p] = append(d.rulings[p], &judged{index: i, ruling: r})
			continue
		}
		seen[keyOf(s)] = true
		if count[topic]++; count[topic] == 1 {
			first[topic] = i
		}
		b := d.inboxes[topic]
		d.rulings[p] = append(d.rulings[p], j.rulingOf(p, b, b.updates[s.Artefact.Identity], i))
	}
	for _, v := range d.rulings[p] {
		if v.inbox != nil && count[v.inbox.topic] > 1 {
			continue // which of several is validated is nobody's to say
		}
		if w, ok := j.wrong(p, v); ok {
			p.defects = append(p.defects, w)
		}
	}
	j.tooManyUpdates(p, count)
}

// rulingOf judges one identity update of a publish.
func (j *judge) rulingOf(p *publication, b *inbox, e *logged, index int) *judged {
	v := &judged{index: index, entry: e, inbox: b, duplicate: e.certain < p.invoked, conditions: j.conditions(p.exchange)}
	v.least, v.most = b.snapshots(p.exchange)
	v.rivals, v.races = b.rivals(p, e)
	v.races = v.races || len(v.rivals) > 0
	if e.tries[0].publication != p {
		v.conditions.CutThroughout = false // its contract signatures may be remembered
	}
	ok := p.answered() && p.answer.Code == OK
	var all []Ruling
	if ok && e.position >= 0 && !v.duplicate {
		v.least, v.most = e.position, e.position
	}
	for n := v.least; n <= v.most; n++ {
		if e.position >= 0 && n > e.position && !v.duplicate {
			all = append(all, Ruling{branches: []branch{{}}}) // a copy was stored meanwhile
			break
		}
		until := p.returned
		if ok && e.certain < never {
			until = e.certain
		}
		for _, w := range b.expanded(n, until, e, v.conditions) {
			all = append(all, v.conditions.Apply(w.state, e.intent))
		}
	}
	if !ok && e.possible < p.returned && e.sequence == 0 && len(e.tries) > 1 {
		all = append(all, Ruling{branches: []branch{{}}}) // as may a copy have been
	}
	v.ruling = merge(all)
	return v
}

// wrong is what is wrong with a publish because of one of its identity updates.
func (j *judge) wrong(p *publication, v *judged) (defect, bool) {
	if v.duplicate || v.ruling.MustAccept() {
		return defect{}, false
	}
	d := defect{kind: validationDefect, index: v.index, certain: v.ruling.MustRefuse(), reasons: v.ruling.reasons().list(), reasonOf: updateReason, needs: updateWitness}
	f := v.ruling.first()
	switch {
	case v.ruling.chain == mustSeekChain && !v.ruling.refusesAnyway():
		d.breaks, d.reasonOf, d.needs = []model.Assertion{chainFailure}, chainFailure, walletWitness
		d.what = "contract signatures that nobody can be asked about"
	case f == nil:
		d.breaks, d.what = []model.Assertion{stateRefused}, "an inbox of which too much is possible"
	default:
		d.breaks, d.what = []model.Assertion{f.breaks}, f.what
		d.loose = f.rule == RuleParts || f.rule == RuleInboxID
		switch f.rule {
		case RuleWalletAnswer:
			d.needs = walletWitness
		case RuleWalletCount:
			d.limit, d.reasonOf = limitWallets, model.Assertion{}
		case RuleLogLength:
			d.limit, d.reasonOf = limitIdentityEntries, logFull
		case RuleInboxID:
			d.reasonOf = model.Assertion{}
		}
		if v.lost(p) {
			d.breaks = []model.Assertion{oneWinner}
		}
	}
	d.what = fmt.Sprintf("envelope %d: %s", v.index, d.what)
	return d, true
}

// lost reports whether an update that succeeded must not have, because of one
// that was committed while it ran.
func (v *judged) lost(p *publication) bool {
	if v.entry == nil || v.entry.position < 1 || len(v.rivals) == 0 || p.answer == nil || p.answer.Code != OK {
		return false
	}
	least, _ := v.inbox.snapshots(p.exchange)
	for n := least; n < v.entry.position; n++ {
		for _, w := range v.inbox.after[n] {
			if !v.conditions.Apply(w.state, v.entry.intent).MustRefuse() {
				return true
			}
		}
	}
	return false
}

// refusesAnyway reports whether an update has something wrong with it that needs
// no chain to see.
func (r Ruling) refusesAnyway() bool {
	return !slices.ContainsFunc(r.branches, func(b branch) bool { return !b.refused() })
}

// tooManyUpdates finds several updates of one inbox in a publish (API-050).
// What becomes of several that are all stored already is open.
func (j *judge) tooManyUpdates(p *publication, count map[Bytes]int) {
	done := make(map[Bytes]bool)
	for _, v := range j.identity.rulings[p] {
		if v.inbox == nil || count[v.inbox.topic] < 2 || done[v.inbox.topic] {
			continue
		}
		done[v.inbox.topic] = true
		certain := false
		indices := []int{-1}
		for _, o := range j.identity.rulings[p] {
			if o.inbox == v.inbox {
				indices = append(indices, o.index)
				certain = certain || o.entry.possible >= p.invoked
			}
		}
		for _, i := range indices {
			p.defects = append(p.defects, defect{kind: requestDefect, index: i, breaks: []model.Assertion{oneUpdate}, certain: certain, needs: updateWitness,
				what: "several updates of one inbox"})
		}
	}
}

// conditions are those of a call; of none, those of the whole history with the
// chain as it is when nothing is cut.
func (j *judge) conditions(x *exchange) Conditions {
	c := Conditions{MaxEntries: int(min(j.terms.Limit(limitIdentityEntries), 1<<30)), MaxWallets: int(min(j.terms.Limit(limitWallets), 1<<30))}
	d := j.identity
	if x == nil {
		for _, m := range d.nodes {
			c.Known = true
			c.Node.Routed = c.Node.Routed || m.node.Routed
			c.Node.SecondRouted = c.Node.SecondRouted || m.node.SecondRouted
		}
		return c
	}
	at := sort.Search(len(d.nodes), func(i int) bool { return d.nodes[i].event > x.invoked })
	if at == 0 {
		return c
	}
	c.Known, c.Node = true, d.nodes[at-1].node
	c.CutThroughout = c.Node.Cut
	for _, m := range d.nodes[at:] {
		if m.event > x.returned {
			break
		}
		c.Node.Cut = c.Node.Cut || m.node.Cut
		c.CutThroughout = c.CutThroughout && m.node.Cut
	}
	return c
}
