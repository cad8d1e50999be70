package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"assay/harness/history/file"
	"assay/harness/run"
	"assay/spec"
)

// suite is one protocol that this command can verify. A fourth one is a
// function of its own, as in backend.go, and a line in suites.
type suite struct {
	run.Suite
	// reference is the shell command that serves our own implementation, with
	// the placeholders of --spawn; the variable ASSAY_SELF has this binary's path.
	reference string
	// keepalive is the specification's default for {keepalive_ms}.
	keepalive time.Duration
	// sources is the wire definition.
	sources func() (fs.FS, error)
	// serve serves our own implementation; nil when there is none.
	serve server
	// mutants are the deliberate faults that serve knows by name.
	mutants []run.Mutant
	// chain starts a chain RPC for {chain}, and serveChain serves one for a
	// subject that somebody else starts; nil where the protocol knows no chains.
	chain      func(ctx context.Context) (run.Chain, error)
	serveChain func(ctx context.Context, listen string, out io.Writer) error
	// permanent says which rows of a run stay in a shared subject for ever.
	permanent string
}

// suites is the wiring: every suite, the default first.
func suites() ([]suite, error) {
	var all []suite
	var failed []error
	for _, wire := range []func() (suite, error){
		backendSuite,
	} {
		s, err := wire()
		all, failed = append(all, s), append(failed, err)
	}
	return all, errors.Join(failed...)
}

// find returns the suite of that name.
func (p *program) find(name string) (suite, error) {
	var names []string
	for _, s := range p.suites {
		if s.Name() == name {
			return s, nil
		}
		names = append(names, s.Name())
	}
	return suite{}, fmt.Errorf("suite %q is unknown: use %s%s", shown(name), strings.Join(names, ", "), didYouMean(name, names))
}

// codecs finds the codec of a suite, for history files.
func (p *program) codecs(name string) (file.Codec, error) {
	s, err := p.find(name)
	if err != nil {
		return nil, err
	}
	return s.Codec(), nil
}

// home returns the suite that all addresses belong to: by its name, or by the
// catalogue that has the requirement. No address is the first suite.
func (p *program) home(addresses []string) (suite, error) {
	chosen := p.suites[0]
	for i, a := range addresses {
		s, err := p.owner(a)
		if err != nil {
			return suite{}, err
		}
		if i > 0 && s.Name() != chosen.Name() {
			return suite{}, fmt.Errorf("addresses %q and %q belong to suites %s and %s: verify one suite at a time", shown(addresses[0]), shown(a), chosen.Name(), s.Name())
		}
		chosen = s
	}
	return chosen, nil
}

func (p *program) owner(address string) (suite, error) {
	id, err := spec.ParseID(address)
	if err != nil {
		name, _, _ := strings.Cut(address, "/")
		return p.find(name)
	}
	var known []string
	letters, _, _ := strings.Cut(string(id), "-")
	for _, s := range p.suites {
		first := s.Catalogue().Requirements()[0].ID
		if theirs, _, _ := strings.Cut(string(first), "-"); theirs == letters {
			_, err := s.Catalogue().Select(string(id)) // it explains retired ids and gaps
			return s, err
		}
		known = append(known, fmt.Sprintf("%s of suite %s", first, s.Name()))
	}
	return suite{}, fmt.Errorf("no suite has a requirement %s: give one such as %s", id, strings.Join(known, ", "))
}
