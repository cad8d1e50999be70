package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"assay/harness/postgres"
	"assay/harness/run"
	"assay/harness/subject"
	"assay/spec"

	"github.com/spf13/cobra"
)

// tried is what mutants --json writes.
type tried struct {
	Suite   string `json:"suite"`
	Mutants int    `json:"mutants"`
	Killed  int    `json:"killed"`
	// Misattributed counts mutants under which only requirements that they do
	// not name were violated; they are survivors too.
	Misattributed int        `json:"misattributed"`
	Survivors     []string   `json:"survivors"`
	Fates         []fateLine `json:"fates"`
}

type fateLine struct {
	Name     string    `json:"name"`
	Summary  string    `json:"summary"`
	Breaks   []spec.ID `json:"breaks"`
	Killed   bool      `json:"killed"`
	KilledBy []spec.ID `json:"killed_by"`
	Others   []spec.ID `json:"others"`
	Scenario string    `json:"scenario,omitempty"`
	Expected string    `json:"expected,omitempty"`
	Got      string    `json:"got,omitempty"`
	Failure  string    `json:"failure,omitempty"`
	Millis   int64     `json:"elapsed_ms"`
}

func (p *program) mutantsCommand() *cobra.Command {
	var asJSON, list bool
	var name, database string
	var atOnce int
	c := &cobra.Command{
		Use:   "mutants [NAME…]",
		Short: "Break the reference on purpose and see whether the harness notices",
		Long: `Serve each mutant of a reference implementation, a deliberate and named fault, and verify it with the
scenarios that can decide what it breaks. Only a violation of a requirement that the mutant names kills it.

Exit status: 0 when every mutant is killed, else 1.`,
	}
	effort := bindEffort(c.Flags())
	for _, useless := range []string{"stress", "rate"} {
		if err := c.Flags().MarkHidden(useless); err != nil {
			panic(err) // the flag was bound one line above
		}
	}
	c.Flags().StringVar(&name, "suite", p.mutable()[0].Name(), "the reference implementation of this `SUITE`")
	c.Flags().StringVar(&database, "database", "", "make databases on the Postgres at this `URL` instead of finding or starting one")
	c.Flags().IntVar(&atOnce, "at-once", 2, "mutants tried at the same time")
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON: mutants, killed, misattributed, survivors, fates")
	c.Flags().BoolVar(&list, "list", false, "list the mutants and try none")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		s, err := p.find(name)
		if err != nil {
			return err
		}
		chosen, err := mutantsOf(s, args)
		if err != nil {
			return err
		}
		o, err := effort.options(c.Flags())
		if err != nil {
			return err
		}
		if atOnce < 1 || atOnce > 64 {
			return fmt.Errorf("--at-once is %d: give a number from 1 to 64", atOnce)
		}
		if list {
			return p.listMutants(chosen, asJSON)
		}
		command, err := subject.ParseCommand(s.reference)
		if err != nil {
			return fmt.Errorf("the built-in reference of %s: %w", s.Name(), err)
		}
		var server *postgres.Server
		if wantsDatabase(command) {
			if server, err = postgres.Open(c.Context(), postgres.Options{URL: database}); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, server.Close()) }()
			p.say("Postgres: %s", server.Source())
		}
		p.say("seed %d, nonce %s", o.Seed, o.Nonce)
		fates, err := run.Mutants(c.Context(), run.MutantOptions{
			Suite: s.Suite, Mutants: chosen, Seed: o.Seed, Nonce: o.Nonce, Profile: o.Profile, Parallel: o.Parallel, Timeout: o.Timeout, AtOnce: atOnce,
			Source: func(mutant string) run.Source {
				command := command
				command.Shell += " --mutant " + quoted(mutant)
				command.Probe, command.Env = s.Probe, []string{"ASSAY_SELF=" + p.self}
				return run.SpawnSource{Name: "mutant " + mutant, Command: command, Postgres: server, Chain: s.chain, Keepalive: s.keepalive}
			},
			Progress: func(f run.Fate) { p.say("%s", visible(told(f))) },
		})
		if err != nil {
			return err
		}
		return p.fates(s, fates, asJSON)
	}
	return c
}

