package run

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"golang.org/x/sync/errgroup"

	"assay/harness/verdict"
	"assay/spec"
)

// Mutant is one deliberate fault of a reference implementation.
type Mutant struct {
	Name    string
	Summary string
	// Requirements are those it breaks; a violation of any of them kills it.
	Requirements []spec.ID
}

// Fate is what became of one mutant.
type Fate struct {
	Mutant Mutant
	// Killed is true when a requirement that the mutant names was violated. A
	// crash, a timeout or a violation of anything else is not a kill.
	Killed bool
	// By are the violated requirements that the mutant names, Others those it
	// does not name.
	By, Others []spec.ID
	// Witness is the violation that killed it.
	Witness *Finding
	// Failure says why the run could not tell; "" when it could.
	Failure string
	Elapsed time.Duration
}

// MutantOptions says which mutants to try and how.
type MutantOptions struct {
	Suite   Suite
	Mutants []Mutant
	// Source starts the reference implementation with the named mutant.
	Source   func(mutant string) Source
	Seed     uint64
	Nonce    string
	Profile  Profile
	Parallel int
	Timeout  time.Duration
	// AtOnce is how many mutants are tried at the same time; 0 means 2.
	AtOnce   int
	Progress func(Fate)
}

// Mutants tries every mutant with the scenarios that can decide what it breaks
// and tells which were killed, by what. The fates are in the order of the mutants.
func Mutants(ctx context.Context, o MutantOptions) ([]Fate, error) {
	if o.AtOnce <= 0 {
		o.AtOnce = 2
	}
	scenarios, err := o.Suite.Scenarios()
	if err != nil {
		return nil, fmt.Errorf("read the scenarios of %s: %w", o.Suite.Name(), err)
	}
	fates := make([]Fate, len(o.Mutants))
	done := make(chan Fate)
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		for f := range done {
			if o.Progress != nil {
				o.Progress(f)
			}
		}
	}()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(o.AtOnce)
	for i, m := range o.Mutants {
		g.Go(func() error {
			f, err := fate(gctx, m, scenarios, o)
			if err != nil {
				return fmt.Errorf("mutant %s: %w", m.Name, err)
			}
			fates[i] = f
			done <- f
			return nil
		})
	}
	err = g.Wait()
	close(done)
	<-reported
	return fates, err
}

func fate(ctx context.Context, m Mutant, scenarios []Scenario, o MutantOptions) (Fate, error) {
	begun := time.Now()
	f := Fate{Mutant: m}
	first, rest := deciding(scenarios, m.Requirements, o.Suite.Ambient())
	for _, addresses := range [][]string{first, rest} {
		if len(addresses) == 0 || f.Killed {
			continue
		}
		if err := f.try(ctx, addresses, o); err != nil {
			return f, err
		}
	}
	if len(first)+len(rest) == 0 {
		f.Failure = "no scenario decides what it breaks"
	}
	f.Elapsed = time.Since(begun)
	return f, nil
}

// try verifies the mutant with some scenarios and notes what was violated.
func (f *Fate) try(ctx context.Context, addresses []string, o MutantOptions) error {
	r, err := Verify(ctx, Options{Suite: o.Suite, Source: o.Source(f.Mutant.Name), Addresses: addresses, Seed: o.Seed, Nonce: o.Nonce,
		Profile: o.Profile, Parallel: o.Parallel, Timeout: o.Timeout})
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		f.Failure = err.Error()
		return nil
	}
	for _, v := range r.Verdicts {
		if v.Status != verdict.Violated {
			continue
		}
		list := &f.Others
		if slices.Contains(f.Mutant.Requirements, v.Requirement) {
			list = &f.By
		}
		if !slices.Contains(*list, v.Requirement) {
			*list = append(*list, v.Requirement)
		}
	}
	f.Killed = len(f.By) > 0
	for i := range r.Findings {
		if f.Killed && f.Witness == nil && r.Findings[i].Requirement == f.By[0] {
			f.Witness = &r.Findings[i]
		}
	}
	return nil
}

// deciding names the scenarios that undertake to decide any of the
// requirements and, when every call is evidence of one of them, all others too.
func deciding(scenarios []Scenario, ids, ambient []spec.ID) (first, rest []string) {
	everywhere := slices.ContainsFunc(ids, func(id spec.ID) bool { return slices.Contains(ambient, id) })
	for _, s := range scenarios {
		switch {
		case slices.ContainsFunc(s.Decides, func(id spec.ID) bool { return slices.Contains(ids, id) }):
			first = append(first, s.Name)
		case everywhere:
			rest = append(rest, s.Name)
		}
	}
	sort.Strings(first)
	sort.Strings(rest)
	return first, rest
}
