package stream

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// update applies an update, or lets it wait: for the one before it, as updates
// are applied in the order of their arrival, each as a whole (API-091); or for a
// client that has not read what earlier ones were answered with.
func (s *Session) update(now time.Time, u *backendv1.SubscribeRequest_Update) {
	if len(s.waiting) == 0 && s.ready() {
		s.apply(now, u)
		return
	}
	s.waitingBytes += proto.Size(u)
	if uint64(s.waitingBytes) > s.settings.Limits.MaxRequestBytes {
		s.fail(codes.ResourceExhausted, "updates of more than %d bytes wait to be applied", s.settings.Limits.MaxRequestBytes)
		return
	}
	s.waiting = append(s.waiting, u)
}

// ready says whether an update may be applied: no other is, and its answer will
// find room.
func (s *Session) ready() bool { return s.pending == nil && s.queuedBytes < historyBytes }

// next applies the updates that waited, up to one that needs heads.
func (s *Session) next(now time.Time) {
	for !s.ended && s.ready() && len(s.waiting) > 0 {
		u := s.waiting[0]
		s.waiting[0], s.waiting = nil, s.waiting[1:]
		s.waitingBytes -= proto.Size(u)
		s.apply(now, u)
	}
	if len(s.waiting) == 0 {
		s.waiting = nil
	}
}

// apply checks an update and carries it out: removals first, then additions.
// New topics are registered at the feed before their heads are read, so that
// there is no moment in between at which an envelope could pass (API-096).
func (s *Session) apply(now time.Time, u *backendv1.SubscribeRequest_Update) {
	adds, removes, err := s.check(u)
	if err != nil {
		s.fail(codes.InvalidArgument, "update %d: %v", u.GetId(), err)
		return
	}
	s.lastID = u.GetId()
	s.remove(removes)
	c := &change{id: u.GetId()}
	for _, p := range adds {
		// A topic that is on the stream stays as it is, whatever cursor is
		// supplied (API-100).
		if s.active[p.Topic] == nil {
			c.new = append(c.new, &registration{topic: p.Topic, position: p.After, phase: unanswered})
		}
	}
	if len(c.new) == 0 {
		s.send(now, Applied{ID: c.id})
		return
	}
	s.register(c)
}

// check looks at an update as a whole, in the order of its parts. It changes
// nothing.
func (s *Session) check(u *backendv1.SubscribeRequest_Update) (adds []backend.Position, removes []backend.Topic, err error) {
	limits := &s.settings.Limits
	switch {
	case u.GetId() == 0:
		return nil, nil, fmt.Errorf("the id must not be 0")
	case u.GetId() <= s.lastID:
		return nil, nil, fmt.Errorf("the id must be above %d, the one before it", s.lastID)
	case len(u.GetAdds()) > int(limits.MaxUpdateAdds):
		return nil, nil, fmt.Errorf("%d topics are added, more than the %d allowed", len(u.GetAdds()), limits.MaxUpdateAdds)
	case len(u.GetRemoves()) > int(limits.MaxUpdateRemoves):
		return nil, nil, fmt.Errorf("%d topics are removed, more than the %d allowed", len(u.GetRemoves()), limits.MaxUpdateRemoves)
	}
	named := make(map[backend.Topic]bool, len(u.GetAdds())+len(u.GetRemoves()))
	total := len(s.active)
	if adds, err = positions(u.GetAdds(), named); err != nil {
		return nil, nil, err
	}
	for _, p := range adds {
		if s.active[p.Topic] == nil {
			total++
		}
	}
	for i, t := range u.GetRemoves() {
		topic, err := backend.ParseTopic(t.GetTopic())
		if err != nil {
			return nil, nil, fmt.Errorf("remove %d: %w", i, err)
		}
		if named[topic] {
			return nil, nil, fmt.Errorf("remove %d: the update names topic %v twice", i, topic)
		}
		named[topic] = true
		removes = append(removes, topic)
		if s.active[topic] != nil {
			total--
		}
	}
	if total > int(limits.MaxStreamTopics) {
		return nil, nil, fmt.Errorf("the stream would have %d topics, more than the %d allowed", total, limits.MaxStreamTopics)
	}
	return adds, removes, nil
}

// positions reads topics with their cursors. No topic may come twice.
func positions(queries []*backendv1.TopicQuery, named map[backend.Topic]bool) ([]backend.Position, error) {
	out := make([]backend.Position, len(queries))
	for i, q := range queries {
		p, err := backend.ParsePosition(q)
		if err != nil {
			return nil, fmt.Errorf("topic %d: %w", i, err)
		}
		if named[p.Topic] {
			return nil, fmt.Errorf("topic %d: %v is named twice", i, p.Topic)
		}
		named[p.Topic] = true
		out[i] = p
	}
	return out, nil
}

// remove ends registrations. Rows of theirs that are being read are dropped when
// they come: nothing may follow the Applied (API-100).
func (s *Session) remove(topics []backend.Topic) {
	var gone []backend.Topic
	for _, t := range topics {
		if r := s.active[t]; r != nil {
			s.history.drop(r)
			r.phase = removed
			delete(s.active, t)
			gone = append(gone, t)
		}
	}
	if len(gone) > 0 {
		s.do(Unregister{Topics: gone})
	}
}

// register makes registrations known to the feed, and then asks for heads.
func (s *Session) register(c *change) {
	topics := make([]backend.Topic, len(c.new))
	for i, r := range c.new {
		topics[i] = r.topic
		s.active[r.topic] = r
	}
	s.pending = c
	s.do(Register{Topics: topics})
	s.do(ReadHeads{Topics: topics})
}

// headsRead answers the pending update. The heads are its targets and stay what
// they are (API-097); only now may something be sent of the new topics.
func (s *Session) headsRead(now time.Time, e HeadsRead) {
	c := s.pending
	if c == nil {
		return
	}
	s.pending = nil
	if e.Err != nil || len(e.Heads) != len(c.new) {
		s.fail(codes.Unavailable, "the heads of the topics could not be read")
		return
	}
	targets := make([]Target, len(c.new))
	for i, r := range c.new {
		targets[i] = Target{Topic: r.topic, Through: e.Heads[i]}
	}
	if s.static {
		s.send(now, Started{KeepaliveMS: s.settings.Streams.KeepaliveIntervalMS, Targets: targets})
	} else {
		s.send(now, Applied{ID: c.id, Targets: targets})
	}
	for i, r := range c.new {
		r.mark = max(r.mark, e.Heads[i])
		s.place(r)
	}
	s.next(now)
}

// openStatic registers the topics of a static stream (API-110).
func (s *Session) openStatic(_ time.Time, request *backendv1.SubscribeStaticRequest) {
	most := s.settings.Limits.MaxStaticTopics
	n := len(request.GetTopics())
	if n == 0 || n > int(most) {
		s.fail(codes.InvalidArgument, "the request names %d topics; it must be 1 to %d", n, most)
		return
	}
	from, err := positions(request.GetTopics(), make(map[backend.Topic]bool, n))
	if err != nil {
		s.fail(codes.InvalidArgument, "%v", err)
		return
	}
	c := &change{new: make([]*registration, n)}
	for i, p := range from {
		c.new[i] = &registration{topic: p.Topic, position: p.After, phase: unanswered}
	}
	s.register(c)
}
