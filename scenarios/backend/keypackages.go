package backend

import (
	"context"
	"fmt"

	suite "assay/harness/backend"
	"assay/harness/run"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// packaged is a key package of an installation, for an inbox that has it.
func packaged(p rules.Party, inbox rules.InboxRef, serial uint32) rules.Envelope {
	return rules.Envelope{Log: p.Log(), Package: &rules.KeyPackageIntent{Installation: p, Inbox: inbox, Serial: serial}}
}

// keyPackages makes a scenario of each flaw, oddity and lifetime of a key
// package, and of what becomes of sound ones.
func keyPackages() []run.Scenario {
	var out []run.Scenario
	each := func(name, summary string, change func(*rules.KeyPackageIntent), decides ...spec.ID) {
		out = append(out, run.Scenario{
			Name: "backend/key-package/" + name, Summary: summary, Decides: decides,
			Touches: append(touchedByLives(), backendreq.API042, backendreq.API043, backendreq.API060, backendreq.API061),
			Body: body(func(ctx context.Context, s *suite.Session) error {
				return oddPackage(ctx, s, change)
			}),
		})
	}
	for _, f := range rules.KeyPackageFlaws() {
		id := backendreq.API042
		if f.Undecodable() {
			id = backendreq.API040
		}
		if f.NoTopic() && !f.Undecodable() {
			id = backendreq.API047
		}
		each("refuses-a-"+slug(f), "A "+string(f)+" is refused, and nothing published with it is stored.",
			func(p *rules.KeyPackageIntent) { p.Flaw = f }, id, backendreq.API047)
	}
	for _, v := range rules.KeyPackageVariants() {
		each("odd-"+slug(v), "A key package with "+string(v)+" shows which variant a subject is.", func(p *rules.KeyPackageIntent) { p.Variant = v }, backendreq.API042)
	}
	for _, l := range rules.Lifetimes() {
		if l == rules.Current || l == rules.EndsShortly {
			continue
		}
		each("lifetime-"+slug(l), "A key package whose lifetime "+string(l)+" shows what a subject makes of lifetimes.", func(p *rules.KeyPackageIntent) { p.Lifetime = l }, backendreq.API042)
	}
	return append(out, run.Scenario{
		Name:    "backend/key-package/every-upload-is-kept",
		Summary: "Every key package is stored; the newest is the one with the highest sequence id; an earlier one is a duplicate when it comes again.",
		Decides: []spec.ID{backendreq.API042, backendreq.API060, backendreq.API061, backendreq.API083},
		Touches: touchedByLives(),
		Body:    body(uploads),
	}, run.Scenario{
		Name:    "backend/key-package/right-after-its-identity-update",
		Summary: "A key package is validated against the identity update that was published just before it.",
		Decides: []spec.ID{backendreq.API017, backendreq.API042},
		Touches: append(touchedByLives(), backendreq.API043),
		Body:    body(rightAfter),
	})
}

// member creates an inbox with an installation, so that its key packages have
// an identity behind them.
func member(ctx context.Context, s *suite.Session) (rules.InboxRef, error) {
	l := unborn(w1).then(create(w1), add(i1, w1))
	_, err := s.Publish(ctx, "A", sealed(l.updates[0]))
	return l.inbox, err
}

// oddPackage publishes a package that is odd in one way between two sound
// envelopes, alone, and beside a sound package afterwards.
func oddPackage(ctx context.Context, s *suite.Session, change func(*rules.KeyPackageIntent)) error {
	inbox, err := member(ctx, s)
	if err != nil {
		return err
	}
	log := rules.Log{Kind: rules.Welcome, Name: "neighbours"}
	sound := func(content string) rules.Envelope { return rules.Envelope{Log: log, Content: content} }
	odd := packaged(i1, inbox, 1)
	change(odd.Package)
	for _, es := range [][]rules.Envelope{
		{sound("before"), packaged(i1, inbox, 0)},
		{sound("left"), odd, sound("right")},
		{odd},
		{packaged(i1, inbox, 2)},
	} {
		if _, err := s.Publish(ctx, "A", es...); err != nil {
			return err
		}
	}
	if err := newestUntil(ctx, s, rules.Read{Log: i1.Log()}); err != nil {
		return err
	}
	r, err := s.Query(ctx, "A", 0, rules.Read{Log: log})
	if err != nil {
		return err
	}
	if r.Query == nil || len(r.Query.Rows) == 0 {
		return &run.Unmet{File: "scenarios/backend/keypackages.go", Err: fmt.Errorf("the sound neighbours cannot be read: %s", r.Code)}
	}
	return nil
}

// newestUntil reads heads, several times where a replica may serve them.
func newestUntil(ctx context.Context, s *suite.Session, reads ...rules.Read) error {
	for range 3 {
		if _, err := s.Newest(ctx, "A", true, reads...); err != nil {
			return err
		}
		if s.Terms().NoReplica {
			return nil
		}
		if err := s.Pause(ctx); err != nil {
			return err
		}
	}
	return nil
}

func uploads(ctx context.Context, s *suite.Session) error {
	inbox, err := member(ctx, s)
	if err != nil {
		return err
	}
	suite1 := packaged(i1, inbox, 9)
	suite1.Package.Suite = 1
	for _, e := range []rules.Envelope{packaged(i1, inbox, 0), packaged(i1, inbox, 1), suite1, packaged(i1, inbox, 2), packaged(i1, inbox, 0), packaged(i2, inbox, 0)} {
		if _, err := s.Publish(ctx, "A", e); err != nil {
			return err
		}
		if err := newestUntil(ctx, s, rules.Read{Log: i1.Log()}, rules.Read{Log: i2.Log()}); err != nil {
			return err
		}
	}
	return nil
}

func rightAfter(ctx context.Context, s *suite.Session) error {
	for n := range 5 {
		p := rules.Party{Kind: rules.Installation, Name: fmt.Sprint("n", n)}
		l := (&life{inbox: rules.InboxRef{Creator: w1, Nonce: uint64(n)}, second: 1_700_000_000}).then(create(w1), add(p, w1))
		if _, err := s.Publish(ctx, "A", sealed(l.updates[0])); err != nil {
			return err
		}
		if _, err := s.Publish(ctx, "B", packaged(p, l.inbox, 0)); err != nil {
			return err
		}
	}
	return nil
}
