package backend

import (
	"math/rand/v2"
	"testing"
)

// rolled is a seeded Choice.
type rolled struct{ *rand.Rand }

func (r rolled) Intn(n int, _ string) int { return r.IntN(n) }

// BenchmarkJudgeIdentities judges a session of drawn identity updates, most of
// them accepted, and reports the time of one update.
func BenchmarkJudgeIdentities(b *testing.B) {
	const updates = 20_000
	h := tell()
	lives := NewLives(Conditions{})
	choice := rolled{rand.New(rand.NewPCG(1, 2))}
	for range updates {
		u, _ := lives.Draw(choice)
		r := lives.Ruling(&u)
		if r.MustAccept() {
			h.update("A", u).answered()
			lives.Accept(u)
			continue
		}
		reason := ReasonInvalidIdentityUpdate
		if reasons, _ := r.Reasons(); len(reasons) > 0 {
			reason = reasons[0]
		}
		h.update("A", u).answers(invalid(0, reason))
	}
	events := h.history()
	b.ResetTimer()
	for b.Loop() {
		if n := len(Judge(events).Breaches()); n > 0 {
			b.Fatalf("%d breaches", n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/updates, "µs/update")
}
