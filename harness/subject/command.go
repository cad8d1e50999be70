package subject

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Command starts a subject: a shell command with placeholders.
type Command struct {
	// Shell is the command, run by sh -c, with placeholders such as {listen}
	// and {database}; see [Values]. {listen} is required. {{word}} is a literal
	// {word}. Placeholders need no quotes around them, and may have them.
	Shell string
	// Probe says when the subject is ready. Nil takes an accepted connection.
	Probe Probe
	// ReadyTimeout bounds the time from start to the first answer, 0 for 30 s.
	ReadyTimeout time.Duration
	// StopTimeout bounds the time from SIGTERM to SIGKILL, 0 for 10 s.
	StopTimeout time.Duration
	// Dir is the working directory, "" for ours.
	Dir string
	// Env is added to our environment, "NAME=value" each.
	Env []string
	// Log gets each line the subject prints: bounded, escaped, passwords masked.
	// It is called from one goroutine and must not block.
	Log func(line string)
	// Scheme, TLS and Header are those of the endpoint where the subject will
	// answer; "" for grpc.
	Scheme string
	TLS    *tls.Config
	Header map[string][]string
}

// ParseCommand reads a shell command, so that a mistake in its placeholders is
// known before anything starts.
func ParseCommand(shell string) (Command, error) {
	c := Command{Shell: shell}
	if _, err := c.parse(); err != nil {
		return Command{}, err
	}
	return c, nil
}

func (c Command) parse() (template, error) {
	t, err := parseTemplate(c.Shell, commandPlaceholders())
	if err != nil {
		return template{}, err
	}
	if !t.uses("listen") {
		return template{}, errors.New("the command has no placeholder {listen}; without it the subject cannot know where to listen: write for example LISTEN={listen} ./yours")
	}
	return t, nil
}

// Uses says whether the command contains the placeholder, given without braces.
func (c Command) Uses(placeholder string) bool {
	t, err := c.parse()
	return err == nil && t.uses(placeholder)
}

// Supports says whether the command has the placeholders that a configuration
// needs: nil, or ErrUnsupported with the placeholder that is missing.
func (c Command) Supports(cfg Configuration) error {
	t, err := c.parse()
	if err != nil {
		return err
	}
	for _, need := range []struct {
		asked       bool
		placeholder string
	}{
		{len(cfg.Limits) > 0, "limits"},
		{cfg.KeepaliveMS != 0, "keepalive_ms"},
		{cfg.Chain, "chain"},
	} {
		if need.asked && !t.uses(need.placeholder) {
			return fmt.Errorf("%w: %s needs the placeholder {%s} in the command", ErrUnsupported, cfg.Describe(), need.placeholder)
		}
	}
	return nil
}

func (c Command) readyTimeout() time.Duration {
	if c.ReadyTimeout > 0 {
		return c.ReadyTimeout
	}
	return 30 * time.Second
}

func (c Command) stopTimeout() time.Duration {
	if c.StopTimeout > 0 {
		return c.StopTimeout
	}
	return 10 * time.Second
}

// How often a subject is started on another port when somebody took the port
// between our choice and its listen. Twice in a row is already unlikely.
const portAttempts = 5

// errAddressInUse marks the exit of a subject that could not have its port.
var errAddressInUse = errors.New("the address is in use")

// addressInUse recognises that in what runtimes print: C and Go, libuv, Python,
// Java, Rust, .NET.
var addressInUse = regexp.MustCompile(`(?i)address (is )?(already )?in use|EADDRINUSE|errno 98\b|os error 98\b|BindException`)

// Start spawns the subject and waits until it answers. The context bounds the
// start only: a subject that is ready lives until it is stopped. After an error
// nothing of the subject is left running.
func (c Command) Start(ctx context.Context, v Values) (*Process, error) {
	t, err := c.parse()
	if err != nil {
		return nil, err
	}
	if err := c.Supports(v.Configuration); err != nil {
		return nil, err
	}
	chosen := v.Listen == ""
	for attempt := 1; ; attempt++ {
		if chosen {
			if v.Listen, err = freeListen(); err != nil {
				return nil, err
			}
		} else if err := listenable(v.Listen); err != nil {
			return nil, fmt.Errorf("listen address %s cannot be given to the subject: %w; choose another or end the program that has it", v.Listen, err)
		}
		e := Endpoint{Scheme: c.Scheme, TLS: c.TLS, Header: c.Header}
		if e.Scheme == "" {
			e.Scheme = "grpc"
		}
		if e.Address, err = reachable(v.Listen); err != nil {
			return nil, err
		}
		l, err := c.launch(ctx, t, v, e)
		if err == nil {
			return &Process{command: c, template: t, values: v, endpoint: e, life: l}, nil
		}
		if !chosen || !errors.Is(err, errAddressInUse) || attempt == portAttempts {
			return nil, err
		}
	}
}

// launch spawns once and waits for readiness.
func (c Command) launch(ctx context.Context, t template, v Values, e Endpoint) (*life, error) {
	l, err := c.spawn(t, v)
	if err != nil {
		return nil, err
	}
	if err := c.awaitReady(ctx, l, e); err != nil {
		if left := l.kill(); left != nil {
			err = errors.Join(err, left)
		}
		return nil, err
	}
	return l, nil
}

