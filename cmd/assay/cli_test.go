package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/reports"
)

// ran is what one run of the command left.
type ran struct {
	status      int
	out, errors string
}

// assay runs the command in this process with the counter suite.
func assay(t *testing.T, args ...string) ran {
	t.Helper()
	return assayContext(t.Context(), args...)
}

func assayContext(ctx context.Context, args ...string) ran {
	var out, talk bytes.Buffer
	status := command(ctx, counterSuites, args, strings.NewReader(""), &out, &talk, func(string) (string, bool) { return "", false })
	return ran{status, out.String(), talk.String()}
}

func TestBadInputSaysWhatWasExpectedAndEndsWithStatusTwo(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	empty := filepath.Join(t.TempDir(), "empty.history.jsonl")
	bad := filepath.Join(t.TempDir(), "bad.history.jsonl")
	for path, text := range map[string]string{empty: "", bad: `{"format":"assay.history/v1","suite":"counter"}` + "\n" + `{"index":7}` + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"an unknown command, with the nearest", []string{"verfy"}, `command "verfy" is unknown: use one of check, doctor, gate, mutants, replay, serve, spec, verify, version; did you mean verify?`},
		{"an unknown flag, with the nearest", []string{"verify", "--sede", "1"}, "flag --sede is unknown to assay verify: see assay verify --help; did you mean --seed?"},
		{"an unknown flag that is near nothing", []string{"verify", "--zzzzzzzz"}, "flag --zzzzzzzz is unknown to assay verify: see assay verify --help\n"},
		{"a seed that is no number", []string{"verify", "--seed", "-1"}, `invalid argument "-1" for "--seed" flag`},
		{"an unknown profile, with the nearest", []string{"verify", "--profile", "quik"}, `--profile "quik" is unknown: use quick, default or exhaustive; did you mean quick?`},
		{"an unknown suite, with the nearest", []string{"verify", "conter"}, `suite "conter" is unknown: use counter; did you mean counter?`},
		{"an address that selects nothing, with the nearest", []string{"verify", "counter/cuont"}, `address "counter/cuont" selects no scenario of suite counter: use one of counter/count, counter/crash, a scenario's full name, or a requirement id; did you mean counter/count?`},
		{"a requirement outside the catalogue", []string{"verify", "CNT-009"}, "the counter specification has no requirement CNT-009: its ids run from CNT-001 to CNT-003"},
		{"a requirement of no suite", []string{"verify", "XYZ-001"}, "no suite has a requirement XYZ-001: give one such as CNT-001 of suite counter"},
		{"a requirement that no scenario decides", []string{"verify", "CNT-003"}, "no scenario decides CNT-003: see what would with assay spec CNT-003"},
		{"two subjects", []string{"verify", "--target", "http://a", "--spawn", "b {listen}"}, "--target and --spawn name two subjects: give one"},
		{"a target without a scheme", []string{"verify", "--target", "localhost:1"}, `target "localhost:1" has no scheme; write grpc://host:port`},
		{"a command without {listen}", []string{"verify", "--spawn", "./yours"}, "--spawn: the command has no placeholder {listen}"},
		{"a database that nobody would use", []string{"verify", "--target", "http://a", "--database", "postgres://u:hunter2@h/d"}, "--database is for subjects that this program starts"},
		{"a header without a target", []string{"verify", "--header", "a: b"}, "--header is for a running subject: give --target too"},
		{"an unknown hook", []string{"verify", "--target", "http://localhost", "--hook", "reboot=true"}, `hook "reboot" is unknown; write one of clock=`},
		{"a nonce that is no word", []string{"verify", "--nonce", "a b"}, `--nonce is "a b": give 1 to 64 letters, digits, hyphens and underscores`},
		{"no scenario at once", []string{"verify", "--parallel", "0"}, "--parallel is 0: give a number from 1 to 1024"},
		{"no time", []string{"verify", "--timeout", "0s"}, "--timeout is 0s: give a duration above zero"},
		{"no time to start", []string{"verify", "--ready-timeout", "-1s"}, "--ready-timeout is -1s: give a duration above zero"},
		{"a rate below zero", []string{"verify", "--rate", "-1"}, "--rate is -1: give calls a second, from 0"},
		{"nothing that listens", []string{"verify", "--target", "http://127.0.0.1:1", "--ready-timeout", "1s"}, "http://127.0.0.1:1 is refused: nothing listens there"},
		{"a requirement to print that is not there", []string{"spec", "CNT-999"}, "the counter specification has no requirement CNT-999"},
		{"a section that is not there", []string{"spec", "9"}, `the counter specification has no requirement or section "9"`},
		{"two things to print", []string{"spec", "1", "2"}, `assay spec takes a requirement id or a section, not 2 arguments`},
		{"a selection beside the wire definition", []string{"spec", "--proto", "1"}, "choose one"},
		{"a history that is not there", []string{"check", missing}, "no such file or directory"},
		{"no history", []string{"check"}, "assay check takes one history file or bundle, not 0 arguments"},
		{"an empty history", []string{"check", empty}, empty + ":1: the file is empty"},
		{"a bad line, by file and line", []string{"check", bad}, bad + `:2: phase "" is unknown: use invoke, return, mark, send or receive`},
		{"a history where a bundle belongs", []string{"replay", bad}, "assay.bundle/v1"},
		{"no repetition", []string{"replay", "--repeat", "0", bad}, "--repeat is 0: give a number from 1 to 1000000"},
		{"an unknown mutant, with the nearest", []string{"mutants", "stukc"}, `mutant "stukc" of counter is unknown: list them with assay mutants --list; did you mean stuck?`},
		{"an unknown mutant to serve", []string{"serve", "--mutant", "loud"}, `mutant "loud" of counter is unknown`},
		{"an argument to version", []string{"version", "x"}, `assay version takes no argument: "x" is one too many`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := assay(t, c.args...)
			if got.status != statusBroken {
				t.Errorf("status %d, want %d", got.status, statusBroken)
			}
			if !strings.Contains(got.errors, c.want) {
				t.Errorf("standard error is\n%s\nwant %q in it", got.errors, c.want)
			}
			if got.out != "" {
				t.Errorf("standard output is %q, want nothing: results only", got.out)
			}
			if strings.Contains(got.errors, "hunter2") {
				t.Errorf("a password is shown:\n%s", got.errors)
			}
		})
	}
}

