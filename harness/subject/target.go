package subject

import (
	"context"
	"fmt"
	"time"
)

// Target is a subject that somebody else runs: an address, and what its owner
// lets us do to it.
type Target struct {
	Endpoint Endpoint
	// Probe says whether the protocol is spoken there. Nil takes an accepted
	// connection.
	Probe Probe
	// Timeout bounds the probing in Open, 0 for 10 s.
	Timeout time.Duration
	// Hooks do what only the owner can.
	Hooks Hooks
	// Log gets what the hooks print, see [Command.Log].
	Log func(line string)
}

// Supports says whether a configuration can be had here: the default always,
// other limits with a limits hook, the rest never.
func (t Target) Supports(cfg Configuration) error {
	switch {
	case cfg.KeepaliveMS != 0:
		return fmt.Errorf("%w: %s cannot be asked of a running address; use --spawn with {keepalive_ms}", ErrUnsupported, cfg.Describe())
	case cfg.Chain:
		return fmt.Errorf("%w: %s cannot be asked of a running address; use --spawn with {chain}", ErrUnsupported, cfg.Describe())
	case len(cfg.Limits) > 0 && !t.Hooks.Has(HookLimits):
		return fmt.Errorf("%w: %s cannot be asked of a running address; give --hook limits='… {json}', or use --spawn with {limits}", ErrUnsupported, cfg.Describe())
	}
	return nil
}

// Open probes the target until it answers or the timeout is over, applies the
// limits of a configuration through the hook, and returns the subject. When it
// does not answer the error is a [Diagnosis].
func (t Target) Open(ctx context.Context, cfg Configuration) (*Remote, error) {
	if err := t.Supports(cfg); err != nil {
		return nil, err
	}
	r := &Remote{target: t}
	if len(cfg.Limits) > 0 {
		if err := t.Hooks.Run(ctx, HookLimits, map[string]string{"json": cfg.LimitsJSON()}, t.Log); err != nil {
			return nil, err
		}
	}
	return r, r.await(ctx)
}

// Remote is a subject at an address, not ours to stop.
type Remote struct {
	target Target
}

var _ Subject = (*Remote)(nil)

// await asks until the target answers. A refusal may pass while its owner
// restarts it; what a second attempt cannot change is diagnosed at once.
func (r *Remote) await(ctx context.Context) error {
	t := r.target
	probe, timeout := t.Probe, t.Timeout
	if probe == nil {
		probe = accepts
	}
	if timeout <= 0 {
		timeout = 10 * time.Second
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := probe(bounded, t.Endpoint)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("asking %s: %w", t.Endpoint, context.Cause(ctx))
		}
		diagnosing, done := context.WithTimeout(ctx, diagnosisTimeout)
		why := Diagnose(diagnosing, t.Endpoint, err)
		done()
		if d, ok := why.(*Diagnosis); !ok || !d.Fault.passing() {
			return why
		}
		select {
		case <-bounded.Done():
			return why
		case <-ticker.C:
		}
	}
}

// Endpoint is the target's.
func (r *Remote) Endpoint() Endpoint { return r.target.Endpoint }

// Owned is false.
func (r *Remote) Owned() bool { return false }

// Exited is nil: an address does not exit.
func (r *Remote) Exited() <-chan struct{} { return nil }

// ExitReason is "".
func (r *Remote) ExitReason() string { return "" }

// Stop leaves the subject alone.
func (r *Remote) Stop(context.Context) error { return nil }

// Kill is ErrNotOwned.
func (r *Remote) Kill() error { return ErrNotOwned }

// Restart runs the owner's restart hook and waits until the target answers.
func (r *Remote) Restart(ctx context.Context) error {
	if !r.target.Hooks.Has(HookRestart) {
		return fmt.Errorf("%w; give --hook restart='…' to allow it", ErrNotOwned)
	}
	if err := r.target.Hooks.Run(ctx, HookRestart, nil, r.target.Log); err != nil {
		return err
	}
	return r.await(ctx)
}
