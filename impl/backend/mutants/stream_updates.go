package mutants

import (
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/stream"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// streamUpdates are faults in what updates are checked for, and in how they are
// answered.
func streamUpdates() []Mutant {
	return []Mutant{
		{
			Name: "started-after-applied", Summary: "opens a stream with Started only when something else was sent",
			Requirements: []spec.ID{backendreq.API090}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundFrames(p, func() func(stream.Frame) []stream.Frame {
					var held stream.Frame
					return func(f stream.Frame) []stream.Frame {
						if s, ok := f.(stream.Started); ok && s.Targets == nil {
							held = f
							return nil
						}
						frames := []stream.Frame{f}
						if held != nil {
							frames, held = append(frames, held), nil
						}
						return frames
					}
				})
			},
		},
		{
			Name: "duplicate-adds-coalesce", Summary: "lets an update add a topic twice",
			Requirements: []spec.ID{backendreq.API091}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundUpdates(p, func() func(*backendv1.SubscribeRequest_Update) {
					return func(u *backendv1.SubscribeRequest_Update) { u.Adds = firstOfEach(u.GetAdds()) }
				})
			},
		},
		{
			Name: "overlapping-update-accepted", Summary: "lets an update add and remove one topic",
			Requirements: []spec.ID{backendreq.API091}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundUpdates(p, func() func(*backendv1.SubscribeRequest_Update) {
					return func(u *backendv1.SubscribeRequest_Update) {
						u.Removes = slices.DeleteFunc(u.GetRemoves(), func(t *backendv1.Topic) bool {
							return slices.ContainsFunc(u.GetAdds(), func(q *backendv1.TopicQuery) bool {
								return wireTopicOf(q.GetTopic()) == wireTopicOf(t)
							})
						})
					}
				})
			},
		},
		streamLimit("stream-adds-strict", "refuses an update of exactly 100,000 adds", func(s *stream.Settings) {
			s.Limits.MaxUpdateAdds--
		}),
		streamLimit("stream-topics-lax", "lets a stream hold one topic too many", func(s *stream.Settings) {
			s.Limits.MaxUpdateAdds++
			s.Limits.MaxStreamTopics++
		}),
		{
			Name: "stream-overflow-exhausted", Summary: "refuses an update of too many topics with RESOURCE_EXHAUSTED",
			Requirements: []spec.ID{backendreq.API092}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				changeEnd(p, func(r *backend.Refusal) {
					if strings.Contains(r.Text, "allowed") {
						r.Code = codes.ResourceExhausted
					}
				})
			},
		},
		{
			Name: "update-id-zero-accepted", Summary: "takes an update whose id is 0",
			Requirements: []spec.ID{backendreq.API093}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				renumberUpdates(p, func(id, _ uint64) bool { return id == 0 })
			},
		},
		{
			Name: "update-id-repeated-accepted", Summary: "takes an update whose id is the one before it again",
			Requirements: []spec.ID{backendreq.API093}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				renumberUpdates(p, func(id, last uint64) bool { return id != 0 && id == last })
			},
		},
		{
			Name: "update-ids-outlive-connections", Summary: "wants update ids above those of earlier streams",
			Requirements: []spec.ID{backendreq.API093}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				var mu sync.Mutex
				highest := uint64(0)
				aroundUpdates(p, func() func(*backendv1.SubscribeRequest_Update) {
					mine := uint64(0)
					return func(u *backendv1.SubscribeRequest_Update) {
						mu.Lock()
						defer mu.Unlock()
						// Whoever began a stream after another went higher is refused.
						if mine == 0 && u.GetId() <= highest {
							u.Id = 0
						}
						mine = max(mine, u.GetId())
						highest = max(highest, mine)
					}
				})
			},
		},
		appliedMutant("applied-numbered-by-itself", "numbers Applied frames from one instead of repeating the id", func() func(stream.Applied) stream.Applied {
			n := uint64(0)
			return func(a stream.Applied) stream.Applied {
				n++
				a.ID = n
				return a
			}
		}),
		appliedMutant("empty-topics-have-no-target", "leaves topics without envelopes out of the targets", func() func(stream.Applied) stream.Applied {
			return func(a stream.Applied) stream.Applied {
				a.Targets = slices.DeleteFunc(slices.Clone(a.Targets), func(t stream.Target) bool { return t.Through == 0 })
				return a
			}
		}),
		appliedMutant("targets-sorted", "lists targets in the order of their topics, not of the adds", func() func(stream.Applied) stream.Applied {
			return func(a stream.Applied) stream.Applied {
				a.Targets = sortedTargets(a.Targets)
				return a
			}
		}),
		{
			Name: "active-topic-has-target", Summary: "lists a target for an add of a topic that is on the stream",
			Requirements: []spec.ID{backendreq.API094, backendreq.API100}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) { readd(p, false) },
		},
		{
			Name: "active-topic-rewinds", Summary: "starts a topic again from the cursor of an add although it is on the stream",
			Requirements: []spec.ID{backendreq.API100, backendreq.API095}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) { readd(p, true) },
		},
		{
			Name: "absent-remove-refused", Summary: "fails the stream for a remove of a topic that is not on it",
			Requirements: []spec.ID{backendreq.API100}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundUpdates(p, func() func(*backendv1.SubscribeRequest_Update) {
					active := make(map[backend.Topic]bool)
					return func(u *backendv1.SubscribeRequest_Update) {
						for _, t := range u.GetRemoves() {
							if !active[wireTopicOf(t)] {
								u.Id = 0
							}
							delete(active, wireTopicOf(t))
						}
						for _, q := range u.GetAdds() {
							active[wireTopicOf(q.GetTopic())] = true
						}
					}
				})
			},
		},
		{
			Name: "unset-frame-ignored", Summary: "ignores a frame that is none of update, ping and pong",
			Requirements: []spec.ID{backendreq.API106}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundEvents(p, func(stream.Settings) func(stream.Event) []stream.Event {
					return func(e stream.Event) []stream.Event {
						if r, ok := e.(stream.Received); ok && r.Frame.GetRequest() == nil {
							return nil
						}
						return []stream.Event{e}
					}
				})
			},
		},
		{
			Name: "stream-topic-unchecked", Summary: "answers an add of a malformed topic as if nothing was on it",
			Requirements: []spec.ID{backendreq.API003}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundUpdates(p, func() func(*backendv1.SubscribeRequest_Update) {
					return func(u *backendv1.SubscribeRequest_Update) {
						u.Adds = slices.DeleteFunc(u.GetAdds(), func(q *backendv1.TopicQuery) bool {
							_, err := backend.ParseTopic(q.GetTopic().GetTopic())
							return err != nil
						})
					}
				})
			},
		},
		{
			Name: "stream-cursor-unchecked", Summary: "takes a cursor above INT64_MAX on a stream",
			Requirements: []spec.ID{backendreq.API004}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundUpdates(p, func() func(*backendv1.SubscribeRequest_Update) {
					return func(u *backendv1.SubscribeRequest_Update) {
						for _, q := range u.GetAdds() {
							if c := q.GetCursor(); c.GetSequenceId() >= 1<<63 {
								c.SequenceId = 1<<63 - 1
							}
						}
					}
				})
			},
		},
	}
}

