package run

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"slices"
	"sort"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"assay/harness/history"
	"assay/harness/schedule"
	"assay/harness/verdict"
	"assay/model"
	"assay/spec"
)

// Options says what to verify and how hard.
type Options struct {
	Suite  Suite
	Source Source
	// Addresses narrow the scenarios; none means all.
	Addresses []string
	Seed      uint64
	Nonce     string
	Profile   Profile
	// Parallel is how many scenarios run at once; 0 means 8.
	Parallel int
	// Repeat is how often each scenario runs, on topics of its own each time; 0
	// means once.
	Repeat int
	// Timeout bounds one scenario; 0 means two minutes.
	Timeout time.Duration
	// Stress allows storms and large limits against a shared subject.
	Stress bool
	// Rate caps the calls a second of the whole run; 0 is no cap.
	Rate float64
	// Choices, when not nil, replays recorded choices in the one scenario selected.
	Choices []byte
	// Schedule, when not nil, is what was held when a violation was found; a
	// schedule that stops at other statements is incompatible and goes no further.
	Schedule []schedule.Stop
	// History receives every history that was judged, also at the same time; nil
	// drops them.
	History func(*history.History)
	// Progress hears of every finished scenario; calls do not overlap.
	Progress func(Event)
}

// Event is one step of progress.
type Event struct {
	// Scenario is the one that finished, "" for a message alone.
	Scenario string
	Message  string
	// Status is "ok", "violated", "inconclusive" or "skipped".
	Status      string
	Breaches    []string
	Done, Total int
	Elapsed     time.Duration
}

// Result is what a run found.
type Result struct {
	Suite    Suite
	Subject  string
	Access   spec.AccessSet
	Seed     uint64
	Nonce    string
	Profile  Profile
	Verdicts []verdict.Verdict
	// Unimplemented lists, by call, the requirements a missing call blocks.
	Unimplemented map[string][]spec.ID
	Scenarios     []Finished
	Skipped       []Skip
	// Findings are the breaches with their reduced histories, in order.
	Findings []Finding
	Elapsed  time.Duration
	// First is the time until the first scenario was judged.
	First time.Duration
	Calls int
}

// Finished is one scenario that ran.
type Finished struct {
	Name string
	// Round counts the times the scenario ran, from 0.
	Round   int
	Elapsed time.Duration
	Calls   int
	// Failure says why it could not do what it does; "" when it could.
	Failure  string
	Breaches int
}

// Finding is one violation with the smallest history that shows it.
type Finding struct {
	verdict.Violation
	History *history.History
	Choices []byte
	// Schedule are the holds that stopped somebody, in order.
	Schedule []schedule.Stop
	// Round is the one of [Options.Repeat] that showed it, from 0.
	Round int
}

// Verify runs the selected scenarios against the source's subjects and
// concludes. Its error means that the tool, its arguments or the subject's
// reachability failed; everything a subject does wrong is in the result.
func Verify(ctx context.Context, o Options) (*Result, error) {
	o = o.withDefaults()
	all, err := o.Suite.Scenarios()
	if err != nil {
		return nil, fmt.Errorf("read the scenarios of %s: %w", o.Suite.Name(), err)
	}
	chosen, skipped, err := choose(o.Suite, all, o.Addresses, o)
	if err != nil {
		return nil, err
	}
	r := &runner{Options: o, start: time.Now(), tally: verdict.NewTally(o.Suite.Catalogue(), o.Source.Access(), o.Suite.Ambient()), total: len(chosen) * o.Repeat}
	for _, sc := range chosen {
		if err := r.tally.Promise(sc.Name, sc.Decides, sc.Touches); err != nil {
			return nil, err
		}
	}
	if err := r.groups(ctx, chosen); err != nil {
		return nil, err
	}
	return r.result(skipped), nil
}

func (o Options) withDefaults() Options {
	if o.Parallel <= 0 {
		o.Parallel = 8
	}
	o.Repeat = max(o.Repeat, 1)
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(Event) {}
	}
	return o
}

