package subject

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// A group is the shell's process group. Without /proc a process that leaves it
// is not followed.
type group struct {
	leader int
}

type member struct {
	pid  int
	name string
}

func newGroup(_ string, leader int, _ *os.File) *group { return &group{leader: leader} }

func pipeName(*os.File) string { return "" }

// members says whether the group has processes; which ones is not known. A
// group of zombies alone is refused with EPERM here, so every error means none.
func (g *group) members() []member {
	if syscall.Kill(-g.leader, 0) != nil {
		return nil
	}
	return []member{{pid: g.leader, name: "process group"}}
}

func (g *group) signal(s syscall.Signal) int {
	if syscall.Kill(-g.leader, s) != nil {
		return 0
	}
	return 1
}

// awaitExit returns when the process has ended, and leaves it unreaped.
func awaitExit(pid int) {
	const (
		pPID    = 1    // sys/wait.h P_PID
		wExited = 0x04 // WEXITED
		wNoWait = 0x20 // WNOWAIT
	)
	var info [128]byte // siginfo_t and some
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid), uintptr(unsafe.Pointer(&info)), wExited|wNoWait, 0, 0)
		if !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// Who listens where is not known here.
func strangerAt(string, string) string { return "" }

func listeningPorts([]member) []string { return nil }
