package backend

import (
	"fmt"
	"slices"
	"testing"
)

// The parties of these tests.
func w(n int) Party { return Party{Kind: Wallet, Name: fmt.Sprintf("w%d", n)} }
func i(n int) Party { return Party{Kind: Installation, Name: fmt.Sprintf("i%d", n)} }
func k(n int) Party { return Party{Kind: Passkey, Name: fmt.Sprintf("k%d", n)} }
func c(b Behaviour) Party {
	return Party{Kind: Contract, Name: "c", Behaviour: b}
}

func inboxOf(p Party) InboxRef { return InboxRef{Creator: p} }

// at makes an update of an inbox in its second; every second has its own text.
func at(second int64, inbox InboxRef, actions ...Action) IdentityUpdate {
	return IdentityUpdate{Inbox: inbox, Second: second, Actions: actions}
}

func create(p Party) Action { return Action{Kind: CreateInbox, Subject: p} }

func add(p, by Party) Action {
	return Action{Kind: AddAssociation, Subject: p, By: Signing{Party: by}}
}

func revoke(p, by Party) Action {
	return Action{Kind: RevokeAssociation, Subject: p, By: Signing{Party: by}}
}

func recoverBy(p, by Party) Action {
	return Action{Kind: ChangeRecovery, Subject: p, By: Signing{Party: by}}
}

// by distorts the allowing signature, joining the new member's.
func (a Action) by(f func(*Signing)) Action {
	a.By = a.Allowing()
	f(&a.By)
	return a
}

func (a Action) joining(f func(*Signing)) Action {
	a.New, _ = a.Joining()
	f(&a.New)
	return a
}

func flawedBy(f SignatureFlaw) func(*Signing)             { return func(s *Signing) { s.Flaw = f } }
func oddBy(v SignatureVariant) func(*Signing)             { return func(s *Signing) { s.Variant = v } }
func party(p Party) func(*Signing)                        { return func(s *Signing) { s.Party = p } }
func onChain(c Chain, b Block) func(*Signing)             { return func(s *Signing) { s.Chain, s.Block = c, b } }
func (u IdentityUpdate) with(f UpdateFlaw) IdentityUpdate { u.Flaw = f; return u }
func (a Action) with(f ActionFlaw) Action                 { a.Flaw = f; return a }
func (a Action) odd(v ActionVariant) Action               { a.Variant = v; return a }
func later(ns uint32, u IdentityUpdate) IdentityUpdate {
	u.Nanosecond += ns
	return u
}

// legal is what may come of an update.
type legal struct {
	accept bool
	// refuse is true when a refusal is legal, with the reasons; all when any is.
	refuse      bool
	reasons     []Reason
	all         bool
	unavailable bool
}

func accepted() legal { return legal{accept: true} }

func refusedFor(reasons ...Reason) legal {
	slices.Sort(reasons)
	return legal{refuse: true, reasons: reasons}
}

func open() legal { return legal{accept: true, refuse: true, all: true} }

func (l legal) orUnavailable() legal { l.unavailable = true; return l }

const (
	mal = ReasonMalformedPayload
	iiu = ReasonInvalidIdentityUpdate
	sig = ReasonInvalidSignature
)

// legalOf is what a ruling allows.
func legalOf(r Ruling) legal {
	l := legal{accept: !r.MustRefuse(), refuse: !r.MustAccept(), unavailable: r.Unavailable()}
	if !l.refuse {
		return l
	}
	l.reasons, l.all = r.Reasons()
	if l.all {
		l.reasons = nil
	}
	return l
}

func wired() Conditions { return Conditions{Known: true, Node: Node{Routed: true, SecondRouted: true}} }

// grown applies updates that must all be legal and returns what they may lead to.
func grown(t *testing.T, c Conditions, updates []IdentityUpdate) []*Associations {
	t.Helper()
	states := []*Associations{nil}
	for n, u := range updates {
		c.Sequence = uint64(n + 1)
		var all []Ruling
		for _, s := range states {
			all = append(all, c.Apply(s, &u))
		}
		r := merge(all)
		states = r.After()
		if len(states) == 0 {
			t.Fatalf("update %d of the story must be refused: %+v", n, r.findings())
		}
	}
	return states
}

func rulingOf(t *testing.T, story []IdentityUpdate, u IdentityUpdate) Ruling {
	t.Helper()
	c := wired()
	var all []Ruling
	for _, s := range grown(t, c, story) {
		all = append(all, c.Apply(s, &u))
	}
	return merge(all)
}

// associationCase is one update after a story of others. The number is that of
// the list of cases that the facts about identity updates end with.
type associationCase struct {
	number int
	name   string
	story  []IdentityUpdate
	update IdentityUpdate
	want   legal
}

func TestWhatBecomesOfAnIdentityUpdate(t *testing.T) {
	all := slices.Concat(creationCases(), textCases(), signatureCases(), membershipCases(), recoveryCases(), replayCases(), walletCases())
	for _, c := range all {
		t.Run(fmt.Sprintf("%d %s", c.number, c.name), func(t *testing.T) {
			got := legalOf(rulingOf(t, c.story, c.update))
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("legal is %+v, not %+v; findings %+v", got, c.want, rulingOf(t, c.story, c.update).findings())
			}
		})
	}
	t.Logf("%d cases", len(all))
}

func TestALogHas256Entries(t *testing.T) {
	a := inboxOf(w(1))
	updates := []IdentityUpdate{made()}
	for n := range 254 {
		updates = append(updates, at(int64(n+2), a, recoverBy(w(1), w(1))))
	}
	last := at(1000, a, recoverBy(w(1), w(1)))
	if got := legalOf(rulingOf(t, updates, last)); fmt.Sprint(got) != fmt.Sprint(accepted()) {
		t.Errorf("the 256th entry: legal is %+v", got)
	}
	if got := legalOf(rulingOf(t, append(updates, last), at(1001, a, recoverBy(w(1), w(1))))); fmt.Sprint(got) != fmt.Sprint(refusedFor(iiu)) {
		t.Errorf("the 257th entry: legal is %+v", got)
	}
}
