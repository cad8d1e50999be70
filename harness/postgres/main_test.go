package postgres

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

// helperVariable turns this test binary into another run, to be killed: its value is the JSON of a helperTask.
const helperVariable = "ASSAY_POSTGRES_TEST_HELPER"

func TestMain(m *testing.M) {
	// The library's reaper would need an image from a registry, and would do the work of the sweep that we test.
	const reaper = "TESTCONTAINERS_RYUK_DISABLED"
	if os.Getenv(reaper) == "" {
		_ = os.Setenv(reaper, "true")
	}
	if task := os.Getenv(helperVariable); task != "" {
		os.Exit(helper(task))
	}
	code := m.Run()
	if s := shared.server; s != nil {
		if err := s.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "closing the shared server:", err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// shared is one private server that plays the given one in many tests.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// givenServer is the URL of a server that stands for somebody else's, its superuser's connection, and the server.
func givenServer(t *testing.T) (url string, admin *pgx.Conn) {
	t.Helper()
	shared.once.Do(func() {
		shared.server, shared.err = Open(context.Background(), Options{Sources: []Kind{Local}})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	admin, err := shared.server.Admin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	return shared.server.address.url.String(), admin
}

// open opens a server that is closed when the test ends, if the test has not closed it.
func open(t *testing.T, o Options) *Server {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the server: %v", err)
		}
	})
	return s
}

// eventually waits until a condition holds. The deadline is long because the machine may be busy.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("still not so after a minute: %s", what)
		}
	}
}

// exists tells whether a file or directory is there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// databaseExists asks the server.
func databaseExists(t *testing.T, admin *pgx.Conn, name string) bool {
	t.Helper()
	var there bool
	if err := admin.QueryRow(context.Background(), `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&there); err != nil {
		t.Fatal(err)
	}
	return there
}

// helperTask is what the other run is to open.
type helperTask struct {
	URL     string
	Sources []Kind
	TempDir string
	Image   string
}

// helperReport is what the other run has opened.
type helperReport struct {
	Database  string
	Directory string // data directory of its server
	Error     string
}

// helper is the other run: it opens a server, creates a database, tells so, and waits for a signal, or for the end of
// its input should the test die.
func helper(task string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var t helperTask
	report := helperReport{}
	var s *Server
	err := json.Unmarshal([]byte(task), &t)
	if err == nil {
		s, err = Open(ctx, Options{URL: t.URL, Sources: t.Sources, TempDir: t.TempDir, Container: ContainerOptions{Image: t.Image}})
	}
	if err == nil {
		var d *Database
		if d, err = s.CreateDatabase(ctx, "helper"); err == nil {
			report.Database = d.Name()
			var conn *pgx.Conn
			if conn, err = s.Admin(ctx); err == nil {
				err = conn.QueryRow(ctx, `SHOW data_directory`).Scan(&report.Directory)
				_ = conn.Close(ctx)
			}
		}
	}
	if err != nil {
		report.Error = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(report)
	if err != nil {
		return 1
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	<-ctx.Done()
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// otherRun is a helper process.
type otherRun struct {
	helperReport
	cmd *exec.Cmd
}

// helperCommand runs this binary as a helper.
func helperCommand(t *testing.T, task helperTask) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), helperVariable+"="+string(text))
	cmd.Stderr = t.Output()
	return cmd
}

// asNobody has a helper run as an unprivileged user, with a copy of this binary that such a user can reach.
func asNobody(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("this test needs root, to become somebody else")
	}
	nobody, err := accountFor(0, func(string) (*user.User, error) { return user.Lookup("nobody") })
	if err != nil {
		t.Fatal(err)
	}
	dir := tempFolder(t)
	program, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = filepath.Join(dir, "helper")
	if err := os.WriteFile(cmd.Path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: nobody.credential()}
}

// startOtherRun starts a helper and waits until it has its database.
func startOtherRun(t *testing.T, task helperTask) *otherRun {
	t.Helper()
	return startRun(t, helperCommand(t, task))
}

// startRun is startOtherRun for a prepared helper.
func startRun(t *testing.T, cmd *exec.Cmd) *otherRun {
	t.Helper()
	r := &otherRun{cmd: cmd}
	in, err := r.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if r.cmd.ProcessState == nil {
			_ = r.cmd.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the other run ended without a report: %v", err)
	}
	if err := json.Unmarshal([]byte(line), &r.helperReport); err != nil {
		t.Fatal(err)
	}
	if r.Error != "" {
		t.Fatalf("the other run failed: %s", r.Error)
	}
	return r
}

// kill is kill -9.
func (r *otherRun) kill(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the other run was not killed: %v", err)
	}
}

// interrupt is Ctrl-C; the other run has to end well.
func (r *otherRun) interrupt(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Fatalf("the other run did not end well after Ctrl-C: %v", err)
	}
}
