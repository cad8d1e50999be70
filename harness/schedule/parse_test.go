package schedule_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/harness/schedule"
	"assay/spec"
)

// words is a language of one verb, whose operations and expectations are their own text.
type words struct{}

func (words) Operation(verb, arguments string) (schedule.Operation, error) {
	if verb != "say" {
		return nil, fmt.Errorf("verb %q is unknown: use say", verb)
	}
	return arguments, nil
}

func (words) Expectation(text string) (schedule.Expectation, error) { return text, nil }

func TestAScriptIsReadWhole(t *testing.T) {
	s, err := schedule.Parse("f.txt", `# One sentence
# over two lines.
decides API-001 API-002
needs control
limits max_query_topics=7 default_query_limit=5
keepalive 200ms
profile exhaustive
exclusive
stress

# a comment in between
A: say "hello expect nothing"   expect an answer
Bob2: say bye
`, words{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Summary != "One sentence over two lines." || len(s.Decides) != 2 || !s.Needs.Has(spec.Control) || s.Limits["max_query_topics"] != 7 ||
		s.KeepaliveMS != 200 || s.From != "exhaustive" || !s.Exclusive || !s.Stress {
		t.Errorf("got %+v", s)
	}
	if len(s.Steps) != 2 || s.Steps[0].Operation != `"hello expect nothing"` || s.Steps[0].Expect != "an answer" || s.Steps[0].Line != 12 || s.Steps[1].Actor != "Bob2" || s.Steps[1].Expect != nil {
		t.Errorf("got steps %+v", s.Steps)
	}
}

func TestABadLineIsNamedWithWhatWasExpected(t *testing.T) {
	const head = "# Says something.\ndecides API-001\n"
	for text, want := range map[string]string{
		"":                                "decides",
		"# Says something.\nA: say x":     "decides",
		head:                              "no step",
		"decides API-001\nA: say x":       "opening comment",
		head + "A: shout x":               "f.txt:3: verb \"shout\" is unknown",
		head + "a: say x":                 "f.txt:3: \"a:\" begins no line",
		head + "A:":                       "f.txt:3: actor A does nothing",
		head + "decides api1":             "f.txt:3:",
		head + "limits max=many":          "f.txt:3: limit \"max=many\"",
		head + "keepalive soon":           "f.txt:3: keepalive",
		head + "needs magic":              "f.txt:3:",
		head + "exclusive really":         "f.txt:3: exclusive takes no argument",
		head + "A: say x\nlimits max_x=1": "f.txt:4: \"limits\" after the first step",
		head + "whatever":                 "f.txt:3: \"whatever\" begins no line",
	} {
		_, err := schedule.Parse("f.txt", text, words{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; want one that contains %q", text, err, want)
		}
	}
}
