package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// processesIn lists the processes that the directory's owner runs with their working directory inside it: the shell,
// initdb, the server and all its children work there, and nothing else has a reason to.
func processesIn(dir string) ([]int, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		process := filepath.Join("/proc", e.Name())
		cwd, err := os.Readlink(filepath.Join(process, "cwd"))
		if err != nil || cwd != real && !strings.HasPrefix(cwd, real+"/") {
			continue // gone meanwhile, another user's, or elsewhere
		}
		info, err := os.Stat(process)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if info.Sys().(*syscall.Stat_t).Uid == owner {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
