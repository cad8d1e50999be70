package backend

import (
	"fmt"
	"math"
)

// delivered judges one row by itself: its topic was asked for, and it is an
// envelope that was published, as it was published. Order and gaps show beside
// other calls.
func (j *judge) delivered(s *subscription, i, k int, row Row) {
	if s.course.Left {
		return
	}
	m := row.Meta
	where := func() string { return fmt.Sprintf("row %d: ", k) }
	if !row.HasMeta || !m.HasCursor || m.Sequence == 0 || m.Sequence > math.MaxInt64 {
		j.breached(uniqueID, s.now, where()+"metadata with a sequence id", "none")
		return
	}
	r, standing := s.course.Owner(m.Topic, m.Sequence)
	switch {
	case standing == Stranger:
		j.unasked(s, where(), row)
		return
	case !row.HasEnvelope:
		j.breached(payloadIntact, s.now, where()+"the envelope", "none")
		return
	case standing != Owned:
		return
	}
	behind := r.Last < r.Target
	r.Shows(m.Sequence)
	if behind && r.Last >= r.Target {
		if s.behind--; s.behind == 0 && !s.course.static {
			j.held(rowsOrFailure, s.now, "")
		}
	}
	t := r.topic
	if e := t.stored[row.Identity]; e != nil && e.meta == m && s.shown[t.log.Kind] {
		e.shown = true
	} else if !j.known(s.now, where(), t, row, metaAgrees) {
		return
	}
	if s.rows++; !s.shown[t.log.Kind] {
		s.shown[t.log.Kind] = true
		j.held(bareFrames, s.now, "")
		if s.course.static {
			j.held(staticRows, s.now, "")
		} else {
			j.held(rowAsked, s.now, "")
		}
		j.witness(s.witnessOf())
	}
	if r.Rows == 1 {
		j.witness(streamWitness(t.topic))
		j.witness(topicWitness(t.topic))
	}
	t.saw(i, m.Sequence)
}

// unasked judges a row of a topic that nobody asked for.
func (j *judge) unasked(s *subscription, where string, row Row) {
	got := "topic " + row.Meta.Topic.String()
	home, ok := j.belongs[row.Identity]
	switch {
	case ok && home != row.Meta.Topic && s.course.current[home] != nil:
		j.breached(topicFromPayload, s.now, where+"topic "+home.String(), row.Meta.Topic.String())
	case s.course.static:
		j.breached(staticRows, s.now, where+"a topic that was asked for", got)
	case len(s.course.active)+len(s.course.gone) == 0:
		j.breached(startedFirst, s.now, where+"nothing: no topic is registered when a subscription begins", got)
	default:
		j.breached(rowAsked, s.now, where+"a topic that an update added", got)
	}
}
