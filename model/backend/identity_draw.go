package backend

import (
	"fmt"
	"slices"
)

// Choice is where every decision of a drawn update comes from: Intn returns a
// number from 0 to n-1, what names the decision for people.
type Choice interface {
	Intn(n int, what string) int
}

// Lives draws identity updates of several inboxes at once, most of them such as
// their inbox must accept, the others such as one named rule speaks against.
// Tell it what was accepted, or it will build on nothing.
type Lives struct {
	conditions Conditions
	chain      bool
	all        []*Life
	second     int64
	nonce      uint64
	// full is the inbox whose log grows as long as it may; nothing else happens to it.
	full *Life
}

// Life is one inbox as far as it is known to have come.
type Life struct {
	Inbox  InboxRef
	States []*Associations
	// Accepted are the updates of its log.
	Accepted []IdentityUpdate
}

// NewLives starts without inboxes. With a chain, contracts take part.
func NewLives(c Conditions) *Lives {
	return &Lives{conditions: c, chain: c.Known && c.Node.Routed, second: 1_700_000_000, nonce: 1}
}

// Of finds the life of an inbox, nil for one that was not drawn.
func (l *Lives) Of(r InboxRef) *Life {
	if l.full != nil && l.full.Inbox == r {
		return l.full
	}
	at := slices.IndexFunc(l.all, func(f *Life) bool { return f.Inbox == r })
	if at < 0 {
		return nil
	}
	return l.all[at]
}

// Ruling is what may come of an update of the life's inbox.
func (l *Lives) Ruling(u *IdentityUpdate) Ruling {
	f := l.Of(u.Inbox)
	if f == nil || u.Flaw.OtherTopic() || u.Flaw.NoTopic() {
		return l.conditions.Apply(nil, u)
	}
	return l.conditions.ApplyAll(f.States, u)
}

// ApplyAll is Apply on everything that an inbox may look like.
func (c Conditions) ApplyAll(states []*Associations, u *IdentityUpdate) Ruling {
	all := make([]Ruling, len(states))
	for i, s := range states {
		all[i] = c.Apply(s, u)
	}
	return merge(all)
}

// Accept tells that an update was stored.
func (l *Lives) Accept(u IdentityUpdate) {
	f := l.Of(u.Inbox)
	if f == nil || u.Flaw.OtherTopic() || u.Flaw.NoTopic() {
		return
	}
	c := l.conditions
	c.Sequence = uint64(len(f.Accepted) + 1)
	f.States = c.ApplyAll(f.States, &u).After()
	f.Accepted = append(f.Accepted, u)
	if len(f.States) == 0 || len(f.States) > 4 {
		f.States = []*Associations{unsureState(f.Inbox, len(f.Accepted))}
	}
}

// Bounds on how many inboxes are alive at once, and how long most of them grow.
const (
	livesAtOnce = 6
	lifeLength  = 24
)

// Draw draws the next update. aim is the rule that it was drawn against, "" for
// one that its inbox must accept; now and then a draw misses its aim.
func (l *Lives) Draw(c Choice) (u IdentityUpdate, aim Rule) {
	if len(l.all) < livesAtOnce || c.Intn(25, "new inbox") == 0 {
		return l.birth(c), ""
	}
	f := l.all[c.Intn(len(l.all), "inbox")]
	if len(f.Accepted) > lifeLength || f.States[0].Unsure() {
		l.drop(f)
		return l.birth(c), ""
	}
	if c.Intn(100, "valid or not") < 60 {
		if l.full == nil || len(l.full.Accepted) < l.conditions.maxEntries() {
			if c.Intn(20, "long log") == 0 {
				return l.lengthen(), ""
			}
		}
		return l.attempt(c, f, "", func() IdentityUpdate { return l.valid(c, f) }), ""
	}
	aim = Rules()[c.Intn(len(Rules()), "rule")]
	return l.attempt(c, f, aim, func() IdentityUpdate { return l.against(c, f, aim) }), aim
}

// attempt draws until the ruling is what was aimed at, a few times.
func (l *Lives) attempt(c Choice, f *Life, aim Rule, draw func() IdentityUpdate) IdentityUpdate {
	const most = 12
	var u IdentityUpdate
	for range most {
		u = draw()
		l.second++
		r := l.Ruling(&u)
		if aim == "" && r.MustAccept() || aim != "" && r.Decides() == aim {
			return u
		}
	}
	return u
}

func (l *Lives) drop(f *Life) {
	l.all = slices.DeleteFunc(l.all, func(o *Life) bool { return o == f })
}

// birth draws the create of a new inbox, alone or with a first member.
func (l *Lives) birth(c Choice) IdentityUpdate {
	f := l.unborn(c)
	l.all = append(l.all, f)
	l.second++
	p := f.Inbox.Creator
	u := at64(l.second, f.Inbox, Action{Kind: CreateInbox, Subject: p})
	if c.Intn(3, "member at once") == 0 {
		u.Actions = append(u.Actions, Action{Kind: AddAssociation, Subject: l.party(c, Installation), By: Signing{Party: p}})
	}
	return u
}

