package backend

import (
	"fmt"
	"slices"
	"time"

	"assay/model"
)

// pong judges an answer to a Ping (API-099).
func (j *judge) pong(s *subscription, at time.Duration, nonce uint64) {
	if s.course.static {
		j.breached(staticRows, s.now, "the frames of a static subscription", "Pong")
		return
	}
	if s.pings[nonce] == 0 {
		j.breached(pongEchoes, s.now, "Pong with the nonce of a Ping that was sent and not answered", fmt.Sprintf("nonce %d", nonce))
		return
	}
	s.pings[nonce]--
	j.held(pongEchoes, s.now, "")
	j.spent(s, &s.pinged, "Pings", at)
	j.served(s)
	if n := float64(s.pongs); s.pongs > 0 && s.pingAt[nonce] > s.pongLast && n > s.pinged.burst+max(s.updates.rate, s.pinged.rate)*(s.pongsAt[1]-s.pongsAt[0]).Seconds()+grain {
		j.held(pongIsFree, s.now, "")
	}
}

// lateness is what a frame may be late on a machine with other work before its
// absence tells something.
const lateness = 10 * time.Second

// keepaliveFrame judges the time before a keepalive (API-113).
func (j *judge) keepaliveFrame(s *subscription, idle time.Duration) {
	if !s.course.static {
		j.breached(bareFrames, s.now, "the frames of a bidirectional subscription", "Keepalive")
		return
	}
	if !s.paused && s.started && idle <= 3*s.keepalive {
		j.held(keepalive, s.now, "")
	}
}

// stays judges what a frame says of the time before it: a static subscription is
// not silent for longer than three intervals, and goes on past its targets; one
// without topics stays open.
func (j *judge) stays(s *subscription, at, idle time.Duration, before int, r *Response) {
	if s.course.static && s.started && r.Started == nil && !s.course.Left {
		if !s.stayed && s.behind == 0 {
			s.stayed = true
			j.held(staticStays, s.now, callStatic)
		}
		if !s.paused && idle > 3*s.keepalive+lateness {
			j.breached(keepalive, s.now, fmt.Sprintf("a frame within three intervals of %v", s.keepalive), fmt.Sprintf("none in %v", idle.Round(time.Millisecond)), before)
		}
	}
	if s.bare >= 0 && at-s.bare > 2*s.keepalive && len(s.course.active) == 0 {
		j.held(emptyStays, s.now, callSubscribe)
	}
}

// ended judges how a subscription ended.
func (j *judge) ended(s *subscription, i int, at time.Duration) {
	s.ended = true
	s.now = s.exchange
	r := s.answer
	if r.Lost != Answered || s.canceled || r.Garbled != "" {
		return
	}
	m := s.call.Method
	if r.Code == Unimplemented && s.frames == 0 && !j.subject.served[m] {
		j.out.Unimplemented[string(m)]++
		return
	}
	if len(s.overtaken) > 0 {
		u := s.overtaken[0]
		j.breached(applied, s.now, fmt.Sprintf("Applied %d, before that of a later update", u.Update.ID), "none", u.Sent)
	}
	if f := s.course.flawed; f != nil {
		if !s.course.Left {
			j.refusedFrame(s, f, at)
		}
		return
	}
	if j.exhaustion(s, at) {
		return
	}
	if s.closed && s.started {
		j.held(halfClose, s.now, s.witnessOf())
		return
	}
	if s.closed {
		return
	}
	j.endedItself(s)
}

// refusedFrame judges the end of a subscription that was sent something it has to
// refuse.
func (j *judge) refusedFrame(s *subscription, f *Change, at time.Duration) {
	code := s.answer.Code
	if !slices.ContainsFunc(f.defects, func(d defect) bool { return d.certain }) {
		return
	}
	// A bucket that is empty comes before what the frame says, and a slow reader
	// before both.
	if code == ResourceExhausted && (s.updates.short || s.pinged.short || s.paused || s.rows > 0 || j.due(s)) {
		return
	}
	if code == OK && !s.closed && !s.course.static {
		j.doubt(f.defects[0].breaks[0], s.now, "the subscription ended with OK, whatever it had been sent")
		return
	}
	if code == Internal || code == Unknown || code == DeadlineExceeded && len(s.owed) > 0 {
		j.doubt(f.defects[0].breaks[0], s.now, "answered "+code.String()+", which says nothing of the request")
		return
	}
	x := *s.exchange
	x.defects = f.defects
	j.readRefusal(&x, s.witnessOf())
	if d := f.defects[0]; len(f.defects) == 1 && d.certain && d.limit != "" && !d.transport && code != OK && !j.mute(&x) {
		j.check(code == InvalidArgument, boundCode, s.now, s.witnessOf(), "INVALID_ARGUMENT for "+d.what, code.String()+text(s.answer))
	}
}

