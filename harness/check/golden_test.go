package check

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the verdicts in testdata/cases; read the diff before you commit it")

// goldenCase is one hand-made history: a sentence, the rules that its author
// says must speak, the history, and the verdict as it was last read.
type goldenCase struct {
	name    string
	want    []string
	lines   []string
	verdict string
	line    int
}

func readCases(t *testing.T, path string) []goldenCase {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []goldenCase
	inVerdict := false
	for n, l := range strings.Split(string(data), "\n") {
		switch {
		case strings.HasPrefix(l, "case "):
			out = append(out, goldenCase{name: strings.TrimPrefix(l, "case "), line: n + 1})
			inVerdict = false
		case len(out) == 0:
			if l != "" && !strings.HasPrefix(l, "#") {
				t.Fatalf("%s:%d: want a case first", path, n+1)
			}
		case strings.HasPrefix(l, "want "):
			out[len(out)-1].want = strings.Fields(strings.TrimPrefix(l, "want "))
		case l == "----":
			inVerdict = true
		case inVerdict && l != "":
			out[len(out)-1].verdict += l + "\n"
		case !inVerdict && l != "":
			out[len(out)-1].lines = append(out[len(out)-1].lines, l)
		}
	}
	return out
}

func (h hist) verdict(r *Report) string {
	if len(r.Findings) == 0 {
		return "legal\n"
	}
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s\n  expected %s\n  got      %s\n  proof   %s\n", f.Rule, f.Expected, f.Got, " "+h.proof(f.Proof))
	}
	return b.String()
}

func rulesOf(r *Report) []string {
	var out []string
	for _, f := range r.Findings {
		if !slices.Contains(out, f.Rule.String()) {
			out = append(out, f.Rule.String())
		}
	}
	slices.Sort(out)
	return out
}

func TestHandMadeHistoriesHaveTheVerdictTheirNameSays(t *testing.T) {
	paths, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	total := 0
	names := make(map[string]bool)
	for _, path := range paths {
		cases := readCases(t, path)
		total += len(cases)
		var rewritten strings.Builder
		data, _ := os.ReadFile(path)
		head, _, _ := strings.Cut(string(data), "case ")
		rewritten.WriteString(head)
		for _, c := range cases {
			if names[c.name] {
				t.Errorf("%s:%d: a second case of this name", path, c.line)
			}
			names[c.name] = true
			t.Run(c.name, func(t *testing.T) {
				h, err := parseHist(c.lines)
				if err != nil {
					t.Fatalf("%s:%d: %v", path, c.line, err)
				}
				for i, o := range h.ops {
					again, err := parseHop(o.String())
					if err != nil || again.String() != o.String() {
						t.Errorf("operation %d is written %q, which does not read back: %v", i+1, o, err)
					}
				}
				r := Run(h.facts())
				got := h.verdict(r)
				want := slices.Clone(c.want)
				slices.Sort(want)
				if found := rulesOf(r); !slices.Equal(found, want) && !(len(found) == 0 && slices.Equal(want, []string{"legal"})) {
					t.Errorf("%s:%d: the rules that speak are %v, the author wants %v\n%s", path, c.line, found, want, got)
				}
				if again := h.verdict(Run(h.facts())); again != got {
					t.Errorf("%s:%d: a second run differs:\n%s\n%s", path, c.line, got, again)
				}
				if got != c.verdict && !*update {
					t.Errorf("%s:%d: verdict differs (run with -update and read the diff)\ngot:\n%s\nwant:\n%s", path, c.line, got, c.verdict)
				}
				c.verdict = got
			})
			h, err := parseHist(c.lines)
			if err == nil {
				fmt.Fprintf(&rewritten, "case %s\nwant %s\n%s\n----\n%s\n", c.name, strings.Join(c.want, " "), strings.Join(c.lines, "\n"), h.verdict(Run(h.facts())))
			}
		}
		if *update {
			if err := os.WriteFile(path, []byte(strings.TrimRight(rewritten.String(), "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if total < 150 {
		t.Errorf("%d hand-made histories, want at least 150", total)
	}
}
