package subject

import (
	"fmt"
	"net"
	"os"
	"slices"
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
	sockets := listeningSockets()
	for socket, on := range sockets {
		if on != port {
			delete(sockets, socket)
		}
	}
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
		if theirs == "" || len(portsOf(pid, sockets)) == 0 {
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

// listeningPorts gives the ports on which the processes listen, to tell a
// subject that ignores {listen} from one that does not listen yet.
func listeningPorts(members []member) []string {
	sockets := listeningSockets()
	var ports []string
	for _, m := range members {
		ports = append(ports, portsOf(m.pid, sockets)...)
	}
	slices.Sort(ports)
	ports = slices.Compact(ports)
	return ports[:min(len(ports), 5)]
}

// listeningSockets gives the port of each TCP socket that listens, by
// "socket:[inode]"; see proc_net(5).
func listeningSockets() map[string]string {
	const listening = "0A" // TCP_LISTEN
	sockets := make(map[string]string)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != listening {
				continue
			}
			_, port, _ := strings.Cut(f[1], ":")
			if number, err := strconv.ParseUint(port, 16, 16); err == nil {
				sockets["socket:["+f[9]+"]"] = strconv.FormatUint(number, 10)
			}
		}
	}
	return sockets
}

// portsOf gives the ports of those sockets that the process has open.
func portsOf(pid int, sockets map[string]string) []string {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	fds, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var ports []string
	for _, fd := range fds {
		to, err := os.Readlink(dir + "/" + fd.Name())
		if port, listens := sockets[to]; err == nil && listens {
			ports = append(ports, port)
		}
	}
	return ports
}
