package backend

import (
	"fmt"
	"slices"
	"time"
)

// bucket is one token bucket of a stream as its client sees it (API-107): it knows
// when frames left and when they were answered, and so between which bounds the
// tokens are. Both bounds are proofs: what is certain leaves no legal clock on the
// other side.
type bucket struct {
	rate, burst float64
	sent        []time.Duration
	answered    int
	// low is the least number of tokens that can be left for the next frame once
	// all that was sent is paid, short is true once a frame may have found none.
	low   float64
	short bool
	// full is the most that a window of answered frames holds above what the rate
	// allows in it, worst that of the frames up to an answer.
	full, worst float64
	last        time.Duration // when the last answer came
}

func newBucket(t Terms, rate, burst string) bucket {
	b := float64(t.Limit(burst))
	return bucket{rate: float64(t.Limit(rate)), burst: b, low: b, full: -1}
}

func (b *bucket) send(at time.Duration) {
	if len(b.sent) > 0 && b.answered == len(b.sent) {
		// The frame before was taken by the time its answer came, this one is taken
		// after it left: the bucket fills in between at least.
		b.low = min(b.burst, b.low+b.rate*max(0, at-b.last).Seconds())
	}
	b.low--
	b.short = b.short || b.low < 0
	b.sent = append(b.sent, at)
}

// answer takes the answer to the next frame and returns how many more frames were
// accepted, in the worst window up to it, than burst and rate allow.
func (b *bucket) answer(at time.Duration) float64 {
	if b.answered == len(b.sent) {
		return 0
	}
	// Frames from one that left at s to one answered at a are at most burst plus
	// what comes in between s and a.
	start := b.rate*b.sent[b.answered].Seconds() - float64(b.answered)
	if b.answered == 0 || start > b.full {
		b.full = start
	}
	b.answered++
	b.last = at
	over := float64(b.answered) - b.rate*at.Seconds() + b.full - b.burst
	b.worst = max(b.worst, over)
	return over
}

// allowed is the most frames that the bucket lets pass from the first one on.
func (b *bucket) allowed(until time.Duration) float64 {
	if len(b.sent) == 0 {
		return b.burst
	}
	return b.burst + b.rate*(until-b.sent[0]).Seconds()
}

// exhausted reports whether more frames left than the bucket can have let pass,
// whatever the clock of the subject did between the first of them and the end.
func (b *bucket) exhausted(until time.Duration) bool {
	return float64(len(b.sent)) > b.allowed(until)+1
}

// grain is the frame by which a rate may be exceeded unnoticed: clocks differ in
// the grain of their ticks.
const grain = 1

// spent judges an answer to a frame that takes a token.
func (j *judge) spent(s *subscription, b *bucket, what string, at time.Duration) {
	over := b.answer(at)
	if over > grain {
		j.breached(bucketHolds, s.now, fmt.Sprintf("at most %.0f %s at once and %.0f a second after that", b.burst, what, b.rate),
			fmt.Sprintf("%d accepted in %.3f s", b.answered, (at-b.sent[0]).Seconds()))
	}
}

// served records what answered frames are evidence for: more than the burst were
// accepted, so the bucket fills again.
func (j *judge) served(s *subscription) {
	for _, b := range []*bucket{&s.updates, &s.pinged} {
		if b.answered == len(b.sent) && float64(b.answered) > b.burst && !b.short {
			j.held(bucketServes, s.now, "")
		}
	}
	// Neither frame kind takes from the other's bucket.
	u, p := &s.updates, &s.pinged
	if u.answered > 0 && p.answered > 0 && u.burst == p.burst && !u.short && !p.short {
		since := min(u.sent[0], p.sent[0])
		if float64(u.answered+p.answered) > u.burst+max(u.rate, p.rate)*(max(u.last, p.last)-since).Seconds()+grain {
			j.held(bucketServes, s.now, "")
		}
	}
}

// exhaustion judges a stream that ended with RESOURCE_EXHAUSTED, or after more
// frames than a bucket holds. It reports whether the buckets explain the end.
func (j *judge) exhaustion(s *subscription, at time.Duration) bool {
	code := s.answer.Code
	for _, b := range []*bucket{&s.updates, &s.pinged} {
		if !b.exhausted(at) || s.paused {
			continue
		}
		switch {
		case code == ResourceExhausted:
			j.held(bucketHolds, s.now, s.witnessOf())
			j.held(bucketCode, s.now, s.witnessOf())
		case j.mute(s.now) || code == Internal || code == Unknown:
			// It failed, and nobody knows why, unless it always does so.
			j.floods[code] = append(j.floods[code], s)
			return true
		default:
			expected := "RESOURCE_EXHAUSTED for a stream with more frames than its bucket holds"
			j.breached(bucketHolds, s.now, expected, code.String()+text(s.answer))
			j.breached(bucketCode, s.now, expected, code.String()+text(s.answer))
		}
		return true
	}
	if code != ResourceExhausted {
		return false
	}
	// A slow consumer ends so as well (section 12), and what nobody can deliver.
	if s.updates.short || s.pinged.short || s.paused || s.rows > 0 || j.due(s) {
		return true
	}
	switch {
	case s.pongs > 0 && len(s.updates.sent)+len(s.pinged.sent) == 0:
		j.breached(pongIsFree, s.now, "a stream that goes on: Pong takes no token", code.String()+text(s.answer))
	case s.started || len(s.updates.sent)+len(s.pinged.sent) > 0:
		j.breached(bucketServes, s.now, fmt.Sprintf("a stream that goes on after %d updates and %d pings, which fit their buckets", len(s.updates.sent), len(s.pinged.sent)), code.String()+text(s.answer))
	default:
		return false
	}
	return true
}

// alwaysSo is how many floods must end with one code for it to be the subject's
// answer to them.
const alwaysSo = 3

// flooded judges the floods that failed: a code that came to each of several, and to
// nothing else in the history, is no accident.
func (j *judge) flooded() {
	for _, code := range []Code{Unavailable, DeadlineExceeded, Canceled, Internal, Unknown, Unauthenticated, PermissionDenied} {
		all := j.floods[code]
		if len(all) < alwaysSo || j.subject.general[code] || len(j.floods) > 1 {
			continue
		}
		if slices.ContainsFunc(j.order, func(s *subscription) bool {
			return s.ended && s.answer.Lost == Answered && s.answer.Code == code && !slices.Contains(all, s)
		}) {
			continue
		}
		s := all[len(all)-1]
		// The judgements of a call stand together.
		out, start := j.out.Judgements, j.start
		j.out.Judgements, j.start = s.out, 0
		expected := "RESOURCE_EXHAUSTED for a stream with more frames than its bucket holds"
		got := fmt.Sprintf("%s, as for %d other such streams", code, len(all)-1)
		j.breached(bucketHolds, s.exchange, expected, got)
		j.breached(bucketCode, s.exchange, expected, got)
		s.out, j.out.Judgements, j.start = j.out.Judgements, out, start
	}
}

// due reports whether the subject may have had rows or long answers to deliver.
func (j *judge) due(s *subscription) bool {
	const long = 1 << 12 // targets, some 200 kB
	if len(s.course.active) > long || s.course.flawed != nil && len(s.course.flawed.Update.Adds) > long {
		return true
	}
	for t := range s.course.active {
		if l := j.topics[t]; l != nil && l.rows > 0 {
			return true
		}
	}
	return false
}
