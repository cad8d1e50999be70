package run

import (
	"context"
	"fmt"

	"assay/harness/schedule"
	"assay/harness/subject"
	"assay/spec"
)

// FromScript makes a scenario of a parsed file. Its steps run one after the
// other, or as its holds and waits say; an expectation that is not met ends it as inconclusive, because it did
// not get where it meant to go. Only the model judges.
func FromScript(name, file string, s *schedule.Script) (Scenario, error) {
	sc := Scenario{Name: name, Summary: s.Summary, Decides: s.Decides, Needs: s.Needs, Exclusive: s.Exclusive, Stress: s.Stress, Source: file,
		Configuration: subject.Configuration{KeepaliveMS: s.KeepaliveMS}}
	if len(s.Limits) > 0 {
		sc.Configuration.Limits = s.Limits
	}
	if s.From != "" {
		from, err := ParseProfile(s.From)
		if err != nil {
			return Scenario{}, fmt.Errorf("%s: %w", file, err)
		}
		sc.From = from
	}
	if s.Forced() {
		sc.Needs, sc.Forced = sc.Needs.With(spec.Gate), true
		sc.Body = func(ctx context.Context, p *Play) error {
			g, ok := p.Running().(Gated)
			if !ok || g.Gate() == nil {
				return errNoGate
			}
			session, err := p.Open("")
			if err != nil {
				return err
			}
			return (&forced{gate: g.Gate(), session: session, file: file, limit: stepLimit, expected: p.expected, stops: &p.stops}).perform(ctx, s)
		}
		return sc, nil
	}
	sc.Body = func(ctx context.Context, p *Play) error {
		session, err := p.Open("")
		if err != nil {
			return err
		}
		var unmet *Unmet
		for _, step := range s.Steps {
			outcome, err := session.Perform(ctx, step.Actor, step.Operation)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", file, step.Line, err)
			}
			if step.Expect == nil {
				continue
			}
			if err := session.Meets(step.Expect, outcome); err != nil && unmet == nil {
				unmet = &Unmet{File: file, Line: step.Line, Err: err}
			}
		}
		if unmet != nil {
			return unmet
		}
		return nil
	}
	return sc, nil
}

// Unmet says that a step did not reach what it meant to. By itself it makes a
// scenario inconclusive; beside a breach in the same scenario, which explains
// it, it says nothing more.
type Unmet struct {
	File string
	Line int
	Err  error
}

func (u *Unmet) Error() string {
	if u.Line == 0 {
		return fmt.Sprintf("%s: did not get where it meant to go: %v", u.File, u.Err)
	}
	return fmt.Sprintf("%s:%d: did not get where it meant to go: %v", u.File, u.Line, u.Err)
}

func (u *Unmet) Unwrap() error { return u.Err }
