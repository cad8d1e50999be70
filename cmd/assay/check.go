package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"assay/harness/history"
	"assay/harness/history/file"
	"assay/harness/history/timeline"
	"assay/harness/verdict"
	"assay/model"
	"assay/reports"
	"assay/spec"

	"github.com/spf13/cobra"
)

func (p *program) checkCommand() *cobra.Command {
	var out outputFlags
	var name, picture string
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Judge a saved history, without a subject",
		Long: `Judge a saved history (*.history.jsonl, written by any program; see docs/history-format.md) or the
history in a violation bundle (*.assay.json).`,
		Args: exactlyOne("one history file or bundle"),
		RunE: func(c *cobra.Command, args []string) error {
			h, err := p.history(args[0])
			if err != nil {
				return err
			}
			if name != "" && name != h.Header.Suite {
				return fmt.Errorf("%s is a history of suite %s, not %s", args[0], shown(h.Header.Suite), shown(name))
			}
			r, err := p.judge(h)
			if err != nil {
				return err
			}
			var files []string
			if picture != "" {
				if err := p.draw(picture, h); err != nil {
					return err
				}
				files = append(files, picture)
			}
			p.status = r.ExitStatus(false)
			return p.present(r, out, files)
		},
	}
	c.Flags().BoolVar(&out.json, "json", false, "write JSON (assay.results/v1) instead of the summary")
	c.Flags().BoolVarP(&out.verbose, "verbose", "v", false, "list every requirement, violation and note")
	c.Flags().StringVar(&name, "suite", "", "insist that the history is of this `SUITE`")
	c.Flags().StringVar(&picture, "visualize", "", "draw the violating part of the history into this HTML `FILE`")
	return c
}

// draw writes a picture of what a history breaches.
func (p *program) draw(path string, h *history.History) error {
	s, err := p.find(h.Header.Suite)
	if err != nil {
		return err
	}
	describe := func(e model.Event) string {
		text, err := s.Codec().Encode(e)
		if err != nil {
			return e.Phase.String()
		}
		return string(text)
	}
	if d, ok := s.Suite.(interface{ Describe(model.Event) string }); ok {
		describe = d.Describe
	}
	var violations []timeline.Violation
	seen := make(map[string]bool)
	for _, v := range s.Judge(h).Breaches() {
		if v.Assertion.Basis != model.Spec || seen[v.Assertion.Name] {
			continue
		}
		seen[v.Assertion.Name] = true
		violations = append(violations, timeline.Violation{Title: v.Assertion.String(), Expected: v.Breach.Expected, Got: v.Breach.Got, Call: v.Call, Events: v.Breach.Events})
	}
	return file.Save(path, func(w io.Writer) error { return timeline.Write(w, h, violations, describe) })
}

// history reads a history file or the history of a bundle, told apart by what
// their first bytes say.
func (p *program) history(path string) (*history.History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 {
		return nil, fmt.Errorf("%s:1: the file is empty: expected a history (%s) or a bundle (%s)", path, file.HistoryFormat, file.BundleFormat)
	}
	whole := io.MultiReader(bytes.NewReader(head[:n]), f)
	if formatOf(head[:n]) == file.BundleFormat {
		b, err := file.ReadBundle(whole, path, p.codecs)
		return b.History, err
	}
	return file.Read(whole, path, p.codecs)
}

// formatOf reads the format at the beginning of a file, "" when there is none.
func formatOf(head []byte) string {
	d := json.NewDecoder(bytes.NewReader(head))
	for _, want := range []any{json.Delim('{'), "format"} {
		if t, err := d.Token(); err != nil || t != want {
			return ""
		}
	}
	t, err := d.Token()
	if err != nil {
		return ""
	}
	format, _ := t.(string)
	return format
}

// judge evaluates every rule on a history. Nothing was promised: what the
// history does not show is not exercised, and no failure.
func (p *program) judge(h *history.History) (reports.Result, error) {
	s, err := p.find(h.Header.Suite)
	if err != nil {
		return reports.Result{}, err
	}
	judged := s.Judge(h)
	seen := make(map[spec.ID]bool)
	var decides []spec.ID
	for _, j := range judged.Judgements {
		if id := j.Assertion.Requirement; !seen[id] {
			seen[id] = true
			decides = append(decides, id)
		}
	}
	name := h.Header.Scenario
	if name == "" {
		name = s.Name() + "/history"
	}
	access := spec.AccessOf(spec.Wire)
	tally := verdict.NewTally(s.Catalogue(), access, s.Ambient())
	if err := tally.Promise(name, decides, nil); err != nil {
		return reports.Result{}, err
	}
	if err := tally.Add(name, h.Header.Session, judged); err != nil {
		return reports.Result{}, err
	}
	verdicts := tally.Conclude()
	for i := range verdicts {
		verdicts[i].Promised = false
	}
	return reports.New(reports.Result{Tool: tool(), Suite: s.Name(), Subject: h.Header.Subject, Access: access, Seed: h.Header.Seed, Nonce: h.Header.Nonce},
		s.Catalogue(), verdicts, tally.Unimplemented())
}
