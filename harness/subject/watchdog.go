package subject

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// markVariable marks every process of a subject in its environment.
const markVariable = "ASSAY_SUBJECT"

// watchdogScript waits for our word and, when we are gone without one, ends the
// subject: the pipe on its standard input closes however we died.
//
//	$1  the mark, "NAME=value", in the environment of the subject's processes
//	$2  the inode of the subject's output pipe, "" when unknown
//
// It reads the process group from the first line, "done" from the second. The
// loop goes on until two rounds in a row find nothing, because a process may
// fork while /proc is read; 50 rounds are far more than that needs, and bound
// it should a process be beyond killing.
const watchdogScript = `
trap '' HUP INT QUIT TERM PIPE
group=
read -r group || group=
if [ -n "$group" ]; then
  read -r word && [ "$word" = done ] && exit 0
fi
round=0
empty=0
while [ $round -lt 50 ]; do
  round=$((round + 1))
  found=
  if [ -n "$group" ] && kill -9 -- "-$group" 2>/dev/null; then found=y; fi
  if [ -d /proc/self ]; then
    pids=$(
      grep -alsF -e "$1" /proc/[0-9]*/environ 2>/dev/null | sed -n 's|^/proc/\([0-9]*\)/environ$|\1|p'
      [ -z "$2" ] || ls -l /proc/[0-9]*/fd/1 /proc/[0-9]*/fd/2 2>/dev/null |
        sed -n 's|^.* /proc/\([0-9]*\)/fd/[12] -> pipe:\['"$2"'\]$|\1|p'
    )
    for pid in $pids; do
      kill -9 "$pid" 2>/dev/null && found=y
    done
  fi
  if [ -n "$found" ]; then empty=0; else empty=$((empty + 1)); fi
  [ $empty -lt 2 ] || exit 0
  sleep 0.1
done
exit 1
`

// A watchdog is a process that ends a subject when we cannot.
type watchdog struct {
	command *exec.Cmd
	pipe    io.WriteCloser
}

// startWatchdog must come before the subject starts, so that there is no moment
// in which our death leaves the subject behind.
func startWatchdog(mark string, output *os.File) (*watchdog, error) {
	inode := ""
	if name := pipeName(output); name != "" {
		fmt.Sscanf(name, "pipe:[%s", &inode)
		inode = inode[:max(0, len(inode)-1)]
	}
	// The mark is an argument and not in its environment: it must not find itself.
	command := exec.Command("sh", "-c", watchdogScript, "assay-watchdog", markVariable+"="+mark, inode)
	command.Dir = "/"
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	// A session of its own: the terminal's Ctrl-C and a signal to our process
	// group must not reach it.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("pipe to the subject's watchdog: %w", err)
	}
	if err := command.Start(); err != nil {
		pipe.Close()
		return nil, fmt.Errorf("watchdog of the subject: %w; a POSIX shell called sh must be on PATH", err)
	}
	return &watchdog{command: command, pipe: pipe}, nil
}

// guard tells it the subject's process group.
func (w *watchdog) guard(group int) { fmt.Fprintf(w.pipe, "%d\n", group) }

// dismiss ends the watchdog; the subject must be gone.
func (w *watchdog) dismiss() {
	io.WriteString(w.pipe, "done\n")
	w.pipe.Close()
	// It has nothing left to do but exit; should its shell hang, end it.
	late := time.AfterFunc(2*time.Second, func() { w.command.Process.Kill() })
	defer late.Stop()
	w.command.Wait()
}

// abandon ends the watchdog of a subject that never started.
func (w *watchdog) abandon() {
	w.command.Process.Kill()
	w.pipe.Close()
	w.command.Wait()
}
