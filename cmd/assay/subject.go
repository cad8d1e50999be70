package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"assay/harness/gate"
	"assay/harness/postgres"
	"assay/harness/run"
	"assay/harness/subject"

	"github.com/spf13/pflag"
)

// subjectFlags say what is verified: an address, a command, or, with neither,
// the built-in reference implementation.
type subjectFlags struct {
	targets      []string
	spawn        string
	tls          subject.TLSOptions
	headers      []string
	hooks        []string
	database     string
	gateListen   string
	gateDatabase string
	points       string
	ready        time.Duration
	targetOnly   []string // the flags that only mean something beside --target
}

func bindSubject(set *pflag.FlagSet) *subjectFlags {
	f := &subjectFlags{targetOnly: []string{"ca", "cert", "key", "server-name", "header", "hook", "gate-listen", "gate-database"}}
	set.StringArrayVar(&f.targets, "target", nil, "verify what answers at this `ADDRESS`: grpc://host:port, or grpcs, http, https; repeatable for the instances of one backend")
	set.StringVar(&f.spawn, "spawn", "", "verify what this shell `COMMAND` starts, with placeholders such as {listen} and {database}")
	set.StringVar(&f.tls.CAFile, "ca", "", "trust the certificate authorities in this PEM `FILE`")
	set.StringVar(&f.tls.CertFile, "cert", "", "present the certificate in this PEM `FILE`")
	set.StringVar(&f.tls.KeyFile, "key", "", "the private key of --cert, a PEM `FILE`")
	set.StringVar(&f.tls.ServerName, "server-name", "", "expect this `NAME` in the peer's certificate")
	set.StringArrayVar(&f.headers, "header", nil, "send this header, `'name: value'`, with every call; repeatable")
	set.StringArrayVar(&f.hooks, "hook", nil, "a command of the owner's, `name='command'`: restart, clock or limits; repeatable")
	set.StringVar(&f.database, "database", "", "make databases on the Postgres at this `URL` instead of finding or starting one")
	set.StringVar(&f.gateListen, "gate-listen", "", "stand between the subject and its database at this `ADDRESS`, such as :6543, where the subject expects its database")
	set.StringVar(&f.gateDatabase, "gate-database", "", "the subject's database behind the gate, a Postgres `URL`")
	set.StringVar(&f.points, "points", "", "name the subject's statements by the patterns in this `FILE`, as assay gate --learn writes it")
	set.DurationVar(&f.ready, "ready-timeout", 30*time.Second, "how long the subject may take until it answers")
	return f
}

// check finds what does not go together before anything starts.
func (f *subjectFlags) check(set *pflag.FlagSet) error {
	if len(f.targets) > 0 && f.spawn != "" {
		return errors.New("--target and --spawn name two subjects: give one")
	}
	if len(f.targets) > 0 && f.database != "" {
		return errors.New("--database is for subjects that this program starts: leave it out with --target")
	}
	if len(f.targets) == 0 {
		for _, name := range f.targetOnly {
			if set.Changed(name) {
				return fmt.Errorf("--%s is for a running subject: give --target too", name)
			}
		}
	}
	if (f.gateListen == "") != (f.gateDatabase == "") {
		return errors.New("--gate-listen and --gate-database belong together: where the gate listens, and the database behind it")
	}
	if f.points != "" && len(f.targets) > 0 && f.gateListen == "" {
		return errors.New("--points names statements at a gate: give --gate-listen and --gate-database too")
	}
	if f.ready <= 0 {
		return fmt.Errorf("--ready-timeout is %s: give a duration above zero, such as 30s", f.ready)
	}
	return nil
}

// opened is a subject's source and what to tidy up after it.
type opened struct {
	run.Source
	close func() error
	// others are further instances of the same backend.
	others []subject.Endpoint
}

