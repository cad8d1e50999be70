package backend

import (
	"fmt"
	"math"

	"assay/model"
)

// Course follows one subscription by its frames. It knows which registrations
// every update makes and ends once those before it are taken, and so to which
// registration a row belongs: between two acknowledgements that is certain,
// because an update takes effect as a whole and in order (API-091).
//
// It judges nothing. A subject that leaves the course, by acknowledging what it
// must refuse or with other targets than were asked for, is followed no further.
type Course struct {
	static bool
	terms  Terms
	// pending are updates that were sent and not acknowledged, in order.
	pending []*Change
	lastID  uint64
	// active has the registration of every topic once all that was sent is taken,
	// current those of acknowledged updates, gone the last that a removal ended.
	// dropped has the last that was asked to end.
	active, current, gone, dropped map[Bytes]*Registration
	// flawed is the first update that must be refused: nothing after it counts.
	flawed *Change
	// Left is true once the subject has left the course.
	Left bool
}

// Registration is one topic of a subscription, from the add to its removal.
type Registration struct {
	Topic Bytes
	Log   Log
	// After is the exclusive cursor that it starts from.
	After uint64
	// Sent is the event of the request, Answered and Removed those of the
	// acknowledgements, -1 before.
	Sent, Answered, Removed int
	Target                  uint64
	// Again are the cursors of adds that came while it was active (API-100).
	Again []uint64
	// Before is the registration of the topic that was removed before this one.
	Before *Registration
	// Rows counts what was delivered, Last is the highest id of it: After before
	// the first row.
	Rows int
	Last uint64
	// Key is for whoever follows the course.
	Key uint32

	topic *topicLog
}

// Change is one update and what it does on the course.
type Change struct {
	Update *Update
	// Sent is the event of the request.
	Sent int
	// Adds are the registrations it makes, in order; Removes those it ends.
	Adds, Removes []*Registration
	// Again are registrations whose topics it adds once more, which changes nothing;
	// absents counts the removes that change nothing.
	Again    []*Registration
	absents  int
	defects  []defect
	previous uint64 // the id before it, 0 for none
	topics   int    // the topics of the stream with it
	skipped  bool   // a later one was acknowledged before it
}

// Standing says how a row stands to the registrations of its topic.
type Standing uint8

const (
	// Stranger is a row of a topic that nobody asked for.
	Stranger Standing = iota
	// Owned is a row of an acknowledged registration.
	Owned
	// Early is a row of a registration that is not acknowledged.
	Early
	// Late is a row of a registration whose removal was acknowledged.
	Late
)

// NewCourse begins the course of a subscription that was asked for at an event.
func NewCourse(c *Call, at int, t Terms) *Course {
	s := &Course{terms: t, static: c.Method == MethodStatic, active: make(map[Bytes]*Registration), current: make(map[Bytes]*Registration), gone: make(map[Bytes]*Registration), dropped: make(map[Bytes]*Registration)}
	if s.static && c.Static != nil {
		u := &Change{Update: &Update{Adds: c.Static.Entries}, Sent: at}
		u.defects = staticDefects(t, c)
		s.take(u)
	}
	return s
}

// Asked is what a static subscription asks for, nil for a bidirectional one.
func (c *Course) Asked() *Change {
	if !c.static || len(c.pending) == 0 {
		return nil
	}
	return c.pending[0]
}

// Send takes a frame that was sent and returns its update, nil for another kind.
func (c *Course) Send(at int, r *Request) *Change {
	if c.static || c.flawed != nil || c.Left || r.Update == nil {
		return nil
	}
	u := &Change{Update: r.Update, Sent: at, previous: c.lastID}
	u.defects = c.updateDefects(u, r.WireLen)
	c.take(u)
	return u
}

