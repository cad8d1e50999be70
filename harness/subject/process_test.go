package subject_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"assay/harness/subject"
)

func TestASubjectThatServesIsReadyAndStops(t *testing.T) {
	p := start(t, command(t, script(t, "serve.py", "{listen}")), subject.Values{})
	if err := probe(t.Context(), p.Endpoint()); err != nil {
		t.Fatalf("ready, but it does not answer: %v", err)
	}
	if p.ExitReason() != "" {
		t.Errorf("exit reason while it runs: %q", p.ExitReason())
	}
	pid := p.Pid()
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if running(pid) {
		t.Errorf("process %d runs after Stop", pid)
	}
	contains(t, p.ExitReason(), "signal 15", "after we ended it", "listening on")
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stopping twice: %v", err)
	}
	if err := p.Signal(syscall.SIGHUP); err == nil {
		t.Error("a signal to a subject that is gone reports success")
	}
}

func TestASubjectThatFinishesAfterSIGTERMIsGivenItsTime(t *testing.T) {
	// Through a shell that stays: it dies of SIGTERM at once, the subject does not.
	p := start(t, command(t, strings.TrimPrefix(script(t, "graceful.py", "{listen}; :"), "exec ")), subject.Values{})
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	contains(t, p.ExitReason(), "goodbye")
}

func TestASubjectThatIgnoresSIGTERMIsKilledAfterItsTime(t *testing.T) {
	c := command(t, script(t, "stubborn.py", "{listen}"))
	c.StopTimeout = 300 * time.Millisecond
	p := start(t, c, subject.Values{})
	pid, began := p.Pid(), time.Now()
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < c.StopTimeout {
		t.Errorf("killed after %v, its time was %v", took, c.StopTimeout)
	}
	contains(t, p.ExitReason(), "signal 9")
	if running(pid) {
		t.Error("it runs after Stop")
	}
}

func TestASubjectThatIsNotReadyIsExplainedAndEnded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "id")
	for _, c := range []struct {
		name  string
		shell string
		ready time.Duration
		kind  error
		says  []string
	}{
		{
			"dies at start with a reason", script(t, "dies.py", "{listen}"), 20 * time.Second, subject.ErrExited,
			[]string{"exit status 3", "  | step 29", `| cannot load the configuration: \x1b[31mno such table\x1b[0m`},
		},
		{"is not there", "./no-such-program {listen}", 20 * time.Second, subject.ErrExited, []string{"exit status 127", "check the program's path"}},
		{"ends well at once", "echo {listen} >/dev/null", 20 * time.Second, subject.ErrExited, []string{"exit status 0", "keep running in the foreground", "it printed nothing"}},
		{"is ended by a signal", "echo {listen}; kill -SEGV $$", 20 * time.Second, subject.ErrExited, []string{"signal 11"}},
		{"hangs and never listens", script(t, "hang.py", "{listen}"), 2 * time.Second, subject.ErrNotReady, []string{"nothing listens there", "| warming up", "(pid "}},
		{"accepts and never answers", script(t, "mute.py", "{listen}"), time.Second, subject.ErrNotReady, []string{"accepts connections and never answers"}},
		{"answers garbage on its port", script(t, "babble.py", "{listen}"), time.Second, subject.ErrNotReady, []string{"bytes that are no HTTP", `\x07\x1b[2J what is this \xff\xfe`}},
		{"prints garbage and dies", script(t, "garbage.py", "{listen} 5000 --die"), 20 * time.Second, subject.ErrExited, []string{"exit status 4", `\x00\x01\x02`, "bytes more)"}},
		{"goes into the background", script(t, "daemon.py", "{listen} "+file), 20 * time.Second, subject.ErrDaemonised, []string{"exit status 0", "in the foreground", "leaving"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := command(t, c.shell)
			cmd.ReadyTimeout = c.ready
			p, err := cmd.Start(t.Context(), subject.Values{})
			if err == nil {
				t.Fatal("it was ready", p.Kill())
			}
			if !errors.Is(err, c.kind) {
				t.Errorf("kind is not %q", c.kind)
			}
			contains(t, err.Error(), c.says...)
			if len(err.Error()) > 16<<10 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			t.Log(err)
		})
	}
	if b, err := os.ReadFile(file); err != nil {
		t.Error(err)
	} else if pid, _ := strconv.Atoi(strings.TrimSpace(string(b))); running(pid) {
		t.Errorf("the daemon %d is left", pid)
	}
}

func TestTheExitBeforeReadinessIsReportedAtOnce(t *testing.T) {
	began := time.Now()
	c := command(t, "echo {listen}; exit 9")
	c.ReadyTimeout = time.Minute
	// A probe that answers only to its context: the exit must interrupt it.
	c.Probe = func(ctx context.Context, _ subject.Endpoint) error { <-ctx.Done(); return ctx.Err() }
	if _, err := c.Start(t.Context(), subject.Values{}); !errors.Is(err, subject.ErrExited) {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("reported after %v", took)
	}
}

func TestAFloodOfOutputIsReadInBoundedMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lines := 0
	c := command(t, script(t, "garbage.py", "{listen} 1000000000"))
	c.Log = func(string) { lines++ }
	p := start(t, c, subject.Values{})
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("a flood of 1 GB left %d bytes on the heap", grown)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 128<<20 {
		t.Errorf("a flood of 1 GB made us allocate %d bytes", allocated)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, line := range p.Output() {
		if len(line) > 2000 {
			t.Errorf("a recorded line has %d bytes", len(line))
		}
	}
}