// source finds the subject; for one that we start, the Postgres as well. What a
// subject prints is shown only when asked for: where it matters, in an error,
// its last lines are shown anyway.
func (f *subjectFlags) source(ctx context.Context, p *program, s suite, note func(string), verbose bool) (opened, error) {
	log := func(line string) {
		if verbose {
			note("subject | " + line)
		}
	}
	nothing := func() error { return nil }
	points, err := f.readPoints()
	if err != nil {
		return opened{}, err
	}
	if len(f.targets) > 0 {
		hooks, err := subject.ParseHooks(f.hooks)
		if err != nil {
			return opened{}, err
		}
		var all []subject.Target
		for _, address := range f.targets {
			endpoint, err := subject.ParseEndpoint(address, f.tls, f.headers)
			if err != nil {
				return opened{}, err
			}
			all = append(all, subject.Target{Endpoint: endpoint, Probe: s.Probe, Timeout: f.ready, Hooks: hooks, Log: log})
		}
		source := run.TargetSource{Target: all[0], Others: all[1:]}
		tidy := nothing
		if f.gateListen != "" {
			g, err := run.Stand(gate.Config{Listen: f.gateListen, Database: f.gateDatabase, Points: points})
			if err != nil {
				return opened{}, err
			}
			note("gate: listening at " + g.Addr().String())
			source.Gate, tidy = g.Gate, g.Close
		}
		return opened{Source: source, close: tidy, others: source.Instances()}, nil
	}
	shell, name := f.spawn, ""
	if shell == "" {
		shell, name = s.reference, "the built-in reference of "+s.Name()
	}
	command, err := subject.ParseCommand(shell)
	if err != nil {
		return opened{}, fmt.Errorf("--spawn: %w", err)
	}
	command.Probe, command.ReadyTimeout, command.Log = s.Probe, f.ready, log
	command.Env = []string{"ASSAY_SELF=" + p.self}
	source := run.SpawnSource{Name: name, Command: command, Points: points, Chain: s.chain, Keepalive: s.keepalive}
	if !wantsDatabase(command) {
		if f.database != "" {
			return opened{}, errors.New("--database is given, but the command of --spawn has no placeholder {database} or {db_name} to receive one")
		}
		return opened{Source: source, close: nothing}, nil
	}
	server, err := postgres.Open(ctx, postgres.Options{URL: f.database})
	if err != nil {
		return opened{}, err
	}
	note("Postgres: " + server.Source())
	source.Postgres = server
	return opened{Source: source, close: server.Close}, nil
}

// readPoints reads the file of --points, nil for none.
func (f *subjectFlags) readPoints() (*gate.Points, error) {
	if f.points == "" {
		return nil, nil
	}
	data, err := os.ReadFile(f.points)
	if err != nil {
		return nil, fmt.Errorf("--points: %w", err)
	}
	p, err := gate.ParsePoints(f.points, data)
	if err != nil {
		return nil, fmt.Errorf("--points: %w", err)
	}
	return p, nil
}

func wantsDatabase(c subject.Command) bool {
	for _, placeholder := range []string{"database", "db_host", "db_port", "db_user", "db_password", "db_name"} {
		if c.Uses(placeholder) {
			return true
		}
	}
	return false
}

// again writes the flags that name the same subject, for a replay command.
// Headers stay out: their values are secrets.
func (f *subjectFlags) again() string {
	var parts []string
	add := func(flag, value string) {
		if value != "" {
			parts = append(parts, flag+" "+quoted(value))
		}
	}
	for _, address := range f.targets {
		add("--target", address)
	}
	add("--spawn", f.spawn)
	add("--ca", f.tls.CAFile)
	add("--cert", f.tls.CertFile)
	add("--key", f.tls.KeyFile)
	add("--server-name", f.tls.ServerName)
	add("--gate-listen", f.gateListen)
	if f.gateDatabase != "" {
		parts = append(parts, "--gate-database …") // it may hold a password
	}
	add("--points", f.points)
	if len(f.headers) > 0 {
		parts = append(parts, "--header …")
	}
	return strings.Join(parts, " ")
}

// quoted makes one word of any text for a POSIX shell.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=+,@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
