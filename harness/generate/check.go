package generate

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// mostChecks is the number of draws rapid is told to make; a property that
// wants fewer returns at once after its own number.
const mostChecks = 100_000

// setup configures rapid, whose seed, number of checks and shrinking time are
// process-wide flags, before the first use; later calls keep the first values,
// so that two properties at once never see them change.
var setup sync.Once

// Prepare sets the seed and the shrinking time of every Check in the process.
// Only the first call has an effect.
func Prepare(seed uint64, shrink time.Duration) {
	setup.Do(func() {
		if seed == 0 {
			seed = 1 // rapid reads 0 as "roll one"
		}
		if !flag.Parsed() {
			// Outside go test, rapid needs the testing flags to exist and to be
			// parsed; our own flags are parsed elsewhere, so it gets no arguments.
			testing.Init()
			args := os.Args
			os.Args = args[:1]
			flag.Parse()
			os.Args = args
		}
		for name, value := range map[string]string{
			"rapid.seed":       strconv.FormatUint(seed, 10),
			"rapid.checks":     strconv.Itoa(mostChecks),
			"rapid.shrinktime": shrink.String(),
			"rapid.nofailfile": "true",
		} {
			if err := flag.Set(name, value); err != nil {
				panic(fmt.Sprintf("generate: set %s: %v", name, err))
			}
		}
	})
}

// Trial is one draw of a property.
type Trial struct {
	Choice
	// Number counts draws from 1, shrinking ones included.
	Number int
	// Shrinking is true once a draw has failed: what follows looks for a
	// smaller one and counts nothing.
	Shrinking bool
}

// Check draws from prop n times. prop returns "" or a short constant text, ids
// alone, that says what failed; a text that differs between two runs of the
// same choices would look like a flake. After the first failure it shrinks, and
// the last call of prop is the smallest failure found, whose text it returns.
// stop, when it returns true, ends the check early without a failure.
func Check(name string, n int, stop func() bool, prop func(*Trial) string) (failed string, err error) {
	Prepare(1, 10*time.Second)
	t := &recorder{name: name}
	done, number, shrinking := 0, 0, false
	func() {
		defer func() {
			if v := recover(); v != nil && v != errEnded {
				err = fmt.Errorf("property %s: %v", name, v)
			}
		}()
		rapid.Check(t, func(rt *rapid.T) {
			if !shrinking && done >= n || stop() {
				return
			}
			number++
			if !shrinking {
				done++
			}
			trial := &Trial{Choice: drawn{rt}, Number: number, Shrinking: shrinking}
			if text := prop(trial); text != "" {
				failed, shrinking = text, true
				rt.Fatal(text)
			}
		})
	}()
	if err == nil && !t.failed {
		failed = ""
	}
	return failed, err
}

// drawn draws from rapid.
type drawn struct{ t *rapid.T }

func (d drawn) Intn(n int, what string) int { return rapid.IntRange(0, n-1).Draw(d.t, what) }

var errEnded = fmt.Errorf("the check ended")

// recorder stands in for testing.T.
type recorder struct {
	name   string
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Name() string          { return r.name }
func (r *recorder) Logf(string, ...any)   {}
func (r *recorder) Log(...any)            {}
func (r *recorder) Skipf(string, ...any)  { panic(errEnded) }
func (r *recorder) Skip(...any)           { panic(errEnded) }
func (r *recorder) SkipNow()              { panic(errEnded) }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Error(...any)          { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; panic(errEnded) }
func (r *recorder) Fatal(...any)          { r.failed = true; panic(errEnded) }
func (r *recorder) FailNow()              { r.failed = true; panic(errEnded) }
func (r *recorder) Fail()                 { r.failed = true }
func (r *recorder) Failed() bool          { return r.failed }
