package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"assay/harness/postgres"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// serving is one run of a reference implementation.
type serving struct {
	lookup func(string) (string, bool)
	stderr io.Writer
	// mutant is the named fault to serve with, "" for none.
	mutant string
	// database makes a database on a private Postgres, for an implementation
	// whose configuration names none, and returns its URL.
	database func(ctx context.Context) (string, error)
	// ready is called once, with the address that is listened on.
	ready func(net.Addr)
}

// server binds a reference implementation's flags and returns what serves with
// them until its context ends.
type server func(set *pflag.FlagSet) func(ctx context.Context, s serving) error

func (p *program) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve [SUITE]",
		Short: "Serve the reference implementation of a suite",
		Long: `Serve the reference implementation of a suite until SIGINT or SIGTERM. Without a database it starts a
private Postgres, whose content ends with it. The address is printed to standard output.`,
	}
	first := true
	for _, s := range p.suites {
		if s.serve == nil {
			continue
		}
		if first {
			p.bindServe(c, s)
			first = false
		}
		sub := &cobra.Command{Use: s.Name(), Short: "Serve the reference implementation of " + s.Name(), Args: none}
		p.bindServe(sub, s)
		c.AddCommand(sub)
	}
	c.Args = noWord
	return c
}

func (p *program) bindServe(c *cobra.Command, s suite) {
	run := s.serve(c.Flags())
	mutant := ""
	if len(s.mutants) > 0 {
		c.Flags().StringVar(&mutant, "mutant", "", "serve with this deliberate fault, by `NAME`; see assay mutants --list")
	}
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "database" {
			name = "database-url" // as verify calls it
		}
		return pflag.NormalizedName(name)
	})
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if mutant != "" {
			if _, err := s.mutant(mutant); err != nil {
				return err
			}
		}
		var private *postgres.Server
		defer func() {
			if private != nil {
				err = errors.Join(err, private.Close())
			}
		}()
		// Postgres outlives the signal that ends the implementation: what drains
		// still needs it.
		lasting, release := context.WithCancel(context.WithoutCancel(c.Context()))
		defer release()
		return run(c.Context(), serving{
			lookup: p.lookup,
			stderr: p.stderr,
			mutant: mutant,
			database: func(ctx context.Context) (string, error) {
				private, err = postgres.Open(lasting, postgres.Options{})
				if err != nil {
					return "", err
				}
				p.say("Postgres: %s", private.Source())
				d, err := private.CreateDatabase(ctx, "serve")
				if err != nil {
					return "", err
				}
				return d.URL(), nil
			},
			ready: func(a net.Addr) { fmt.Fprintf(p.stdout, "serving %s at grpc://%s\n", s.Name(), a) },
		})
	}
}

// logger writes what a reference implementation logs, in the form and from the
// level that its configuration names.
func logger(w io.Writer, level, form string) (*slog.Logger, error) {
	var from slog.Level
	if err := from.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q is unknown: use debug, info, warn or error", shown(level))
	}
	o := &slog.HandlerOptions{Level: from}
	if form == "json" {
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return slog.New(slog.NewTextHandler(w, o)), nil
}
