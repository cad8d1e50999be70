package subject

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// strangerAt names the process that listens at the address, if it is certain
// that it belongs to the subject of another run: its environment carries
// another mark than ours. Two runs that chose the same free port would
// otherwise judge one subject twice, until the loser dies of its taken port. A
// listener that carries no mark is trusted: a container's proxy is no child of
// the command that started it.
func strangerAt(address, mark string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	sockets := listeningSockets(port)
	if len(sockets) == 0 {
		return ""
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return ""
	}
	stranger := ""
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		theirs := environmentMark(pid)
		if theirs == "" || !holds(pid, sockets) {
			continue
		}
		if theirs == mark {
			return ""
		}
		if stat, err := readStat(pid); err == nil {
			stranger = fmt.Sprintf("%s (pid %d)", stat.name, pid)
		}
	}
	return stranger
}

// listeningSockets gives "socket:[inode]" of each TCP socket that listens on
// the port, see proc_net(5).
func listeningSockets(port string) map[string]bool {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil
	}
	const listening = "0A" // TCP_LISTEN
	suffix := fmt.Sprintf(":%04X", number)
	sockets := make(map[string]bool)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == listening && strings.HasSuffix(f[1], suffix) {
				sockets["socket:["+f[9]+"]"] = true
			}
		}
	}
	return sockets
}

// holds says whether the process has one of the sockets open.
func holds(pid int, sockets map[string]bool) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	fds, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if to, err := os.Readlink(dir + "/" + fd.Name()); err == nil && sockets[to] {
			return true
		}
	}
	return false
}
