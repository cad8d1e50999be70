package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// superuser of the servers we start.
	superuser = "postgres"
	loopback  = "127.0.0.1"

	initTimeout  = 60 * time.Second // initdb takes 0.6 s on an idle machine
	startTimeout = 30 * time.Second // the server takes 50 ms there
	stopTimeout  = 15 * time.Second // an immediate shutdown takes 10 ms; after 5 s Postgres kills what resists
)

// startPrivate makes a new cluster in a directory and starts a server on it, for us alone: on loopback, on a free port,
// with a random password. Closing the server, or failing to start it, removes the directory.
//
// The cluster is made afresh every time. A saved template would spare half of the 0.7 s, and cost a cache that has to
// be guarded against other users, versions and half-written copies.
func startPrivate(ctx context.Context, o Options, dir *directory, as *account, binDir, source string) (*Server, error) {
	p := &private{binDir: binDir, dir: dir, as: as, settings: o.Settings, password: randomHex(16), pick: freePort}
	if err := p.init(ctx); err != nil {
		return nil, errors.Join(err, dir.remove())
	}
	if err := p.startOnFreePort(ctx); err != nil {
		return nil, errors.Join(err, dir.remove())
	}
	s, err := newServer(ctx, o, p.address(superuser), source, p.stop)
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return s, nil
}

// private is a server that we run ourselves.
type private struct {
	binDir   string
	dir      *directory
	as       *account
	settings map[string]string
	password string
	pick     func() (port int, err error)
	port     int
	server   *supervised
}

func (p *private) data() string    { return filepath.Join(p.dir.path, "data") }
func (p *private) logFile() string { return filepath.Join(p.dir.path, "log") }

func (p *private) address(database string) address {
	return newAddress(loopback, p.port, superuser, p.password, database)
}

// init makes the cluster. The password goes through a file that only the server's user can read, for as long as
// initdb runs: arguments are for everybody to see.
func (p *private) init(ctx context.Context) error {
	secret := filepath.Join(p.dir.path, "password")
	if err := os.WriteFile(secret, []byte(p.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("preparing initdb: %w", err)
	}
	defer os.Remove(secret)
	if err := p.as.own(secret); err != nil {
		return fmt.Errorf("preparing initdb: %w", err)
	}
	log, err := p.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	initdb, err := supervise("TERM", p.dir.path, p.dir.path, p.as, log, filepath.Join(p.binDir, "initdb"),
		"--pgdata="+p.data(), "--username="+superuser, "--pwfile="+secret, "--auth=scram-sha-256",
		"--encoding=UTF8", "--locale=C", "--no-sync")
	if err != nil {
		return err
	}
	timer := time.NewTimer(initTimeout)
	defer timer.Stop()
	select {
	case <-initdb.done:
		if initdb.err != nil {
			err = fmt.Errorf("initdb%s failed (%w):\n%s", p.as.suffix(), initdb.err, p.logTail())
		}
	case <-timer.C:
		err = fmt.Errorf("initdb%s did not finish in %s", p.as.suffix(), initTimeout)
	case <-ctx.Done():
		err = fmt.Errorf("initdb was interrupted: %w", context.Cause(ctx))
	}
	return errors.Join(err, initdb.stop(stopTimeout))
}

var errPortTaken = errors.New("the port was taken by another program")

// startOnFreePort starts the server. Between our look for a free port and the server's use of it somebody else may take
// it; then it looks again.
func (p *private) startOnFreePort(ctx context.Context) error {
	const attempts = 5
	for attempt := 1; ; attempt++ {
		err := p.start(ctx)
		if err == nil || attempt == attempts || !errors.Is(err, errPortTaken) || ctx.Err() != nil {
			return err
		}
	}
}

// start runs the server and waits until it lets us in.
func (p *private) start(ctx context.Context) (err error) {
	if p.port, err = p.pick(); err != nil {
		return err
	}
	log, err := p.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	args := append([]string{"-D", p.data(), "-h", loopback, "-p", fmt.Sprint(p.port), "-k", ""}, settingArgs(p.settings)...)
	// QUIT is Postgres's immediate shutdown: nothing in the cluster is worth a checkpoint.
	p.server, err = supervise("QUIT", p.dir.path, p.dir.path, p.as, log, filepath.Join(p.binDir, "postgres"), args...)
	if err != nil {
		return err
	}
	if err := p.ready(ctx); err != nil {
		// The log is read before stop removes it.
		if tail := p.logTail(); strings.Contains(tail, "Address already in use") {
			err = errPortTaken
		} else {
			err = fmt.Errorf("%w; its log ends:\n%s", err, tail)
		}
		return errors.Join(err, p.server.stop(stopTimeout))
	}
	return nil
}

// ready waits until the server answers our password.
func (p *private) ready(ctx context.Context) error {
	// Whoever took our port may accept and say nothing: the end of our server must end the wait for an answer.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.server.done:
			cancel(fmt.Errorf("it ended while starting (%v)", p.server.err))
		case <-ctx.Done():
		}
	}()
	w := waiting{timeout: startTimeout, try: startTimeout, pause: 10 * time.Millisecond}
	if _, err := awaitAnswer(ctx, w, p.address(superuser)); err != nil {
		return fmt.Errorf("running the server%s: %w", p.as.suffix(), err)
	}
	return nil
}

// stop ends the server and removes its directory. The shell at the other end of the lifeline does the same; whoever
// comes second finds nothing to do, unless the shell was killed.
func (p *private) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return errors.Join(p.server.stop(stopTimeout), endProcesses(ctx, p.dir.path), p.dir.remove())
}

// openLog begins a new log: what an earlier attempt said must not explain this one.
func (p *private) openLog() (*os.File, error) {
	log, err := os.OpenFile(p.logFile(), os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the server's log: %w", err)
	}
	if err := p.as.own(p.logFile()); err != nil {
		_ = log.Close()
		return nil, fmt.Errorf("opening the server's log: %w", err)
	}
	return log, nil
}

// logTail is the end of what initdb and the server wrote: enough to see why, not enough to flood a terminal.
func (p *private) logTail() string {
	text, err := os.ReadFile(p.logFile())
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	return tail(text)
}

// tail is the end of a log, indented.
func tail(text []byte) string {
	const lines, bytes = 15, 4096
	text = text[max(0, len(text)-bytes):]
	all := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "?")), "\n")
	return "  " + strings.Join(all[max(0, len(all)-lines):], "\n  ")
}

// freePort asks the system for a port that nobody uses at the moment.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", loopback+":0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port on %s: %w", loopback, err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
