package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"assay/harness/verdict"
)

// The elements of JUnit's XML that continuous integration systems agree on.
type (
	junitSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitOutcome `xml:"failure"`
		Error   *junitOutcome `xml:"error"`
		Skipped *junitOutcome `xml:"skipped"`
	}
	junitOutcome struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes one test case for each requirement: violated is a
// failure, inconclusive an error, and what was not decided is skipped with its
// reason.
func WriteJUnit(w io.Writer, r Result) error {
	if err := r.Validate(); err != nil {
		return err
	}
	s := junitSuite{
		Name: clean(r.Suite, 100), Tests: len(r.Requirements), Time: seconds(r.Timings.Total),
		Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{
			{"tool", clean(r.Tool, 100)}, {"subject", clean(r.Subject, 500)}, {"access", r.Access.String()},
			{"seed", fmt.Sprint(r.Seed)}, {"nonce", clean(r.Nonce, 100)}, {"profile", clean(r.Profile, 100)},
		},
	}
	for _, q := range r.Requirements {
		c := junitCase{Class: s.Name, Name: string(q.ID) + " " + clean(q.Title, 200), Time: "0"}
		switch {
		case q.Status == verdict.Satisfied:
		case q.Status == verdict.Violated:
			s.Failures++
			c.Failure = &junitOutcome{Message: clean(headline(q), maxText), Type: "violated", Text: plain(q)}
		case q.Status == verdict.Inconclusive:
			s.Errors++
			c.Error = &junitOutcome{Message: clean(q.Reason, maxText), Type: q.Status.String()}
		default:
			s.Skipped++
			c.Skipped = &junitOutcome{Message: words(q.Status) + ": " + clean(q.Reason, maxText)}
		}
		s.Cases = append(s.Cases, c)
	}
	all := junitSuites{Name: "assay", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Skipped: s.Skipped, Time: s.Time, Suite: s}
	out, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, out)
	return err
}

// seconds writes a duration as JUnit does.
func seconds(m Millis) string { return fmt.Sprintf("%.3f", time.Duration(m).Seconds()) }

// headline says the first violation in one line.
func headline(q Requirement) string {
	v := q.Violations[0]
	return fmt.Sprintf("%s violated: expected %s, got %s", q.ID, v.Expected, v.Got)
}

// plain is a violated requirement as the terminal shows it, without colour.
func plain(q Requirement) string {
	p := &page{}
	p.violated(q)
	return "\n" + strings.TrimRight(p.b.String(), "\n") + "\n"
}
