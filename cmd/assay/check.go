package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"assay/harness/history"
	"assay/harness/history/file"
	"assay/harness/verdict"
	"assay/reports"
	"assay/spec"

	"github.com/spf13/cobra"
)

func (p *program) checkCommand() *cobra.Command {
	var out outputFlags
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
			r, err := p.judge(h)
			if err != nil {
				return err
			}
			p.status = r.ExitStatus(false)
			return p.present(r, out, nil)
		},
	}
	c.Flags().BoolVar(&out.json, "json", false, "write JSON (assay.results/v1) instead of the summary")
	c.Flags().BoolVarP(&out.verbose, "verbose", "v", false, "list every requirement, violation and note")
	return c
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
