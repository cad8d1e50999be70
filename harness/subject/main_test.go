package subject_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"assay/harness/subject"
)

// helperVariable makes the test binary play a harness that starts a subject and
// is then killed.
const helperVariable = "ASSAY_TEST_HARNESS"

func TestMain(m *testing.M) {
	if shell := os.Getenv(helperVariable); shell != "" {
		os.Exit(harness(shell))
	}
	goleak.VerifyTestMain(m)
}

// harness starts a subject, says so and waits to be killed.
func harness(shell string) int {
	p, err := subject.Command{Shell: shell, Probe: probe, Scheme: "http"}.Start(context.Background(), subject.Values{})
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	fmt.Println("ready", p.Pid())
	io.Copy(io.Discard, os.Stdin) // our parent holds the other end for as long as we live
	return 0
}

// probe is ready when a GET is answered with 200.
func probe(ctx context.Context, e subject.Endpoint) error {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return e.DialContext(ctx)
	}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.Address+"/", nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// python is the interpreter itself, past any launcher script on PATH.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatalf("these tests spawn subjects in another language and need python3 on PATH: %v", err)
	}
	return strings.TrimSpace(string(path))
}

// script is the shell command that runs a Python subject in the foreground.
func script(t *testing.T, name, arguments string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return "exec " + python(t) + " " + path + " " + arguments
}

func command(t *testing.T, shell string) subject.Command {
	t.Helper()
	return subject.Command{
		Shell: shell, Probe: probe, Scheme: "http", ReadyTimeout: 20 * time.Second, StopTimeout: 5 * time.Second,
		Env: []string{"PYTHONDONTWRITEBYTECODE=1"},
		Log: func(line string) { t.Log("subject:", line) },
	}
}

func start(t *testing.T, c subject.Command, v subject.Values) *subject.Process {
	t.Helper()
	p, err := c.Start(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// running says whether the process lives; a zombie does not.
func running(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	text := strings.TrimSpace(string(state))
	return err == nil && text != "" && !strings.HasPrefix(text, "Z")
}

// eventually waits for a condition, with a deadline and a name.
func eventually(t *testing.T, name string, condition func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("not within 20 s: %s", name)
		case <-ticker.C:
		}
	}
}

// pids reads process ids, one a line, and waits until there are as many.
func pids(t *testing.T, file string, count int) []int {
	t.Helper()
	var found []int
	eventually(t, fmt.Sprintf("%d process ids in %s", count, filepath.Base(file)), func() bool {
		found = nil
		f, err := os.Open(file)
		if err != nil {
			return false
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if pid, err := strconv.Atoi(lines.Text()); err == nil {
				found = append(found, pid)
			}
		}
		return len(found) == count
	})
	return found
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("text lacks %q:\n%s", part, text)
		}
	}
}
