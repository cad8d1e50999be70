package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assay/harness/gate"
	"assay/harness/postgres"
	"assay/harness/subject"
	"assay/spec"
)

// ErrNoDatabase says that the subject was given no database by us.
var ErrNoDatabase = errors.New("the subject was given no database of ours")

// Sessions is a Running whose connections to its database we can cut.
type Sessions interface {
	// EndSessions cuts them all and returns how many there were.
	EndSessions(ctx context.Context) (int, error)
}

// TargetSource is one address that somebody else runs, or several instances of
// one backend.
type TargetSource struct {
	Target subject.Target
	// Others are further instances, on the same database. They are probed here;
	// OnInstances makes a suite use them.
	Others []subject.Target
	// Gate is what its owner put between it and its database, nil for nothing.
	Gate *gate.Gate
}

// Describe names the addresses.
func (s TargetSource) Describe() string {
	out := s.Target.Endpoint.String()
	for _, t := range s.Others {
		out += " " + t.Endpoint.String()
	}
	return out
}

// Access is the wire, control where the owner gave a restart hook, and the gate
// where there is one.
func (s TargetSource) Access() spec.AccessSet {
	a := spec.AccessOf(spec.Wire)
	if s.Target.Hooks.Has(subject.HookRestart) {
		a = a.With(spec.Control)
	}
	if s.Gate != nil {
		a = a.With(spec.Gate)
	}
	return a
}

// Instances lists the endpoints beside the first.
func (s TargetSource) Instances() (out []subject.Endpoint) {
	for _, t := range s.Others {
		out = append(out, t.Endpoint)
	}
	return out
}

// Shared is true: whatever runs there is somebody's.
func (TargetSource) Shared() bool { return true }

// Supports reports whether the owner's hooks allow the configuration.
func (s TargetSource) Supports(c subject.Configuration) error { return s.Target.Supports(c) }

// Start probes the address.
func (s TargetSource) Start(ctx context.Context, c subject.Configuration) (Running, error) {
	r, err := s.Target.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, t := range s.Others {
		if _, err := t.Open(ctx, subject.Configuration{}); err != nil {
			return nil, fmt.Errorf("another instance: %w", err)
		}
	}
	return target{r, s.Gate}, nil
}

type target struct {
	*subject.Remote
	gate *gate.Gate
}

func (target) NoReplica() bool    { return false }
func (target) Chain() Chain       { return nil }
func (t target) Gate() *gate.Gate { return t.gate }

// SpawnSource starts subjects by a shell command, each on a database of its own.
type SpawnSource struct {
	// Name describes the subject in reports; "" uses the command's own text,
	// which holds placeholders and no secret.
	Name    string
	Command subject.Command
	// Postgres gives the databases; it may be nil when the command asks for none.
	Postgres *postgres.Server
	// Points name the statements of a subject that tags none; nil for none.
	Points *gate.Points
	// Chain starts a chain RPC for a subject whose configuration asks for one;
	// nil where the suite knows no chains.
	Chain func(ctx context.Context) (Chain, error)
	// Keepalive is the suite's default keepalive interval, for {keepalive_ms}.
	Keepalive time.Duration
}

// Describe names the command.
func (s SpawnSource) Describe() string {
	if s.Name != "" {
		return s.Name
	}
	return s.Command.Shell
}

// Access is the wire, control of the process, and the chain where the command
// takes one.
func (s SpawnSource) Access() spec.AccessSet {
	a := spec.AccessOf(spec.Wire, spec.Control)
	if s.asksDatabase() {
		a = a.With(spec.Gate)
	}
	if s.Chain != nil && s.Command.Uses("chain") {
		a = a.With(spec.Chain)
	}
	return a
}

// Shared is false: every start is a process and a database of its own.
func (SpawnSource) Shared() bool { return false }

func (s SpawnSource) asksDatabase() bool {
	return s.Command.Uses("database") || s.Command.Uses("db_name")
}

// Supports reports whether the command has the placeholders a configuration needs.
func (s SpawnSource) Supports(c subject.Configuration) error { return s.Command.Supports(c) }

