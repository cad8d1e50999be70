package backend

import (
	"fmt"
	"slices"
	"time"

	"assay/model"
)

// The witnesses of subscriptions: one of the form was acknowledged as asked.
const (
	callSubscribe = "call:subscribe"
	callStatic    = "call:subscribe_static"
)

// streamWitness is the witness that a subscription delivered rows of a topic.
func streamWitness(t Bytes) string { return "stream:" + t.String() }

// subscription is one call of sections 8 and 9, judged frame by frame.
type subscription struct {
	*exchange
	course *Course
	// now is the exchange as the frame at hand shows it.
	now *exchange
	out []model.Judgement

	frames, rows     int
	started          bool
	keepalive        time.Duration
	closed, canceled bool
	paused           bool // at some time
	// latest is when the last frame arrived, or the call began, and latestAt its event.
	latest   time.Duration
	latestAt int
	// bare since when no topic was registered or asked for; -1 while there are some.
	bare time.Duration
	// pings are the client's Pings without an answer, by nonce, owed the peer's.
	pings   map[uint64]int
	pingAt  map[uint64]int // the event of the last one
	owed    []uint64
	updates bucket
	pinged  bucket
	// pongs are the Pongs nobody asked for, pongsAt when the first and last left,
	// pongLast the event of the last.
	pongs    int
	pongsAt  [2]time.Duration
	pongLast int
	// acked is the event of the last acknowledgement.
	acked int
	ended bool
	empty bool // a frame without alternative was sent
	shown map[Kind]bool
	// overtaken are the updates that a later acknowledgement overtook.
	overtaken []*Change
	// behind counts the registrations that have not come to their targets; stayed
	// is true once a frame came when none was left.
	behind int
	stayed bool
	// firstSent and closedAt are the events of the first frame and of the half-close.
	firstSent, closedAt int
}

// stream takes one event of a subscription.
func (j *judge) stream(x *exchange, i int, e model.Event) {
	s := j.streams[x.number]
	if s == nil {
		s = &subscription{exchange: x, course: NewCourse(x.call, x.invoked, j.terms), now: &exchange{},
			latest: e.At, latestAt: i, bare: -1, pings: make(map[uint64]int), pingAt: make(map[uint64]int), shown: make(map[Kind]bool)}
		s.updates = newBucket(j.terms, limitUpdateRate, limitUpdateBurst)
		s.pinged = newBucket(j.terms, limitPingRate, limitPingBurst)
		j.streams[x.number] = s
		j.order = append(j.order, s)
	}
	if s.ended {
		return
	}
	*s.now = exchange{number: x.number, invoked: x.invoked, returned: i, call: x.call, answer: &Return{}}
	// The judgements of a call stand together, wherever its frames stand.
	all, start := j.out.Judgements, j.start
	j.out.Judgements, j.start = s.out, 0
	switch v := e.Value.(type) {
	case *Request:
		if v != nil {
			j.sent(s, i, e.At, v)
		}
	case *Response:
		if v != nil {
			j.received(s, i, e.At, v)
		}
	case *Return:
		if v == x.answer {
			j.ended(s, i, e.At)
		}
	}
	s.out, j.out.Judgements, j.start = j.out.Judgements, all, start
}

// conclude adds the judgements of subscriptions behind those of other calls.
func (j *judge) conclude() {
	j.flooded()
	for _, s := range j.order {
		j.out.Judgements = append(j.out.Judgements, s.out...)
	}
}

// sent takes a frame that left, or what was done to the connection.
func (j *judge) sent(s *subscription, i int, at time.Duration, r *Request) {
	if s.firstSent == 0 && !r.Pause && !r.Resume {
		s.firstSent = i
	}
	switch {
	case r.Close:
		s.closed, s.closedAt = true, i
	case r.Cancel:
		s.canceled = true
	case r.Pause:
		s.paused = true
	case r.Resume:
	case s.closed || s.course.static:
	case r.Update != nil:
		s.bare = -1
		s.updates.send(at)
		s.course.Send(i, r)
	case r.Ping != nil:
		s.pinged.send(at)
		s.pings[*r.Ping]++
		s.pingAt[*r.Ping] = i
	case r.Pong != nil:
		if k := slices.Index(s.owed, *r.Pong); k >= 0 {
			s.owed = slices.Delete(s.owed, k, k+1)
			return
		}
		if s.pongs == 0 {
			s.pongsAt[0] = at
		}
		s.pongs++
		s.pongsAt[1], s.pongLast = at, i
	default:
		s.empty = true
		if s.course.flawed == nil {
			s.course.flawed = &Change{Update: &Update{}, Sent: i, defects: []defect{{index: -1, breaks: []model.Assertion{emptyFrame}, certain: true, what: "a frame without alternative"}}}
		}
	}
}

