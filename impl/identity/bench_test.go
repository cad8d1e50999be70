package identity

import (
	"context"
	"slices"
	"testing"
	"time"

	"assay/spec/gen/xmtp/identity/associations"
)

// longLog is an inbox with n stored updates, two signatures each after the
// first, and the next update.
func longLog(n int) (history []*associations.IdentityUpdate, next *associations.IdentityUpdate) {
	id := InboxID(w1().id(), 0)
	at := func(i int) *associations.IdentityUpdate {
		if i == 0 {
			return sign(id, 0, create(w1(), 0), add(w1(), i1()))
		}
		return sign(id, uint64(i)*second, add(w1(), newInstallation(byte(i))))
	}
	for i := range n {
		history = append(history, at(i))
	}
	return history, at(n)
}

// BenchmarkUpdate measures one update with an address and an installation
// signature on an inbox of one update, nothing remembered, beside the bare
// cost of the same four signature checks. The ratio is bare/validate; the
// design asks for at least 0.5.
func BenchmarkUpdate(b *testing.B) {
	history, next := longLog(1)
	all := append(history, next)
	var checks []func()
	for _, u := range all {
		decoded, err := Decode(u)
		if err != nil {
			b.Fatal(err)
		}
		m := newMessage(Text(decoded))
		for _, a := range decoded.Actions {
			for _, s := range []Signature{a.By, a.Joining} {
				if s != nil {
					checks = append(checks, func() {
						if _, err := s.verify(context.Background(), m, nil); err != nil {
							b.Fatal(err)
						}
					})
				}
			}
		}
	}
	bare := func() {
		for _, check := range checks {
			check()
		}
	}
	v := NewValidator(Config{Rules: ReferenceRules(), Wallets: verdicts{}})
	validate := func() {
		if _, err := v.Validate(context.Background(), history, next); err != nil {
			b.Fatal(err)
		}
	}
	// Both alternate in one loop and medians are compared, so that a busy
	// machine slows both alike and a pause hits neither.
	var bareTimes, validateTimes []time.Duration
	for b.Loop() {
		start := time.Now()
		bare()
		between := time.Now()
		validate()
		bareTimes = append(bareTimes, between.Sub(start))
		validateTimes = append(validateTimes, time.Since(between))
	}
	bareTime, validateTime := median(bareTimes), median(validateTimes)
	b.ReportMetric(bareTime.Seconds()/validateTime.Seconds(), "ratio")
	b.ReportMetric(1/validateTime.Seconds(), "updates/s")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkLongInbox measures the last update that an inbox may take, with
// and without remembering the 255 before it.
func BenchmarkLongInbox(b *testing.B) {
	history, next := longLog(255)
	for name, remember := range map[string]int{"forgetting": 0, "remembering": 1000} {
		b.Run(name, func(b *testing.B) {
			v := NewValidator(Config{Rules: ReferenceRules(), Wallets: verdicts{}, Remember: remember})
			for b.Loop() {
				if _, err := v.Validate(context.Background(), history, next); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
