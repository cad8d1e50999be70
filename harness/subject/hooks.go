package subject

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The hooks an owner may give, by name.
const (
	HookRestart = "restart" // restart the subject; no placeholder
	HookClock   = "clock"   // move the subject's clock by {seconds}
	HookLimits  = "limits"  // set the limits in {json}, an object by limit name
)

// hookPlaceholders lists the hooks with what their commands may contain; the
// placeholder listed is required.
func hookPlaceholders() map[string][]string {
	return map[string][]string{HookRestart: nil, HookClock: {"seconds"}, HookLimits: {"json"}}
}

// Hook is one command of the owner's for what only the owner can do.
type Hook struct {
	Name  string
	Shell string
	// Timeout bounds one run, 0 for 60 s.
	Timeout time.Duration

	template template
}

// ParseHook reads name=command, such as clock='date-shift {seconds}'.
func ParseHook(text string) (Hook, error) {
	name, shell, found := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	known := hookPlaceholders()
	placeholders, ok := known[name]
	if !found || !ok {
		return Hook{}, fmt.Errorf("hook %q is unknown; write one of %s, for example restart='systemctl restart yours'",
			escape([]byte(name), 60), strings.Join(slices.Sorted(maps.Keys(known)), "=… ")+"=…")
	}
	t, err := parseTemplate(shell, placeholders)
	if err != nil {
		return Hook{}, fmt.Errorf("hook %s: %w", name, err)
	}
	for _, p := range placeholders {
		if !t.uses(p) {
			return Hook{}, fmt.Errorf("hook %s: the command has no placeholder {%s}, so it cannot know what to do", name, p)
		}
	}
	return Hook{Name: name, Shell: shell, template: t}, nil
}

// Run runs the hook and waits for it. The values are by placeholder name; log
// gets what it prints and may be nil. A hook may leave processes in the
// background on purpose (a restarted server); those are left alone, but a hook
// that fails or takes too long is ended with its whole process group.
func (h Hook) Run(ctx context.Context, values map[string]string, log func(line string)) error {
	env, err := h.template.environment(func(name string) (string, error) {
		value, ok := values[name]
		if !ok {
			return "", errors.New("no value was given for it")
		}
		return value, nil
	})
	if err != nil {
		return fmt.Errorf("hook %s: %w", h.Name, err)
	}
	timeout := h.Timeout
	if timeout <= 0 {
		timeout = time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no end within %v", timeout))
	defer cancel()
	output, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("hook %s: pipe for its output: %w", h.Name, err)
	}
	defer output.Close()
	command := exec.Command("sh", "-c", h.template.script)
	command.Env = append(os.Environ(), env...)
	command.Stdout, command.Stderr = write, write
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = command.Start()
	if err != nil {
		return errors.Join(fmt.Errorf("hook %s: %w", h.Name, err), write.Close())
	}
	g := newGroup(rand.Text(), command.Process.Pid, write)
	write.Close()
	rec := &recorder{log: log}
	read, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(read)
		rec.read(output)
	}()
	go func() {
		defer close(ended)
		awaitExit(command.Process.Pid)
	}()
	select {
	case <-ended:
		err = nil
	case <-ctx.Done():
		err = context.Cause(ctx)
		g.signal(syscall.SIGKILL)
		<-ended
	}
	if err == nil {
		// What it left in the background may hold its output for ever; what the
		// hook itself printed is in the pipe already.
		output.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	} else {
		output.SetReadDeadline(time.Now().Add(time.Second))
	}
	<-read
	wait := command.Wait()
	switch {
	case err != nil:
		return fmt.Errorf("hook %s: %w; it was ended\n%s", h.Name, err, rec.describe())
	case wait != nil:
		return fmt.Errorf("hook %s: %s\n%s", h.Name, describeState(command.ProcessState), rec.describe())
	}
	return nil
}

// Hooks are the owner's hooks by name. The zero value has none.
type Hooks map[string]Hook

// ParseHooks reads several hooks; each name once.
func ParseHooks(texts []string) (Hooks, error) {
	hooks := make(Hooks, len(texts))
	for _, text := range texts {
		h, err := ParseHook(text)
		if err != nil {
			return nil, err
		}
		if hooks.Has(h.Name) {
			return nil, fmt.Errorf("hook %s is given twice; put both commands into one: %s='… && …'", h.Name, h.Name)
		}
		hooks[h.Name] = h
	}
	return hooks, nil
}

// Has says whether the owner gave this hook.
func (h Hooks) Has(name string) bool {
	_, ok := h[name]
	return ok
}

// Run runs one hook, see [Hook.Run].
func (h Hooks) Run(ctx context.Context, name string, values map[string]string, log func(line string)) error {
	hook, ok := h[name]
	if !ok {
		return fmt.Errorf("hook %s was not given; give --hook %s='…'", name, name)
	}
	return hook.Run(ctx, values, log)
}