func TestVerifyOfAGoodSubjectEndsWithZeroAndWritesWhatItFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	got := assay(t, "verify", "--target", counting(t, 1), "--out", dir, "--seed", "7", "--nonce", "n1")
	if got.status != statusPassed {
		t.Fatalf("status %d\n%s%s", got.status, got.out, got.errors)
	}
	f, err := os.Open(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := reports.ReadJSON(f, f.Name())
	if err != nil {
		t.Fatal(err)
	}
	if r.Seed != 7 || r.Nonce != "n1" || r.Summary.Satisfied != 1 || r.Summary.Total != 3 || r.Requirements[0].Observations != 3 {
		t.Errorf("results are %+v", r)
	}
	for _, name := range []string{"junit.xml", "summary.md", "evidence"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	for _, want := range []string{"3 requirements  1 satisfied  0 violated", "counts never expire", "results.json"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("the summary lacks %q:\n%s", want, got.out)
		}
	}
}

func TestAFailedRunLeavesNoResultsOfAnEarlierOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if got := assay(t, "verify", "--target", counting(t, 1), "--out", dir); got.status != statusPassed {
		t.Fatalf("status %d\n%s", got.status, got.errors)
	}
	if got := assay(t, "verify", "--target", "http://127.0.0.1:1", "--ready-timeout", "1s", "--out", dir); got.status != statusBroken {
		t.Fatalf("status %d\n%s", got.status, got.errors)
	}
	if _, err := os.Stat(filepath.Join(dir, "results.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("results.json is still there: %v", err)
	}
}

func TestASelectionThatCannotRunIsNoSuccess(t *testing.T) {
	got := assay(t, "verify", "--target", counting(t, 1), "counter/crash")
	if got.status != statusBroken || !strings.Contains(got.errors, "none of the 1 selected scenarios can run on http://127.0.0.1:") || !strings.Contains(got.errors, "needs access") {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.errors)
	}
}

