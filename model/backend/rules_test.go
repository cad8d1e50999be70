package backend

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/model"
)

// ruling is one history and what the rules must make of it. Its name is a
// sentence: requirement, situation, expectation.
type ruling struct {
	name string
	with []func(*Terms)
	tell func(h *story)
	// holds is what the history proves, with nothing in it called a breach;
	// breaks is exactly what it breaches, the assertion under test first.
	holds  *model.Assertion
	breaks []model.Assertion
}

func holds(a model.Assertion, name string, tell func(h *story), with ...func(*Terms)) ruling {
	return ruling{name: name, tell: tell, holds: &a, with: with}
}

func breaks(a model.Assertion, name string, tell func(h *story), with ...func(*Terms)) ruling {
	return ruling{name: name, tell: tell, breaks: []model.Assertion{a}, with: with}
}

// and adds assertions that the same observation cannot but breach as well.
func (r ruling) and(more ...model.Assertion) ruling {
	r.breaks = append(r.breaks, more...)
	return r
}

func rulings() []ruling {
	return slices.Concat(metadataRulings(), publishRulings(), refusalRulings(), pageRulings(), queryRulings(), newestRulings(), serviceRulings(), identityRulings(), streamRulings(), streamBoundRulings(), streamTimeRulings())
}

func TestEveryRuleAcceptsOneHistoryAndRefusesAnotherForItsReason(t *testing.T) {
	for _, r := range rulings() {
		t.Run(r.name, func(t *testing.T) {
			h := tell(r.with...)
			r.tell(h)
			j := h.judged()
			var want []string
			for _, a := range r.breaks {
				want = append(want, a.String())
			}
			slices.Sort(want)
			if got := breaches(j); !slices.Equal(got, want) {
				t.Fatalf("breaches %q, want %q\n%s", got, want, explain(j))
			}
			if r.holds != nil && !proves(j, *r.holds) {
				t.Fatalf("%s is not proved by\n%v\nwith witnesses %v", r.holds, held(j), j.Witnesses)
			}
			for _, v := range j.Breaches() {
				if !slices.IsSorted(v.Breach.Events) || len(v.Breach.Events) == 0 || v.Breach.Expected == "" || v.Breach.Got == "" {
					t.Errorf("a breach without proof or words: %+v", v.Breach)
				}
			}
		})
	}
}

func held(j model.Judged) string {
	var out []string
	for _, v := range j.Judgements {
		if v.Held() {
			out = append(out, v.Assertion.String()+" needs "+v.Needs)
		}
	}
	return strings.Join(out, "\n")
}

func TestEveryAssertionIsSeenHeldAndSeenBreached(t *testing.T) {
	seenHeld, seenBreached := make(map[string]bool), make(map[string]bool)
	for _, r := range rulings() {
		if r.holds != nil {
			seenHeld[r.holds.Name] = true
		} else {
			seenBreached[r.breaks[0].Name] = true
		}
	}
	for _, a := range Assertions() {
		if !seenHeld[a.Name] {
			t.Errorf("no history shows %s held: add a ruling", a)
		}
		if !seenBreached[a.Name] {
			t.Errorf("no history shows %s breached: add a ruling", a)
		}
	}
}

func TestNamesOfRulingsDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range rulings() {
		if seen[r.name] {
			t.Errorf("two rulings are called %q", r.name)
		}
		seen[r.name] = true
	}
}

// The source declares assertions with asserted(name, requirement); whatever it
// declares has to be in the list that others enumerate.
func TestTheListHoldsEveryAssertionThatTheSourceDeclares(t *testing.T) {
	listed := make(map[string]bool)
	for _, a := range Assertions() {
		if listed[a.Name] {
			t.Errorf("assertion name %q is there twice", a.Name)
		}
		listed[a.Name] = true
		if a.Basis != model.Spec || a.Requirement == "" {
			t.Errorf("assertion %s has no basis or requirement", a)
		}
	}
	files := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := c.Fun.(*ast.Ident); !ok || f.Name != "asserted" {
				return true
			}
			declared++
			name, err := strconv.Unquote(c.Args[0].(*ast.BasicLit).Value)
			if err != nil || !listed[name] {
				t.Errorf("%s: assertion %q is declared and not in Assertions", files.Position(c.Pos()), name)
			}
			return true
		})
	}
	if declared != len(listed) {
		t.Errorf("%d assertions are declared and %d listed", declared, len(listed))
	}
}
