package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit statuses. A count would wrap at 256 and pass for success.
const (
	statusPassed = 0
	statusFailed = 1 // the subject, or what was to be decided about it
	statusBroken = 2 // the tool, its arguments, or the subject's reachability
)

// program is one run of the command: its streams and its environment.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	lookup         func(string) (string, bool)
	// self is the path of this binary, for the built-in subject.
	self   string
	suites []suite
	// status is what a subcommand that worked wants to end with.
	status int
}

// Main runs the command with the given arguments, streams and environment, and
// returns its exit status.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, lookup func(string) (string, bool)) int {
	return command(ctx, suites, args, stdin, stdout, stderr, lookup)
}

// command is Main with the wiring handed in.
func command(ctx context.Context, wiring func() ([]suite, error), args []string, stdin io.Reader, stdout, stderr io.Writer, lookup func(string) (string, bool)) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, lookup: lookup}
	err := p.start(ctx, wiring, args)
	if err == nil {
		return p.status
	}
	p.say("assay: %s", visible(err.Error()))
	return statusBroken
}

func (p *program) start(ctx context.Context, wiring func() ([]suite, error), args []string) (err error) {
	if p.self, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program's own file, which starts the built-in subject: %w", err)
	}
	if p.suites, err = wiring(); err != nil {
		return err
	}
	root := p.root()
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// say writes one line of talk. Talk never mixes with results.
func (p *program) say(format string, args ...any) { fmt.Fprintf(p.stderr, format+"\n", args...) }

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "assay",
		Short: "Hold a messaging backend against its specification",
		Long: `Assay holds a messaging backend against its specification, requirement by requirement.

Exit status: 0 when nothing is violated or inconclusive and everything that the selected scenarios
undertook to decide is satisfied, 1 otherwise, 2 when the tool, its arguments or the subject's
reachability failed.`,
		Args:          noWord,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(p.verifyCommand(), p.specCommand(), p.checkCommand(), p.replayCommand(), p.serveCommand(), p.gateCommand(), p.doctorCommand(), p.versionCommand())
	if c := p.chainCommand(); c != nil {
		root.AddCommand(c)
	}
	if len(p.mutable()) > 0 {
		root.AddCommand(p.mutantsCommand())
	}
	return root
}

// noWord refuses a word where a subcommand was expected.
func noWord(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return fmt.Errorf("command %q is unknown: use one of %s%s", shown(args[0]), strings.Join(names, ", "), didYouMean(args[0], names))
}

// flagError explains a flag that cannot be read, with the nearest that can.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return fmt.Errorf("flag --%s is unknown to %s: see %s --help%s", shown(unknown.GetSpecifiedName()), c.CommandPath(), c.CommandPath(),
			didYouMean("--"+unknown.GetSpecifiedName(), names))
	}
	return fmt.Errorf("%w: see %s --help", err, c.CommandPath())
}

// shown bounds what was typed for a message, and takes out what is not text.
func shown(s string) string {
	const most = 80
	runes := []rune(strings.ToValidUTF8(s, "?"))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

// interruptible returns a context that the first SIGINT or SIGTERM cancels, so
// that everything is cleaned up; a second one ends the process at once.
func interruptible(parent context.Context, stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case s := <-signals:
				if n > 0 {
					os.Exit(statusBroken)
				}
				fmt.Fprintf(stderr, "\nassay: %s: cleaning up; once more to leave at once\n", s)
				cancel(fmt.Errorf("ended by signal: %s", s))
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
