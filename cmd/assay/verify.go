package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"assay/harness/run"
	"assay/spec"

	"github.com/spf13/cobra"
)

func (p *program) verifyCommand() *cobra.Command {
	var out outputFlags
	var list bool
	var repeat int
	c := &cobra.Command{
		Use:   "verify [ADDRESS…]",
		Short: "Judge a subject, requirement by requirement",
		Long: `Judge a subject, requirement by requirement.

An address narrows the run: a suite (backend), a part of it (backend/publish), one scenario, or a
requirement (API-033). Without --target or --spawn the subject is the built-in reference on a
private Postgres.

Placeholders of --spawn: {listen} {database} {db_host} {db_port} {db_user} {db_password} {db_name}
{chain} {chain_id} {limits} {keepalive_ms}, each quoted for the shell.`,
		Example: `  assay verify --out out
  assay verify --target grpc://localhost:5050 --rate 50 backend/publish
  assay verify --spawn 'DATABASE_URL={database} LISTEN={listen} ./yours' API-033`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	subjects := bindSubject(c.Flags())
	effort := bindEffort(c.Flags())
	out.bind(c.Flags())
	c.Flags().IntVar(&repeat, "repeat", 1, "how often each scenario runs, on topics of its own each time")
	c.Flags().BoolVar(&list, "list", false, "list the selected scenarios and run nothing")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := subjects.check(c.Flags()); err != nil {
			return err
		}
		options, err := effort.options(c.Flags())
		if err != nil {
			return err
		}
		if repeat < 1 || repeat > maxRepeat {
			return fmt.Errorf("--repeat is %d: give a number from 1 to %d", repeat, maxRepeat)
		}
		options.Repeat = repeat
		s, err := p.home(args)
		if err != nil {
			return err
		}
		selected, err := narrow(s, args)
		if err != nil {
			return err
		}
		if list {
			return p.list(selected, out.json)
		}
		options.Suite, options.Addresses = s.Suite, args
		return p.verify(c.Context(), s, subjects, options, out)
	}
	return c
}

// verify runs, reports, and sets the exit status.
func (p *program) verify(ctx context.Context, s suite, subjects *subjectFlags, o run.Options, out outputFlags) (err error) {
	if err := out.prepare(); err != nil {
		return err
	}
	show := newProgress(p)
	defer show.end()
	source, err := subjects.source(ctx, p, s, show.note, out.verbose)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	show.note(fmt.Sprintf("seed %d, nonce %s", o.Seed, o.Nonce))
	o.Suite, o.Source, o.Progress = run.OnInstances(o.Suite, source.others), source.Source, show.event
	started := time.Now()
	found, err := run.Verify(ctx, o)
	if err != nil {
		return err
	}
	if o.Repeat > 1 {
		for _, line := range rounds(found) {
			show.note(line)
		}
	}
	show.end()
	if len(found.Scenarios) == 0 {
		return nothingRan(found)
	}
	result, files, err := out.save(s, found, started, replay{subjects: subjects, out: out.dir, shared: source.Shared()})
	if err != nil {
		return err
	}
	if source.Shared() && s.permanent != "" {
		result.Advice = append(result.Advice, s.permanent)
	}
	files, err = out.files(result, files)
	if err != nil {
		return err
	}
	p.status = result.ExitStatus(out.coverage)
	return p.present(result, out, files)
}

// nothingRan is the error of a run that could drive none of what was selected:
// a status of 0 would say that something was looked at.
func nothingRan(found *run.Result) error {
	const most = 3
	var why []string
	for i, k := range found.Skipped {
		if i == most {
			why = append(why, fmt.Sprintf("and %d more", len(found.Skipped)-most))
			break
		}
		why = append(why, k.Scenario+": "+k.Reason)
	}
	return fmt.Errorf("none of the %d selected scenarios can run on %s:\n  %s", len(found.Skipped), found.Subject, strings.Join(why, "\n  "))
}

// narrow returns the scenarios that addresses select, or explains an address
// that selects none.
func narrow(s suite, addresses []string) ([]run.Scenario, error) {
	all, err := s.Scenarios()
	if err != nil {
		return nil, err
	}
	if len(addresses) == 0 {
		return all, nil
	}
	taken := make(map[string]bool)
	for _, a := range addresses {
		hit := false
		for _, sc := range all {
			if selects(a, sc) {
				hit, taken[sc.Name] = true, true
			}
		}
		if !hit {
			return nil, strayAddress(s, all, a)
		}
	}
	var out []run.Scenario
	for _, sc := range all {
		if taken[sc.Name] {
			out = append(out, sc)
		}
	}
	return out, nil
}

// selects reports whether an address names a scenario: by a requirement it
// decides, by its name, or by a folder above it.
func selects(address string, sc run.Scenario) bool {
	if id, err := spec.ParseID(address); err == nil {
		for _, d := range sc.Decides {
			if d == id {
				return true
			}
		}
		return false
	}
	return sc.Name == address || strings.HasPrefix(sc.Name, strings.TrimSuffix(address, "/")+"/")
}

// strayAddress says what was expected in place of an address.
func strayAddress(s suite, all []run.Scenario, address string) error {
	if id, err := spec.ParseID(address); err == nil {
		return fmt.Errorf("no scenario decides %s: see what would with assay spec %s", id, id)
	}
	var names, folders []string
	known := make(map[string]bool)
	for _, sc := range all {
		names = append(names, sc.Name)
		folder := sc.Name[:max(strings.LastIndexByte(sc.Name, '/'), 0)]
		if !known[folder] {
			known[folder] = true
			folders = append(folders, folder)
		}
	}
	return fmt.Errorf("address %q selects no scenario of suite %s: use one of %s, a scenario's full name, or a requirement id%s",
		shown(address), s.Name(), strings.Join(folders, ", "), didYouMean(address, append(names, folders...)))
}

// listed is a scenario as --list --json writes it.
type listed struct {
	Name      string         `json:"name"`
	Summary   string         `json:"summary"`
	Decides   []spec.ID      `json:"decides"`
	Needs     spec.AccessSet `json:"needs"`
	Subject   string         `json:"configuration"`
	Exclusive bool           `json:"exclusive"`
	Stress    bool           `json:"stress"`
	From      string         `json:"from"`
	Source    string         `json:"source"`
}

// list prints scenarios without running them.
func (p *program) list(selected []run.Scenario, asJSON bool) error {
	if !asJSON {
		for _, sc := range selected {
			if _, err := fmt.Fprintf(p.stdout, "%s\n  %s\n  decides %s\n", sc.Name, sc.Summary, join(sc.Decides)); err != nil {
				return err
			}
		}
		return nil
	}
	all := make([]listed, 0, len(selected))
	for _, sc := range selected {
		all = append(all, listed{sc.Name, sc.Summary, append([]spec.ID{}, sc.Decides...), sc.Needs.With(spec.Wire), sc.Configuration.Describe(),
			sc.Exclusive, sc.Stress, sc.From.String(), sc.Source})
	}
	return writeJSON(p.stdout, all)
}

func join(ids []spec.ID) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return strings.Join(out, " ")
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
