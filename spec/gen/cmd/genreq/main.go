// Command genreq writes the typed requirement ids of one suite: a Go package
// with a constant for each live requirement of a catalogue.
//
//	genreq -catalogue ../backend -package backendreq -out ../gen/backendreq/ids.go
//
// Start at generate. The command is deterministic: the same catalogue gives
// the same bytes, and a test holds the committed files to that.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "genreq:", err)
		os.Exit(2)
	}
}

func run(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("genreq", flag.ContinueOnError)
	flags.SetOutput(stderr)
	catalogue := flags.String("catalogue", "", "folder with requirements.yaml and limits.yaml")
	pkg := flags.String("package", "", "name of the package to write")
	out := flags.String("out", "", "file to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *catalogue == "" || *pkg == "" || *out == "" || flags.NArg() != 0 {
		return fmt.Errorf("give -catalogue, -package and -out, and nothing else")
	}
	text, err := generate(*catalogue, *pkg)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(*out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(*out, text, 0o644)
}