// witnessOf is the witness of the subscription's form.
func (s *subscription) witnessOf() string {
	if s.course.static {
		return callStatic
	}
	return callSubscribe
}

// received judges a frame that arrived.
func (j *judge) received(s *subscription, i int, at time.Duration, r *Response) {
	j.frameLength(s, r)
	if s.frames++; s.frames == 1 {
		j.first(s, r)
	}
	idle := at - s.latest
	before := s.latestAt
	s.latest, s.latestAt = at, i
	switch {
	case r.Started != nil:
		j.startedFrame(s, i, at, r.Started)
	case r.Applied != nil:
		j.appliedFrame(s, i, at, r.Applied)
	case r.Messages != nil:
		for k, row := range r.Messages.Rows {
			j.delivered(s, i, k, row)
		}
	case r.Ping != nil:
		s.owed = append(s.owed, *r.Ping)
	case r.Pong != nil:
		j.pong(s, at, *r.Pong)
	case r.Keepalive:
		j.keepaliveFrame(s, idle)
	case r.Empty:
		j.breached(bareFrames, s.now, "a frame of the package, without a wrapper", "one that sets no alternative of it")
	}
	j.stays(s, at, idle, before, r)
}

// frameLength judges that no frame is above the byte limit (API-134).
func (j *judge) frameLength(s *subscription, r *Response) {
	if limit := j.terms.Limit(limitResponseBytes); length(r.WireLen) > limit {
		j.breached(nothingOmitted, s.now, fmt.Sprintf("a failure: the frame is above %d bytes", limit), fmt.Sprintf("a frame of %d bytes", r.WireLen))
	}
}

// first judges the first frame (API-090, 111).
func (j *judge) first(s *subscription, r *Response) {
	a := startedFirst
	if s.course.static {
		a = staticStarted
	}
	if r.Started == nil {
		j.breached(a, s.now, "Started as the first frame", kindOf(r))
		return
	}
	s.started = true
	s.keepalive = time.Duration(r.Started.KeepaliveMS) * time.Millisecond
	if s.keepalive == 0 {
		s.keepalive = clientInterval
	}
	if !s.course.static {
		j.held(startedFirst, s.now, callSubscribe)
	}
	j.quota(s)
}

// clientInterval is the keepalive interval of a client that is told 0 (API-090,
// section 11).
const clientInterval = 30 * time.Second

func kindOf(r *Response) string {
	switch {
	case r.Started != nil:
		return "Started"
	case r.Applied != nil:
		return fmt.Sprintf("Applied %d", r.Applied.ID)
	case r.Messages != nil:
		return "Messages"
	case r.Ping != nil:
		return "Ping"
	case r.Pong != nil:
		return "Pong"
	case r.Keepalive:
		return "Keepalive"
	default:
		return "a frame without alternative"
	}
}

// crowd is how many subscriptions at a time show that there is no quota: more than
// a quota that somebody would set by mistake.
const crowd = 10

// quota records how many subscriptions are open at a time (API-101).
func (j *judge) quota(s *subscription) {
	open := 0
	for _, o := range j.order {
		if o.started && !o.ended && !o.canceled {
			open++
		}
	}
	if open >= crowd {
		j.held(noQuota, s.now, "")
	}
}

// startedFrame takes Started; that of a static subscription has its targets.
func (j *judge) startedFrame(s *subscription, i int, at time.Duration, r *Started) {
	if !s.course.static {
		if s.frames > 1 {
			j.remark(startedFirst, model.Upstream, "sends Started again on an open subscription")
		} else if len(s.course.active) == 0 {
			s.bare = at
		}
		return
	}
	u, wrong := s.course.Started(i, r)
	switch {
	case u == nil:
	case len(u.defects) > 0:
		j.tookDefect(s, u, "Started")
	case wrong != "":
		j.breached(staticStarted, s.now, fmt.Sprintf("one target for each of %d topics, in request order", len(u.Adds)), wrong)
	default:
		j.held(staticStarted, s.now, "")
		j.witness(callStatic)
		j.headers(s.now, callStatic)
		if uint64(len(u.Adds)) == j.terms.Limit(limitStatic) {
			j.held(staticAtLimit, s.now, "")
		}
		j.enrol(s, u)
	}
}

