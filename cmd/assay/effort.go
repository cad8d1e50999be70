package main

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"assay/harness/run"

	"github.com/spf13/pflag"
)

// effortFlags say how hard a run tries, and from which choices.
type effortFlags struct {
	seed     uint64
	nonce    string
	profile  string
	parallel int
	timeout  time.Duration
	stress   bool
	rate     float64
}

func bindEffort(set *pflag.FlagSet) *effortFlags {
	f := &effortFlags{}
	set.Uint64Var(&f.seed, "seed", 0, "make all choices from this `NUMBER` (default: a random one, printed)")
	set.StringVar(&f.nonce, "nonce", "", "derive topics and inboxes from this `WORD` and the seed (default: a random one, printed)")
	set.StringVar(&f.profile, "profile", run.Default.String(), "effort: quick, default or exhaustive")
	set.IntVar(&f.parallel, "parallel", 8, "scenarios at once")
	set.DurationVar(&f.timeout, "timeout", 2*time.Minute, "how long one scenario may take")
	set.BoolVar(&f.stress, "stress", false, "run storms and large limits against a --target too")
	set.Float64Var(&f.rate, "rate", 0, "at most so many calls a second over the whole run; 0 for no cap")
	return f
}

// options checks the flags and fills in what was left to chance.
func (f *effortFlags) options(set *pflag.FlagSet) (run.Options, error) {
	profile, err := run.ParseProfile(f.profile)
	switch {
	case err != nil:
		return run.Options{}, fmt.Errorf("--%w%s", err, didYouMean(f.profile, []string{"quick", "default", "exhaustive"}))
	case f.parallel < 1 || f.parallel > 1024:
		return run.Options{}, fmt.Errorf("--parallel is %d: give a number from 1 to 1024", f.parallel)
	case f.timeout <= 0:
		return run.Options{}, fmt.Errorf("--timeout is %s: give a duration above zero, such as 30s", f.timeout)
	case !(f.rate >= 0 && f.rate <= 1e9):
		return run.Options{}, fmt.Errorf("--rate is %v: give calls a second, from 0", f.rate)
	case set.Changed("nonce") && !isNonce(f.nonce):
		return run.Options{}, fmt.Errorf("--nonce is %q: give 1 to 64 letters, digits, hyphens and underscores", shown(f.nonce))
	}
	o := run.Options{Seed: f.seed, Nonce: f.nonce, Profile: profile, Parallel: f.parallel, Timeout: f.timeout, Stress: f.stress, Rate: f.rate}
	if !set.Changed("seed") {
		var b [8]byte
		rand.Read(b[:]) // never fails (crypto/rand)
		// 53 bits: readers of results.json that keep numbers as doubles keep it whole.
		o.Seed = binary.BigEndian.Uint64(b[:]) >> 11
	}
	if !set.Changed("nonce") {
		o.Nonce = strings.ToLower(rand.Text()[:10])
	}
	return o, nil
}

// isNonce keeps a nonce usable in file names and shell commands.
func isNonce(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}
