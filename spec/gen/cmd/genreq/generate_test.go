package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// suites are the catalogues whose ids are generated; a new suite adds a line.
var suites = []struct{ catalogue, pkg string }{
	{"backend", "backendreq"},
}

func TestRegeneratingChangesNothing(t *testing.T) {
	for _, s := range suites {
		t.Run(s.pkg, func(t *testing.T) {
			want, err := generate(filepath.Join("..", "..", "..", s.catalogue), s.pkg)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join("..", "..", s.pkg, "ids.go"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("spec/gen/%s/ids.go is stale, run go generate ./spec/%s (-committed +generated):\n%s",
					s.pkg, s.catalogue, cmp.Diff(string(got), string(want)))
			}
		})
	}
}

func TestTheCommandWritesTheSameBytesAgain(t *testing.T) {
	out := filepath.Join(t.TempDir(), "new", "ids.go")
	args := []string{"-catalogue", filepath.Join("..", "..", "..", "backend"), "-package", "backendreq", "-out", out}
	var first []byte
	for range 2 {
		if err := run(args, os.Stderr); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, text) {
			t.Error("the second run wrote other bytes than the first")
		}
		first = text
	}
}

const oneRequirement = `suite: toy
title: A toy
source: none
sections: [{number: "1", title: Only}]
glossary: [{word: log, meaning: a list}]
requirements:
  - {id: TOY-001, section: "1", title: Appends last, statement: An append goes to the end, level: must, binds: [server], decided_by: [[wire]]}
`

func TestEveryLiveRequirementBecomesOneConstantWithItsTitle(t *testing.T) {
	text, err := generate(folder(t, oneRequirement, "limits: []\n"), "toyreq")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "ids.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if !ast.IsGenerated(file) {
		t.Error("tools would not recognise the file as generated")
	}
	for _, line := range []string{
		"// Command: go generate ./spec/toy",
		"package toyreq",
		"// API001", // refused below: the prefix is the catalogue's own
		"\t// TOY001: Appends last.\n\tTOY001 spec.ID = \"TOY-001\"",
	} {
		if found := strings.Contains(string(text), line); found == strings.HasPrefix(line, "// API") {
			t.Errorf("contains %q: %v\n%s", line, found, text)
		}
	}
}

func TestWhatCannotBeGeneratedIsAnErrorThatSaysWhere(t *testing.T) {
	for _, c := range []struct{ name, folder, pkg, want string }{
		{"a folder without a catalogue", t.TempDir(), "toyreq", "requirements.yaml"},
		{"a folder without limits", folder(t, oneRequirement, ""), "toyreq", "limits.yaml"},
		{"a catalogue with a mistake", folder(t, "suit: toy\n", "limits: []\n"), "toyreq", "requirements.yaml:1"},
		{"a package name with a hyphen", folder(t, oneRequirement, "limits: []\n"), "toy-req", "no package name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := generate(c.folder, c.pkg); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestMissingFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{nil, {"-catalogue", "x", "-package", "y"}, {"-catalogue", "x", "-package", "y", "-out", "z", "more"}, {"-unknown"}} {
		if err := run(args, new(bytes.Buffer)); err == nil {
			t.Errorf("run(%q) gives no error", args)
		}
	}
}

// folder writes a catalogue; an empty text leaves its file out.
func folder(t *testing.T, requirements, limits string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"requirements.yaml": requirements, "limits.yaml": limits} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
