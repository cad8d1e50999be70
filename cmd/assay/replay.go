package main

import (
	"errors"
	"fmt"

	"assay/harness/history/file"
	"assay/harness/run"

	"github.com/spf13/cobra"
)

// maxRepeat bounds --repeat.
const maxRepeat = 1_000_000

// replayed is what replay --json writes.
type replayed struct {
	Runs        int    `json:"runs"`
	Reproduced  int    `json:"reproduced"`
	Requirement string `json:"requirement"`
	Assertion   string `json:"assertion"`
	Scenario    string `json:"scenario"`
}

func (p *program) replayCommand() *cobra.Command {
	var asJSON, verbose bool
	var repeat int
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Repeat the violation in a bundle",
		Long: `Repeat the violation in a bundle (*.assay.json) with its seed and choices, and say whether it is
there again. Without --target or --spawn the subject is the built-in reference.

Exit status: 1 when the violation is there again at least once, 0 when it is not.`,
		Args: exactlyOne("one bundle"),
	}
	subjects := bindSubject(c.Flags())
	effort := bindEffort(c.Flags())
	c.Flags().IntVar(&repeat, "repeat", 1, "how many times")
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON: runs, reproduced")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "show what the subject prints")
	for _, fixed := range []string{"seed", "profile", "parallel"} {
		if err := c.Flags().MarkHidden(fixed); err != nil {
			panic(err) // the flag was bound three lines above
		}
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if repeat < 1 || repeat > maxRepeat {
			return fmt.Errorf("--repeat is %d: give a number from 1 to %d", repeat, maxRepeat)
		}
		if err := subjects.check(c.Flags()); err != nil {
			return err
		}
		b, err := file.ReadBundleFile(args[0], p.codecs)
		if err != nil {
			return err
		}
		if !c.Flags().Changed("profile") && b.Profile != "" {
			effort.profile = b.Profile
		}
		o, err := effort.options(c.Flags())
		if err != nil {
			return err
		}
		return p.replay(c, b, subjects, o, repeat, asJSON, verbose)
	}
	return c
}

func (p *program) replay(c *cobra.Command, b file.Bundle, subjects *subjectFlags, o run.Options, repeat int, asJSON, verbose bool) (err error) {
	s, err := p.find(b.Suite)
	if err != nil {
		return err
	}
	if _, known := s.Catalogue().Lookup(b.Requirement); !known {
		return fmt.Errorf("the bundle is about requirement %s, which suite %s does not have: it was edited, or is another version's", shown(string(b.Requirement)), s.Name())
	}
	show := newProgress(p)
	defer show.end()
	source, err := subjects.source(c.Context(), p, s, show.note, verbose)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	if !c.Flags().Changed("seed") {
		o.Seed = b.Seed
	}
	if given := c.Flags().Changed("nonce"); !given && !source.Shared() {
		// A shared subject has kept what the violation's run left under its nonce;
		// on a fresh one the same nonce gives the same bytes.
		o.Nonce = b.Nonce
	}
	o.Suite, o.Source, o.Addresses, o.Choices, o.Progress = run.OnInstances(s.Suite, source.others), source.Source, []string{b.Scenario}, b.Choices, show.event
	o.Repeat, o.Schedule = repeat, b.Schedule
	found, err := run.Verify(c.Context(), o)
	if err != nil {
		return err
	}
	sum := replayed{Runs: repeat, Requirement: string(b.Requirement), Assertion: b.Assertion, Scenario: b.Scenario}
	again := make(map[int]bool)
	for _, f := range found.Findings {
		if f.Requirement == b.Requirement && !again[f.Round] && (f.Assertion == b.Assertion || len(b.Choices) > 0) {
			// What was drawn, or raced for, shows one fault in more ways than one.
			again[f.Round] = true
			show.note(fmt.Sprintf("%s violated again: expected %s, got %s", f.Requirement, f.Expected, f.Got))
		}
	}
	sum.Reproduced = len(again)
	show.end()
	if sum.Reproduced > 0 {
		p.status = statusFailed
	}
	if asJSON {
		return writeJSON(p.stdout, sum)
	}
	_, err = fmt.Fprintf(p.stdout, "%s %s in %s: there again in %d of %d runs\n", sum.Requirement, sum.Assertion, sum.Scenario, sum.Reproduced, sum.Runs)
	return err
}
