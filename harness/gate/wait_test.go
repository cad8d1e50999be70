package gate_test

import (
	"testing"
	"time"
)

func deadline(t testing.TB) time.Time {
	d, _ := within(t).Deadline()
	return d
}

// until asks again and again.
func until(t testing.TB, what string, true func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := deadline(t); ; <-tick.C {
		if true() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
