package backend

import (
	"context"
	"errors"
	"fmt"

	suite "assay/harness/backend"
	"assay/harness/run"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// rough is a mix in which many answers are lost, because something breaks in
// the middle of it. Whoever lost one asks again at the end.
func rough(name, summary string) mix {
	return mix{
		name: name, summary: summary,
		load: suite.Mix{
			Topics:  together(topics(rules.Group, 2), topics(rules.CommitLog, 1), topics(rules.Welcome, 1)),
			Weights: suite.Weights{Publish: 6, Atomic: 5, Copy: 3, Retry: 3, Query: 4, Newest: 2, Page: 1},
			Most:    3, Spread: 3, Redeem: true,
		},
		actors: 8, operations: [3]int{16, 24, 60}, rounds: [3]int{1, 1, 10},
		decides: []spec.ID{backendreq.API010, backendreq.API011, backendreq.API016, backendreq.API030, backendreq.API033, backendreq.API036, backendreq.API037, backendreq.API072},
	}
}

// crashes are the mixes in which something breaks: the subject, its connections
// to the database, or its clients' to it. What is committed then is known to
// nobody for a while; it must be there whole, or not at all, and in order.
func crashes() []run.Scenario {
	cut := rough("backend/mix/cut-connections", "The connection of the clients is cut again and again while their calls are under way.")
	killed := rough("backend/crash/killed-and-restarted", "The subject is killed in the middle of publishes and started again on its database.")
	ended := rough("backend/crash/database-sessions-ended", "Every connection of the subject to its database is cut in the middle of publishes.")
	scenario := func(m mix, body func(ctx context.Context, p *run.Play) error) run.Scenario {
		return run.Scenario{Name: m.name, Summary: m.summary, Decides: m.decides, Touches: everything(), Body: body}
	}
	cutting := scenario(cut, cut.cutting)
	cutting.Stress = true
	killing := scenario(killed, killed.disturbed(2, kill))
	ending := scenario(ended, ended.disturbed(3, endSessions))
	for _, s := range []*run.Scenario{&killing, &ending} {
		s.Exclusive, s.Needs, s.From = true, spec.AccessOf(spec.Control), run.Default
	}
	return []run.Scenario{cutting, killing, ending}
}

// disturbed performs the mix while do happens to the subject a few times.
func (m mix) disturbed(times int, do func(ctx context.Context, r run.Running, gone func()) error) func(context.Context, *run.Play) error {
	return func(ctx context.Context, p *run.Play) error {
		return p.Storm(ctx, m.size(p, func(ctx context.Context, s *suite.Session, l run.Load) error {
			return m.load.PerformDisturbed(ctx, s, l, suite.Disturbance{Times: times, Do: func(ctx context.Context, gone func()) error { return do(ctx, p.Running(), gone) }})
		}))
	}
}

// kill ends the subject as a crash does and starts it again.
func kill(ctx context.Context, r run.Running, gone func()) error {
	err := r.Kill()
	gone()
	return errors.Join(err, r.Restart(ctx))
}

// endSessions cuts the subject's connections to its database. A subject that
// was given none is left alone: what the mix decides it decides all the same.
func endSessions(ctx context.Context, r run.Running, _ func()) error {
	s, ok := r.(run.Sessions)
	if !ok {
		return nil
	}
	if _, err := s.EndSessions(ctx); err != nil && !errors.Is(err, run.ErrNoDatabase) {
		return fmt.Errorf("end the database sessions of the subject: %w", err)
	}
	return nil
}

// cutting performs the mix over a connection that is cut again and again, beside
// one that is not.
func (m mix) cutting(ctx context.Context, p *run.Play) error {
	const times = 6
	return p.Storm(ctx, m.size(p, func(ctx context.Context, s *suite.Session, l run.Load) (err error) {
		line, err := s.NewLine()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, line.Close()) }()
		return m.load.PerformDisturbed(ctx, s.WithLine(line), l, suite.Disturbance{Times: times, Do: func(context.Context, func()) error { return line.Cut() }})
	}))
}
