package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"assay/harness/gate"
	"assay/harness/gate/learn"
)

// learned bounds what gate --learn watches, in statements.
const learned = 20_000

// gating are the flags of the gate command.
type gating struct {
	listen, database, points, cert, key string
	learn, verbose                      bool
}

// gateCommand is a gate that stands until it is told to go.
func (p *program) gateCommand() *cobra.Command {
	f := gating{listen: "127.0.0.1:6543"}
	c := &cobra.Command{
		Use:   "gate --database URL",
		Short: "Stand between a backend and its Postgres",
		Long: `Stand between a backend and its Postgres until SIGINT or SIGTERM, and pass everything on unchanged.
Point the backend at the address instead of its database.

With --learn it watches the backend's statements meanwhile, and at the end prints a first points file to
standard output: let the backend handle one publish, one identity update, one query and one subscription,
then end the gate. No value of a statement is printed.`,
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return p.stand(c.Context(), f, c.OutOrStdout()) },
	}
	set := c.Flags()
	set.StringVar(&f.listen, "listen", f.listen, "listen at this `ADDRESS`; port 0 takes a free one")
	set.StringVar(&f.database, "database", "", "the database behind the gate, a Postgres `URL`")
	set.StringVar(&f.points, "points", "", "name statements by the patterns in this `FILE`")
	set.BoolVar(&f.learn, "learn", false, "watch, and print a first points file at the end")
	set.StringVar(&f.cert, "cert", "", "offer TLS to clients, with the certificate in this `FILE`")
	set.StringVar(&f.key, "key", "", "and the private key in this `FILE`")
	set.BoolVar(&f.verbose, "verbose", false, "say of each session why it ended")
	return c
}

func (p *program) stand(ctx context.Context, f gating, out io.Writer) error {
	switch {
	case f.database == "":
		return errors.New("--database is missing: give the url of the database behind the gate, such as postgres://me@127.0.0.1:5432/mine")
	case f.learn && f.points != "":
		return errors.New("--learn writes a points file and --points reads one: give one of them")
	case (f.cert == "") != (f.key == ""):
		return errors.New("--cert and --key belong together: a certificate and its private key")
	}
	level := slog.LevelInfo
	if f.verbose {
		level = slog.LevelDebug
	}
	config := gate.Config{Listen: f.listen, Database: f.database, Log: slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level}))}
	if f.points != "" {
		points, err := (&subjectFlags{points: f.points}).readPoints()
		if err != nil {
			return err
		}
		config.Points = points
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return fmt.Errorf("--cert and --key: %w", err)
		}
		config.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	g, err := gate.New(config)
	if err != nil {
		return err
	}
	var watched *gate.Recording
	if f.learn {
		watched = g.Record(learned)
		defer watched.Stop()
	}
	p.say("gate: listening at %s", g.Addr())
	if err := g.Serve(ctx); err != nil {
		return err
	}
	if watched == nil {
		return nil
	}
	entries, missed := watched.Trace()
	p.say("gate: watched %d statements", len(entries))
	_, err = io.WriteString(out, learn.File(entries, missed))
	return err
}
