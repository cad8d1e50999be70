package check

import (
	"cmp"
	"fmt"
	"slices"
)

// readStreams judges every registration, moment by moment, and notes what its
// frames show.
func (c *checker) readStreams() {
	s := &c.f.streams
	if len(s.registration) == 0 {
		return
	}
	// Moments come in the order of time over all registrations, so that dealing
	// them out sorts them.
	ends := make([]int, len(s.registration)+1)
	for _, m := range s.moment {
		ends[m.stream+1]++
	}
	for i := range s.registration {
		ends[i+1] += ends[i]
	}
	moments, next := make([]moment, len(s.moment)), slices.Clone(ends)
	for _, m := range s.moment {
		moments[next[m.stream]] = m
		next[m.stream]++
	}
	inTime := func(a, b moment) int { return cmp.Compare(a.at, b.at) }
	for i := range s.registration {
		own := moments[ends[i]:ends[i+1]]
		if !slices.IsSortedFunc(own, inTime) {
			slices.SortStableFunc(own, inTime)
		}
		if len(own) > 0 {
			c.readStream(op{tableStream, i}, own)
		}
	}
}

// course is how far one registration has come.
type course struct {
	op   op
	reg  Registration
	rows spanState
	// answer is the moment of the acknowledgement, 0 before it.
	answer  Order
	target  uint64
	removed Order
	lastAt  Order
}

func (c *checker) readStream(o op, moments []moment) {
	reg := c.f.streams.registration[o.index]
	s := &course{op: o, reg: reg, rows: spanState{log: reg.Log, after: reg.After, top: noRank, sound: true}}
	for _, m := range moments {
		switch m.kind {
		case answered:
			c.streamAnswer(s, m)
		case removed:
			s.removed = m.at
		case framed:
			c.streamRow(s, m)
			s.lastAt = m.at
		}
	}
	if s.answer != 0 {
		c.hold(o, StreamAnswer)
		if s.rows.count > 0 {
			c.hold(o, StreamEarly)
		}
	}
	if s.removed != 0 && s.rows.count > 0 {
		c.hold(o, StreamLate)
	}
	if s.rows.count > 0 {
		for _, r := range []Rule{StreamGap, Known, NotRefused, ReadMetadata} {
			c.hold(o, r)
		}
	}
	if s.rows.count > 1 {
		c.hold(o, StreamAscending)
	}
}

// streamAnswer takes the acknowledgement of a registration.
func (c *checker) streamAnswer(s *course, m moment) {
	name := c.f.logName[s.reg.Log]
	v := finding{op: s.op, log: s.reg.Log, events: []Order{s.answer, m.at}}
	switch {
	case s.answer != 0 && m.position != s.target:
		v.rule, v.positions = StreamTarget, []uint64{s.target, m.position}
		v.expected, v.got = fmt.Sprintf("target %d of %s, as captured", s.target, name), fmt.Sprintf("target %d", m.position)
		c.find(v)
		return
	case s.answer != 0:
		v.rule, v.expected, v.got = StreamAnswer, "one acknowledgement of the registration of "+name, "a second"
		c.find(v)
		return
	}
	s.answer, s.target = m.at, m.position
	c.targetShown(s, m)
}

// targetShown takes a target as a head read: at some moment before it arrived
// it was the newest visible position.
func (c *checker) targetShown(s *course, m moment) {
	l := s.reg.Log
	next := c.start[l]
	if m.position != 0 {
		next = c.above(l, m.position)
		switch {
		case next > c.start[l] && c.position(next-1) == m.position:
			c.bounds[next-1].shown = min(c.bounds[next-1].shown, m.at)
			c.hold(s.op, StreamTarget)
		case c.maybe[l] > m.at && !c.full(StreamTarget, s.op) && !c.disputed(l, m.position):
			c.find(finding{rule: StreamTarget, op: s.op, log: l, positions: []uint64{m.position}, events: []Order{m.at},
				expected: "a target that was a head of " + c.f.logName[l], got: fmt.Sprint(m.position)})
			return
		default:
			return
		}
	}
	if !s.reg.Lag && next < c.start[l+1] {
		c.bounds[next].since = max(c.bounds[next].since, s.reg.Invoked)
	}
}

// streamRow takes one delivered row.
func (c *checker) streamRow(s *course, m moment) {
	f := c.f
	pos, name := f.rowPos[m.row], f.logName[s.reg.Log]
	v := finding{op: s.op, log: s.reg.Log, positions: []uint64{pos}, events: []Order{m.at}}
	if c.flaw[m.row]&claimed != 0 {
		c.claim(s.op, m.row, false, m.at)
	}
	switch {
	case s.removed != 0:
		v.rule, v.events = StreamLate, append(v.events, s.removed)
		v.expected, v.got = "nothing of the registration of "+name+" after its removal was acknowledged", fmt.Sprintf("position %d", pos)
		c.find(v)
		return
	case s.answer == 0:
		v.rule, v.expected, v.got = StreamEarly, "the acknowledgement of the registration of "+name+" first", fmt.Sprintf("position %d", pos)
		c.find(v)
	}
	switch {
	case pos <= s.rows.after:
		v.rule, v.expected, v.got = StreamAscending, fmt.Sprintf("only positions of %s above the cursor %d", name, s.rows.after), fmt.Sprint(pos)
		c.find(v)
		return
	case s.rows.count > 0 && pos <= s.rows.last:
		v.rule, v.positions = StreamAscending, []uint64{s.rows.last, pos}
		v.events = append(v.events, s.lastAt)
		v.expected, v.got = fmt.Sprintf("a position of %s above %d", name, s.rows.last), fmt.Sprint(pos)
		c.find(v)
		return
	}
	before := s.rows.last
	s.rows.last, s.rows.count = pos, s.rows.count+1
	g := c.rank[m.row]
	if g == noRank {
		s.rows.sound = false // what it stands for cannot be placed
		return
	}
	c.bounds[g].shown = min(c.bounds[g].shown, m.at)
	expect := s.rows.top + 1
	if s.rows.top == noRank {
		expect = c.above(s.reg.Log, s.rows.after)
	}
	for expect < g && c.entries[c.bounds[expect].entry].first > m.at {
		expect++ // appended below the row after it was delivered
	}
	if g > expect && s.rows.sound && !c.full(StreamGap, s.op) {
		v.rule, v.positions, v.others = StreamGap, []uint64{c.position(expect), pos}, c.claimant(c.rowAt(expect))
		if s.lastAt != 0 {
			v.events = append(v.events, s.lastAt)
		}
		v.expected, v.got = fmt.Sprintf("position %d of %s after %d", c.position(expect), name, max(before, s.rows.after)), fmt.Sprint(pos)
		c.find(v)
	}
	s.rows.top = g
	s.rows.sound = true
}

// judgeTargets judges targets as head reads between the request and its
// acknowledgement.
func (c *checker) judgeTargets() {
	s := &c.f.streams
	for _, m := range s.moment {
		if reg := s.registration[m.stream]; m.kind == answered {
			c.judgeHeadRecency(op{tableStream, int(m.stream)}, reg.Log, m.position, reg.Lag, interval{reg.Invoked, m.at})
		}
	}
}
