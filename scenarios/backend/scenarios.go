// Package backend holds the scenarios of the backend suite: text files for
// examples, Go for what needs a loop, a limit or a draw. Start with All.
//
// A scenario drives and never judges: the model decides what an answer means.
package backend

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"

	suite "assay/harness/backend"
	"assay/harness/run"
	"assay/harness/schedule"
)

//go:embed */*.txt
var files embed.FS

// All returns every scenario, sorted by name.
func All() ([]run.Scenario, error) {
	out, err := texts(files)
	if err != nil {
		return nil, err
	}
	for _, more := range [][]run.Scenario{flawed(), limits(), configured(), transport(), properties(), identities(), keyPackages(), mixes(), crashes(), subscriptions()} {
		out = append(out, more...)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// texts parses the text scenarios of a tree; a file's path without its
// extension is the scenario's name.
func texts(tree fs.FS) ([]run.Scenario, error) {
	names, err := fs.Glob(tree, "*/*.txt")
	if err != nil {
		return nil, fmt.Errorf("list the scenario files: %w", err)
	}
	var out []run.Scenario
	for _, name := range names {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, fmt.Errorf("read a scenario: %w", err)
		}
		file := path.Join("scenarios/backend", name)
		script, err := schedule.Parse(file, string(text), suite.Language{})
		if err != nil {
			return nil, err
		}
		s, err := run.FromScript("backend/"+strings.TrimSuffix(name, ".txt"), file, script)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// body adapts a function of one session to a scenario's body.
func body(f func(ctx context.Context, s *suite.Session) error) func(context.Context, *run.Play) error {
	return func(ctx context.Context, p *run.Play) error {
		s, err := suite.Of(p, "")
		if err != nil {
			return err
		}
		return f(ctx, s)
	}
}
