package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A private server must end with us, however we end. Nothing that runs inside this process can promise that: kill -9
// asks nobody. So the server is started by a small shell that holds the read end of a pipe, the lifeline, whose only
// write end is ours. When we die, by whatever cause, the kernel closes our end, the shell reads end-of-file, stops the
// server and removes its directory. A normal Close goes the same way: it closes the lifeline and waits. Should the
// shell be killed as well, the next sweep finds the directory.
//
// The kernel's parent-death signal would serve on Linux alone, and follows the thread that started the child rather
// than the process, which a Go program does not control.

// lifeline is the shell's program: $1 the signal that stops the command, $2 a directory to remove once it was told to
// stop (or empty), then the command. File descriptor 3 is the lifeline; the command does not get it.
//
// If the command ends by itself the directory stays, so that we can read the log in it. The inner shell is a process of
// its own because sh cannot wait for a child and a pipe at once; it is killed before its number for the child can
// mean anybody else.
const lifeline = `
signal=$1 directory=$2; shift 2
told="$directory/told-to-stop"
"$@" 3<&- &
child=$!
(
	trap - TERM INT HUP
	read -r _ <&3
	if [ -n "$directory" ]; then : > "$told"; fi
	kill -s "$signal" "$child"
) 2>/dev/null &
watcher=$!
trap 'kill -s "$signal" "$child" 2>/dev/null' TERM INT HUP
wait "$child"; status=$?
while [ "$status" -gt 128 ] && kill -0 "$child" 2>/dev/null; do
	wait "$child"; status=$?
done
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
if [ -n "$directory" ] && [ -e "$told" ]; then rm -rf -- "$directory"; fi
exit "$status"
`

// supervised is a command at the end of a lifeline.
type supervised struct {
	name string
	cmd  *exec.Cmd
	line *os.File // our end of the lifeline
	done chan struct{}
	err  error // of the command, once done is closed
}

// supervise starts a command in its own session (a Ctrl-C in our terminal is ours to handle, in order), as the given
// user, in the given directory. Its output goes to log.
func supervise(signal, remove, dir string, as *account, log *os.File, name string, args ...string) (*supervised, error) {
	read, write, err := os.Pipe() // both close-on-exec: no other child of ours keeps the lifeline open
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	defer read.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", lifeline, "assay-postgres", signal, remove, name}, args...)...)
	cmd.Dir = dir
	cmd.Env = serverEnvironment(os.Environ())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{read}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: as.credential()}
	if err := cmd.Start(); err != nil {
		_ = write.Close()
		return nil, fmt.Errorf("starting %s%s: %w", name, as.suffix(), err)
	}
	p := &supervised{name: name, cmd: cmd, line: write, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
	}()
	return p, nil
}

// serverEnvironment drops what would redirect a Postgres program (PGDATA, PGPORT, PGPASSWORD …) and fixes the
// language of its messages.
func serverEnvironment(all []string) []string {
	var out []string
	for _, kv := range all {
		if !strings.HasPrefix(kv, "PG") && !strings.HasPrefix(kv, "LC_") && !strings.HasPrefix(kv, "LANG") {
			out = append(out, kv)
		}
	}
	return append(out, "LC_ALL=C")
}

// stop lets go of the lifeline and waits until the command has ended. One that does not end in time is killed.
func (p *supervised) stop(timeout time.Duration) error {
	_ = p.line.Close()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	}
	// The session is the process group of shell, watcher and command. It cannot have been given to others: the shell,
	// whose number it bears, was not waited for.
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("killing %s, which did not stop in %s: %w", p.name, timeout, err)
	}
	<-p.done
	return nil
}
