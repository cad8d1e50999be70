package subject

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A group finds every process of one spawned subject, wherever it went. A
// process belongs when any of these holds:
//   - it is in the shell's process group or session;
//   - its environment carries our mark, which survives setsid and a second fork;
//   - its standard output or error is the pipe we gave the subject, which
//     survives a cleared environment;
//   - its parent belongs, or it belonged when we last looked.
//
// The shell must not be reaped while the group is in use: as long as it is a
// zombie its id cannot name a stranger's group or session.
type group struct {
	mark    string // the value of markVariable
	leader  int    // the shell: its process, group and session id
	started uint64 // the shell's start time; nothing older belongs
	output  string // "pipe:[inode]" of the subject's output
	known   map[int]uint64
}

// A member is one living process of a group.
type member struct {
	pid     int
	started uint64 // with the pid it names a process beyond reuse of the pid
	name    string
}

func newGroup(mark string, leader int, output *os.File) *group {
	g := &group{mark: mark, leader: leader, known: make(map[int]uint64)}
	if stat, err := readStat(leader); err == nil {
		g.started = stat.started
	}
	g.output = pipeName(output)
	return g
}

// pipeName is how a pipe's ends look in /proc/*/fd, "" when that is unknown.
func pipeName(pipe *os.File) string {
	info, err := pipe.Stat()
	if err != nil {
		return ""
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("pipe:[%d]", st.Ino)
	}
	return ""
}

// members lists the living processes of the group. Zombies are not living: they
// hold nothing, and wait only for their parent.
func (g *group) members() []member {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var candidates []processStat
	belongs := make(map[int]bool)
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		stat, err := readStat(pid)
		if err != nil || stat.started < g.started || strings.ContainsRune("ZXx", rune(stat.state)) {
			continue
		}
		candidates = append(candidates, stat)
		started, seen := g.known[pid]
		belongs[pid] = pid == g.leader || stat.group == g.leader || stat.session == g.leader ||
			(seen && started == stat.started) || g.marked(pid)
	}
	for grown := true; grown; {
		grown = false
		for _, stat := range candidates {
			if !belongs[stat.pid] && belongs[stat.parent] {
				belongs[stat.pid], grown = true, true
			}
		}
	}
	var found []member
	for _, stat := range candidates {
		if belongs[stat.pid] {
			g.known[stat.pid] = stat.started
			found = append(found, member{pid: stat.pid, started: stat.started, name: stat.name})
		}
	}
	return found
}

// marked says whether the process carries our mark or writes to our pipe.
func (g *group) marked(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	if g.output != "" {
		for _, fd := range []string{"/fd/1", "/fd/2"} {
			if to, err := os.Readlink(dir + fd); err == nil && to == g.output {
				return true
			}
		}
	}
	return environmentMark(pid) == g.mark
}

// environmentMark reads the mark in a process's environment, "" for none.
func environmentMark(pid int) string {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	defer f.Close()
	// An environment is at most a few megabytes (execve's limit).
	environ, err := io.ReadAll(io.LimitReader(f, 8<<20))
	if err != nil {
		return ""
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, found := bytes.CutPrefix(entry, []byte(markVariable+"=")); found {
			return string(value)
		}
	}
	return ""
}

// signal sends s to every living process of the group and says how many there
// were. The kernel's own group signal comes first, because it is atomic: a
// process that forks all the time cannot slip through it.
func (g *group) signal(s syscall.Signal) int {
	found := g.members()
	if len(found) > 0 {
		// While the shell is not reaped, its id names its group and no other.
		_ = syscall.Kill(-g.leader, s)
	}
	for _, m := range found {
		if stat, err := readStat(m.pid); err != nil || (stat.group == g.leader && s != syscall.SIGKILL) {
			continue // gone, or reached by the group signal
		}
		m.signal(s)
	}
	return len(found)
}

// signal reaches exactly this process: the handle that FindProcess opens is a
// pidfd, and the start time shows that it is still the same one.
func (m member) signal(s syscall.Signal) {
	process, err := os.FindProcess(m.pid)
	if err != nil {
		return
	}
	defer process.Release()
	if stat, err := readStat(m.pid); err != nil || stat.started != m.started {
		return
	}
	_ = process.Signal(s)
}

// awaitExit returns when the process has ended, and leaves it unreaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

type processStat struct {
	pid, parent, group, session int
	started                     uint64 // clock ticks since boot
	state                       byte
	name                        string
}

// readStat reads /proc/<pid>/stat, see proc_pid_stat(5).
func readStat(pid int) (processStat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return processStat{}, err
	}
	// The name is the program's choice and may hold blanks and parentheses.
	open, closed := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || closed < open {
		return processStat{}, fmt.Errorf("/proc/%d/stat has no name in parentheses", pid)
	}
	stat := processStat{pid: pid, name: escape(text[open+1:closed], 40)}
	fields := strings.Fields(string(text[closed+1:]))
	if len(fields) < 20 {
		return processStat{}, fmt.Errorf("/proc/%d/stat has %d fields after the name, expected at least 20", pid, len(fields))
	}
	stat.state = fields[0][0]
	for i, into := range []*int{&stat.parent, &stat.group, &stat.session} {
		if *into, err = strconv.Atoi(fields[i+1]); err != nil {
			return processStat{}, err
		}
	}
	stat.started, err = strconv.ParseUint(fields[19], 10, 64)
	return stat, err
}
