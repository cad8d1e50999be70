package backend

import (
	"fmt"
	"time"

	"assay/model"
)

// patience is the least time that the harness must have waited for the absence of
// something to tell anything at all, leisure that for the end of a session that was
// half-closed: how soon it comes is free.
const (
	patience = 10 * time.Second
	leisure  = 25 * time.Second
)

// awaited judges something that did not come although the harness waited for it.
//
// No time proves that a row of a replica will never come (API-018), and no time is
// given for anything else. So a wait in vain is a breach only where no legal
// subject is known that would act so: the harness waited long, it read all the
// while, the subscription was alive, which a frame shows that arrived when half of
// the wait was over, and for rows, the harness knows that there is no replica.
// Everything less is a doubt.
func (j *judge) awaited(i int, at time.Duration, a *Awaited) {
	s := j.streams[a.Stream]
	if s == nil || s.ended || s.course.Left {
		return
	}
	*s.now = exchange{number: s.number, invoked: s.invoked, returned: i, call: s.call, answer: &Return{}}
	all, start := j.out.Judgements, j.start
	j.out.Judgements, j.start = s.out, 0
	j.missed(s, i, at, a)
	s.out, j.out.Judgements, j.start = j.out.Judgements, all, start
}

func (j *judge) missed(s *subscription, i int, at time.Duration, a *Awaited) {
	waited := time.Duration(min(a.WaitedMS, 1<<40)) * time.Millisecond
	waited = min(waited, at)
	w, expected, since, ok := j.owed(s, a)
	if !ok {
		return
	}
	why := ""
	switch half := at - waited/2; {
	case s.paused:
		why = "the client did not read all the while"
	case waited < patience || a.Frame && waited <= 3*s.keepalive || w == halfClose && waited < leisure:
		why = fmt.Sprintf("it was awaited for %v only", waited)
	case j.events[since].At > at-waited:
		why = "it was not owed all the while"
	case a.Row != nil && !j.terms.NoReplica:
		why = "a replica may lag for any time"
	case !a.Frame && !a.Started && !a.End && s.latest < half:
		why = "nothing shows that the connection was alive"
	}
	if why != "" {
		j.doubt(w, s.now, expected+" did not come, but "+why)
		return
	}
	j.breached(w, s.now, expected, fmt.Sprintf("nothing in %v, on a subscription that was read and alive", waited.Round(time.Millisecond)), since, s.latestAt)
}

// owed tells what is owed to the subscription, and since which event; ok is false
// when it is not.
func (j *judge) owed(s *subscription, a *Awaited) (w model.Assertion, expected string, since int, ok bool) {
	switch {
	case a.Row != nil:
		r := s.course.current[a.Row.Topic]
		if r == nil || s.course.active[a.Row.Topic] != r || r.Last >= a.Row.Through || r.topic == nil {
			return w, "", 0, false
		}
		e := r.topic.at(a.Row.Through)
		if e == nil || e.by == nil || e.by.returned >= s.now.returned {
			return w, "", 0, false
		}
		w = rowsOrFailure
		if s.course.static {
			w = staticRows
		}
		return w, fmt.Sprintf("sequence id %d of %s, which is stored, or a failure", a.Row.Through, r.Log), max(r.Answered, e.by.returned), true
	case a.Applied != nil:
		for _, u := range s.course.pending {
			if u.Update.ID == *a.Applied && len(u.defects) == 0 && !s.course.static {
				return applied, fmt.Sprintf("Applied %d", *a.Applied), u.Sent, true
			}
		}
	case a.Pong != nil:
		if at, sent := s.pingAt[*a.Pong]; sent && s.pings[*a.Pong] > 0 {
			return pongEchoes, fmt.Sprintf("Pong %d", *a.Pong), at, true
		}
	case a.Started && !s.started:
		w = startedFirst
		if s.course.static {
			w = staticStarted
		}
		return w, "Started", max(s.invoked, s.firstSent), s.course.static || s.firstSent > 0 // it may wait for the first frame
	case a.Frame && s.course.static && s.started:
		return keepalive, "a frame within three keepalive intervals", s.latestAt, true
	case a.End:
		switch f := s.course.flawed; {
		case f != nil && f.defects[0].certain:
			return f.defects[0].breaks[0], "the end of the subscription, which was sent " + f.defects[0].what, f.Sent, true
		case f == nil && s.closed:
			return halfClose, "the end of the session, which the client half-closed", s.closedAt, true
		}
	}
	return w, "", 0, false
}
