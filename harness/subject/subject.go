// Package subject is what the engine asks of a system under test: an address
// to talk to, and, where we own the process behind it, a way to start, stop,
// crash and configure it.
//
// There are two sources of a subject. [Command] is a shell command with
// placeholders: [ParseCommand] reads it and [Command.Start] spawns it, waits
// until it answers and returns a [Process]. [Target] is an address that
// somebody else looks after: [Target.Open] probes it and explains what is wrong
// when it does not answer. Both give a [Subject].
//
// What the package promises about a spawned subject: it is ready before Start
// returns, or Start says why not and nothing of it is left running; Stop and
// Kill return when the last process of it is gone, also those that left its
// process group or session; and when our own process is killed, a watchdog ends
// the subject. A password that was handed in through a placeholder is on no
// command line and in no recorded output line.
//
// What it does not do: it knows no protocol. Whether a peer is ready, and what
// an answer means, is the suite's [Probe]. It does not confine a subject: a
// process that leaves its session, clears its environment, closes its output
// and outlives its parent is lost to it, and so is a container, which is a child
// of its engine and not of the command that asked for it: such a command must
// stop the container when it gets SIGTERM. Outside Linux only the process group
// is followed. It needs a POSIX shell, so it does not run on Windows.
package subject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Subject is a running system under test, owned or not.
type Subject interface {
	// Endpoint is where it answers. It does not change over a restart.
	Endpoint() Endpoint
	// Owned says whether Stop, Kill and Signal are ours to use.
	Owned() bool
	// Exited is closed when the subject we started last is gone. For a subject
	// that is not owned it is never closed.
	Exited() <-chan struct{}
	// ExitReason says how it ended and what it said last, "" while it runs.
	ExitReason() string
	// Stop asks it to end, then makes it end. Not owned: nothing happens.
	Stop(ctx context.Context) error
	// Kill ends it without warning. Not owned: ErrNotOwned.
	Kill() error
	// Restart ends it and starts it again with the same values at the same
	// address. Not owned: the restart hook, or ErrNotOwned without one.
	Restart(ctx context.Context) error
}

// The kinds of failure a caller may want to tell apart, to be used with
// errors.Is. The text around them says the rest.
var (
	// ErrExited: the command ended before it answered.
	ErrExited = errors.New("the subject ended before it was ready")
	// ErrDaemonised: the command returned and left processes in the background.
	ErrDaemonised = errors.New("the subject's command returned and left processes in the background")
	// ErrNotReady: the command runs, but gave no answer of the protocol in time.
	ErrNotReady = errors.New("the subject was not ready in time")
	// ErrLeftBehind: processes of the subject outlived SIGKILL.
	ErrLeftBehind = errors.New("processes of the subject are still running")
	// ErrNotOwned: the subject was given by address, so its process is not ours.
	ErrNotOwned = errors.New("the subject was given by address, its process is not ours to control")
	// ErrUnsupported: this subject cannot be given the configuration asked for.
	ErrUnsupported = errors.New("the subject cannot be given this configuration")
)

// Probe says whether the peer at an endpoint answers the suite's protocol. Any
// answer of the protocol counts, a refusal too: a missing method or a missing
// health service is a finding for the verdicts, not a failure to start. A probe
// honours its context and may be called many times.
type Probe func(ctx context.Context, e Endpoint) error

// Configuration is what a scenario needs of a subject beyond its defaults. The
// zero value asks for nothing. Scenarios with equal keys can share one subject.
type Configuration struct {
	// Limits replaces limits by their catalogue names, such as
	// max_query_topics or group_message_seconds, in the unit of that limit.
	Limits map[string]uint64
	// KeepaliveMS is the interval of keepalive messages in milliseconds,
	// 0 for the subject's default.
	KeepaliveMS uint32
	// Chain asks for a chain RPC that we control.
	Chain bool
}

// Key names the configuration: equal configurations have equal keys, different
// ones different keys, and the default has "".
func (c Configuration) Key() string {
	var parts []string
	if len(c.Limits) > 0 {
		parts = append(parts, "limits="+c.LimitsJSON())
	}
	if c.KeepaliveMS != 0 {
		parts = append(parts, fmt.Sprintf("keepalive_ms=%d", c.KeepaliveMS))
	}
	if c.Chain {
		parts = append(parts, "chain")
	}
	return strings.Join(parts, " ")
}

// LimitsJSON is the value of the placeholder {limits}: one JSON object with
// sorted names, {} when nothing is asked for.
func (c Configuration) LimitsJSON() string {
	if len(c.Limits) == 0 {
		return "{}"
	}
	// A map of strings to numbers always encodes, and encoding/json sorts its keys.
	text, err := json.Marshal(c.Limits)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// Describe says in words what is asked for, for progress lines and errors.
func (c Configuration) Describe() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.Limits)) {
		parts = append(parts, fmt.Sprintf("%s %d", escape([]byte(name), 80), c.Limits[name]))
	}
	if c.KeepaliveMS != 0 {
		parts = append(parts, fmt.Sprintf("keepalive %d ms", c.KeepaliveMS))
	}
	if c.Chain {
		parts = append(parts, "a chain of ours")
	}
	if len(parts) == 0 {
		return "the default configuration"
	}
	return strings.Join(parts, ", ")
}
