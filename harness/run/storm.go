package run

import (
	"context"
	"fmt"
	"time"

	"assay/model"
	"assay/spec"
)

// Storm is a concurrent scenario: one load, performed a few times with seeds of
// its own, and made smaller when it fails.
type Storm struct {
	// Load is the full size; its seed is ignored.
	Load Load
	// Rounds is how often it is performed, each time on fresh topics.
	Rounds int
	// Perform drives the actors of a load in a session. Its error means that the
	// load could not be performed, never that the subject answered wrongly.
	Perform func(ctx context.Context, s Session, l Load) error
	// Within bounds the time of all rounds; 0 is no bound but that of the
	// scenario. The first round is always performed.
	Within time.Duration
	// Reduce bounds the runs that look for a smaller load.
	Reduce Budget
}

// Budget bounds the search for a smaller load that fails in the same way.
type Budget struct {
	// Runs is the number of loads performed, Time how long they may take.
	Runs int
	Time time.Duration
}

const (
	// triesEach is how often a smaller load is performed before it counts as
	// innocent: a race does not show every time.
	triesEach = 3
	// triesAgain is how often a replay performs the reduced load before it gives
	// up on seeing the violation in this run.
	triesAgain = 25
)

// Storm performs a concurrent scenario. The first round that breaches the
// specification ends it: what counts then is the smallest load found that
// breaches the same requirement, with its history.
func (p *Play) Storm(ctx context.Context, st Storm) error {
	if p.Choices != nil {
		return p.stormAgain(ctx, st)
	}
	begun := p.now()
	for i := range max(st.Rounds, 1) {
		if i > 0 && st.Within > 0 && p.now()-begun > st.Within {
			return nil
		}
		l := st.Load
		l.Seed = mix(p.Seed, fmt.Sprint("round ", i+1))
		s, failed, err := p.perform(ctx, st, fmt.Sprint("round ", i+1), l)
		if err != nil {
			return err
		}
		if failed != "" {
			return p.calm(ctx, st, l, s, failed)
		}
	}
	return nil
}

// perform drives one load in a session of its own and names the first
// requirement that its history breaches, "" for none.
func (p *Play) perform(ctx context.Context, st Storm, label string, l Load) (Session, spec.ID, error) {
	s, err := p.Open(label)
	if err != nil {
		return nil, "", err
	}
	p.Keep(s, l.Encode())
	if err := st.Perform(ctx, s, l); err != nil {
		return s, "", fmt.Errorf("%s: %w", label, err)
	}
	_, judged := p.Judge(s)
	for _, id := range breached(judged) {
		return s, id, nil
	}
	return s, "", nil
}

// breached lists the requirements of the specification that were breached, in
// order of the breach.
func breached(j model.Judged) (out []spec.ID) {
	for _, v := range j.Breaches() {
		if v.Assertion.Basis == model.Spec {
			out = append(out, v.Assertion.Requirement)
		}
	}
	return out
}

// calm looks for a smaller load that breaches the requirement, within the
// budget, and leaves only the smallest in the tally.
func (p *Play) calm(ctx context.Context, st Storm, l Load, worst Session, id spec.ID) error {
	begun, runs := p.now(), 0
	spent := func() bool {
		return runs >= st.Reduce.Runs || p.now()-begun > st.Reduce.Time || ctx.Err() != nil
	}
	for improved := true; improved && !spent(); {
		improved = false
		for _, c := range l.smaller() {
			s, ok := p.tryLoad(ctx, st, c, id, &runs, spent)
			if !ok {
				if spent() {
					break
				}
				continue
			}
			p.Discard(worst)
			l, worst, improved = c, s, true
			break
		}
	}
	return nil // a load that could not be made smaller is evidence as it is
}

// tryLoad performs a smaller load until it breaches the requirement, a few
// times at most. What it performs in vain does not count.
func (p *Play) tryLoad(ctx context.Context, st Storm, l Load, id spec.ID, runs *int, spent func() bool) (Session, bool) {
	for range triesEach {
		if spent() {
			return nil, false
		}
		*runs++
		s, err := p.attempt(ctx, st, fmt.Sprint("reduced ", *runs), l, id)
		if err != nil {
			return nil, false // as good as innocent
		}
		if s != nil {
			return s, true
		}
	}
	return nil, false
}

// attempt performs a load and returns its session when it breaches the
// requirement; otherwise the session does not count.
func (p *Play) attempt(ctx context.Context, st Storm, label string, l Load, id spec.ID) (Session, error) {
	s, err := p.Open(label)
	if err != nil {
		return nil, err
	}
	p.Keep(s, l.Encode())
	if err := st.Perform(ctx, s, l); err != nil {
		p.Discard(s)
		return nil, err
	}
	_, judged := p.Judge(s)
	for _, b := range breached(judged) {
		if b == id {
			return s, nil
		}
	}
	p.Discard(s)
	return nil, nil
}

// stormAgain performs a saved load until it breaches anything of the
// specification.
func (p *Play) stormAgain(ctx context.Context, st Storm) error {
	l, err := DecodeLoad(p.Choices)
	if err != nil {
		return err
	}
	for i := range triesAgain {
		s, failed, err := p.perform(ctx, st, fmt.Sprint("again ", i+1), l)
		if err != nil || failed != "" {
			return err
		}
		if i+1 < triesAgain {
			p.Discard(s)
		}
	}
	return nil
}
