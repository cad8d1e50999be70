package main

import (
	"bytes"
	"fmt"
	"go/format"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"assay/spec"
)

// generate returns the source of package pkg, with the ids of the catalogue in
// the folder. The header says spec/<suite> and not the folder as it was given,
// so that the bytes do not depend on where the command was started.
func generate(folder, pkg string) ([]byte, error) {
	if !token.IsIdentifier(pkg) {
		return nil, fmt.Errorf("%q is no package name", pkg)
	}
	requirements, err := os.ReadFile(filepath.Join(folder, "requirements.yaml"))
	if err != nil {
		return nil, err
	}
	limits, err := os.ReadFile(filepath.Join(folder, "limits.yaml"))
	if err != nil {
		return nil, err
	}
	cat, err := spec.LoadCatalogue(requirements, limits)
	if err != nil {
		return nil, err
	}
	return source(cat, pkg)
}

func source(cat *spec.Catalogue, pkg string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated from spec/%s/requirements.yaml by genreq. DO NOT EDIT.\n", cat.Suite)
	fmt.Fprintf(&b, "// Command: go generate ./spec/%s\n\n", cat.Suite)
	fmt.Fprintf(&b, "// Package %s names the requirements of the %s suite, so that a\n", pkg, cat.Suite)
	fmt.Fprintf(&b, "// scenario, an assertion or a mutant that names one which does not exist fails\n")
	fmt.Fprintf(&b, "// to compile. What a requirement says is in package spec/%s.\n", cat.Suite)
	fmt.Fprintf(&b, "package %s\n\nimport \"assay/spec\"\n", pkg)

	section := ""
	for _, r := range cat.Listed() {
		if r.Section != section {
			if section != "" {
				b.WriteString(")\n")
			}
			s, _ := cat.Section(r.Section)
			fmt.Fprintf(&b, "\n// Section %s, %s.\nconst (\n", s.Number, s.Title)
			section = r.Section
		}
		fmt.Fprintf(&b, "// %s: %s.\n%s spec.ID = %q\n", constant(r.ID), r.Title, constant(r.ID), string(r.ID))
	}
	b.WriteString(")\n\n// All returns every id of the suite, in id order.\nfunc All() []spec.ID {\nreturn []spec.ID{\n")
	for _, r := range cat.Requirements() {
		fmt.Fprintf(&b, "%s,\n", constant(r.ID))
	}
	b.WriteString("}\n}\n")
	return format.Source(b.Bytes())
}

// constant is the id without its hyphen: API033.
func constant(id spec.ID) string { return strings.ReplaceAll(string(id), "-", "") }