func (l *Lives) unborn(c Choice) *Life {
	kinds := []PartyKind{Wallet, Wallet, Passkey}
	if l.chain {
		kinds = append(kinds, Contract)
	}
	l.nonce++
	return &Life{Inbox: InboxRef{Creator: l.party(c, kinds[c.Intn(len(kinds), "creator")]), Nonce: l.nonce}, States: []*Associations{nil}}
}

// lengthen draws another entry of the one inbox whose log is to be full.
func (l *Lives) lengthen() IdentityUpdate {
	l.second++
	w := Party{Kind: Wallet, Name: "long"}
	if l.full == nil {
		l.nonce++
		l.full = &Life{Inbox: InboxRef{Creator: w, Nonce: l.nonce}, States: []*Associations{nil}}
	}
	if len(l.full.Accepted) == 0 {
		return at64(l.second, l.full.Inbox, Action{Kind: CreateInbox, Subject: w})
	}
	return at64(l.second, l.full.Inbox, Action{Kind: ChangeRecovery, Subject: w, By: Signing{Party: w}})
}

func at64(second int64, r InboxRef, actions ...Action) IdentityUpdate {
	return IdentityUpdate{Inbox: r, Second: second, Actions: actions}
}

// party draws one of a few parties of a kind.
func (l *Lives) party(c Choice, k PartyKind) Party {
	p := Party{Kind: k, Name: fmt.Sprintf("%s%d", k, c.Intn(40, "party"))}
	if k == Contract {
		p.Name = fmt.Sprintf("%s%d", k, c.Intn(5, "contract"))
		p.Behaviour = []Behaviour{Plainly, Always, Toggled, Counterfactual}[c.Intn(4, "behaviour")]
	}
	return p
}

func (l *Lives) someone(c Choice) Party {
	kinds := []PartyKind{Wallet, Wallet, Installation, Installation, Passkey}
	if l.chain {
		kinds = append(kinds, Contract)
	}
	return l.party(c, kinds[c.Intn(len(kinds), "kind")])
}

// sound is how a party signs as a member, or as who recovers.
func sound(s *Associations, p Party) Signing {
	g := Signing{Party: p}
	id := identifier{party: p}
	chain := s.recoveryChain
	if m, ok := s.members[id]; ok {
		chain = m.chain
	}
	if chain.known {
		g.Chain = chain.chain
		if p.Kind == Wallet {
			g.Variant = AsContract
		}
	}
	return g
}

// newcomer draws somebody who is no member yet.
func (l *Lives) newcomer(c Choice, s *Associations) Party {
	p := l.someone(c)
	for range 8 {
		if s.standing(identifier{party: p}) == absent {
			break
		}
		p = l.someone(c)
	}
	return p
}

// valid draws an update that should apply: one to three actions.
func (l *Lives) valid(c Choice, f *Life) IdentityUpdate {
	u := at64(l.second, f.Inbox)
	s := f.States[0]
	if s == nil {
		u.Actions = append(u.Actions, Action{Kind: CreateInbox, Subject: f.Inbox.Creator})
		return u
	}
	for range 1 + c.Intn(3, "actions")*c.Intn(2, "several") {
		u.Actions = append(u.Actions, l.action(c, s))
	}
	return u
}

func (l *Lives) action(c Choice, s *Associations) Action {
	recovery := s.recovery.party
	switch c.Intn(10, "action") {
	default:
		signers := append(s.Members(), recovery)
		p := l.newcomer(c, s)
		a := Action{Kind: AddAssociation, Subject: p, By: sound(s, signers[c.Intn(len(signers), "signer")])}
		if p.Kind == Wallet && l.chain && c.Intn(8, "as a contract") == 0 {
			a.New = Signing{Party: p, Variant: AsContract}
		}
		return a
	case 0, 1:
		members := append(s.Members(), l.someone(c))
		return Action{Kind: RevokeAssociation, Subject: members[c.Intn(len(members), "revoked")], By: sound(s, recovery)}
	case 2:
		p := l.someone(c)
		if p.Kind == Installation {
			p = l.party(c, Passkey)
		}
		if members := s.Members(); c.Intn(2, "a member recovers") == 0 {
			if m := members[c.Intn(max(len(members), 1), "heir"):]; len(m) > 0 && m[0].Kind != Installation {
				p = m[0]
			}
		}
		return Action{Kind: ChangeRecovery, Subject: p, By: sound(s, recovery)}
	}
}

// Findable is how many identifiers lookups can find in an inbox, -1 when that
// is not certain.
func (l *Lives) Findable(r InboxRef) int {
	f := l.Of(r)
	if f == nil || len(f.States) != 1 || f.States[0].Unsure() {
		return -1
	}
	if f.States[0] == nil {
		return 0
	}
	n := 0
	for id := range f.States[0].members {
		if id.party.Kind != Installation {
			n++
		}
	}
	return n
}