// streamLimit is a limit that is not the one published.
func streamLimit(name, summary string, change func(*stream.Settings)) Mutant {
	return Mutant{
		Name: name, Summary: summary, Requirements: []spec.ID{backendreq.API092}, Streams: true,
		Apply: func(p *backend.Parts, _ *config.Config) { withLimits(p, change) },
	}
}

// appliedMutant changes every Applied.
func appliedMutant(name, summary string, make func() func(stream.Applied) stream.Applied) Mutant {
	return Mutant{
		Name: name, Summary: summary, Requirements: []spec.ID{backendreq.API094}, Streams: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundFrames(p, func() func(stream.Frame) []stream.Frame {
				change := make()
				return func(f stream.Frame) []stream.Frame {
					if a, ok := f.(stream.Applied); ok {
						f = change(a)
					}
					return []stream.Frame{f}
				}
			})
		},
	}
}

// changeEnd changes what a failed stream is told.
func changeEnd(p *backend.Parts, change func(*backend.Refusal)) {
	aroundSessions(p, func(stream.Settings) layer {
		return layer{effects: func(_ stream.Event, effects []stream.Effect) []stream.Effect {
			for i, e := range effects {
				if end, ok := e.(stream.End); ok {
					if r, ok := end.Err.(*backend.Refusal); ok {
						changed := *r
						change(&changed)
						effects[i] = stream.End{Err: &changed}
					}
				}
			}
			return effects
		}}
	})
}

