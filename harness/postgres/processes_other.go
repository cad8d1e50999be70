//go:build !linux

package postgres

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// processesIn finds the server of a directory by the number it wrote down itself, if a program with that number was
// started for this very directory: numbers are used again.
func processesIn(dir string) ([]int, error) {
	f, err := os.Open(filepath.Join(dir, "data", "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan()
	pid, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
	if err != nil || pid <= 1 {
		return nil, nil
	}
	command, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil || !strings.Contains(string(command), filepath.Join(dir, "data")) {
		return nil, nil // ps fails when there is no such process
	}
	return []int{pid}, nil
}