// spawn starts the shell, its watchdog and the goroutines that keep the life.
func (c Command) spawn(t template, v Values) (*life, error) {
	env, err := t.environment(v.value)
	if err != nil {
		return nil, err
	}
	output, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for the subject's output: %w", err)
	}
	mark := rand.Text()
	dog, err := startWatchdog(mark, write)
	if err != nil {
		return nil, errors.Join(err, output.Close(), write.Close())
	}
	shell := exec.Command("sh", "-c", t.script)
	shell.Dir = c.Dir
	shell.Env = append(append(append(os.Environ(), c.Env...), env...), markVariable+"="+mark)
	// Given as files, so that Wait waits for the shell and not for everybody who
	// holds its output.
	shell.Stdout, shell.Stderr = write, write
	// A session of its own: a terminal's Ctrl-C is for us, who then end it in order.
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = shell.Start()
	if err != nil {
		dog.abandon()
		return nil, errors.Join(fmt.Errorf("shell of the subject: %w", err), output.Close(), write.Close())
	}
	dog.guard(shell.Process.Pid)
	g := newGroup(mark, shell.Process.Pid, write)
	write.Close()
	l := &life{
		pid: shell.Process.Pid, mark: mark, group: g, started: time.Now(),
		recorder: &recorder{masker: newMasker(v.secrets()), log: c.Log},
		stopping: make(chan struct{}), killing: make(chan struct{}), gone: make(chan struct{}),
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		l.recorder.read(output)
	}()
	go func() {
		defer close(l.gone)
		awaitExit(l.pid)
		l.end()
		shell.Wait()
		l.state = shell.ProcessState
		// With the last writer gone the output ends by itself; a process that
		// outlived SIGKILL would hold it open for ever.
		late := time.AfterFunc(time.Second, func() { output.Close() })
		<-read
		late.Stop()
		output.Close()
		dog.dismiss()
	}()
	return l, nil
}

// awaitReady probes until the subject answers, ends or takes too long.
func (c Command) awaitReady(ctx context.Context, l *life, e Endpoint) error {
	probe := c.Probe
	if probe == nil {
		probe = accepts
	}
	timeout := c.readyTimeout()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, ErrNotReady)
	defer cancel()
	probing, interrupt := context.WithCancel(ctx)
	defer interrupt()
	go func() {
		select {
		case <-l.gone:
			interrupt()
		case <-probing.Done():
		}
	}()
	// Slower with every attempt: a subject that is up at once is met at once,
	// one that builds first is not disturbed.
	delay, timer := 10*time.Millisecond, time.NewTimer(0)
	defer timer.Stop()
	last := errors.New("it was not asked")
	for {
		select {
		case <-l.gone:
			return l.exitedEarly()
		case <-ctx.Done():
			return c.explainSilence(ctx, l, e, last)
		case <-timer.C:
		}
		attempt, done := context.WithTimeout(probing, 2*time.Second)
		err := probe(attempt, e)
		done()
		switch {
		case l.over():
			return l.exitedEarly()
		case err == nil:
			stranger := strangerAt(e.Address, l.mark)
			if stranger == "" {
				return nil
			}
			last = fmt.Errorf("%s answers there, which belongs to the subject of another run", stranger)
		case ctx.Err() == nil:
			last = err
		}
		timer.Reset(delay)
		delay = min(delay*3/2, 500*time.Millisecond)
	}
}

// accepts is the probe of last resort.
func accepts(ctx context.Context, e Endpoint) error {
	conn, err := e.DialContext(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}

// exitedEarly is the error of a subject that ended before it was ready.
func (l *life) exitedEarly() error {
	kind := ErrExited
	advice := "run the command by hand to see why"
	inUse := false
	for _, line := range l.recorder.lines() {
		inUse = inUse || addressInUse.MatchString(line)
	}
	switch {
	case len(l.leftovers) > 0:
		kind = ErrDaemonised
		advice = "start the subject in the foreground, so that it can be stopped, crashed and restarted"
	case inUse:
		kind = fmt.Errorf("%w: %w", ErrExited, errAddressInUse)
		advice = "it could not listen on the address it was given"
	case l.state.ExitCode() == 127:
		advice = "check the program's path; the command runs in the current directory"
	case l.state.Success():
		advice = "a subject must keep running in the foreground"
	}
	return fmt.Errorf("%w: %s after %v; hint: %s\n%s", kind, l.ending(), time.Since(l.started).Round(time.Millisecond), advice, l.recorder.describe())
}

// explainSilence is the error of a subject that runs and does not answer.
func (c Command) explainSilence(ctx context.Context, l *life, e Endpoint, last error) error {
	if !errors.Is(context.Cause(ctx), ErrNotReady) {
		return fmt.Errorf("waiting for the subject at %s: %w\n%s", e, context.Cause(ctx), l.recorder.describe())
	}
	running := l.members()
	// The time is up, so the diagnosis gets its own, which it bounds itself.
	cause := Diagnose(context.WithoutCancel(ctx), e, last)
	if ports := listeningPorts(running); len(ports) > 0 {
		cause = fmt.Errorf("%w; its processes listen on port %s", cause, strings.Join(ports, ", "))
	}
	return fmt.Errorf("%w: no answer within %v, while it runs on (%s): %w\n%s",
		ErrNotReady, c.readyTimeout(), describeMembers(running), cause, l.recorder.describe())
}
