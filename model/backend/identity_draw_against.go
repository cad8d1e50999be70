package backend

import "slices"

// against draws an update that one rule should speak against: an otherwise valid
// one with one thing changed.
func (l *Lives) against(c Choice, f *Life, aim Rule) IdentityUpdate {
	u := l.valid(c, f)
	s := f.States[0]
	if s == nil && aim != RuleInboxExists {
		s = l.conditions.Apply(nil, &u).After()[0] // only its members are looked at
	}
	switch aim {
	case RuleInboxID:
		if c.Intn(3, "upper case") == 0 {
			u.Variant = InboxUpper
		} else {
			u.Flaw = draw(c, "flaw", slices.DeleteFunc(UpdateFlaws(), func(f UpdateFlaw) bool { return !f.NoTopic() }))
		}
	case RuleParts:
		l.partless(c, &u)
	case RuleSignature, RuleSigner:
		l.missign(c, &u, s, aim)
	case RuleWalletCount:
		return l.wallets(c, f, s)
	case RuleWalletAnswer:
		l.unanswered(c, &u, s)
	case RuleLogLength:
		if l.full != nil && len(l.full.Accepted) >= l.conditions.maxEntries() {
			return l.lengthen()
		}
	case RuleNoInboxYet:
		u.Actions = append(u.Actions, Action{Kind: CreateInbox, Subject: f.Inbox.Creator})
	case RuleInboxExists:
		return l.unbornUpdate(c)
	case RuleInboxMatches:
		l.mismatch(c, &u)
	case RuleUnused:
		return l.replayed(c, f, u)
	case RuleNotSelf:
		p := draw(c, "member", append(s.Members(), s.recovery.party))
		u.Actions = append(u.Actions[:0], Action{Kind: AddAssociation, Subject: p, By: sound(s, p), New: sound(s, p)})
	case RuleMayAdd:
		u.Actions = append(u.Actions, Action{Kind: AddAssociation, Subject: l.newcomer(c, s), By: Signing{Party: l.newcomer(c, s)}})
	case RuleNoTree:
		u.Actions = append(u.Actions, Action{Kind: AddAssociation, Subject: l.party(c, Installation), By: Signing{Party: draw(c, "installation", slices.DeleteFunc(append(s.Members(), l.party(c, Installation)), func(p Party) bool { return p.Kind != Installation }))}})
	case RuleSameChain:
		l.otherChain(c, &u, s)
	case RuleRecoverySigns:
		a := Action{Kind: RevokeAssociation, Subject: l.someone(c)}
		if c.Intn(3, "handover") == 0 {
			a = Action{Kind: ChangeRecovery, Subject: l.party(c, Wallet)}
		}
		a.By = sound(s, draw(c, "member", append(s.Members(), l.someone(c))))
		u.Actions = append(u.Actions, a)
	case RuleEmpty:
		u.Actions = nil
	case RuleNewMember:
		p := draw(c, "member", append(s.Members(), l.someone(c)))
		u.Actions = append(u.Actions[:0], Action{Kind: AddAssociation, Subject: p, By: sound(s, draw(c, "signer", append(s.Members(), s.recovery.party))), New: sound(s, p)})
	case RuleSpelling:
		l.respell(c, &u)
	case RuleLegacy:
		l.vary(c, &u, Delegated)
	case RuleEncoding:
		l.vary(c, &u, ChainV, HighS, HighSSameV, OtherOrigin, NoOrigin, CreateCeremony, NoAuthData)
	}
	return u
}

func draw[T any](c Choice, what string, options []T) T { return options[c.Intn(len(options), what)] }

// change rewrites one signature of an update, if f finds one to change.
func change(c Choice, u *IdentityUpdate, f func(*Signing) bool) {
	u.Actions = slices.Clone(u.Actions)
	if len(u.Actions) == 0 {
		return
	}
	first := c.Intn(len(u.Actions), "action")
	for n := range u.Actions {
		a := &u.Actions[(first+n)%len(u.Actions)]
		joining, ok := a.Joining()
		if ok && c.Intn(2, "which side") == 0 && f(&joining) {
			a.New = joining
			return
		}
		by := a.Allowing()
		if f(&by) {
			a.By = by
			return
		}
	}
}

// partless leaves out a part of an update.
func (l *Lives) partless(c Choice, u *IdentityUpdate) {
	flaw := draw(c, "flaw", ActionFlaws())
	a := &u.Actions[len(u.Actions)-1]
	if c.Intn(2, "of the action") == 0 && flaw != OtherNonce && flaw.Fits(*a) {
		a.Flaw = flaw
		return
	}
	change(c, u, func(s *Signing) bool {
		f := draw(c, "flaw", []SignatureFlaw{SignatureMissing, SignatureUnset, Ed25519Key31, Ed25519NoPoint, AccountColons, AccountTwoParts})
		if !f.Fits(*s) {
			return false
		}
		s.Flaw = f
		return true
	})
}

// missign spoils a signature, the signed text, or has somebody else sign.
func (l *Lives) missign(c Choice, u *IdentityUpdate, s *Associations, aim Rule) {
	if c.Intn(6, "text") == 0 {
		if f := draw(c, "flaw", UpdateFlaws()); f.OtherText() && f.Fits(*u) {
			u.Flaw = f
			return
		}
	}
	if aim == RuleSigner && c.Intn(2, "stranger") == 0 {
		change(c, u, func(g *Signing) bool {
			g.Party, g.Variant = l.party(c, Wallet), OrdinarySignature
			g.Chain = RunChain
			return true
		})
		return
	}
	change(c, u, func(g *Signing) bool {
		f := draw(c, "flaw", SignatureFlaws(g.Party.Kind))
		if !f.Fits(*g) {
			return false
		}
		g.Flaw = f
		return true
	})
}

