package backend

import (
	"context"
	"fmt"

	suite "assay/harness/backend"
	"assay/harness/backend/chain"
	"assay/harness/run"
	"assay/harness/subject"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// identityCalls are the scenarios about identities that are more than one life:
// several updates in a request, many entries, lookups, key packages, the chain.
func identityCalls() []run.Scenario {
	onChain := subject.Configuration{Chain: true}
	needs := spec.AccessOf(spec.Chain)
	scenario := func(name, summary string, f func(ctx context.Context, s *suite.Session) error, decides ...spec.ID) run.Scenario {
		return run.Scenario{Name: "backend/identity/" + name, Summary: summary, Decides: decides, Touches: append(touchedByLives(), backendreq.API042, backendreq.API043, backendreq.API060, backendreq.API061, backendreq.API123), Body: body(f)}
	}
	chained := func(sc run.Scenario) run.Scenario {
		sc.Configuration, sc.Needs = onChain, needs
		return sc
	}
	cut := chained(scenario("a-chain-that-is-cut", "While the chain RPC fails, what needs it is UNAVAILABLE and stores nothing; the same bytes succeed afterwards.", cutChain, backendreq.API044))
	cut.Exclusive = true
	return []run.Scenario{
		scenario("one-update-of-an-inbox-per-request", "A request holds at most one update of an inbox, counted after equal ones collapse.", oneUpdate, backendreq.API050, backendreq.API034),
		scenario("one-bad-update-stores-none", "Updates of two inboxes are stored together or not at all.", badUpdate, backendreq.API030, backendreq.API043, backendreq.API047),
		scenario("an-update-right-after-the-one-it-builds-on", "A publish is validated against what earlier publishes stored, at once.", buildsOn, backendreq.API017, backendreq.API043),
		scenario("updates-are-ordered-across-inboxes", "Sequence ids of identity updates follow real time across inboxes.", acrossInboxes, backendreq.API014),
		scenario("the-log-of-an-inbox-is-full-at-its-limit", "An inbox takes as many updates as the limit says and not one more; a stored one can still be sent again.", full, backendreq.API148, backendreq.API035),
		scenario("lookups-follow-the-latest-association", "An identifier resolves to the inbox of its latest association; revoking it reveals the one before.", lookups, backendreq.API053, backendreq.API121, backendreq.API122),
		scenario("lookups-are-scoped-and-normalised", "A lookup normalises by kind, echoes what was asked, and keeps kinds apart.", spellings, backendreq.API121, backendreq.API122),
		scenario("lookup-limit", "A lookup names as many identifiers as the limit says and not one more.", lookupLimit, backendreq.API120, backendreq.API121),
		scenario("started-together-on-one-inbox", "Conflicting updates of one inbox that start together have one winner; a loser is told ABORTED or what it conflicts with.", conflict, backendreq.API051, backendreq.API043),
		chained(scenario("contract-signatures-are-verified", "A verification has one result for each signature, in order.", verifications, backendreq.API123)),
		cut,
	}
}

func oneUpdate(ctx context.Context, s *suite.Session) error {
	l := born(w1)
	other := born(w2)
	first, second := l.update(add(i1, w1)), l.update(add(i2, w1))
	for _, es := range [][]rules.Envelope{
		{sealed(l.updates[0]), sealed(other.updates[0])},
		{sealed(first), sealed(second)},
		{sealed(first), sealed(first)},
		{sealed(second)},
		{sealed(other.update(add(i1, w2))), sealed(l.update(add(i3, w1)))},
	} {
		if _, err := s.Publish(ctx, "A", es...); err != nil {
			return err
		}
	}
	_, err := s.Query(ctx, "A", 0, rules.Read{Log: l.inbox.Log()}, rules.Read{Log: other.inbox.Log()})
	return err
}

func badUpdate(ctx context.Context, s *suite.Session) error {
	l, other := born(w1), born(w2)
	for _, es := range [][]rules.Envelope{
		{sealed(l.updates[0]), sealed(other.updates[0])},
		{sealed(l.update(add(i1, w1))), sealed(other.update(add(i2, w3)))},
		{sealed(l.update(add(i1, w3))), sealed(other.update(add(i2, w2)))},
		{sealed(l.update(add(i1, w1))), sealed(other.update(add(i2, w2)))},
	} {
		if _, err := s.Publish(ctx, "A", es...); err != nil {
			return err
		}
	}
	_, err := s.Query(ctx, "A", 0, rules.Read{Log: l.inbox.Log()}, rules.Read{Log: other.inbox.Log()})
	return err
}

func buildsOn(ctx context.Context, s *suite.Session) error {
	l := born(w1).then(add(i1, w1)).then(add(w2, i1)).then(add(i2, w2)).then(revoke(w2, w1))
	for i, u := range l.updates {
		if _, err := s.Publish(ctx, fmt.Sprint("A", i%3), sealed(u)); err != nil {
			return err
		}
	}
	_, err := s.Query(ctx, "A", 0, rules.Read{Log: l.inbox.Log()})
	return err
}

func acrossInboxes(ctx context.Context, s *suite.Session) error {
	var reads []rules.Read
	for i := range 12 {
		l := born(rules.Party{Kind: rules.Wallet, Name: fmt.Sprint("c", i)})
		reads = append(reads, rules.Read{Log: l.inbox.Log()})
		if _, err := s.Publish(ctx, fmt.Sprint("A", i%3), sealed(l.updates[0])); err != nil {
			return err
		}
	}
	_, err := s.Query(ctx, "A", 0, reads...)
	return err
}

func full(ctx context.Context, s *suite.Session) error {
	l := born(w1)
	n := s.Limit("max_identity_entries")
	if n > 1000 {
		return &run.Unmet{File: "scenarios/backend/identity_calls.go", Err: fmt.Errorf("the subject publishes a limit of %d updates an inbox, which is too many to fill", n)}
	}
	for len(l.updates) < n-1 {
		l.then(recovery(w1, w1))
	}
	// The last two of a full log, then one too many, then the first once more.
	l.then(add(i1, w1)).then(add(i2, w1))
	l.updates = append(l.updates, l.updates[0])
	for _, u := range l.updates {
		if _, err := s.Publish(ctx, "A", sealed(u)); err != nil {
			return err
		}
	}
	return drain(ctx, s, "A", 0, l.inbox.Log())
}

// resolve looks identifiers up until the subject has had time to catch up where
// a replica may serve it.
func resolve(ctx context.Context, s *suite.Session, lookups ...rules.Lookup) error {
	for range 3 {
		if _, err := s.Lookup(ctx, "A", lookups...); err != nil {
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

func lookups(ctx context.Context, s *suite.Session) error {
	older := born(w1).then(add(w3, w1)).then(add(k1, w1))
	newer := (&life{inbox: rules.InboxRef{Creator: w1, Nonce: 1}, second: 1_700_100_000}).then(create(w1)).then(add(w3, w1))
	ask := []rules.Lookup{{Party: w1}, {Party: w3}, {Party: k1}, {Party: w1}, {Party: w2}}
	for _, u := range append(append([]rules.IdentityUpdate(nil), older.updates...), newer.updates...) {
		if _, err := s.Publish(ctx, "A", sealed(u)); err != nil {
			return err
		}
		if err := resolve(ctx, s, ask...); err != nil {
			return err
		}
	}
	for _, u := range []rules.IdentityUpdate{newer.update(revoke(w3, w1)), older.update(revoke(w3, w1)), older.update(add(w3, w1)), newer.update(revoke(w1, w1)), older.update(revoke(k1, w1))} {
		if _, err := s.Publish(ctx, "A", sealed(u)); err != nil {
			return err
		}
		if err := resolve(ctx, s, ask...); err != nil {
			return err
		}
	}
	return nil
}

func spellings(ctx context.Context, s *suite.Session) error {
	l := born(w1).then(add(k1, w1)).then(add(i1, w1))
	for _, u := range l.updates {
		if _, err := s.Publish(ctx, "A", sealed(u)); err != nil {
			return err
		}
	}
	for _, p := range []rules.Party{w1, k1, i1} {
		for _, sp := range append(rules.Spellings(p.Kind), rules.PlainSpelling) {
			if err := resolve(ctx, s, rules.Lookup{Party: p, Spelling: sp}); err != nil {
				return err
			}
		}
	}
	return resolve(ctx, s, rules.Lookup{Party: w1}, rules.Lookup{Party: w2}, rules.Lookup{Party: w1, Spelling: rules.ChecksummedSpelling}, rules.Lookup{Party: w1}, rules.Lookup{Party: k1})
}

func lookupLimit(ctx context.Context, s *suite.Session) error {
	if _, err := s.Publish(ctx, "A", sealed(born(w1).updates[0])); err != nil {
		return err
	}
	n := s.Limit("max_lookup_identifiers")
	many := make([]rules.Lookup, n+1)
	for i := range many {
		many[i].Party = w1
		if i%7 == 0 {
			many[i].Party = rules.Party{Kind: rules.Wallet, Name: fmt.Sprint("c", i)}
		}
	}
	if err := resolve(ctx, s, many[:n]...); err != nil {
		return err
	}
	_, err := s.Lookup(ctx, "A", many...)
	return err
}

// conflict starts updates of one inbox together, each sound when it alone is
// next and refused after any other: a revocation and an add by who is revoked.
func conflict(ctx context.Context, s *suite.Session) error {
	for round := range 6 {
		creator := rules.Party{Kind: rules.Wallet, Name: fmt.Sprint("c", round)}
		l := born(creator).then(add(i1, creator))
		for _, u := range l.updates {
			if _, err := s.Publish(ctx, "A", sealed(u)); err != nil {
				return err
			}
		}
		rivals := []rules.IdentityUpdate{l.update(revoke(i1, creator)), l.update(add(w2, i1)), l.update(recovery(w3, creator)), l.update(add(i2, creator))}
		if err := startTogether(ctx, s, rivals); err != nil {
			return err
		}
		if _, err := s.Query(ctx, "A", 0, rules.Read{Log: l.inbox.Log()}); err != nil {
			return err
		}
	}
	return nil
}

// startTogether publishes each update by an actor of its own, all started at once.
func startTogether(ctx context.Context, s *suite.Session, updates []rules.IdentityUpdate) error {
	start := make(chan struct{})
	done := make(chan error, len(updates))
	for i, u := range updates {
		go func() {
			<-start
			_, err := s.Publish(ctx, fmt.Sprint("R", i), sealed(u))
			done <- err
		}()
	}
	close(start)
	var first error
	for range updates {
		if err := <-done; err != nil && first == nil {
			first = err
		}
	}
	return first
}

func verifications(ctx context.Context, s *suite.Session) error {
	wallet := func(b rules.Behaviour) rules.Verification {
		return rules.Verification{By: rules.Signing{Party: rules.Party{Kind: rules.Contract, Name: "s1", Behaviour: b}}, Content: "a hash"}
	}
	newest := wallet(rules.Plainly)
	newest.By.Block = rules.Newest
	other := wallet(rules.Plainly)
	other.Hash = rules.OtherHash
	unrouted := wallet(rules.Plainly)
	unrouted.By.Chain = rules.NoRoute
	for _, vs := range [][]rules.Verification{
		{wallet(rules.Plainly)},
		{wallet(rules.Never), wallet(rules.Plainly), wallet(rules.Always), other, newest, wallet(rules.Plainly)},
		{other},
		{wallet(rules.Counterfactual)},
		{unrouted},
	} {
		if _, err := s.Verify(ctx, "A", vs...); err != nil {
			return err
		}
	}
	n := s.Limit("max_scw_signatures")
	many := make([]rules.Verification, n+1)
	for i := range many {
		many[i] = wallet(rules.Always)
	}
	for _, vs := range [][]rules.Verification{many[:n], many} {
		if _, err := s.Verify(ctx, "A", vs...); err != nil {
			return err
		}
	}
	return nil
}

func cutChain(ctx context.Context, s *suite.Session) error {
	s1 := rules.Party{Kind: rules.Contract, Name: "s1"}
	for round, how := range []chain.Outage{chain.Broken, chain.Refusing, chain.Failing} {
		l := (&life{inbox: rules.InboxRef{Creator: s1, Nonce: uint64(round)}, second: 1_700_000_000}).then(create(s1))
		verify := rules.Verification{By: by(s1), Content: fmt.Sprint("hash ", round)}
		publish := func(u rules.IdentityUpdate) error {
			_, err := s.Publish(ctx, "A", sealed(u))
			return err
		}
		if err := publish(l.updates[0]); err != nil {
			return err
		}
		next := l.update(add(rules.Party{Kind: rules.Installation, Name: "i1"}, s1))
		s.CutChain(how)
		err := publish(next)
		if err == nil {
			_, err = s.Verify(ctx, "A", verify)
		}
		s.RestoreChain()
		if err != nil {
			return err
		}
		if err := publish(next); err != nil {
			return err
		}
		if _, err := s.Verify(ctx, "A", verify); err != nil {
			return err
		}
		if _, err := s.Query(ctx, "A", 0, rules.Read{Log: l.inbox.Log()}); err != nil {
			return err
		}
	}
	return nil
}