// mutable lists the suites whose reference has mutants.
func (p *program) mutable() []suite {
	var out []suite
	for _, s := range p.suites {
		if len(s.mutants) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// mutantsOf returns the named mutants of a suite; no name means all.
func mutantsOf(s suite, names []string) ([]run.Mutant, error) {
	if len(names) == 0 {
		return s.mutants, nil
	}
	var out []run.Mutant
	for _, n := range names {
		m, err := s.mutant(n)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// mutant returns the mutant of that name.
func (s suite) mutant(name string) (run.Mutant, error) {
	var known []string
	for _, m := range s.mutants {
		if m.Name == name {
			return m, nil
		}
		known = append(known, m.Name)
	}
	return run.Mutant{}, fmt.Errorf("mutant %q of %s is unknown: list them with assay mutants --list%s", shown(name), s.Name(), didYouMean(name, known))
}

func (p *program) listMutants(list []run.Mutant, asJSON bool) error {
	if asJSON {
		all := make([]fateLine, 0, len(list))
		for _, m := range list {
			all = append(all, line(run.Fate{Mutant: m}))
		}
		return writeJSON(p.stdout, all)
	}
	for _, m := range list {
		if _, err := fmt.Fprintf(p.stdout, "%s\n  %s\n  breaks %s\n", m.Name, m.Summary, join(m.Requirements)); err != nil {
			return err
		}
	}
	return nil
}

// fates prints what became of the mutants and sets the exit status.
func (p *program) fates(s suite, fates []run.Fate, asJSON bool) error {
	sum := tried{Suite: s.Name(), Mutants: len(fates), Survivors: []string{}, Fates: []fateLine{}}
	for _, f := range fates {
		sum.Fates = append(sum.Fates, line(f))
		if f.Killed {
			sum.Killed++
			continue
		}
		sum.Survivors = append(sum.Survivors, f.Mutant.Name)
		if len(f.Others) > 0 {
			sum.Misattributed++
		}
	}
	if sum.Killed < sum.Mutants || sum.Mutants == 0 {
		p.status = statusFailed
	}
	if asJSON {
		return writeJSON(p.stdout, sum)
	}
	for _, f := range fates {
		if _, err := fmt.Fprintln(p.stdout, visible(told(f))); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(p.stdout, "\n%d of %d mutants killed, %d misattributed\n", sum.Killed, sum.Mutants, sum.Misattributed)
	return err
}

func line(f run.Fate) fateLine {
	l := fateLine{
		Name: f.Mutant.Name, Summary: f.Mutant.Summary, Breaks: f.Mutant.Requirements, Killed: f.Killed,
		KilledBy: append([]spec.ID{}, f.By...), Others: append([]spec.ID{}, f.Others...), Failure: f.Failure, Millis: f.Elapsed.Milliseconds(),
	}
	if f.Witness != nil {
		l.Scenario, l.Expected, l.Got = f.Witness.Scenario, f.Witness.Expected, f.Witness.Got
	}
	return l
}

// told says what became of one mutant in one line.
func told(f run.Fate) string {
	took := f.Elapsed.Round(100 * time.Millisecond)
	switch {
	case f.Killed && f.Witness != nil:
		return fmt.Sprintf("killed    %-36s by %s in %s (%s)", f.Mutant.Name, join(f.By), f.Witness.Scenario, took)
	case f.Killed:
		return fmt.Sprintf("killed    %-36s by %s (%s)", f.Mutant.Name, join(f.By), took)
	case f.Failure != "":
		return fmt.Sprintf("survived  %-36s %s", f.Mutant.Name, strings.TrimSpace(f.Failure))
	case len(f.Others) > 0:
		return fmt.Sprintf("survived  %-36s it breaks %s, and only %s was violated (%s)", f.Mutant.Name, join(f.Mutant.Requirements), join(f.Others), took)
	default:
		return fmt.Sprintf("survived  %-36s nothing was violated; it breaks %s (%s)", f.Mutant.Name, join(f.Mutant.Requirements), took)
	}
}
