// Package assay_test holds what is true of the repository as a whole: which
// room may know which. The rules are docs/architecture.md's, one line each.
package assay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rule says what the packages of some rooms must not know. A room is a folder
// of this module ("reports"), with all below it when it ends in "/...";
// anything with a dot in its first element, or marked "std:", is a package of
// somebody else's. Every room of this module that a rule names must exist, so
// that a rule does not outlive what it guards.
type rule struct {
	name    string
	reason  string
	rooms   []string
	except  []string // rooms left out of rooms
	forbid  []string
	allow   []string // rooms left out of forbid
	imports reach
}

// reach is how far a rule looks.
type reach int

const (
	through reach = iota // over any number of imports
	direct               // the package's own import lines
	ours                 // the import lines of every package of ours that is reached
)

func rules() []rule {
	suites := []string{"backend"} // each the same folder under spec, model, impl, harness and scenarios
	under := func(rooms ...string) (out []string) {
		for _, room := range rooms {
			for _, s := range suites {
				out = append(out, strings.ReplaceAll(room, "SUITE", s))
			}
		}
		return out
	}
	return []rule{
		{
			name: "spec knows nothing of ours", rooms: []string{"spec/..."}, forbid: []string{"..."}, allow: []string{"spec/..."},
			reason: "a requirement is true whatever we build on it",
		},
		{
			name: "model knows neither impl nor harness", rooms: []string{"model/..."}, forbid: []string{"impl/...", "harness/...", "scenarios/...", "reports/...", "cmd/..."},
			reason: "an oracle that shares code with what it judges shares its mistakes",
		},
		{
			name: "model knows no generated protobuf", rooms: []string{"model/..."}, forbid: []string{"spec/gen/xmtp/...", "google.golang.org/protobuf/...", "google.golang.org/grpc/..."},
			reason: "the oracle judges intents and never parses bytes",
		},
		{
			name: "impl knows of ours only itself and generated code", rooms: []string{"impl/..."},
			except: under("impl/SUITE/SUITEtest", "impl/SUITE/mutants/..."),
			forbid: []string{"..."}, allow: []string{"impl/...", "spec/gen/..."},
			reason: "a reference that shares code with the oracle, or with what builds the bytes it reads, proves nothing about either",
		},
		{
			name: "mutants know neither model nor harness", rooms: under("impl/SUITE/mutants/..."), forbid: []string{"model/...", "harness/...", "scenarios/..."},
			reason: "a mutant names the requirement it breaks, and must not know how it is caught",
		},
		{
			name: "mutants are known to wiring alone", rooms: []string{"..."}, except: append(under("impl/SUITE/mutants/..."), "cmd/assay"),
			forbid: under("impl/SUITE/mutants/..."),
			reason: "the clean path pays nothing for them and cannot serve one by accident",
		},
		{
			name: "helpers of tests are known to tests alone", rooms: []string{"..."}, except: append(under("impl/SUITE/SUITEtest"), "harness/postgres/pgtest"),
			forbid: append(under("impl/SUITE/SUITEtest"), "harness/postgres/pgtest"),
			reason: "they see both sides and stop a test where a program must go on",
		},
		{
			name: "the engine knows no suite", rooms: []string{"harness/..."}, except: under("harness/SUITE/..."),
			forbid: append(under("spec/SUITE/...", "model/SUITE/...", "impl/SUITE/...", "harness/SUITE/...", "scenarios/SUITE/..."), "spec/gen/...", "impl/..."),
			reason: "a fourth protocol must need no change of the engine",
		},
		{
			name: "judging does no I/O", rooms: []string{"harness/verdict", "harness/history", "model/..."}, imports: ours,
			forbid: []string{"std:os", "std:os/exec", "std:os/signal", "std:net", "std:net/http", "std:syscall", "std:math/rand", "std:math/rand/v2", "std:crypto/rand", "std:embed"},
			reason: "the same history must give the same verdict, anywhere and at any time",
		},
		{
			name: "a suite's harness does not know impl", rooms: under("harness/SUITE/..."), forbid: []string{"impl/..."},
			reason: "one builds bytes and the other reads them; only official vectors judge both",
		},
		{
			name: "scenarios do not know impl", rooms: []string{"scenarios/..."}, forbid: []string{"impl/..."},
			reason: "a scenario that looks inside the reference works with no other subject",
		},
		{
			name: "generated protobuf stays at the wire", rooms: []string{"..."}, imports: direct,
			except: append(under("impl/SUITE/...", "harness/SUITE/wire", "harness/SUITE/craft"), "impl/identity/...", "spec/gen/..."),
			forbid: []string{"spec/gen/xmtp/..."},
			reason: "what is judged and what is stored are values of ours, so that a change of the schema stops here",
		},
		{
			name: "pgx stays at the database", rooms: []string{"..."}, imports: direct,
			except: append(under("impl/SUITE/store"), "impl/postgres", "harness/postgres", "harness/gate"),
			forbid: []string{"github.com/jackc/pgx/v5/..."},
			reason: "the pipeline above the store interface must run on a simulated database too",
		},
		{
			name: "reports are rebuilt from files", rooms: []string{"reports/..."}, forbid: []string{"..."},
			allow:  []string{"reports/...", "spec", "model", "harness/verdict"},
			reason: "a report of last month's run needs no engine, suite or subject",
		},
		{
			name: "nobody knows cmd", rooms: []string{"..."}, except: []string{"cmd/..."}, forbid: []string{"cmd/..."},
			reason: "flags and wiring are where everything ends",
		},
		{
			name: "only wiring sees both sides", rooms: []string{"reports/...", "scenarios/...", "spec/...", "model/..."}, forbid: []string{"impl/..."},
			reason: "the reference is one subject among others",
		},
	}
}

