package reports

import (
	"testing"

	"assay/spec"
)

func TestCleanShowsWhatItWillNotPrint(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text is itself", "sequence id 41, größer", "sequence id 41, größer"},
		{"an escape code is spelled out", "\x1b[2J", `\x1b[2J`},
		{"a newline starts no line", "a\nb", `a\nb`},
		{"a byte that is not UTF-8 is hex", "a\xffb", `a\xffb`},
		{"a direction override is spelled out", "\u202egnp", `\u202egnp`},
		{"a tag character beyond 16 bits is spelled out", "\U000e0041", `\U000e0041`},
		{"long text is cut with its measure", "0123456789abcdef", "0123456789… (6 bytes more)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			most := 100
			if c.name == "long text is cut with its measure" {
				most = 10
			}
			if got := clean(c.in, most); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestRunsJoinOnlyNeighbours(t *testing.T) {
	got := runs([]spec.ID{"API-001", "API-002", "API-003", "API-005", "API-008", "API-009", "RLY-010", "odd"})
	if want := "API-001 to API-003, API-005, API-008, API-009, RLY-010, odd"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