// wallets draws more contract signatures than an update may carry.
func (l *Lives) wallets(c Choice, f *Life, s *Associations) IdentityUpdate {
	u := at64(l.second, f.Inbox)
	by := sound(s, s.recovery.party)
	for n := range l.conditions.maxWallets() + 1 {
		u.Actions = append(u.Actions, Action{Kind: AddAssociation, Subject: Party{Kind: Contract, Name: "many", Behaviour: Always}, By: by, New: Signing{Party: Party{Kind: Contract, Name: "many", Behaviour: Always}, Salt: uint32(n)}})
	}
	return u
}

// unanswered has a contract that does not say yes join, or a chain that nobody
// can ask.
func (l *Lives) unanswered(c Choice, u *IdentityUpdate, s *Associations) {
	p := Party{Kind: Contract, Name: "no", Behaviour: draw(c, "behaviour", []Behaviour{Never, Reverts, Short, Dirty, Toggled, Plainly})}
	g := Signing{Party: p}
	switch p.Behaviour {
	case Toggled:
		g.Block = AfterSwitch
	case Plainly:
		g.Chain = draw(c, "chain", []Chain{NoRoute, CosmosChain, WordyChain})
		if c.Intn(2, "flaw") == 0 {
			g.Chain, g.Flaw = RunChain, draw(c, "flaw", []SignatureFlaw{RawKeccak, OverOtherText})
		}
	}
	u.Actions = append(u.Actions, Action{Kind: AddAssociation, Subject: p, By: sound(s, s.recovery.party), New: g})
}

// unbornUpdate draws an update of an inbox that nobody creates.
func (l *Lives) unbornUpdate(c Choice) IdentityUpdate {
	f := l.unborn(c)
	by := Signing{Party: f.Inbox.Creator}
	u := at64(l.second, f.Inbox)
	switch c.Intn(4, "what") {
	case 0:
		u.Actions = []Action{{Kind: AddAssociation, Subject: l.party(c, Installation), By: by}}
	case 1:
		u.Actions = []Action{{Kind: RevokeAssociation, Subject: l.party(c, Wallet), By: by}}
	case 2:
		u.Actions = []Action{{Kind: AddAssociation, Subject: l.party(c, Installation), By: by}, {Kind: CreateInbox, Subject: f.Inbox.Creator}}
	}
	return u
}

// mismatch draws a create of another inbox than the update names.
func (l *Lives) mismatch(c Choice, u *IdentityUpdate) {
	f := l.unborn(c)
	*u = at64(l.second, f.Inbox, Action{Kind: CreateInbox, Subject: f.Inbox.Creator})
	switch c.Intn(3, "how") {
	case 0:
		u.Actions[0].Flaw = OtherNonce
	case 1:
		u.Actions[0].Subject = Party{Kind: Wallet, Name: "other"}
	default:
		u.Flaw = draw(c, "flaw", []UpdateFlaw{InboxSeparator, InboxPaddedNonce})
	}
}

// replayed sends an accepted update again with another fraction of its second.
func (l *Lives) replayed(c Choice, f *Life, u IdentityUpdate) IdentityUpdate {
	if len(f.Accepted) < 2 {
		return u
	}
	old := f.Accepted[1+c.Intn(len(f.Accepted)-1, "which")]
	old.Nanosecond = (old.Nanosecond + 1 + uint32(c.Intn(1000, "nanosecond"))) % 1_000_000_000
	return old
}

// otherChain has a member sign on another chain than the one it joined on.
func (l *Lives) otherChain(c Choice, u *IdentityUpdate, s *Associations) {
	p := draw(c, "member", slices.DeleteFunc(append(s.Members(), l.party(c, Wallet)), func(p Party) bool { return p.Kind != Wallet && p.Kind != Contract }))
	g := sound(s, p)
	switch {
	case p.Kind == Contract && g.Chain == RunChain && l.conditions.Node.SecondRouted:
		g.Chain = SecondRoute
	case p.Kind == Wallet && g.Variant == AsContract:
		g.Variant, g.Chain = OrdinarySignature, RunChain
	case p.Kind == Wallet && l.chain:
		g.Variant = AsContract
	}
	u.Actions = append(u.Actions[:0], Action{Kind: AddAssociation, Subject: l.newcomer(c, s), By: g})
}

// respell names or signs for somebody in another spelling.
func (l *Lives) respell(c Choice, u *IdentityUpdate) {
	a := &u.Actions[c.Intn(len(u.Actions), "action")]
	if v := draw(c, "spelling", []ActionVariant{Checksummed, Compressed, KindUnknown}); v.Fits(*a) {
		a.Variant = v
		return
	}
	l.vary(c, u, CompressedKey)
}

// vary makes a signature odd.
func (l *Lives) vary(c Choice, u *IdentityUpdate, variants ...SignatureVariant) {
	change(c, u, func(s *Signing) bool {
		v := draw(c, "variant", variants)
		if s.Variant != OrdinarySignature || !v.Fits(s.Party) {
			return false
		}
		s.Variant = v
		return true
	})
}