// renumberUpdates hides bad ids from the session, which sees 1, 2, 3 and so on
// while the client sees its own.
func renumberUpdates(p *backend.Parts, hide func(id, last uint64) bool) {
	aroundSessions(p, func(stream.Settings) layer {
		var last, next uint64
		sent := make(map[uint64]uint64)
		return layer{
			event: func(e stream.Event) []stream.Event {
				received, ok := e.(stream.Received)
				if !ok || received.Frame.GetUpdate() == nil {
					return []stream.Event{e}
				}
				u := received.Frame.GetUpdate()
				shown := &backendv1.SubscribeRequest_Update{Adds: u.GetAdds(), Removes: u.GetRemoves()}
				if u.GetId() > last || hide(u.GetId(), last) {
					next++
					shown.Id = next
					sent[next] = u.GetId()
				}
				last = max(last, u.GetId())
				return []stream.Event{stream.Received{Frame: &backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Update_{Update: shown}}}}
			},
			effects: func(_ stream.Event, effects []stream.Effect) []stream.Effect {
				for i, e := range effects {
					if send, ok := e.(stream.Send); ok {
						if a, ok := send.Frame.(stream.Applied); ok {
							a.ID = sent[a.ID]
							effects[i] = stream.Send{Frame: a, Size: send.Size}
						}
					}
				}
				return effects
			},
		}
	})
}

// readd has an add of an active topic remove it first, in an update of its own
// that nobody hears of. Without rewind it goes on where it was.
func readd(p *backend.Parts, rewind bool) {
	aroundSessions(p, func(stream.Settings) layer {
		active := make(map[backend.Topic]bool)
		position := make(map[backend.Topic]int64)
		sent := make(map[uint64]uint64)
		next := uint64(0)
		send := func(u *backendv1.SubscribeRequest_Update) stream.Event {
			return stream.Received{Frame: &backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Update_{Update: u}}}
		}
		return layer{
			event: func(e stream.Event) []stream.Event {
				received, ok := e.(stream.Received)
				u := received.Frame.GetUpdate()
				if !ok || u == nil {
					return []stream.Event{e}
				}
				hidden := &backendv1.SubscribeRequest_Update{}
				shown := &backendv1.SubscribeRequest_Update{Removes: u.GetRemoves()}
				for _, t := range u.GetRemoves() {
					delete(active, wireTopicOf(t))
				}
				for _, q := range u.GetAdds() {
					t := wireTopicOf(q.GetTopic())
					if active[t] {
						hidden.Removes = append(hidden.Removes, q.GetTopic())
						if !rewind {
							q = &backendv1.TopicQuery{Topic: q.GetTopic(), Cursor: &backendv1.Cursor{SequenceId: uint64(position[t])}}
						}
					} else {
						position[t] = int64(q.GetCursor().GetSequenceId())
					}
					active[t] = true
					shown.Adds = append(shown.Adds, q)
				}
				if u.GetId() == 0 || u.GetId() <= sent[next] {
					return []stream.Event{e}
				}
				events := []stream.Event{}
				if len(hidden.GetRemoves()) > 0 {
					next++
					hidden.Id = next
					events = append(events, send(hidden))
				}
				next++
				shown.Id = next
				sent[next] = u.GetId()
				return append(events, send(shown))
			},
			effects: func(_ stream.Event, effects []stream.Effect) []stream.Effect {
				for i, e := range effects {
					s, ok := e.(stream.Send)
					if !ok {
						continue
					}
					switch f := s.Frame.(type) {
					case stream.Applied:
						id, known := sent[f.ID]
						f.ID = id
						effects[i] = stream.Send{Frame: f, Size: s.Size}
						if !known {
							effects[i] = stream.Send{Size: s.Size}
						}
					case stream.Messages:
						for _, r := range f.Rows {
							position[r.Topic] = max(position[r.Topic], r.ID)
						}
					}
				}
				return effects
			},
		}
	})
}

func firstOfEach(queries []*backendv1.TopicQuery) []*backendv1.TopicQuery {
	seen := make(map[backend.Topic]bool)
	return slices.DeleteFunc(queries, func(q *backendv1.TopicQuery) bool {
		again := seen[wireTopicOf(q.GetTopic())]
		seen[wireTopicOf(q.GetTopic())] = true
		return again
	})
}

func sortedTargets(targets []stream.Target) []stream.Target {
	return slices.SortedFunc(slices.Values(targets), func(a, b stream.Target) int {
		return strings.Compare(string(a.Topic), string(b.Topic))
	})
}
