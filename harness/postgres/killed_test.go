package postgres

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestKillNineEndsAPrivateServerAndRemovesItsFolder(t *testing.T) {
	temp := tempFolder(t)
	run := startOtherRun(t, helperTask{Sources: []Kind{Local}, TempDir: temp})
	dir := filepath.Dir(run.Directory)
	server, err := processesIn(dir)
	if err != nil || len(server) == 0 {
		t.Fatalf("no server in %s: %v", dir, err)
	}
	run.kill(t)
	eventually(t, "the server and its folder are gone", func() bool {
		left, err := processesIn(dir)
		return os.IsNotExist(err) && len(left) == 0 && !exists(dir)
	})
	for _, pid := range server {
		eventually(t, "no process of the server is left", func() bool { return !runs(pid) })
	}
}

func TestKillNineWhileAServerStartsLeavesNothingRunning(t *testing.T) {
	for _, c := range []struct{ name, file string }{
		{"when its folder has just been made", ""},
		{"when initdb has begun", "data/PG_VERSION"},
		{"when initdb is well under way", "data/base/1/PG_VERSION"},
		{"when the server has just started", "data/postmaster.opts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			temp := tempFolder(t)
			cmd := helperCommand(t, helperTask{Sources: []Kind{Local}, TempDir: temp})
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, c.file+" appears", func() bool {
				found, _ := filepath.Glob(filepath.Join(temp, directoryPrefix+"*", c.file))
				return len(found) > 0
			})
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			// Where a shell runs already it tidies up; an empty folder is left to the sweep.
			eventually(t, "nothing works in "+temp, func() bool {
				pids, err := processesIn(temp)
				found, _ := filepath.Glob(filepath.Join(temp, "*"))
				for _, dir := range found {
					more, err := processesIn(dir)
					if err == nil {
						pids = append(pids, more...)
					}
				}
				return err == nil && len(pids) == 0
			})
			sweepDirectories(t.Context(), Options{TempDir: temp, Log: slog.New(slog.DiscardHandler)})
			if left, _ := os.ReadDir(temp); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// runs tells whether a process is there and no zombie: in a container nobody may wait for orphans.
func runs(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func TestCtrlCLeavesNothingBehind(t *testing.T) {
	temp := tempFolder(t)
	run := startOtherRun(t, helperTask{Sources: []Kind{Local}, TempDir: temp})
	run.interrupt(t)
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Fatalf("left behind: %v %v", left, err)
	}
}

// orphan leaves a server running whose owner and whose shells were all killed: the worst that a kill -9 can do.
func orphan(t *testing.T, temp string) (dir string) {
	t.Helper()
	run := startOtherRun(t, helperTask{Sources: []Kind{Local}, TempDir: temp})
	dir = filepath.Dir(run.Directory)
	killShells(t, dir)
	run.kill(t)
	return dir
}

// killShells kills the shell that holds a server's lifeline and the one that watches it.
func killShells(t *testing.T, dir string) {
	t.Helper()
	pids, err := processesIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	shells := 0
	for _, pid := range pids {
		if cwd, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd")); cwd != dir {
			continue // the server and its workers work in the data folder
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		shells++
	}
	if shells != 2 {
		t.Fatalf("killed %d shells, want 2", shells)
	}
}

func TestASweepEndsAServerThatLostItsOwnerAndItsShells(t *testing.T) {
	temp := tempFolder(t)
	dir := orphan(t, temp)
	if pids, err := processesIn(dir); err != nil || len(pids) == 0 {
		t.Fatalf("the orphan does not run: %v %v", pids, err)
	}
	started := time.Now()
	sweepDirectories(t.Context(), Options{TempDir: temp, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	t.Logf("swept an orphaned server in %s", time.Since(started))
	if pids, _ := processesIn(dir); len(pids) != 0 {
		t.Errorf("still running: %v", pids)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCloseEndsAServerThatLostItsShells(t *testing.T) {
	temp := tempFolder(t)
	s := open(t, Options{Sources: []Kind{Local}, TempDir: temp})
	dir := filepath.Dir(ask(t, s, `SHOW data_directory`))
	killShells(t, dir)
	if got := ask(t, s, `SELECT 'here'`); got != "here" {
		t.Fatalf("the server says %q", got)
	}
	server, err := processesIn(dir)
	if err != nil || len(server) == 0 {
		t.Fatalf("no server in %s: %v", dir, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range server {
		if runs(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOpenSweepsWhatAKilledRunLeft(t *testing.T) {
	temp := tempFolder(t)
	dir := orphan(t, temp)
	s := open(t, Options{Sources: []Kind{Local}, TempDir: temp})
	if exists(dir) {
		t.Errorf("%s is still there", dir)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestASweepLeavesLiveServersAlone(t *testing.T) {
	temp := tempFolder(t)
	other := startOtherRun(t, helperTask{Sources: []Kind{Local}, TempDir: temp})
	mine := open(t, Options{Sources: []Kind{Local}, TempDir: temp})
	for range 3 {
		sweepDirectories(t.Context(), Options{TempDir: temp, Log: slog.New(slog.DiscardHandler)})
	}
	if got := ask(t, mine, `SELECT 'here'`); got != "here" {
		t.Errorf("our own server says %q", got)
	}
	if pids, err := processesIn(other.Directory); err != nil || len(pids) == 0 {
		t.Errorf("the other run's server is gone: %v", err)
	}
	other.interrupt(t)
}

func TestSweepsNeverTakeADirectoryThatItsMakerHolds(t *testing.T) {
	temp := tempFolder(t)
	log := slog.New(slog.DiscardHandler)
	ctx, stop := context.WithCancel(t.Context())
	var sweepers, makers sync.WaitGroup
	for range 2 {
		sweepers.Go(func() {
			for ctx.Err() == nil {
				sweepDirectories(ctx, Options{TempDir: temp, Log: log})
			}
		})
	}
	as, err := serverAccount()
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		makers.Go(func() {
			for range 100 {
				d, err := newDirectory(temp, as)
				if err != nil {
					t.Error(err)
					return
				}
				file := filepath.Join(d.path, "file")
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Errorf("a live directory was swept: %v", err)
				}
				if _, err := os.Stat(file); err != nil {
					t.Errorf("a live directory was swept: %v", err)
				}
				if err := d.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	makers.Wait()
	stop()
	sweepers.Wait()
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestASweepTouchesOnlyOurOwnDirectories(t *testing.T) {
	temp := tempFolder(t)
	elsewhere := filepath.Join(temp, "elsewhere")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(temp, directoryPrefix+"link")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(temp, directoryPrefix+"file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	abandoned := filepath.Join(temp, directoryPrefix+"abandoned")
	if err := os.Mkdir(abandoned, 0o700); err != nil {
		t.Fatal(err)
	}
	strangers := filepath.Join(temp, directoryPrefix+"strangers")
	if err := os.Mkdir(strangers, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // nobody else can give directories away
		const stranger = 4321
		if err := os.Chown(strangers, stranger, stranger); err != nil {
			t.Fatal(err)
		}
	}
	sweepDirectories(t.Context(), Options{TempDir: temp, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	for _, path := range []string{elsewhere, link, file} {
		if !exists(path) {
			t.Errorf("%s was swept", path)
		}
	}
	if exists(abandoned) {
		t.Errorf("%s was not swept", abandoned)
	}
	if os.Geteuid() == 0 && !exists(strangers) {
		t.Errorf("another user's directory was swept")
	}
}

func TestACommandThatResistsItsSignalIsKilled(t *testing.T) {
	dir := tempFolder(t)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	ready := filepath.Join(dir, "ready")
	p, err := supervise("QUIT", "", dir, nil, log, "/bin/sh", "-c", `trap "" QUIT TERM; : > "$0"; while :; do sleep 1; done`, ready)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command runs", func() bool { return exists(ready) })
	if err := p.stop(200 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no process of the command is left", func() bool {
		pids, err := processesIn(dir)
		return err == nil && len(pids) == 0
	})
}

func TestACommandThatEndsByItselfKeepsItsFolder(t *testing.T) {
	dir := tempFolder(t)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p, err := supervise("QUIT", dir, dir, nil, log, "/bin/sh", "-c", "echo why; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	if p.err == nil || !strings.Contains(p.err.Error(), "exit status 3") {
		t.Errorf("ended with %v, want exit status 3", p.err)
	}
	if err := p.stop(time.Second); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(log.Name()); err != nil || string(text) != "why\n" {
		t.Errorf("its log says %q %v", text, err)
	}
}

func TestTheLifelineIsNotInheritedByTheCommand(t *testing.T) {
	dir := tempFolder(t)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p, err := supervise("QUIT", "", dir, nil, log, "/bin/sh", "-c", `if (: <&3) 2>/dev/null; then echo open; else echo closed; fi`)
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	if err := p.stop(time.Second); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(log.Name()); string(text) != "closed\n" {
		t.Errorf("descriptor 3 of the command is %q", text)
	}
}
