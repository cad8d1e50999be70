package subject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a subject that we spawned and that was ready once.
type Process struct {
	command  Command
	template template
	values   Values
	endpoint Endpoint

	restarting sync.Mutex // held over a Restart, so that two do not interleave
	mu         sync.Mutex // guards the rest
	life       *life
	restart    *restart // the Restart that is going on, or nil
}

// A restart can be called off.
type restart struct {
	interrupt context.CancelCauseFunc
	done      chan struct{}
}

var _ Subject = (*Process)(nil)

func (p *Process) current() *life {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.life
}

// Endpoint is where the subject answers; a restart keeps it.
func (p *Process) Endpoint() Endpoint { return p.endpoint }

// Owned is true.
func (p *Process) Owned() bool { return true }

// Configuration is what the subject was started with.
func (p *Process) Configuration() Configuration { return p.values.Configuration }

// Pid is the process id of the subject's shell, which is also the id of its
// process group and session.
func (p *Process) Pid() int { return p.current().pid }

// Exited is closed when the shell has ended and no process of the subject is
// left. After a Restart it is another channel.
func (p *Process) Exited() <-chan struct{} { return p.current().gone }

// ExitReason says how the subject ended, what it left running and what it
// printed last; "" while it runs.
func (p *Process) ExitReason() string { return p.current().reason() }

// Output gives the last lines the subject printed, masked and escaped.
func (p *Process) Output() []string { return p.current().recorder.lines() }

// Signal sends s to every process of the subject.
func (p *Process) Signal(s syscall.Signal) error {
	l := p.current()
	if l.over() || l.signal(s) == 0 {
		return fmt.Errorf("signal %v to the subject: it is gone: %s", s, l.reason())
	}
	return nil
}

// Stop asks every process of the subject to end (SIGTERM), makes them end after
// the command's StopTimeout or when ctx is done (SIGKILL), and returns when all
// of them are gone. Stopping what has already ended is no error.
func (p *Process) Stop(ctx context.Context) error {
	p.interruptRestart()
	return p.current().stop(ctx, p.command.stopTimeout())
}

// Kill ends the subject without warning, as a crash would, and returns when all
// of it is gone.
func (p *Process) Kill() error {
	p.interruptRestart()
	return p.current().kill()
}

// interruptRestart makes a Restart that is going on give up, and waits for it:
// otherwise its process could appear after the Stop that was meant to be last.
func (p *Process) interruptRestart() {
	p.mu.Lock()
	going := p.restart
	p.mu.Unlock()
	if going != nil {
		going.interrupt(errors.New("the subject was stopped meanwhile"))
		<-going.done
	}
}

// Restart stops the subject if it runs, and starts it with the same values at
// the same address. After an error nothing of it runs.
func (p *Process) Restart(ctx context.Context) error {
	p.restarting.Lock()
	defer p.restarting.Unlock()
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	going := &restart{interrupt: interrupt, done: make(chan struct{})}
	defer close(going.done)
	p.setRestart(going)
	defer p.setRestart(nil)
	if err := p.current().stop(ctx, p.command.stopTimeout()); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.command.readyTimeout(), fmt.Errorf("%w (%v)", ErrNotReady, p.command.readyTimeout()))
	defer cancel()
	for {
		// The kernel may hold the port for a while after a crash; a subject that
		// ends because of it is started again until the time is up.
		err := awaitListenable(ctx, p.values.Listen)
		if err != nil {
			return fmt.Errorf("restart: %w", err)
		}
		next, err := p.command.launch(ctx, p.template, p.values, p.endpoint)
		if err == nil {
			p.mu.Lock()
			p.life = next
			p.mu.Unlock()
			return nil
		}
		if !errors.Is(err, errAddressInUse) || ctx.Err() != nil {
			return fmt.Errorf("restart: %w", err)
		}
	}
}

func (p *Process) setRestart(r *restart) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.restart = r
}

// awaitListenable waits until nobody listens on the address.
func awaitListenable(ctx context.Context, address string) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := listenable(address)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not free to listen on: %w; end the program that has it", address, err)
		case <-ticker.C:
		}
	}
}

// A life is one run of the command, from spawn to the end of its last process.
type life struct {
	pid      int
	mark     string // in the environment of its processes
	group    *group
	recorder *recorder
	started  time.Time

	stopping  chan struct{} // closed by the first stop or kill
	killing   chan struct{} // closed when patience is over
	stopOnce  sync.Once
	killOnce  sync.Once
	gone      chan struct{} // closed at the very end; guards the fields below
	state     *os.ProcessState
	asked     bool     // it ended after we asked it to
	leftovers []member // what the shell left running when it ended by itself
	remaining []member // what outlived SIGKILL

	mu sync.Mutex // guards group
}