// runner is one run in progress.
type runner struct {
	Options
	start time.Time
	total int
	slots chan struct{}

	mu       sync.Mutex // guards everything below
	tally    *verdict.Tally
	finished []Finished
	findings []Finding
	first    time.Duration
	calls    int
	broken   error // a failure of the suite itself
	gone     error // why the subject was given up, nil while it answers
}

// subjectsAtOnce bounds how many subjects are up at the same time.
const subjectsAtOnce = 4

// turn is one of the times that a scenario runs.
type turn struct {
	Scenario
	round int
}

// probeLimit is how long a subject whose scenario ran out of time has to answer
// anything at all.
const probeLimit = 15 * time.Second

// probe gives up somebody's subject that does not answer any more: each scenario
// that is left would wait for all of its time.
func (r *runner) probe(ctx context.Context, running Running) {
	if !r.Source.Shared() || r.givenUp() != nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	err := r.Suite.Probe(limited, running.Endpoint())
	if err == nil || ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = fmt.Errorf("the subject was given up: a scenario had run out of time, and it did not answer within %s: %w", probeLimit, err)
}

func (r *runner) givenUp() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone
}

// name tells the times apart: each draws anew.
func (t turn) name() string {
	if t.round == 0 {
		return t.Name
	}
	return fmt.Sprintf("%s#%d", t.Name, t.round)
}