func TestNoSecretIsEverShown(t *testing.T) {
	for name, args := range map[string][]string{
		"the password of a database that is not there": {"verify", "--database", "postgres://u:hunter2@127.0.0.1:1/d"},
		"a header of a target that is not there":       {"verify", "--target", "grpc://127.0.0.1:1", "--ready-timeout", "1s", "--header", "authorization: Bearer hunter2"},
		"a header that is none":                        {"verify", "--target", "grpc://127.0.0.1:1", "--header", "hunter2"},
		"a user in a target":                           {"verify", "--target", "grpc://me:hunter2@127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, talk bytes.Buffer
			status := Main(t.Context(), args, strings.NewReader(""), &out, &talk, func(string) (string, bool) { return "", false })
			if status != statusBroken || strings.Contains(out.String()+talk.String(), "hunter2") {
				t.Errorf("status %d\n%s%s", status, out.String(), talk.String())
			}
		})
	}
}

func TestAViolationCanBeReplayedAndCheckedFromItsBundle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	target := counting(t, 0)
	got := assay(t, "verify", "--target", target, "--out", dir)
	if got.status != statusFailed || !strings.Contains(got.out, "CNT-001 violated: Numbers increase") || !strings.Contains(got.out, "expected  a number above 0") {
		t.Fatalf("status %d\n%s%s", got.status, got.out, got.errors)
	}
	line := regexp.MustCompile(`(?m)^  replay +assay (replay .*)$`).FindStringSubmatch(got.out)
	if line == nil {
		t.Fatalf("no replay line in\n%s", got.out)
	}
	args := strings.Fields(line[1])

	t.Run("the printed command shows it again, as often as asked", func(t *testing.T) {
		again := assay(t, append(args, "--repeat", "3", "--json")...)
		var sum replayed
		if err := json.Unmarshal([]byte(again.out), &sum); err != nil {
			t.Fatalf("%v\n%s%s", err, again.out, again.errors)
		}
		if again.status != statusFailed || sum.Runs != 3 || sum.Reproduced != 3 {
			t.Errorf("status %d, %+v", again.status, sum)
		}
	})
	t.Run("on a mended subject it is gone", func(t *testing.T) {
		mended := assay(t, "replay", args[1], "--target", counting(t, 1))
		if mended.status != statusPassed || !strings.Contains(mended.out, "there again in 0 of 1 runs") {
			t.Errorf("status %d\n%s%s", mended.status, mended.out, mended.errors)
		}
	})
	t.Run("its history alone convicts it, without a subject", func(t *testing.T) {
		offline := assay(t, "check", args[1], "--json")
		r, err := reports.ReadJSON(strings.NewReader(offline.out), "check")
		if err != nil {
			t.Fatal(err)
		}
		if offline.status != statusFailed || r.Summary.Violated != 1 || r.Requirements[0].ID != "CNT-001" {
			t.Errorf("status %d, %+v", offline.status, r.Summary)
		}
	})
}

func TestWithoutOutTheReplayCommandNeedsNoFile(t *testing.T) {
	got := assay(t, "verify", "--target", counting(t, 0), "--seed", "7")
	line := regexp.MustCompile(`(?m)^  replay +assay (verify .*)$`).FindStringSubmatch(got.out)
	if line == nil {
		t.Fatalf("no replay line in\n%s", got.out)
	}
	if again := assay(t, strings.Fields(line[1])...); again.status != statusFailed || !strings.Contains(again.out, "CNT-001 violated") {
		t.Errorf("status %d\n%s%s", again.status, again.out, again.errors)
	}
}

func TestTheBuiltInSubjectIsThisBinary(t *testing.T) {
	got := assay(t, "verify", "--json")
	r, err := reports.ReadJSON(strings.NewReader(got.out), "stdout")
	if err != nil {
		t.Fatalf("%v\n%s", err, got.errors)
	}
	if got.status != statusPassed || r.Subject != "the built-in reference of counter" || r.Summary.Satisfied != 1 {
		t.Errorf("status %d, subject %q, %+v\n%s", got.status, r.Subject, r.Summary, got.errors)
	}
}