func (l *life) members() []member {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.group.members()
}

func (l *life) signal(s syscall.Signal) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.group.signal(s)
}

func (l *life) over() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Between two looks at /proc while waiting for processes to end: short beside
// the 100 ms that a person notices, long beside the few ms that a look takes.
const lookEvery = 20 * time.Millisecond

// How long a process may take to vanish after SIGKILL. Only one in an
// uninterruptible system call takes longer than milliseconds.
const killPatience = 5 * time.Second

// end runs from the shell's death until no process is left. The shell itself
// must be dead and not yet reaped.
func (l *life) end() {
	if l.asked = isClosed(l.stopping); !l.asked {
		l.leftovers = l.members()
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	if l.asked {
		// A shell dies of SIGTERM at once; what it started may need its time.
		for len(l.members()) > 0 && !isClosed(l.killing) {
			select {
			case <-ticker.C:
			case <-l.killing:
			}
		}
	}
	// Two looks in a row must find nothing: one may miss a process that forks
	// and leaves while /proc is read.
	empty := 0
	for deadline := time.Now().Add(killPatience); ; <-ticker.C {
		if l.signal(syscall.SIGKILL) > 0 {
			empty = 0
		} else if empty++; empty == 2 {
			return
		}
		if time.Now().After(deadline) {
			l.remaining = l.members()
			return
		}
	}
}

func (l *life) stop(ctx context.Context, patience time.Duration) error {
	l.stopOnce.Do(func() { close(l.stopping) })
	if l.over() {
		return l.left()
	}
	l.signal(syscall.SIGTERM)
	// A stopped process sees SIGTERM only when it goes on.
	l.signal(syscall.SIGCONT)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-l.gone:
		return l.left()
	case <-timer.C:
	case <-ctx.Done():
	}
	return l.kill()
}

func (l *life) kill() error {
	l.stopOnce.Do(func() { close(l.stopping) })
	l.killOnce.Do(func() { close(l.killing) })
	if l.over() {
		return l.left()
	}
	l.signal(syscall.SIGKILL)
	timer := time.NewTimer(2 * killPatience)
	defer timer.Stop()
	select {
	case <-l.gone:
		return l.left()
	case <-timer.C:
		return fmt.Errorf("%w %v after SIGKILL: %s", ErrLeftBehind, 2*killPatience, describeMembers(l.members()))
	}
}

// left is the error of processes that outlived SIGKILL, if any.
func (l *life) left() error {
	if len(l.remaining) > 0 {
		return fmt.Errorf("%w %v after SIGKILL: %s; end them by hand", ErrLeftBehind, killPatience, describeMembers(l.remaining))
	}
	return nil
}

func (l *life) reason() string {
	if !l.over() {
		return ""
	}
	return l.ending() + "\n" + l.recorder.describe()
}

// ending says in one line how a life that is over ended.
func (l *life) ending() string {
	var out strings.Builder
	out.WriteString(describeState(l.state))
	if l.asked {
		out.WriteString(" after we ended it")
	}
	if len(l.leftovers) > 0 {
		fmt.Fprintf(&out, ", leaving %s running, which we ended", describeMembers(l.leftovers))
	}
	return out.String()
}

func describeState(state *os.ProcessState) string {
	if state == nil {
		return "exit status unknown"
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled():
		return fmt.Sprintf("ended by signal %d (%v)", int(status.Signal()), status.Signal())
	case ok && status.ExitStatus() == 126:
		return "exit status 126 (the shell found the program but could not run it)"
	case ok && status.ExitStatus() == 127:
		return "exit status 127 (the shell did not find the program)"
	case ok && status.ExitStatus() > 128 && status.ExitStatus() < 128+65:
		s := syscall.Signal(status.ExitStatus() - 128)
		return fmt.Sprintf("exit status %d (a program ended by signal %d, %v)", status.ExitStatus(), int(s), s)
	}
	return fmt.Sprintf("exit status %d", state.ExitCode())
}

// describeMembers names a few processes.
func describeMembers(members []member) string {
	const shown = 5
	var names []string
	for i, m := range members {
		if i == shown {
			names = append(names, fmt.Sprintf("%d more", len(members)-shown))
			break
		}
		names = append(names, fmt.Sprintf("%s (pid %d)", m.name, m.pid))
	}
	if len(members) == 1 {
		return "process " + names[0]
	}
	return fmt.Sprintf("%d processes: %s", len(members), strings.Join(names, ", "))
}
