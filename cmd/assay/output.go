package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"assay/harness/history/file"
	"assay/harness/run"
	"assay/harness/verdict"
	"assay/reports"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// outputFlags say where results go, and what they must cover.
type outputFlags struct {
	dir      string
	json     bool
	verbose  bool
	coverage bool
}

func (o *outputFlags) bind(set *pflag.FlagSet) {
	set.StringVar(&o.dir, "out", "", "write results.json, junit.xml, summary.md and evidence/ into this `DIR`")
	set.BoolVar(&o.json, "json", false, "write results.json to standard output instead of the summary")
	set.BoolVarP(&o.verbose, "verbose", "v", false, "list every requirement, violation and note, and show what the subject prints")
	set.BoolVar(&o.coverage, "require-coverage", false, "fail also when no scenario reaches a requirement")
}

// The files of --out beside the evidence.
const (
	resultsFile  = "results.json"
	junitFile    = "junit.xml"
	markdownFile = "summary.md"
)

// prepare finds out before the run that its results cannot be written, and
// takes away those of an earlier run: a run that fails must not be taken for
// one that passed yesterday. Evidence stays; its names tell runs apart.
func (o *outputFlags) prepare() error {
	if o.dir == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(o.dir, "evidence"), 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	for _, name := range []string{resultsFile, junitFile, markdownFile} {
		if err := os.Remove(filepath.Join(o.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--out: take away the results of an earlier run: %w", err)
		}
	}
	return nil
}

// replay knows how to write the command that shows a violation again.
type replay struct {
	subjects *subjectFlags
	out      string
	// shared subjects have seen the topics of this nonce: a replay needs others.
	shared bool
}

// command returns the replay command of a violation whose bundle is at path,
// "" when none was saved.
func (r replay) command(found *run.Result, v verdict.Violation, path string) string {
	flags := r.subjects.again()
	if flags != "" {
		flags = " " + flags
	}
	if path != "" {
		return "assay replay " + quoted(path) + flags
	}
	nonce := ""
	if !r.shared {
		nonce = " --nonce " + quoted(found.Nonce)
	}
	return fmt.Sprintf("assay verify %s --seed %d%s --profile %s%s", quoted(v.Scenario), found.Seed, nonce, found.Profile, flags)
}

// save writes the evidence of a run and turns what was found into a result.
// It returns the paths that it wrote.
func (o *outputFlags) save(s suite, found *run.Result, started time.Time, again replay) (reports.Result, []string, error) {
	shown := make(map[string][]verdict.Violation)
	var files []string
	for i, f := range found.Findings {
		v := f.Violation
		path := ""
		if o.dir != "" {
			v.Evidence = fmt.Sprintf("evidence/%s-%s-%d.assay.json", v.Requirement, found.Nonce, i+1)
			path = filepath.Join(o.dir, filepath.FromSlash(v.Evidence))
			b := bundle(s, found, f)
			if err := file.Save(path, func(w io.Writer) error { return file.WriteBundle(w, b, s.Codec()) }); err != nil {
				return reports.Result{}, nil, err
			}
		}
		v.Replay = again.command(found, v, path)
		shown[string(v.Requirement)] = append(shown[string(v.Requirement)], v)
	}
	if o.dir != "" && len(found.Findings) > 0 {
		files = append(files, filepath.Join(o.dir, "evidence")+string(filepath.Separator))
	}
	verdicts := append([]verdict.Verdict(nil), found.Verdicts...)
	for i, v := range verdicts {
		verdicts[i].Violations = shown[string(v.Requirement)]
	}
	r := reports.Result{
		Tool: tool(), Suite: s.Name(), Subject: found.Subject, Access: found.Access, Seed: found.Seed, Nonce: found.Nonce,
		Profile: found.Profile.String(), Started: started.UTC().Truncate(time.Millisecond),
		Timings: reports.Timings{Total: reports.Millis(found.Elapsed), FirstVerdict: reports.Millis(found.First), Scenarios: make(map[string]reports.Millis)},
	}
	for _, sc := range found.Scenarios {
		r.Timings.Scenarios[sc.Name] = reports.Millis(sc.Elapsed)
		if sc.Failure != "" {
			r.Failures = append(r.Failures, reports.Failure{Scenario: sc.Name, Reason: sc.Failure})
		}
	}
	for _, k := range found.Skipped {
		r.Skipped = append(r.Skipped, reports.Failure{Scenario: k.Scenario, Reason: k.Reason})
	}
	r, err := reports.New(r, s.Catalogue(), verdicts, found.Unimplemented)
	return r, files, err
}

// bundle gathers what shows one violation again.
func bundle(s suite, found *run.Result, f run.Finding) file.Bundle {
	b := file.Bundle{
		Tool: tool(), Suite: s.Name(), Scenario: f.Scenario, Session: f.Session, Requirement: f.Requirement, Assertion: f.Assertion,
		Expected: f.Expected, Got: f.Got, Call: f.Call, Events: f.Events, Seed: found.Seed, Nonce: found.Nonce,
		Profile: found.Profile.String(), Access: found.Access, Subject: found.Subject, Choices: f.Choices, Schedule: f.Schedule, History: f.History,
	}
	if r, ok := s.Suite.(requester); ok {
		b.Request, b.Line = r.Request(f.History, f.Call)
	}
	return b
}

// files writes the renderings of a result beside its evidence, and returns all
// paths, the results first.
func (o *outputFlags) files(r reports.Result, evidence []string) ([]string, error) {
	if o.dir == "" {
		return nil, nil
	}
	var paths []string
	for _, out := range []struct {
		name  string
		write func(io.Writer, reports.Result) error
	}{
		{resultsFile, reports.WriteJSON}, {junitFile, reports.WriteJUnit}, {markdownFile, reports.WriteMarkdown},
	} {
		path := filepath.Join(o.dir, out.name)
		if err := file.Save(path, func(w io.Writer) error { return out.write(w, r) }); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return append(paths, evidence...), nil
}

// present writes a result to standard output.
func (p *program) present(r reports.Result, o outputFlags, files []string) error {
	if o.json {
		return reports.WriteJSON(p.stdout, r)
	}
	width, terminal := p.terminal(p.stdout)
	return reports.WriteTerminal(p.stdout, r, reports.Options{Width: width, Color: terminal && p.colour(), Verbose: o.verbose, Files: files})
}

// terminal reports whether a stream is a terminal, and how wide it is: 100
// characters when that is not known.
func (p *program) terminal(stream any) (width int, ok bool) {
	const usual = 100
	f, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return usual, false
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w, true
	}
	return usual, true
}

// colour honours NO_COLOR (no-color.org) and terminals that cannot.
func (p *program) colour() bool {
	no, _ := p.lookup("NO_COLOR")
	kind, _ := p.lookup("TERM")
	return no == "" && kind != "dumb"
}