// Start creates a database and spawns the command on it.
func (s SpawnSource) Start(ctx context.Context, c subject.Configuration) (Running, error) {
	v := subject.Values{Configuration: c, KeepaliveMS: uint32(s.Keepalive.Milliseconds())}
	sp := &spawned{noReplica: s.asksDatabase()}
	if sp.noReplica {
		if s.Postgres == nil {
			return nil, errors.New("the command asks for a database and there is no Postgres to make one on")
		}
		db, err := s.Postgres.CreateDatabase(ctx, "subject")
		if err != nil {
			return nil, fmt.Errorf("make a database for the subject: %w", err)
		}
		sp.database = db
		if sp.gate, err = Stand(gate.Config{Listen: "127.0.0.1:0", Database: db.URL(), Points: s.Points}); err != nil {
			return nil, errors.Join(err, sp.drop(ctx))
		}
		if v.DatabaseURL, err = sp.gate.URL(db.URL()); err != nil {
			return nil, errors.Join(err, sp.drop(ctx))
		}
	}
	if c.Chain && s.Chain != nil {
		chain, err := s.Chain(ctx)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("start a chain for the subject: %w", err), sp.drop(ctx))
		}
		sp.chain = chain
		v.Chain, v.ChainID = chain.URL(), chain.ID()
	}
	p, err := s.Command.Start(ctx, v)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the subject: %w", err), sp.drop(ctx))
	}
	sp.Process = p
	sp.died = make(chan struct{})
	sp.watch()
	return sp, nil
}

// spawned is a process of ours and its database.
type spawned struct {
	*subject.Process
	database  *postgres.Database
	gate      *Standing
	chain     Chain
	noReplica bool

	died chan struct{} // see Exited
	mu   sync.Mutex    // guards life
	life *life
}

// life is one run of the process.
type life struct {
	asked bool // to end, by us; guarded by spawned.mu
}

// watch notes when the life that has just begun ends without our asking.
func (s *spawned) watch() {
	l := &life{}
	s.mu.Lock()
	s.life = l
	s.mu.Unlock()
	gone := s.Process.Exited()
	go func() {
		<-gone
		s.mu.Lock()
		defer s.mu.Unlock()
		if !l.asked {
			close(s.died)
		}
	}()
}

// asked notes that the end of the present life is our doing.
func (s *spawned) asked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life.asked = true
}

// Exited is closed when the subject ends although nobody here ended it. A
// scenario that kills it goes on.
func (s *spawned) Exited() <-chan struct{} { return s.died }

// Kill ends the process without warning.
func (s *spawned) Kill() error {
	s.asked()
	return s.Process.Kill()
}

// Restart ends the process, if it runs, and starts it again on its database.
func (s *spawned) Restart(ctx context.Context) error {
	s.asked()
	if err := s.Process.Restart(ctx); err != nil {
		return err
	}
	s.watch()
	return nil
}

// EndSessions cuts every connection of the subject to its database and returns
// how many there were. It fails for a subject that was given none.
func (s *spawned) EndSessions(ctx context.Context) (int, error) {
	if s.database == nil {
		return 0, ErrNoDatabase
	}
	return s.database.EndSessions(ctx)
}

// NoReplica is true when the harness gave the subject its only database.
func (s *spawned) NoReplica() bool { return s.noReplica }

// Chain is the chain it was given, nil for none.
func (s *spawned) Chain() Chain { return s.chain }

// Stop ends the process group and its chain, then drops the database.
func (s *spawned) Stop(ctx context.Context) error {
	s.asked()
	return errors.Join(s.Process.Stop(ctx), s.drop(ctx))
}

// Gate is what stands between the process and its database, nil for a process
// without one.
func (s *spawned) Gate() *gate.Gate {
	if s.gate == nil {
		return nil
	}
	return s.gate.Gate
}

// drop removes the database even when the run was cancelled: a run leaves
// nothing behind.
func (s *spawned) drop(ctx context.Context) error {
	var ended error
	if s.chain != nil {
		ended = s.chain.Close()
	}
	if s.gate != nil {
		ended = errors.Join(ended, s.gate.Close())
	}
	if s.database == nil {
		return ended
	}
	dctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	return errors.Join(ended, s.database.Drop(dctx))
}
