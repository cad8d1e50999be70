package stream

import "time"

// bucket is a token bucket (API-107): it starts full, refills continuously and
// gives one token for a frame.
type bucket struct {
	tokens, burst, rate float64
	at                  time.Time
}

// newBucket returns a full bucket; rate is in tokens a second.
func newBucket(burst, rate uint32, now time.Time) bucket {
	return bucket{tokens: float64(burst), burst: float64(burst), rate: float64(rate), at: now}
}

// take takes a token, if there is one.
func (b *bucket) take(now time.Time) bool {
	if elapsed := now.Sub(b.at); elapsed > 0 {
		b.tokens = min(b.burst, b.tokens+b.rate*elapsed.Seconds())
		b.at = now
	}
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
