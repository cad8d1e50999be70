package main

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"assay/harness/run"
)

// progress tells people how a run goes, on standard error: one line that
// updates itself on a terminal, else plain lines, few of them.
type progress struct {
	p        *program
	live     bool
	width    int
	mu       sync.Mutex // guards what follows
	held     bool       // the live line is on the screen
	tenth    int        // how many tenths of the run were told in plain lines
	firstOne bool       // whether the first verdict was told
}

func newProgress(p *program) *progress {
	width, live := p.terminal(p.stderr)
	return &progress{p: p, live: live, width: width}
}

// note writes a line of its own.
func (g *progress) note(line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.line(line)
}

// line expects mu to be held. What it writes may come from a subject.
func (g *progress) line(text string) {
	g.clear()
	g.p.say("%s", visible(text))
}

func (g *progress) clear() {
	if g.held {
		fmt.Fprint(g.p.stderr, "\r\x1b[K")
		g.held = false
	}
}

// event tells of one finished scenario.
func (g *progress) event(e run.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case e.Scenario == "":
		g.line(e.Message)
		return
	case len(e.Breaches) > 0:
		g.line(fmt.Sprintf("violated: %s in %s", strings.Join(e.Breaches, ", "), e.Scenario))
	case e.Status == "inconclusive":
		g.line(fmt.Sprintf("inconclusive: %s: %s", e.Scenario, e.Message))
	}
	count := fmt.Sprintf("%d/%d scenarios, %s", e.Done, e.Total, e.Elapsed.Round(100*time.Millisecond))
	if g.live {
		text := []rune(count + "  " + e.Scenario)
		g.clear()
		fmt.Fprint(g.p.stderr, string(text[:min(len(text), max(g.width-1, 0))]))
		g.held = true
		return
	}
	tenth := 10
	if e.Total > 0 {
		tenth = 10 * e.Done / e.Total
	}
	if tenth > g.tenth || !g.firstOne {
		g.tenth, g.firstOne = tenth, true
		g.line(count)
	}
}

// end leaves the screen clean; it may be called twice.
func (g *progress) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clear()
}

// visible takes out what a terminal would obey, and bounds a line.
func visible(s string) string {
	const most = 8000
	cut := ""
	if len(s) > most {
		s, cut = s[:most], "…"
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r != utf8.RuneError && unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s) + cut
}
