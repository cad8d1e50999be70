package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/harness/history"
	"assay/harness/run"
	"assay/harness/subject"
	"assay/model"
	"assay/spec"
)

func TestNobodyPassesABarrierBeforeEverybodyHasCome(t *testing.T) {
	const actors, meetings = 7, 50
	var arrived [meetings]atomic.Int32
	err := run.Together(t.Context(), run.Everyone(actors), func(ctx context.Context, _ int, b *run.Barrier) error {
		for m := range meetings {
			arrived[m].Add(1)
			if err := b.Wait(ctx); err != nil {
				return err
			}
			if n := arrived[m].Load(); n != actors {
				return fmt.Errorf("meeting %d opened after %d of %d", m, n, actors)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnActorThatEndsKeepsNobodyWaiting(t *testing.T) {
	err := run.Together(t.Context(), run.Everyone(5), func(ctx context.Context, n int, b *run.Barrier) error {
		for range n { // each one meeting fewer than the next
			if err := b.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheFirstErrorOfAnActorEndsTheOthersAndIsTheOneReported(t *testing.T) {
	bad := errors.New("no such key")
	err := run.Together(t.Context(), run.Everyone(4), func(ctx context.Context, n int, b *run.Barrier) error {
		if n == 2 {
			return bad
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, bad) || !strings.Contains(err.Error(), "actor 2") || strings.Contains(err.Error(), "actor 1") {
		t.Errorf("error: %v", err)
	}
	err = run.Together(t.Context(), run.Everyone(2), func(context.Context, int, *run.Barrier) error { panic("oh") })
	if err == nil || !strings.Contains(err.Error(), "panicked: oh") {
		t.Errorf("error of a panic: %v", err)
	}
}

func TestALoadIsReadBackAsItWasWritten(t *testing.T) {
	for _, l := range []run.Load{
		{Seed: 1, Actors: []int{0}, Operations: 1},
		{Seed: 1<<64 - 1, Actors: []int{0, 3, 999}, Operations: 100_000, Bytes: 1 << 20},
	} {
		got, err := run.DecodeLoad(l.Encode())
		if err != nil || got.Seed != l.Seed || !slices.Equal(got.Actors, l.Actors) || got.Operations != l.Operations || got.Bytes != l.Bytes {
			t.Errorf("%+v came back as %+v: %v", l, got, err)
		}
	}
}

func TestALoadThatNobodyWroteIsRefused(t *testing.T) {
	huge := run.Load{Seed: 1, Actors: run.Everyone(1001), Operations: 1}
	long := run.Load{Seed: 1, Actors: []int{0}, Operations: 100_001}
	twice := run.Load{Seed: 1, Actors: []int{4, 4}, Operations: 1}
	for name, data := range map[string][]byte{
		"nothing": nil, "a version alone": {1}, "another version": {9, 1, 1, 1, 1}, "half a number": {1, 0x80}, "no actor": {1, 1, 1, 0},
		"too many actors": huge.Encode(), "too many operations": long.Encode(), "an actor twice": twice.Encode(),
	} {
		if l, err := run.DecodeLoad(data); err == nil {
			t.Errorf("%s was read as %+v", name, l)
		}
	}
}

// raceSuite is the toy suite with one scenario: a storm in which every actor
// appends, judged by a rule that three appends by different actors break.
type raceSuite struct {
	*toySuite
	storm run.Storm
}

var crowded = model.Assertion{Name: "fewer-than-three-actors", Requirement: "TOY-001", Basis: model.Spec}

func (s *raceSuite) Scenarios() ([]run.Scenario, error) {
	return []run.Scenario{{Name: "toy/storm", Summary: "Everybody appends.", Decides: []spec.ID{"TOY-001"},
		Body: func(ctx context.Context, p *run.Play) error { return p.Storm(ctx, s.storm) }}}, nil
}

// Judge breaches once the third actor has made at least two calls.
func (s *raceSuite) Judge(h *history.History) model.Judged {
	out := model.Judged{Witnesses: map[string]bool{}}
	calls := map[string]int{}
	for _, e := range h.Events {
		if e.Phase != model.Return {
			continue
		}
		calls[e.Actor]++
		j := model.Judgement{Assertion: crowded, Call: e.Call}
		if calls[e.Actor] == 2 && len(calls) >= 3 {
			j.Breach = &model.Breach{Expected: "two actors", Got: "three", Events: []int{e.Index}}
		}
		out.Judgements = append(out.Judgements, j)
	}
	return out
}

func stormOf(load run.Load) run.Storm {
	return run.Storm{Load: load, Rounds: 3, Reduce: run.Budget{Runs: 60, Time: time.Minute},
		Perform: func(ctx context.Context, s run.Session, l run.Load) error {
			var turn sync.Mutex // one call after the other, so that the test is the same every time
			return run.Together(ctx, l.Actors, func(ctx context.Context, n int, b *run.Barrier) error {
				for i := range l.Operations {
					turn.Lock()
					_, err := s.Perform(ctx, fmt.Sprint("a", n), &toyAppend{fmt.Sprint(n, ".", i)})
					turn.Unlock()
					if err != nil {
						return err
					}
					if err := b.Wait(ctx); err != nil {
						return err
					}
				}
				return nil
			})
		}}
}

func verifyStorm(t *testing.T, storm run.Storm, choices []byte) *run.Result {
	t.Helper()
	toy, err := newToySuite()
	if err != nil {
		t.Fatal(err)
	}
	server := toyServer(false)
	t.Cleanup(server.Close)
	e, err := subject.ParseEndpoint(server.URL, subject.TLSOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Verify(t.Context(), run.Options{Suite: &raceSuite{toy, storm}, Source: run.TargetSource{Target: subject.Target{Endpoint: e, Probe: toy.Probe}}, Seed: 5, Nonce: "n", Choices: choices})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAFailingStormIsMadeSmallAndReplays(t *testing.T) {
	r := verifyStorm(t, stormOf(run.Load{Actors: run.Everyone(8), Operations: 12, Bytes: 512}), nil)
	if len(r.Findings) != 1 {
		t.Fatalf("%d findings, want one", len(r.Findings))
	}
	l, err := run.DecodeLoad(r.Findings[0].Choices)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Actors) != 3 || l.Operations != 2 || l.Bytes != 0 {
		t.Errorf("reduced to %+v; want three actors, two operations, no long payload", l)
	}
	again := verifyStorm(t, stormOf(run.Load{Actors: run.Everyone(8), Operations: 12}), r.Findings[0].Choices)
	if len(again.Findings) != 1 || again.Calls > 6 {
		t.Errorf("the replay made %d calls and found %d violations", again.Calls, len(again.Findings))
	}
}

func TestAQuietStormCountsEveryRound(t *testing.T) {
	r := verifyStorm(t, stormOf(run.Load{Actors: run.Everyone(2), Operations: 4}), nil)
	if len(r.Findings) != 0 || r.Calls != 3*2*4 {
		t.Errorf("%d findings in %d calls; want none in 24", len(r.Findings), r.Calls)
	}
	for _, v := range r.Verdicts {
		if v.Requirement == "TOY-001" && v.Observations != 24 {
			t.Errorf("%d observations, want one for each call", v.Observations)
		}
	}
}