// enrol gives the registrations of an update their topics in the view.
func (j *judge) enrol(s *subscription, u *Change) {
	for _, r := range u.Adds {
		r.topic = j.topic(r.Topic, r.Log)
		if r.Last < r.Target {
			s.behind++
		}
	}
}

// appliedFrame judges an acknowledgement (API-091, 094, 100).
func (j *judge) appliedFrame(s *subscription, i int, at time.Duration, a *Applied) {
	if s.course.Left {
		return
	}
	if s.course.static {
		j.breached(staticRows, s.now, "the frames of a static subscription", "Applied")
		return
	}
	before := s.course.pending
	u, wrong := s.course.Applied(i, a)
	if f := s.course.flawed; u == nil && f != nil && a.ID > s.course.lastID {
		j.tookDefect(s, f, fmt.Sprintf("Applied %d of what came after it", a.ID))
		return
	}
	if u == nil {
		j.breached(applied, s.now, "one acknowledgement of an update that was sent", fmt.Sprintf("Applied %d", a.ID))
		return
	}
	for _, o := range before {
		if o == u {
			break
		}
		s.overtaken = append(s.overtaken, o)
	}
	if k := slices.Index(s.overtaken, u); k >= 0 {
		s.overtaken = slices.Delete(s.overtaken, k, k+1)
		j.breached(updateOrder, s.now, fmt.Sprintf("update %d acknowledged before those after it", a.ID), "it came later", u.Sent)
	}
	switch {
	case len(u.defects) > 0:
		j.tookDefect(s, u, fmt.Sprintf("Applied %d", a.ID))
		return
	case wrong != "":
		j.misplaced(s, u, a, wrong)
		return
	}
	j.enrol(s, u)
	j.taken(s, u)
	if s.acked > u.Sent {
		j.held(updateOrder, s.now, "") // both were under way at once
	}
	s.acked = i
	j.spent(s, &s.updates, "updates", at)
	j.served(s)
	if len(s.course.active) == 0 && len(s.course.pending) == 0 {
		s.bare = at
	}
}

// misplaced judges targets that are not those of the newly registered topics.
func (j *judge) misplaced(s *subscription, u *Change, a *Applied, wrong string) {
	expected := fmt.Sprintf("Applied %d with the targets of its %d newly registered topics, in the order of the adds", a.ID, len(u.Adds))
	j.breached(applied, s.now, expected, wrong, u.Sent)
	for _, t := range a.Targets {
		if slices.ContainsFunc(u.Again, func(r *Registration) bool { return r.Topic == t.Topic }) {
			j.breached(noOpAdd, s.now, expected, "a target for "+t.Topic.String()+", which was active", u.Sent)
			return
		}
	}
}

// taken records what an acknowledged update is evidence for.
func (j *judge) taken(s *subscription, u *Change) {
	j.held(applied, s.now, "")
	j.witness(callSubscribe)
	j.headers(s.now, callSubscribe)
	if len(u.Adds) > 0 && len(u.Removes) > 0 {
		j.held(updateWhole, s.now, streamWitness(u.Adds[0].Topic))
	}
	if len(u.Again) > 0 {
		j.held(noOpAdd, s.now, "")
	}
	if u.absents > 0 {
		j.held(noOpRemove, s.now, "")
	}
	for _, r := range u.Adds {
		if r.Before != nil {
			j.held(newGeneration, s.now, streamWitness(r.Topic))
			break
		}
	}
	if u.Update.ID > u.previous+1 {
		j.held(idsFree, s.now, "")
	}
	n, t := u.Update, j.terms
	if uint64(len(n.Adds)) == t.Limit(limitAdds) || uint64(len(n.Removes)) == t.Limit(limitRemoves) || len(u.Adds) > 0 && uint64(u.topics) == t.Limit(limitTopics) {
		j.held(updateAtLimit, s.now, "")
	}
}

// tookDefect judges that what has to be refused was taken.
func (j *judge) tookDefect(s *subscription, u *Change, got string) {
	for _, d := range u.defects {
		if !d.certain {
			continue
		}
		a := d.breaks[0]
		if d.limit != "" && j.terms.moved(d.limit) {
			a = limitEnforced
		}
		j.breached(a, s.now, "a refusal of "+d.what, got, u.Sent)
	}
}
