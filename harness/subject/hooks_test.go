package subject_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/harness/subject"
)

func TestAHookIsReadOrRefusedWithAReason(t *testing.T) {
	for _, c := range []struct{ name, text, err string }{
		{"restart needs no placeholder", "restart=systemctl restart yours", ""},
		{"clock has {seconds}", "clock=shift {seconds}", ""},
		{"limits has {json}, and an = of its own", "limits=A={json} ./set", ""},
		{"an unknown hook", "reboot=x", `hook "reboot" is unknown; write one of clock=… limits=… restart=…`},
		{"no command", "restart", "is unknown"},
		{"an empty command", "restart= ", "hook restart: the command is empty"},
		{"a placeholder of another hook", "restart=x {seconds}", "unknown placeholder {seconds}"},
		{"a missing placeholder", "clock=x", "no placeholder {seconds}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := subject.ParseHook(c.text)
			if (err == nil) != (c.err == "") || (err != nil && !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, expected %q", err, c.err)
			}
		})
	}
	if _, err := subject.ParseHooks([]string{"restart=a", "restart=b"}); err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("the same hook twice: %v", err)
	}
}

func TestAHookRunsWithItsValueAndReportsFailure(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	hooks, err := subject.ParseHooks([]string{"limits=printf %s {json} >" + out, "clock=echo {seconds} is impossible; exit 5", "restart=echo begun; exec sleep 1000"})
	if err != nil {
		t.Fatal(err)
	}
	value := `{"a":"$(id) ' \" {json}"}`
	if err := hooks.Run(t.Context(), subject.HookLimits, map[string]string{"json": value}, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != value {
		t.Errorf("the hook got %q (%v)", got, err)
	}
	var logged []string
	err = hooks.Run(t.Context(), subject.HookClock, map[string]string{"seconds": "-3"}, func(line string) { logged = append(logged, line) })
	if err == nil {
		t.Fatal("exit status 5 is success")
	}
	contains(t, err.Error(), "hook clock: exit status 5", "| -3 is impossible")
	if strings.Join(logged, "|") != "-3 is impossible" {
		t.Errorf("logged %q", logged)
	}
	if err := hooks.Run(t.Context(), subject.HookClock, nil, nil); err == nil || !strings.Contains(err.Error(), "{seconds}") {
		t.Errorf("without a value: %v", err)
	}
	slow := hooks[subject.HookRestart]
	slow.Timeout = 200 * time.Millisecond
	began := time.Now()
	if err := slow.Run(t.Context(), nil, nil); err == nil {
		t.Error("a hook that hangs is success")
	} else {
		contains(t, err.Error(), "no end within 200ms", "it was ended", "| begun")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := hooks.Run(cancelled, subject.HookRestart, nil, nil); err == nil {
		t.Error("a cancelled hook is success")
	}
	if err := (subject.Hooks)(nil).Run(t.Context(), subject.HookClock, nil, nil); err == nil {
		t.Error("a hook that was not given ran")
	}
}

func TestWhatAHookStartsInTheBackgroundLivesOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "id")
	h, err := subject.ParseHook("restart=sleep 1000 & echo $! >" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Run(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	pid := pids(t, file, 1)[0]
	if !running(pid) {
		t.Error("the server that a restart hook started was ended with the hook")
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Error(err)
	}
}

func TestARestartHookRestartsATarget(t *testing.T) {
	p := start(t, command(t, script(t, "serve.py", "{listen}")), subject.Values{})
	marker := filepath.Join(t.TempDir(), "restarted")
	hooks, err := subject.ParseHooks([]string{"restart=touch " + marker, "limits=printf %s {json} >" + marker + ".limits"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := subject.Configuration{Limits: map[string]uint64{"a": 1}}
	r, err := subject.Target{Endpoint: p.Endpoint(), Probe: probe, Hooks: hooks}.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(marker + ".limits"); err != nil || string(got) != cfg.LimitsJSON() {
		t.Errorf("limits hook got %q (%v)", got, err)
	}
	if err := r.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(marker); err != nil {
		t.Error("the hook did not run")
	}
}
