package backend

import (
	"context"
	"fmt"
	"strings"

	suite "assay/harness/backend"
	"assay/harness/run"
	"assay/harness/subject"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// The parties of the identity scenarios: wallets, installations, a passkey.
var (
	w1 = rules.Party{Kind: rules.Wallet, Name: "w1"}
	w2 = rules.Party{Kind: rules.Wallet, Name: "w2"}
	w3 = rules.Party{Kind: rules.Wallet, Name: "w3"}
	i1 = rules.Party{Kind: rules.Installation, Name: "i1"}
	i2 = rules.Party{Kind: rules.Installation, Name: "i2"}
	i3 = rules.Party{Kind: rules.Installation, Name: "i3"}
	k1 = rules.Party{Kind: rules.Passkey, Name: "k1"}
)

// life builds the updates of one inbox, each a second later than the last:
// signatures are deterministic and the signed text has whole seconds, so equal
// actions in one second would be a replay.
type life struct {
	inbox   rules.InboxRef
	second  int64
	updates []rules.IdentityUpdate
}

// born is the life of an inbox that its creator makes with nonce 0.
func born(creator rules.Party) *life {
	return (&life{inbox: rules.InboxRef{Creator: creator}, second: 1_700_000_000}).then(create(creator))
}

// unborn is the life of an inbox that nobody has created yet.
func unborn(creator rules.Party) *life {
	return &life{inbox: rules.InboxRef{Creator: creator}, second: 1_700_000_000}
}

func (l *life) update(actions ...rules.Action) rules.IdentityUpdate {
	l.second++
	return rules.IdentityUpdate{Inbox: l.inbox, Actions: actions, Second: l.second}
}

// then continues the life with an update of these actions.
func (l *life) then(actions ...rules.Action) *life {
	l.updates = append(l.updates, l.update(actions...))
	return l
}

// again repeats an earlier update with another nanosecond: other bytes, the
// same signatures.
func (l *life) again(i int) *life {
	u := l.updates[i]
	u.Nanosecond++
	l.updates = append(l.updates, u)
	return l
}

// with changes the last update.
func (l *life) with(f func(*rules.IdentityUpdate)) *life {
	f(&l.updates[len(l.updates)-1])
	return l
}

// flaw and the others below mark the last update in one way.
func (l *life) flaw(f rules.UpdateFlaw) *life {
	return l.with(func(u *rules.IdentityUpdate) { u.Flaw = f })
}

// signed marks the signature that allows the last action of the last update.
func (l *life) signed(f rules.SignatureFlaw) *life {
	return l.with(func(u *rules.IdentityUpdate) {
		a := &u.Actions[len(u.Actions)-1]
		if a.By.Party == (rules.Party{}) {
			a.By.Party = a.Subject
		}
		a.By.Flaw = f
	})
}

// joined marks the signature of the new member in the last action.
func (l *life) joined(f rules.SignatureFlaw) *life {
	return l.with(func(u *rules.IdentityUpdate) {
		a := &u.Actions[len(u.Actions)-1]
		if a.New.Party == (rules.Party{}) {
			a.New.Party = a.Subject
		}
		a.New.Flaw = f
	})
}

func by(p rules.Party) rules.Signing { return rules.Signing{Party: p} }

func create(p rules.Party) rules.Action { return rules.Action{Kind: rules.CreateInbox, Subject: p} }

func add(p, allowing rules.Party) rules.Action {
	return rules.Action{Kind: rules.AddAssociation, Subject: p, By: by(allowing)}
}

func revoke(p, recovery rules.Party) rules.Action {
	return rules.Action{Kind: rules.RevokeAssociation, Subject: p, By: by(recovery)}
}

func recovery(p, recovery rules.Party) rules.Action {
	return rules.Action{Kind: rules.ChangeRecovery, Subject: p, By: by(recovery)}
}

func sealed(u rules.IdentityUpdate) rules.Envelope {
	return rules.Envelope{Log: u.Inbox.Log(), Update: &u}
}

// identityCase is one named case: a life, told update by update. Whatever the
// last update is, a sound one after it must still be judged by what was stored.
type identityCase struct {
	name    string
	life    *life
	needs   bool // the run's chain
	decides []spec.ID
}

// decidedByLives are the requirements that every told life is evidence for.
func decidedByLives() []spec.ID { return []spec.ID{backendreq.API043} }

// identities makes a scenario of each case.
func identities() []run.Scenario {
	var out []run.Scenario
	for _, c := range identityCases() {
		sc := run.Scenario{
			Name:    "backend/identity/" + strings.ReplaceAll(c.name, " ", "-"),
			Summary: "Identity updates: " + c.name + ".",
			Decides: append(decidedByLives(), c.decides...),
			Touches: touchedByLives(),
			Body:    body(func(ctx context.Context, s *suite.Session) error { return tell(ctx, s, c.life) }),
		}
		if c.needs {
			sc.Configuration = subject.Configuration{Chain: true}
			sc.Needs = spec.AccessOf(spec.Chain)
		}
		out = append(out, sc)
	}
	return append(out, identityCalls()...)
}

// touchedByLives lists what a life may happen to be evidence for.
func touchedByLives() []spec.ID {
	return []spec.ID{backendreq.API014, backendreq.API017, backendreq.API035, backendreq.API040, backendreq.API044, backendreq.API047,
		backendreq.API050, backendreq.API051, backendreq.API053, backendreq.API120, backendreq.API121, backendreq.API122, backendreq.API148}
}

// tell publishes a life update by update, reads the inbox's topic, and shows
// with a sound update that the inbox goes on.
func tell(ctx context.Context, s *suite.Session, l *life) error {
	log := l.inbox.Log()
	for _, u := range l.updates {
		if _, err := s.Publish(ctx, "A", sealed(u)); err != nil {
			return err
		}
	}
	if _, err := s.Query(ctx, "A", 0, rules.Read{Log: log}); err != nil {
		return err
	}
	// The creator may have lost what allows it; then the model expects a refusal.
	next := (&life{inbox: l.inbox, second: l.second + 1000}).then(create(l.inbox.Creator))
	if len(l.updates) > 1 || l.updates[0].Actions != nil && l.updates[0].Actions[0].Kind == rules.CreateInbox {
		next = (&life{inbox: l.inbox, second: l.second + 1000}).then(add(i3, l.inbox.Creator))
	}
	for _, u := range next.updates {
		if _, err := s.Publish(ctx, "A", sealed(u)); err != nil {
			return err
		}
	}
	_, err := s.Query(ctx, "A", 0, rules.Read{Log: log})
	return err
}

// slug is a flaw's words as a part of a scenario's name.
func slug[T ~string](f T) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		default:
			return '-'
		}
	}, fmt.Sprint(f))
}
