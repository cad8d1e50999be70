package spec_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"assay/spec"
)

func TestAnIDIsReadOnlyAsASpecificationSpellsIt(t *testing.T) {
	for _, c := range []struct {
		name, in string
		ok       bool
	}{
		{"three letters and three digits", "API-033", true},
		{"two letters are enough", "AB-000", true},
		{"eight letters are allowed", "ABCDEFGH-999", true},
		{"nine letters are not", "ABCDEFGHI-999", false},
		{"one letter is not", "A-001", false},
		{"lower case is another spelling", "api-033", false},
		{"a missing zero is another spelling", "API-33", false},
		{"four digits are another spelling", "API-0033", false},
		{"a space in front is refused", " API-033", false},
		{"a line break behind is refused", "API-033\n", false},
		{"no hyphen is refused", "API033", false},
		{"two hyphens are refused", "API--33", false},
		{"digits of another script are refused", "API-०३३", false},
		{"nothing is refused", "", false},
		{"a hyphen alone is refused", "-", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, err := spec.ParseID(c.in)
			if (err == nil) != c.ok {
				t.Fatalf("ParseID(%q) = %q, %v", c.in, id, err)
			}
			if c.ok && id.String() != c.in {
				t.Errorf("got %q back from %q", id, c.in)
			}
			if !c.ok && id != "" {
				t.Errorf("a refused text gave the id %q", id)
			}
		})
	}
}

func TestAnErrorNeverRepeatsALongTextInFull(t *testing.T) {
	_, err := spec.ParseID(strings.Repeat("x", 1<<20))
	if err == nil || len(err.Error()) > 300 {
		t.Errorf("got an error of %d bytes", len(err.Error()))
	}
}

func TestJunkIsNeverAnIDAndNeverPanics(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		b := make([]byte, rng.IntN(12))
		for i := range b {
			b[i] = byte(rng.UintN(256))
		}
		if id, err := spec.ParseID(string(b)); err == nil {
			if again, err := spec.ParseID(id.String()); err != nil || again != id {
				t.Errorf("%q was accepted but is not stable", b)
			}
		}
	}
}
