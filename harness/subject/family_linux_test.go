package subject_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"assay/harness/subject"
)

func TestAFamilyIsFoundWhereverItWentAndEnded(t *testing.T) {
	for _, how := range []struct {
		name string
		end  func(p *subject.Process) error
		mode string
	}{
		{"by Stop", func(p *subject.Process) error { return p.Stop(context.Background()) }, ""},
		{"by Stop though they ignore SIGTERM", func(p *subject.Process) error { return p.Stop(context.Background()) }, "--stubborn"},
		{"by Kill", (*subject.Process).Kill, ""},
		{"when the command dies by itself", func(p *subject.Process) error {
			if err := syscall.Kill(p.Pid(), syscall.SIGKILL); err != nil {
				return err
			}
			<-p.Exited()
			return nil
		}, ""},
	} {
		t.Run(how.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "ids")
			c := command(t, script(t, "forks.py", "{listen} "+file+" "+how.mode))
			c.StopTimeout = time.Second
			p := start(t, c, subject.Values{})
			family := pids(t, file, 5)
			if err := how.end(p); err != nil {
				t.Fatal(err)
			}
			for _, pid := range family {
				if running(pid) {
					t.Errorf("process %d of %v is left", pid, family)
				}
			}
		})
	}
}

func TestWhenOurProcessIsKilledTheSubjectEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ids")
	helper := exec.Command(os.Args[0])
	helper.Env = append(os.Environ(), helperVariable+"="+script(t, "forks.py", "{listen} "+file), "PYTHONDONTWRITEBYTECODE=1")
	keep, err := helper.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer keep.Close()
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	family := pids(t, file, 5)
	for _, pid := range family {
		if !running(pid) {
			t.Fatalf("process %d of %v does not run before the kill", pid, family)
		}
	}
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	helper.Wait()
	eventually(t, "the watchdog ends the whole family", func() bool {
		for _, pid := range family {
			if running(pid) {
				return false
			}
		}
		return true
	})
}