// take plans what an update does.
func (c *Course) take(u *Change) {
	c.pending = append(c.pending, u)
	if len(u.defects) > 0 {
		c.flawed = u
		return
	}
	c.lastID = u.Update.ID
	for _, e := range u.Update.Removes {
		r := c.active[e.Topic]
		if r == nil {
			u.absents++
			continue
		}
		delete(c.active, e.Topic)
		c.dropped[e.Topic] = r
		u.Removes = append(u.Removes, r)
	}
	for _, e := range u.Update.Adds {
		after := uint64(0)
		if e.Cursor != nil {
			after = *e.Cursor
		}
		if r := c.active[e.Topic]; r != nil {
			u.Again = append(u.Again, r)
			r.Again = append(r.Again, after)
			continue
		}
		r := &Registration{Topic: e.Topic, Log: e.Log, After: after, Sent: u.Sent, Answered: -1, Removed: -1, Last: after, Before: c.dropped[e.Topic]}
		c.active[e.Topic] = r
		u.Adds = append(u.Adds, r)
	}
	u.topics = len(c.active)
}

// Applied takes an acknowledgement. The update is nil when none with its id is
// open. wrong, when not "", says in what the subject leaves the course.
func (c *Course) Applied(at int, a *Applied) (u *Change, wrong string) {
	k := 0
	for k < len(c.pending) && c.pending[k].Update.ID != a.ID {
		k++
	}
	if k == len(c.pending) {
		c.Left = true
		return nil, "no open update has the id"
	}
	u = c.pending[k]
	for _, before := range c.pending[:k] {
		before.skipped = true
	}
	c.pending = append(c.pending[:k:k], c.pending[k+1:]...)
	return u, c.answer(at, u, a.Targets)
}

// Started takes the first frame; that of a static subscription acknowledges its
// registrations.
func (c *Course) Started(at int, s *Started) (u *Change, wrong string) {
	if !c.static || len(c.pending) == 0 {
		return nil, ""
	}
	u = c.pending[0]
	c.pending = nil
	return u, c.answer(at, u, s.Targets)
}

func (c *Course) answer(at int, u *Change, targets []Target) string {
	wrong := ""
	switch {
	case len(u.defects) > 0:
		wrong = "it has to be refused"
	case len(targets) != len(u.Adds):
		wrong = fmt.Sprintf("%d targets", len(targets))
	default:
		for i, t := range targets {
			if !t.HasTopic || t.Topic != u.Adds[i].Topic || t.Through > math.MaxInt64 {
				wrong = fmt.Sprintf("target %d is of another topic, or none", i)
				break
			}
		}
	}
	if wrong != "" {
		c.Left = true
		return wrong
	}
	for _, r := range u.Removes {
		r.Removed = at
		delete(c.current, r.Topic)
		c.gone[r.Topic] = r
	}
	for i, r := range u.Adds {
		r.Answered, r.Target = at, targets[i].Through
		c.current[r.Topic] = r
	}
	return ""
}

// Owner returns the registration to which a row of the topic belongs that arrives
// now, and how it stands to it.
func (c *Course) Owner(topic Bytes, sequence uint64) (*Registration, Standing) {
	if r := c.current[topic]; r != nil {
		return r, Owned
	}
	old, next := c.gone[topic], c.active[topic]
	switch {
	case next == nil && old == nil:
		return nil, Stranger
	case next == nil:
		return old, Late
	case old == nil:
		return next, Early
	case sequence > next.After && sequence <= old.Last:
		return next, Early // the old one has delivered it
	default:
		return old, Late
	}
}

// Removed reports whether the registration was the last of its topic and is gone.
func (c *Course) Removed(r *Registration) bool {
	return c.gone[r.Topic] == r && c.current[r.Topic] == nil && c.active[r.Topic] == nil
}

// Shows notes a row that was delivered.
func (r *Registration) Shows(sequence uint64) {
	r.Rows++
	r.Last = max(r.Last, sequence)
}

// staticDefects lists what is wrong with a static subscription (API-003, 004, 110).
func staticDefects(t Terms, c *Call) []defect {
	entries := c.Static.Entries
	out := oversizedFor(t, c.WireLen, c.CanonicalLen)
	add := func(limit, what string, breaks ...model.Assertion) {
		out = append(out, defect{index: -1, breaks: breaks, certain: true, limit: limit, what: what})
	}
	switch limit := t.Limit(limitStatic); {
	case len(entries) == 0:
		add("", "no topics", staticBounds)
	case uint64(len(entries)) > limit:
		add(limitStatic, fmt.Sprintf("%d topics where %d are allowed", len(entries), limit), staticBounds)
	}
	if topic, twice := repeated(entries, nil); twice {
		add("", "topic "+topic.String()+" twice", staticDistinct)
	}
	return append(out, addDefects(entries)...)
}