func TestADeathAfterReadinessIsNoticedAndExplained(t *testing.T) {
	p := start(t, command(t, script(t, "serve.py", "{listen}")), subject.Values{})
	if response, err := http.Get("http://" + p.Endpoint().Address + "/die"); err == nil {
		response.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	<-p.Exited()
	contains(t, p.ExitReason(), "exit status 7", "| told to die")
	if strings.Contains(p.ExitReason(), "after we ended it") {
		t.Error("its own death is put down to us")
	}
}

func TestASubjectThatIsPausedStops(t *testing.T) {
	p := start(t, command(t, script(t, "graceful.py", "{listen}")), subject.Values{})
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	contains(t, p.ExitReason(), "exit status 0", "goodbye")
}

func TestAStopDuringARestartIsTheLastWord(t *testing.T) {
	c := command(t, script(t, "serve.py", "{listen}"))
	var hold atomic.Bool
	probing := make(chan struct{}, 1000)
	c.Probe = func(ctx context.Context, e subject.Endpoint) error {
		if !hold.Load() {
			return probe(ctx, e)
		}
		probing <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	p := start(t, c, subject.Values{})
	hold.Store(true)
	restarted := make(chan error, 1)
	go func() { restarted <- p.Restart(context.WithoutCancel(t.Context())) }()
	<-probing
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-restarted; err == nil || !strings.Contains(err.Error(), "stopped meanwhile") {
		t.Errorf("the restart says %v", err)
	}
	if err := probe(t.Context(), p.Endpoint()); err == nil {
		t.Error("it answers after Stop")
	}
	hold.Store(false)
	if err := p.Restart(t.Context()); err != nil {
		t.Errorf("a later restart: %v", err)
	}
}

func TestAConfigurationArrivesAndItsPasswordIsSeenByTheSubjectAlone(t *testing.T) {
	const password = `p'w"$(id)`
	c := command(t, "DATABASE_URL={database} LIMITS={limits} KEEPALIVE={keepalive_ms} "+
		script(t, "serve.py", "{listen} DATABASE_URL LIMITS KEEPALIVE"))
	var log []string
	c.Log = func(line string) { log = append(log, line) }
	p := start(t, c, subject.Values{
		DatabaseURL:   (&url.URL{Scheme: "postgres", User: url.UserPassword("u", password), Host: "h", Path: "/db"}).String(),
		KeepaliveMS:   25000,
		Configuration: subject.Configuration{Limits: map[string]uint64{"max_query_topics": 3}},
	})
	arguments, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(p.Pid())).Output()
	if err != nil || strings.Contains(string(arguments), "p%27w") {
		t.Errorf("command line %q (%v)", arguments, err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	contains(t, strings.Join(log, "\n"), "DATABASE_URL=postgres://u:*****@h/db", `LIMITS={"max_query_topics":3}`, "KEEPALIVE=25000")
}

func TestACrashedSubjectRestartsAtTheSameAddress(t *testing.T) {
	p := start(t, command(t, script(t, "serve.py", "{listen}")), subject.Values{})
	before, pid := p.Endpoint().Address, p.Pid()
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := probe(t.Context(), p.Endpoint()); err == nil {
		t.Error("it answers after Kill")
	}
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.Endpoint().Address != before || p.Pid() == pid {
		t.Errorf("before %s pid %d, after %s pid %d", before, pid, p.Endpoint().Address, p.Pid())
	}
	if err := probe(t.Context(), p.Endpoint()); err != nil {
		t.Error(err)
	}
	if err := p.Restart(t.Context()); err != nil {
		t.Errorf("restart of a running subject: %v", err)
	}
}

func TestAPortTakenMeanwhileIsChosenAgain(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	p := start(t, command(t, script(t, "late.py", "{listen} "+count)), subject.Values{})
	if b, err := os.ReadFile(count); err != nil || string(b) != "3" {
		t.Errorf("started %s times (%v), expected 3", b, err)
	}
	if err := probe(t.Context(), p.Endpoint()); err != nil {
		t.Error(err)
	}
}

func TestAnAddressThatSomebodyHasIsNotGivenOut(t *testing.T) {
	p := start(t, command(t, script(t, "serve.py", "{listen}")), subject.Values{})
	_, err := command(t, script(t, "serve.py", "{listen}")).Start(t.Context(), subject.Values{Listen: p.Endpoint().Address})
	if err == nil {
		t.Fatal("two subjects have one address")
	}
	contains(t, err.Error(), p.Endpoint().Address, "choose another")
}

func TestACancelledStartLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := command(t, script(t, "hang.py", "{listen}"))
	pid := make(chan int, 1)
	c.Log = func(string) { cancel() } // it runs and says so
	c.Shell = "echo $$ && " + c.Shell
	c.Probe = func(ctx context.Context, _ subject.Endpoint) error { <-ctx.Done(); return ctx.Err() }
	close(pid)
	_, err := c.Start(ctx, subject.Values{})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(line), "| ")); err == nil && running(n) {
			t.Errorf("process %d is left", n)
		}
	}
}