// endedItself judges a subscription that its server ended.
func (j *judge) endedItself(s *subscription) {
	code, empty := s.answer.Code, len(s.course.active) == 0 && len(s.course.pending) == 0
	got := code.String() + text(s.answer)
	switch {
	case code == DeadlineExceeded && len(s.owed) > 0:
		// Which deadline is its own, and so is the status: nobody can say that it
		// came too late, or for another reason.
		j.remark(pongEchoes, model.Upstream, "closes a subscription whose Pings go unanswered, with DEADLINE_EXCEEDED")
	case s.course.static && code == OK && s.frames == 0:
		j.breached(staticStarted, s.now, "Started", "OK and nothing else")
	case s.course.static && code == OK:
		j.breached(staticStays, s.now, "a subscription that stays open until it is cancelled or fails", got)
	case s.course.static && !s.started:
		j.refusedStream(s)
	case s.course.static:
		j.failedStream(s)
	case code == OK && s.frames == 0:
		j.breached(startedFirst, s.now, "Started", "OK and nothing else")
	case empty && s.started && len(s.owed) == 0 && !j.mute(s.now) && code != Internal && code != Unknown:
		if len(s.updates.sent) == 0 {
			j.breached(emptyStays, s.now, "a subscription without topics that stays open", got)
		} else {
			j.breached(emptyStays, s.now, "a subscription that stays open when its last topic is removed", got)
		}
	case code == OK:
		j.unpaid(s, got)
	default:
		j.refusedStream(s)
	}
}

// failedStream judges a static subscription that failed after it began. It may
// fail, but not for what it was asked.
func (j *judge) failedStream(s *subscription) {
	if s.answer.Code == InvalidArgument {
		j.breached(staticStays, s.now, "a subscription that stays open: its request was accepted", s.answer.Code.String()+text(s.answer))
	}
}

// unpaid judges an end without a failure while rows up to a target are owed
// (API-096).
func (j *judge) unpaid(s *subscription, got string) {
	if s.course.Left {
		return
	}
	for _, r := range s.course.active {
		if r.Answered >= 0 && r.Last < r.Target {
			j.breached(rowsOrFailure, s.now, fmt.Sprintf("the rows of %s up to target %d, or a failure", r.Log, r.Target), fmt.Sprintf("%s after %d", got, r.Last), r.Answered)
			return
		}
	}
}

// refusedStream judges the refusal of a subscription whose frames have nothing
// wrong with them. A stream may fail openly for want of something, but not because
// of what it was asked.
func (j *judge) refusedStream(s *subscription) {
	code := s.answer.Code
	if code == ResourceExhausted && !s.started && len(s.updates.sent)+len(s.pinged.sent) == 0 {
		open := 0
		for _, o := range j.order {
			if o != s && o.started && !o.ended {
				open++
			}
		}
		if open > 0 && open < streamsMost && !j.subject.general[code] {
			j.breached(noQuota, s.now, fmt.Sprintf("a subscription beside %d others", open), code.String()+text(s.answer))
		}
		return
	}
	switch code {
	case InvalidArgument, OutOfRange, Unimplemented, PermissionDenied, Unauthenticated, NotFound, FailedPrecondition, Aborted:
	default:
		return // it failed openly
	}
	a, expected := s.blamed(j.terms)
	j.refusedSound(s.now, expected, a)
}

// blamed names what the acceptance of the last frame would have been evidence for.
func (s *subscription) blamed(t Terms) (model.Assertion, string) {
	if s.course.static {
		if uint64(len(s.call.Static.Entries)) == t.Limit(limitStatic) {
			return staticAtLimit, fmt.Sprintf("a subscription to %d topics", len(s.call.Static.Entries))
		}
		return staticStarted, "a subscription to what was asked for"
	}
	if len(s.course.pending) == 0 {
		return startedFirst, "a subscription"
	}
	u := s.course.pending[0]
	n, what := u.Update, fmt.Sprintf("Applied %d", u.Update.ID)
	switch {
	case uint64(len(n.Adds)) == t.Limit(limitAdds) || uint64(len(n.Removes)) == t.Limit(limitRemoves) || uint64(u.topics) == t.Limit(limitTopics):
		return updateAtLimit, what
	case u.Update.ID > u.previous+1:
		return idsFree, what
	case len(u.Again) > 0:
		return noOpAdd, what
	case u.absents > 0:
		return noOpRemove, what
	case len(n.Adds) > 0 && len(n.Removes) > 0:
		return updateWhole, what
	case slices.ContainsFunc(u.Adds, func(r *Registration) bool { return r.Before != nil }):
		return newGeneration, what
	default:
		return applied, what
	}
}