// updateDefects lists what is wrong with an update (API-003, 004, 091 to 093).
func (c *Course) updateDefects(u *Change, size int) []defect {
	t, up := c.terms, u.Update
	out := oversizedFor(t, size, size)
	add := func(limit, what string, breaks ...model.Assertion) {
		out = append(out, defect{index: -1, breaks: breaks, certain: true, limit: limit, what: what})
	}
	switch {
	case up.ID == 0:
		add("", "update id 0", idsRise)
	case up.ID <= c.lastID:
		add("", fmt.Sprintf("update id %d after %d", up.ID, c.lastID), idsRise)
	}
	over := false
	for _, b := range []struct {
		n    int
		name string
		what string
	}{{len(up.Adds), limitAdds, "adds"}, {len(up.Removes), limitRemoves, "removes"}} {
		if limit := t.Limit(b.name); uint64(b.n) > limit {
			over = true
			add(b.name, fmt.Sprintf("%d %s where %d are allowed", b.n, b.what, limit), updateBounds)
		}
	}
	if topic, twice := repeated(up.Adds, up.Removes); twice {
		add("", "topic "+topic.String()+" twice", updateDistinct)
	} else if n, limit := c.held(up), t.Limit(limitTopics); !over && uint64(n) > limit {
		add(limitTopics, fmt.Sprintf("%d topics on the stream where %d are allowed", n, limit), streamTopics)
	}
	out = append(out, addDefects(up.Adds)...)
	for i, e := range up.Removes {
		if e.Flaw != SoundTopic {
			// A removal names a topic as well, but one that cannot be there may
			// also count as absent (API-003, 100).
			out = append(out, defect{index: -1, breaks: []model.Assertion{badTopicRefused}, what: fmt.Sprintf("remove %d: %s", i, e.Flaw)})
		}
	}
	return out
}

// held counts the topics of the stream once the update is taken.
func (c *Course) held(u *Update) int {
	n := len(c.active)
	for _, e := range u.Removes {
		if c.active[e.Topic] != nil {
			n--
		}
	}
	for _, e := range u.Adds {
		if c.active[e.Topic] == nil {
			n++
		}
	}
	return n
}

func repeated(lists ...[]Asked) (Bytes, bool) {
	n := 0
	for _, l := range lists {
		n += len(l)
	}
	if n < 2 {
		return "", false
	}
	seen := make(map[Bytes]struct{}, n)
	for _, l := range lists {
		for _, e := range l {
			if _, twice := seen[e.Topic]; twice && e.Flaw == SoundTopic {
				return e.Topic, true
			}
			seen[e.Topic] = struct{}{}
		}
	}
	return "", false
}

// addDefects lists what is wrong with the topics and cursors of registrations.
// Key packages may be subscribed to: only a query bars them (API-075).
func addDefects(entries []Asked) []defect {
	var out []defect
	for i, e := range entries {
		what, breaks := "", badTopicRefused
		switch {
		case e.Flaw != SoundTopic:
			what = fmt.Sprintf("add %d: %s", i, e.Flaw)
		case e.Cursor != nil && *e.Cursor > math.MaxInt64:
			what, breaks = fmt.Sprintf("add %d: cursor %d", i, *e.Cursor), cursorRange
		default:
			continue
		}
		out = append(out, defect{index: -1, breaks: []model.Assertion{breaks}, certain: true, what: what})
	}
	return out
}

// oversizedFor finds a message above the byte limit (API-130).
func oversizedFor(t Terms, wire, canonical int) []defect {
	limit := t.Limit(limitRequestBytes)
	low, high := spanOf(wire, canonical)
	if high <= limit {
		return nil
	}
	return []defect{{kind: requestDefect, index: -1, breaks: []model.Assertion{sizeCode}, limit: limitRequestBytes, certain: low > limit, transport: true,
		what: fmt.Sprintf("a message of %d bytes where %d are allowed", high, limit)}}
}
