package generate_test

import (
	"testing"

	"assay/harness/generate"
)

func never() bool { return false }

func TestCheckFindsAndShrinksAFailure(t *testing.T) {
	var last int
	failed, err := generate.Check("numbers", 200, never, func(c *generate.Trial) string {
		last = c.Intn(1000, "number")
		if last >= 37 {
			return "X-1"
		}
		return ""
	})
	if err != nil || failed != "X-1" {
		t.Fatalf("failed %q, error %v; want X-1", failed, err)
	}
	if last != 37 {
		t.Errorf("the last draw was %d; want the smallest failure, 37", last)
	}
}

func TestCheckDrawsAsOftenAsAskedWhenNothingFails(t *testing.T) {
	n := 0
	failed, err := generate.Check("quiet", 25, never, func(*generate.Trial) string { n++; return "" })
	if err != nil || failed != "" || n != 25 {
		t.Fatalf("failed %q, error %v, %d draws; want none and 25", failed, err, n)
	}
}

func TestARecordingMakesTheSameChoicesAgain(t *testing.T) {
	r := generate.Record(generate.FromSeed(7))
	var first []int
	for i := 1; i < 50; i++ {
		first = append(first, r.Intn(i, "n"))
	}
	again := generate.FromBytes(r.Bytes())
	for i := 1; i < 50; i++ {
		if got := again.Intn(i, "n"); got != first[i-1] {
			t.Fatalf("choice %d was %d and is %d", i, first[i-1], got)
		}
	}
	if got := again.Intn(9, "after the end"); got != 0 {
		t.Errorf("an exhausted recording chose %d; want 0", got)
	}
}

func TestAnyBytesAreALegalRecording(t *testing.T) {
	for _, data := range [][]byte{nil, {0xff}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, {5, 0x80}} {
		c := generate.FromBytes(data)
		for range 20 {
			if v := c.Intn(3, "n"); v < 0 || v > 2 {
				t.Fatalf("%x: chose %d among 3", data, v)
			}
		}
	}
}