// groups runs scenarios, one subject for each configuration and for each
// exclusive scenario.
func (r *runner) groups(ctx context.Context, chosen []Scenario) error {
	byKey := make(map[string][]turn)
	var order []string
	for _, sc := range chosen {
		for round := range r.Repeat {
			key := sc.Configuration.Key()
			switch {
			case sc.Exclusive:
				key = fmt.Sprintf("exclusive %s %d", sc.Name, round)
			case sc.Forced:
				key = "forced " + key
			}
			if byKey[key] == nil {
				order = append(order, key)
			}
			byKey[key] = append(byKey[key], turn{sc, round})
		}
	}
	// The default configuration first: it has the most to say, soonest.
	rank := func(key string) int {
		switch {
		case key == "":
			return 0
		case byKey[key][0].Forced:
			return 2
		}
		return 1
	}
	sort.SliceStable(order, func(i, j int) bool { return rank(order[i]) < rank(order[j]) })
	r.slots = make(chan struct{}, r.Parallel)
	// On a subject that all share, schedules run when nobody else does: whose
	// statement it is shows only while one call is let in.
	var alone []string
	whole := ctx
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(subjectsAtOnce)
	for i, key := range order {
		if i == 0 {
			// A subject that cannot be reached at all ends the run before more are tried.
			ready := make(chan error, 1)
			g.Go(func() error { return r.group(ctx, byKey[key], ready) })
			select {
			case err := <-ready:
				if err != nil {
					return errors.Join(err, ignoreCancel(g.Wait(), err))
				}
			case <-ctx.Done():
				return errors.Join(context.Cause(ctx), g.Wait())
			}
			continue
		}
		if r.Source.Shared() && byKey[key][0].Forced {
			alone = append(alone, key)
			continue
		}
		g.Go(func() error { return r.group(ctx, byKey[key], nil) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, key := range alone {
		if err := r.group(whole, byKey[key], nil); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

// ignoreCancel keeps an error that says the same as one already known, or only
// that the rest was cancelled, out of the message.
func ignoreCancel(err, known error) error {
	if err == nil || errors.Is(err, context.Canceled) || err.Error() == known.Error() {
		return nil
	}
	return err
}

// group starts a subject, runs the scenarios on it and ends it. When ready is
// not nil, a failure to start is sent there and ends the run; otherwise it
// makes the group's scenarios inconclusive.
func (r *runner) group(ctx context.Context, turns []turn, ready chan<- error) error {
	conf := turns[0].Configuration
	fail := func(err error) error {
		if ready != nil {
			ready <- err
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, sc := range turns {
			r.done(sc, nil, 0, err)
		}
		return nil
	}
	running, err := r.Source.Start(ctx, conf)
	if err != nil {
		return fail(err)
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if err := running.Stop(stop); err != nil {
			r.Progress(Event{Message: "stop the subject: " + err.Error(), Elapsed: time.Since(r.start)})
		}
	}()
	client, err := r.Suite.Connect(ctx, Connection{Endpoint: running.Endpoint(), Configuration: conf, NoReplica: running.NoReplica(), Direct: running.Owned(), Chain: running.Chain(), Seed: r.Seed, Nonce: r.Nonce, Rate: r.Rate})
	if err != nil {
		return fail(err)
	}
	defer client.Close()
	if c, ok := client.(Claimer); ok && r.Source.Shared() && ready != nil {
		if err := c.Claim(ctx); err != nil {
			return fail(err)
		}
	}
	if ready != nil {
		ready <- nil
	}
	g, gctx := errgroup.WithContext(ctx)
	if turns[0].Forced {
		g.SetLimit(1) // whose statement it is shows only while one schedule runs
	}
	for _, sc := range turns {
		g.Go(func() error {
			select {
			case r.slots <- struct{}{}:
			case <-gctx.Done():
				return context.Cause(gctx)
			}
			defer func() { <-r.slots }()
			return r.scenario(gctx, sc, client, running)
		})
	}
	return g.Wait()
}

// scenario drives one scenario within its deadline and hands in what it saw.
func (r *runner) scenario(ctx context.Context, sc turn, client Client, running Running) error {
	begun := time.Now()
	if gone := r.givenUp(); gone != nil {
		r.done(sc, nil, 0, gone)
		return nil
	}
	sctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("scenario %s did not end within %s", sc.Name, r.Timeout))
	defer cancel()
	if exited := running.Exited(); exited != nil {
		// A subject that dies ends what runs on it, with the reason, at once.
		gone, stop := context.WithCancelCause(sctx)
		defer stop(nil)
		go func() {
			select {
			case <-exited:
				stop(errors.New("the subject ended: " + running.ExitReason()))
			case <-gone.Done():
			}
		}()
		sctx = gone
	}
	p := &Play{Scenario: sc.Scenario, round: sc.round, Profile: r.Profile, Seed: mix(r.Seed, sc.name()), Choices: r.Choices, suite: r.Suite, client: client, running: running,
		header: history.Header{Suite: r.Suite.Name(), Scenario: sc.Name, Seed: r.Seed, Nonce: r.Nonce, Subject: r.Source.Describe()},
		now:    func() time.Duration { return time.Since(r.start) }}
	p.expected = r.Schedule
	err := body(sctx, sc.Scenario, p)
	if sc.Forced && (err == nil || isUnmet(err)) {
		p.unsteady = r.again(sctx, sc, p)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case sctx.Err() != nil:
		err = context.Cause(sctx)
		r.probe(ctx, running)
	}
	r.done(sc, p, time.Since(begun), err)
	return nil
}

// again plays a schedule that showed a breach once more and says how the second
// time differed: then it is the subject that is not steady, not the schedule. It
// counts nothing.
func (r *runner) again(ctx context.Context, sc turn, first *Play) string {
	names := func(p *Play) (out []string) {
		for _, o := range p.sessions {
			for _, b := range r.Suite.Judge(o.recorder.History()).Breaches() {
				if b.Assertion.Basis == model.Spec && !slices.Contains(out, b.Assertion.Name) {
					out = append(out, b.Assertion.Name)
				}
			}
		}
		sort.Strings(out)
		return out
	}
	breaches := names(first)
	if len(breaches) == 0 || r.Repeat > 1 {
		return ""
	}
	second := &Play{Scenario: sc.Scenario, round: againRound, Profile: first.Profile, Seed: first.Seed, suite: r.Suite, client: first.client, running: first.running, header: first.header, now: first.now}
	err := body(ctx, sc.Scenario, second)
	defer func() {
		for _, o := range second.sessions {
			_ = o.session.Close() // it counts nothing
		}
	}()
	switch got := names(second); {
	case ctx.Err() != nil:
		return ""
	case len(got) == 0 && err != nil:
		return "a second run could not be followed: " + err.Error()
	case !slices.Equal(first.stops, second.stops):
		return fmt.Sprintf("a second run stopped at other statements: %v, not %v", second.stops, first.stops)
	case !slices.Equal(got, breaches):
		return fmt.Sprintf("a second run of the same statements broke %v, not %v", got, breaches)
	}
	return ""
}

// againRound is the round of a second run, above every other.
const againRound = 1 << 30

func isUnmet(err error) bool {
	u := (*Unmet)(nil)
	return errors.As(err, &u)
}

// body runs a scenario and turns a panic of its own into a failure: one bad
// scenario must not take the run with it.
func body(ctx context.Context, sc Scenario, p *Play) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("scenario %s panicked: %v\n%s", sc.Name, v, debug.Stack())
		}
	}()
	return sc.Body(ctx, p)
}

// done judges what a scenario recorded and adds it to the tally.
func (r *runner) done(sc turn, p *Play, elapsed time.Duration, failed error) {
	f := Finished{Name: sc.Name, Round: sc.round, Elapsed: elapsed}
	if failed != nil {
		f.Failure = failed.Error()
	}
	var found []Finding
	var broken error
	if p != nil {
		for _, s := range p.sessions {
			if err := s.session.Close(); err != nil && f.Failure == "" {
				f.Failure = "close session: " + err.Error()
			}
			if !s.counted {
				continue
			}
			h := s.recorder.History()
			f.Calls += h.Calls()
			if r.History != nil {
				r.History(h)
			}
			j := r.Suite.Judge(h)
			r.mu.Lock()
			if err := r.tally.Add(sc.Name, s.label, j); err != nil {
				broken = err
			}
			r.mu.Unlock()
			found = append(found, findings(r.Suite, sc.Scenario, s, h, j)...)
		}
	}
	for i := range found {
		found[i].Round, found[i].Schedule, found[i].Unsteady = sc.round, p.stops, p.unsteady
	}
	f.Breaches = len(found)
	if u := (*Unmet)(nil); errors.As(failed, &u) && len(found) > 0 {
		f.Failure = "" // the breach explains it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if broken != nil && r.broken == nil {
		r.broken = fmt.Errorf("judge %s: %w", sc.Name, broken)
	}
	if f.Failure != "" {
		r.tally.Fail(sc.Name, f.Failure)
	}
	r.finished = append(r.finished, f)
	r.findings = append(r.findings, found...)
	r.calls += f.Calls
	if r.first == 0 {
		r.first = time.Since(r.start)
	}
	e := Event{Scenario: sc.Name, Status: "ok", Done: len(r.finished), Total: r.total, Elapsed: time.Since(r.start), Message: f.Failure}
	for _, b := range found {
		e.Breaches = append(e.Breaches, string(b.Requirement)+" "+b.Assertion)
	}
	switch {
	case len(found) > 0:
		e.Status = "violated"
	case f.Failure != "":
		e.Status = "inconclusive"
	}
	r.Progress(e)
}

func (r *runner) result(skipped []Skip) *Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	sort.Slice(r.finished, func(i, j int) bool {
		a, b := r.finished[i], r.finished[j]
		return a.Name < b.Name || a.Name == b.Name && a.Round < b.Round
	})
	sort.SliceStable(r.findings, func(i, j int) bool {
		a, b := r.findings[i], r.findings[j]
		if a.Requirement != b.Requirement {
			return a.Requirement < b.Requirement
		}
		return a.Scenario < b.Scenario
	})
	verdicts := r.tally.Conclude()
	for i := range verdicts {
		verdicts[i].Violations = nil
		for _, f := range r.findings {
			if f.Requirement == verdicts[i].Requirement {
				verdicts[i].Violations = append(verdicts[i].Violations, f.Violation)
			}
		}
	}
	return &Result{Suite: r.Suite, Subject: r.Source.Describe(), Access: r.Source.Access(), Seed: r.Seed, Nonce: r.Nonce, Profile: r.Profile,
		Verdicts: verdicts, Unimplemented: r.tally.Unimplemented(), Scenarios: r.finished, Skipped: skipped, Findings: r.findings,
		Elapsed: time.Since(r.start), First: r.first, Calls: r.calls}
}

// mix gives every scenario a seed of its own that depends on nothing else that runs.
func mix(seed uint64, name string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", seed, name)
	return h.Sum64()
}
