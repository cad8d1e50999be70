package reports

import (
	"fmt"
	"strconv"
	"time"

	"assay/harness/verdict"
	"assay/model"
	"assay/spec"
)

// Format names the file format of [WriteJSON]. A change that a reader of the
// format could trip over takes a new number.
const Format = "assay.results/v1"

// Result is everything that one run of one suite against one subject found.
// Its JSON form is the format assay.results/v1, documented in
// docs/results-format.md.
type Result struct {
	Format string `json:"format"`
	// Tool is the program and version that judged, as in "assay v0.3.0".
	Tool  string `json:"tool"`
	Suite string `json:"suite"`
	// Subject describes the system under test; it holds no secret.
	Subject string         `json:"subject"`
	Access  spec.AccessSet `json:"access"`
	Seed    uint64         `json:"seed"`
	Nonce   string         `json:"nonce"`
	// Profile is how much effort the run made: quick, default or exhaustive.
	Profile string    `json:"profile"`
	Started time.Time `json:"started"`
	Timings Timings   `json:"timings"`
	// Summary counts Requirements by status. Invariant: it adds up.
	Summary Summary `json:"summary"`
	// Requirements holds one verdict for each requirement of the catalogue, in
	// the catalogue's order.
	Requirements []Requirement `json:"requirements"`
	// Unimplemented lists each call the subject said it does not have, once.
	Unimplemented []Unimplemented `json:"unimplemented"`
	// Failures lists scenarios that could not do what they do.
	Failures []Failure `json:"failures"`
	// Skipped lists selected scenarios that this access, configuration or
	// gentleness kept from running; nothing they decide was looked at by them.
	Skipped []Failure `json:"skipped"`
	// Advice is what the owner of the subject should know after the run: rows
	// that never expire, for instance.
	Advice []string `json:"advice"`
}

// Requirement is the verdict for one requirement.
type Requirement struct {
	ID      spec.ID        `json:"id"`
	Section string         `json:"section,omitempty"`
	Title   string         `json:"title"`
	Level   spec.Level     `json:"level"`
	Binds   spec.PartySet  `json:"binds"`
	Status  verdict.Status `json:"status"`
	// Promised is true when a selected scenario undertook to decide it.
	Promised bool `json:"promised"`
	// Observations counts witnessed judgements that held, once per call.
	Observations int `json:"observations"`
	// Scenarios names the scenarios with at least one observation, sorted.
	Scenarios  []string    `json:"scenarios"`
	Violations []Violation `json:"violations"`
	// Notes are differences on any basis but the specification's, and remarks;
	// they never change a status.
	Notes []Note `json:"notes"`
	// Reason says why the status is neither satisfied nor violated.
	Reason string `json:"reason,omitempty"`
}

// Violation is one breach of the specification and how to see it again.
type Violation struct {
	Scenario  string `json:"scenario"`
	Assertion string `json:"assertion"`
	Expected  string `json:"expected"`
	Got       string `json:"got"`
	// Replay is a command that shows it again; Evidence the bundle's path,
	// relative to the results file.
	Replay string `json:"replay,omitempty"`
	// Unsteady says how a second run of the same schedule differed.
	Unsteady string `json:"unsteady,omitempty"`
	Evidence string `json:"evidence,omitempty"`
}

// Note is a remark on a requirement, with what it rests on.
type Note struct {
	Basis     model.Basis `json:"basis"`
	Text      string      `json:"text"`
	Scenarios []string    `json:"scenarios"`
}

// Unimplemented is a call that the subject answered it does not have, and the
// promised requirements that therefore have no observation.
type Unimplemented struct {
	Call         string    `json:"call"`
	Requirements []spec.ID `json:"requirements"`
}

// Failure is a scenario that did not do, or was not asked to do, what it does.
type Failure struct {
	Scenario string `json:"scenario"`
	Reason   string `json:"reason"`
}

// Timings says how long a run took. Times are written as milliseconds.
type Timings struct {
	Total Millis `json:"total_ms"`
	// FirstVerdict is the time until the first scenario was judged; 0 when none was.
	FirstVerdict Millis            `json:"first_verdict_ms"`
	Scenarios    map[string]Millis `json:"scenarios_ms"`
}

// Millis is a duration whose JSON form is a number of milliseconds with at
// most three decimals.
type Millis time.Duration

// MarshalJSON writes milliseconds.
func (m Millis) MarshalJSON() ([]byte, error) {
	us := time.Duration(m).Round(time.Microsecond).Microseconds()
	return strconv.AppendFloat(nil, float64(us)/1000, 'f', -1, 64), nil
}

// UnmarshalJSON reads milliseconds.
func (m *Millis) UnmarshalJSON(b []byte) error {
	const most = 1e12 // 31 years: far beyond it the conversion below would overflow
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !(f >= 0 && f < most) { // so written, NaN is refused too
		return fmt.Errorf("%.40q is not a duration: write a number of milliseconds from 0", b)
	}
	*m = Millis(time.Duration(f*1000+0.5) * time.Microsecond)
	return nil
}

// Summary counts requirements by status.
type Summary struct {
	Total         int `json:"total"`
	Satisfied     int `json:"satisfied"`
	Violated      int `json:"violated"`
	Inconclusive  int `json:"inconclusive"`
	NotExercised  int `json:"not_exercised"`
	OutOfReach    int `json:"out_of_reach"`
	NotApplicable int `json:"not_applicable"`
}

// Of returns the number of requirements with a status.
func (s Summary) Of(status verdict.Status) int {
	switch status {
	case verdict.Satisfied:
		return s.Satisfied
	case verdict.Violated:
		return s.Violated
	case verdict.Inconclusive:
		return s.Inconclusive
	case verdict.NotExercised:
		return s.NotExercised
	case verdict.OutOfReach:
		return s.OutOfReach
	case verdict.NotApplicable:
		return s.NotApplicable
	default:
		return 0
	}
}

// Summarise counts the statuses of requirements.
func Summarise(requirements []Requirement) Summary {
	s := Summary{Total: len(requirements)}
	for _, r := range requirements {
		switch r.Status {
		case verdict.Satisfied:
			s.Satisfied++
		case verdict.Violated:
			s.Violated++
		case verdict.Inconclusive:
			s.Inconclusive++
		case verdict.NotExercised:
			s.NotExercised++
		case verdict.OutOfReach:
			s.OutOfReach++
		case verdict.NotApplicable:
			s.NotApplicable++
		}
	}
	return s
}