// listed is what go list says about a package.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

const module = "assay"

func packages(t *testing.T) map[string]listed {
	t.Helper()
	var stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports,Deps", "./...")
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list ./...: %v\n%s", err, stderr.String())
	}
	all := make(map[string]listed)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// within reports whether a package is in a room.
func within(path, room string) bool {
	std := strings.HasPrefix(room, "std:")
	room = strings.TrimPrefix(room, "std:")
	first, _, _ := strings.Cut(room, "/")
	if !std && (first == "..." || !strings.Contains(first, ".")) {
		room = module + "/" + room
	}
	if below, ok := strings.CutSuffix(room, "/..."); ok {
		return path == below || strings.HasPrefix(path, below+"/")
	}
	return path == room
}

func inAny(path string, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(r string) bool { return within(path, r) })
}

// exists reports whether a room of this module has a package in it; rooms of
// others exist.
func exists(room string, all map[string]listed) bool {
	first, _, _ := strings.Cut(room, "/")
	if strings.HasPrefix(room, "std:") || first != "..." && strings.Contains(first, ".") {
		return true
	}
	for path := range all {
		if within(path, room) {
			return true
		}
	}
	return false
}

// known lists what a package knows as far as a rule looks, each with the
// package of ours whose import line it is, where that matters.
func known(p listed, how reach, all map[string]listed) map[string]string {
	out := make(map[string]string)
	switch how {
	case through:
		for _, d := range p.Deps {
			out[d] = ""
		}
	case direct:
		for _, d := range p.Imports {
			out[d] = ""
		}
	case ours:
		for _, d := range append([]string{p.ImportPath}, p.Deps...) {
			if q, mine := all[d]; mine {
				for _, i := range q.Imports {
					out[i] = " in " + d
				}
			}
		}
	}
	return out
}

// breaches lists how packages break a rule.
func (r rule) breaches(all map[string]listed) []string {
	var out []string
	for path, p := range all {
		if !inAny(path, r.rooms) || inAny(path, r.except) {
			continue
		}
		for dep, where := range known(p, r.imports, all) {
			if dep != path && inAny(dep, r.forbid) && !inAny(dep, r.allow) {
				out = append(out, fmt.Sprintf("%s knows %s%s", path, dep, where))
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestImportRules(t *testing.T) {
	all := packages(t)
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, room := range slices.Concat(r.rooms, r.except, r.forbid, r.allow) {
				if !exists(room, all) {
					t.Errorf("the rule names %s, which is gone: correct the rule", room)
				}
			}
			for _, b := range r.breaches(all) {
				t.Errorf("%s: %s", b, r.reason)
			}
		})
	}
}

// TestJudgingReadsNoClock looks at the source, because package time holds both
// durations, which are values, and the clock.
func TestJudgingReadsNoClock(t *testing.T) {
	all := packages(t)
	values := []string{"Duration", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour"}
	for path, p := range all {
		if !inAny(path, []string{"harness/verdict", "harness/history", "model/...", "spec"}) {
			continue
		}
		for _, name := range p.GoFiles {
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote("time") }) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && !slices.Contains(values, s.Sel.Name) {
					t.Errorf("%s: time.%s reads a clock or keeps one: the time is handed in, so that a verdict is the same at any time", set.Position(s.Pos()), s.Sel.Name)
				}
				return true
			})
		}
	}
}

// TestTheRulesBite gives each way of looking one graph it accepts and one it refuses.
func TestTheRulesBite(t *testing.T) {
	graph := map[string]listed{
		"assay/model":    {ImportPath: "assay/model", Imports: []string{"fmt"}, Deps: []string{"fmt", "os"}},
		"assay/reports":  {ImportPath: "assay/reports", Imports: []string{"assay/model"}, Deps: []string{"assay/model", "fmt", "os"}},
		"assay/sly":      {ImportPath: "assay/sly", Imports: []string{"assay/reports"}, Deps: []string{"assay/reports", "assay/model", "fmt", "os"}},
		"assay/files":    {ImportPath: "assay/files", Imports: []string{"os"}, Deps: []string{"os"}},
		"assay/indirect": {ImportPath: "assay/indirect", Imports: []string{"assay/files"}, Deps: []string{"assay/files", "os"}},
	}
	for _, c := range []struct {
		name string
		rule rule
		want []string
	}{
		{"an import over another package is found", rule{rooms: []string{"sly"}, forbid: []string{"model/..."}}, []string{"assay/sly knows assay/model"}},
		{"an import over another package is not direct", rule{rooms: []string{"sly"}, forbid: []string{"model/..."}, imports: direct}, nil},
		{"what the standard library does itself is not held against us", rule{rooms: []string{"reports"}, forbid: []string{"std:os"}, imports: ours}, nil},
		{"what a package of ours does is", rule{rooms: []string{"indirect"}, forbid: []string{"std:os"}, imports: ours}, []string{"assay/indirect knows os in assay/files"}},
		{"an exception is left out", rule{rooms: []string{"..."}, except: []string{"sly", "reports"}, forbid: []string{"model"}}, nil},
		{"an allowed room is left out", rule{rooms: []string{"sly"}, forbid: []string{"..."}, allow: []string{"reports"}}, []string{"assay/sly knows assay/model"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.rule.breaches(graph); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if exists("relay/...", graph) {
		t.Error("a room without a package is said to exist")
	}
}