func TestRequiredCoverageFailsWhatNoScenarioReaches(t *testing.T) {
	target := counting(t, 1)
	if got := assay(t, "verify", "--json", "--target", target, "--require-coverage"); got.status != statusPassed {
		t.Errorf("over the wire, where CNT-002 is out of reach: status %d\n%s", got.status, got.errors)
	}
	if got := assay(t, "verify", "--json", "--target", target, "--require-coverage", "--hook", "restart=true"); got.status != statusFailed {
		t.Errorf("with control, which could decide CNT-002: status %d\n%s", got.status, got.errors)
	}
}

func TestOnlyARequirementThatAMutantNamesKillsIt(t *testing.T) {
	got := assay(t, "mutants", "--json", "stuck", "harmless")
	var sum tried
	if err := json.Unmarshal([]byte(got.out), &sum); err != nil {
		t.Fatalf("%v\n%s%s", err, got.out, got.errors)
	}
	if got.status != statusFailed || sum.Mutants != 2 || sum.Killed != 1 || len(sum.Survivors) != 1 || sum.Survivors[0] != "harmless" {
		t.Errorf("status %d, %+v", got.status, sum)
	}
	if f := sum.Fates[0]; !f.Killed || len(f.KilledBy) != 1 || f.KilledBy[0] != "CNT-001" || f.Scenario != "counter/count/three-times" || f.Got == "" {
		t.Errorf("%+v", f)
	}
	if all := assay(t, "mutants", "stuck"); all.status != statusPassed || !strings.Contains(all.out, "1 of 1 mutants killed, 0 misattributed") {
		t.Errorf("status %d\n%s%s", all.status, all.out, all.errors)
	}
	if none := assay(t, "mutants", "mislabelled"); none.status != statusFailed || !strings.Contains(none.out, "survived  mislabelled") {
		t.Errorf("status %d\n%s%s", none.status, none.out, none.errors)
	}
}

func TestServeSaysWhereItListensAndEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, told := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- command(ctx, counterSuites, []string{"serve"}, strings.NewReader(""), told, io.Discard, func(string) (string, bool) { return "", false })
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address, found := strings.CutPrefix(strings.TrimSpace(line), "serving counter at grpc://")
	if !found {
		t.Fatalf("it said %q", line)
	}
	if got := assay(t, "verify", "--target", "http://"+address); got.status != statusPassed {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.errors)
	}
	cancel()
	if status := <-ended; status != statusPassed {
		t.Errorf("serve ended with status %d", status)
	}
}

func TestListRunsNothing(t *testing.T) {
	got := assay(t, "verify", "--list", "CNT-001")
	if got.status != statusPassed || !strings.HasPrefix(got.out, "counter/count/three-times\n") || got.errors != "" {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.errors)
	}
}

func TestACancelledRunEndsWithStatusTwoAndSaysWhy(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("ended by signal: interrupt"))
	got := assayContext(ctx, "verify", "--target", counting(t, 1))
	if got.status != statusBroken || !strings.Contains(got.errors, "ended by signal: interrupt") {
		t.Errorf("status %d\n%s", got.status, got.errors)
	}
}

func TestTheRealWiringIsSound(t *testing.T) {
	all, err := suites()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		scenarios, err := s.Scenarios()
		if err != nil || len(scenarios) == 0 {
			t.Errorf("suite %s has %d scenarios, error %v", s.Name(), len(scenarios), err)
		}
		if tree, err := s.sources(); err != nil || tree == nil {
			t.Errorf("suite %s has no wire definition: %v", s.Name(), err)
		}
		for _, sc := range scenarios {
			if !strings.HasPrefix(sc.Name, s.Name()+"/") {
				t.Errorf("scenario %s is not addressed under its suite %s", sc.Name, s.Name())
			}
		}
	}
}

func TestQuotedGivesBackOneWord(t *testing.T) {
	for in, want := range map[string]string{
		"grpc://h:1": "grpc://h:1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "{listen}": "'{listen}'",
	} {
		if got := quoted(in); got != want {
			t.Errorf("%q is quoted %s, want %s", in, got, want)
		}
	}
}

func TestDidYouMeanAsksOnlyAboutTypingMistakes(t *testing.T) {
	names := []string{"verify", "version", "spec"}
	for in, want := range map[string]string{"verfiy": "verify", "spce": "spec", "versoin": "version", "banana": "", "x": ""} {
		got := didYouMean(in, names)
		if want == "" && got != "" || want != "" && got != "; did you mean "+want+"?" {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
