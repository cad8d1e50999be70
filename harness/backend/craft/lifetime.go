package craft

import (
	"math"
	"time"

	"assay/model/backend"
)

// WithClock returns a crafter whose key packages are valid by this clock instead
// of the machine's.
func (c *Crafter) WithClock(clock func() time.Time) *Crafter {
	d := *c
	d.clock = clock
	return &d
}

// made is when the intent was first made into bytes. Making it again gives the
// same bytes, or a retry would be another package.
func (c *Crafter) made(p backend.KeyPackageIntent) time.Time {
	if t, ok := c.packages.Load(p); ok {
		return t.(time.Time)
	}
	t, _ := c.packages.LoadOrStore(p, c.clock())
	return t.(time.Time)
}

// What a package that everybody must accept lasts: the usual 84 days, begun an
// hour ago for readers whose clock is behind.
const (
	before = time.Hour
	after  = 84 * 24 * time.Hour
	// margin keeps lifetimes clear of the difference between two clocks.
	margin = 120 * time.Second
	// shortly is the shortest life that leaves time to publish.
	shortly = 35 * time.Second
	century = 100 * 365 * 24 * time.Hour
)

// lifetime is the first and the last second of a package made now.
func lifetime(l backend.Lifetime, now time.Time) (notBefore, notAfter uint64) {
	at := func(d time.Duration) uint64 { return uint64(max(0, now.Add(d).Unix())) }
	switch l {
	case backend.BegunJustNow:
		return at(-margin), at(after - margin)
	case backend.EndsSoon:
		return at(-before), at(margin)
	case backend.EndsShortly:
		return at(-before), at(shortly)
	case backend.NotYet:
		return at(margin), at(after)
	case backend.Ended:
		return at(-before), at(-margin)
	case backend.LongAgo:
		return 1, 2
	case backend.Reversed:
		return at(after), at(-before)
	case backend.Century:
		return at(-before), at(century)
	case backend.Boundless:
		return 0, math.MaxUint64
	default:
		return at(-before), at(after)
	}
}
