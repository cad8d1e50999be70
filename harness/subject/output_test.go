package subject

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

func TestOutputIsRecordedByLinesEscapedAndBounded(t *testing.T) {
	for _, c := range []struct{ name, printed, want string }{
		{"lines are kept without their ends", "one\ntwo\r\nthree", "one|two|three"},
		{"an empty line is a line", "\n\nx\n", "||x"},
		{"control bytes and broken UTF-8 are escaped", "\x1b[2J\xff\u202e\tü\n", `\x1b[2J\xff\u202e\tü`},
		{"a long line is cut and what is cut is counted", strings.Repeat("a", maxLine+5) + "\n", strings.Repeat("a", maxLine) + "… (5 bytes more)"},
		{"only the last lines are kept", strings.Repeat("early\n", 100) + strings.Repeat("late\n", maxLastLines), strings.TrimSuffix(strings.Repeat("late|", maxLastLines), "|")},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, reader := range map[string]*recorder{"whole": {}, "byte by byte": {}} {
				if name == "whole" {
					reader.read(strings.NewReader(c.printed))
				} else {
					reader.read(iotest.OneByteReader(strings.NewReader(c.printed)))
				}
				if got := strings.Join(reader.lines(), "|"); got != c.want {
					t.Errorf("%s: got %q, expected %q", name, got, c.want)
				}
			}
		})
	}
}

func TestASecretIsMaskedWhereverItFallsInALine(t *testing.T) {
	const secret = "s3cr3t-pässword"
	for at := range maxLine + 40 {
		r := &recorder{masker: newMasker([]string{secret, "s3cr3t"})}
		logged := ""
		r.log = func(line string) { logged += line }
		r.read(strings.NewReader(strings.Repeat("x", at) + secret + strings.Repeat("y", 30) + "\n"))
		for _, part := range []string{"s3c", "ssword"} {
			if text := logged + r.describe(); strings.Contains(text, part) {
				t.Fatalf("at column %d the text keeps %q: %s", at, part, text)
			}
		}
	}
}

func TestDatabasePasswordsAreMaskedInEachWayTheyAreWritten(t *testing.T) {
	for _, url := range []string{
		"postgres://u:p%40ss%20w0rd@h:5432/db", "postgresql://u@h/db?password=p%40ss+w0rd", "postgres://u:p%40ss%20w0rd%@h/db", // the last is malformed
	} {
		r := &recorder{masker: newMasker(Values{DatabaseURL: url}.secrets())}
		r.read(strings.NewReader("connecting to " + url + "\nwith p@ss w0rd, p%40ss%20w0rd, p%40ss+w0rd\n"))
		if strings.HasSuffix(url, "%@h/db") {
			r = &recorder{masker: newMasker(Values{DatabaseURL: url}.secrets())}
			r.read(strings.NewReader("connecting to " + url + "\n"))
		}
		if text := r.describe(); strings.Contains(text, "w0rd") {
			t.Errorf("%s shows the password: %s", url, text)
		}
	}
}

func TestAFloodOfLinesReachesTheLogBounded(t *testing.T) {
	lines := 0
	r := &recorder{log: func(string) { lines++ }}
	r.read(bytes.NewReader(bytes.Repeat([]byte("again\n"), 10*maxLogged)))
	if lines != maxLogged {
		t.Errorf("%d lines reached the log, expected %d", lines, maxLogged)
	}
}

func TestNoVerbPrintsASecret(t *testing.T) {
	const secret = "t0p-s3cret"
	e := Endpoint{Scheme: "grpc", Address: "h:1", Header: map[string][]string{"authorization": {"Bearer " + secret}}}
	v := Values{DatabaseURL: "postgres://u:" + secret + "@h/db"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, value := range []any{e, &e, v, []Endpoint{e}, struct{ E Endpoint }{e}} {
			if text := fmt.Sprintf(verb, value); strings.Contains(text, secret) {
				t.Errorf("%s of %T: %s", verb, value, text)
			}
		}
	}
	if text := e.mask("rpc failed with Bearer " + secret + " and " + secret); strings.Contains(text, secret) {
		t.Error(text)
	}
}
