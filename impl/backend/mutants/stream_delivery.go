package mutants

import (
	"context"
	"slices"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/stream"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// streamDelivery are faults in which envelopes are delivered, that one client
// can tell without anybody publishing at the same time.
func streamDelivery() []Mutant {
	return []Mutant{
		{
			Name: "stream-cursor-inclusive", Summary: "delivers the envelope at the cursor too",
			Requirements: []spec.ID{backendreq.API091}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundUpdates(p, func() func(*backendv1.SubscribeRequest_Update) {
					return func(u *backendv1.SubscribeRequest_Update) {
						for _, q := range u.GetAdds() {
							if c := q.GetCursor(); c.GetSequenceId() > 0 && c.GetSequenceId() < 1<<62 {
								c.SequenceId--
							}
						}
					}
				})
			},
		},
		{
			Name: "cursor-above-head-forgotten", Summary: "delivers new envelopes below a cursor that was above the head",
			Requirements: []spec.ID{backendreq.API091, backendreq.API096}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				s := streams(p)
				aroundUpdates(p, func() func(*backendv1.SubscribeRequest_Update) {
					return func(u *backendv1.SubscribeRequest_Update) {
						for _, q := range u.GetAdds() {
							topic, err := backend.ParseTopic(q.GetTopic().GetTopic())
							c := q.GetCursor()
							if err != nil || c.GetSequenceId() == 0 || c.GetSequenceId() >= 1<<63 {
								continue
							}
							heads, err := s.Reads.Heads(context.Background(), []backend.Topic{topic})
							if err == nil {
								c.SequenceId = min(c.GetSequenceId(), uint64(heads[0]))
							}
						}
					}
				})
			},
		},
		{
			Name: "target-at-least-cursor", Summary: "gives a cursor above the head as the target",
			Requirements: []spec.ID{backendreq.API097, backendreq.API094}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundSessions(p, func(stream.Settings) layer {
					cursor := make(map[backend.Topic]int64)
					return layer{
						event: func(e stream.Event) []stream.Event {
							if r, ok := e.(stream.Received); ok {
								for _, q := range r.Frame.GetUpdate().GetAdds() {
									cursor[wireTopicOf(q.GetTopic())] = int64(q.GetCursor().GetSequenceId())
								}
							}
							return []stream.Event{e}
						},
						effects: func(_ stream.Event, effects []stream.Effect) []stream.Effect {
							for i, e := range effects {
								send, ok := e.(stream.Send)
								a, applied := send.Frame.(stream.Applied)
								if !ok || !applied {
									continue
								}
								for j := range a.Targets {
									a.Targets[j].Through = max(a.Targets[j].Through, cursor[a.Targets[j].Topic])
								}
								effects[i] = stream.Send{Frame: a, Size: send.Size}
							}
							return effects
						},
					}
				})
			},
		},
		{
			Name: "applied-after-history", Summary: "acknowledges an update when the history it asked for was delivered",
			Requirements: []spec.ID{backendreq.API096, backendreq.API094}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundFrames(p, func() func(stream.Frame) []stream.Frame {
					var held []stream.Frame
					var owed map[backend.Topic]int64
					return func(f stream.Frame) []stream.Frame {
						switch f := f.(type) {
						case stream.Applied:
							if owed == nil {
								owed = make(map[backend.Topic]int64)
								for _, t := range f.Targets {
									if t.Through > 0 {
										owed[t.Topic] = t.Through
									}
								}
								if len(owed) > 0 {
									held = append(held, f)
									return nil
								}
								owed = nil
							}
						case stream.Messages:
							if owed == nil {
								break
							}
							for _, r := range f.Rows {
								if r.ID >= owed[r.Topic] {
									delete(owed, r.Topic)
								}
							}
							if len(owed) == 0 {
								frames := append([]stream.Frame{f}, held...)
								held, owed = nil, map[backend.Topic]int64{}
								return frames
							}
						}
						return []stream.Frame{f}
					}
				})
			},
		},
		{
			Name: "history-skips-at-pages", Summary: "leaves out the first envelope of every page of history but the first",
			Requirements: []spec.ID{backendreq.API096}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundSessions(p, func(stream.Settings) layer {
					read := make(map[backend.Topic]bool)
					return layer{effects: func(e stream.Event, effects []stream.Effect) []stream.Effect {
						for _, f := range effects {
							switch f := f.(type) {
							case stream.Register:
								for _, t := range f.Topics {
									delete(read, t)
								}
							case stream.ReadPage:
								for i, from := range f.From {
									if _, after := e.(stream.PageRead); after && read[from.Topic] {
										f.From[i].After++
									}
									read[from.Topic] = true
								}
							}
						}
						return effects
					}}
				})
			},
		},
		{
			Name: "unreached-topics-forgotten", Summary: "takes the topics that a frame had no room for as read",
			Requirements: []spec.ID{backendreq.API096}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				s := streams(p)
				s.Reads = uncut{s.Reads}
			},
		},
		{
			Name: "burst-keeps-newest", Summary: "delivers only the newest of the envelopes that one topic got at once",
			Requirements: []spec.ID{backendreq.API096}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				changeArrived(p, func(rows []stream.Row) []stream.Row {
					last := make(map[backend.Topic]int64)
					for _, r := range rows {
						last[r.Topic] = r.ID
					}
					return slices.DeleteFunc(rows, func(r stream.Row) bool { return r.ID < last[r.Topic] })
				})
			},
		},
		{
			Name: "rows-of-a-frame-descend", Summary: "puts the envelopes of a frame in descending order",
			Requirements: []spec.ID{backendreq.API095}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				afterFrame(p, func(f stream.Frame) stream.Frame {
					if m, ok := f.(stream.Messages); ok {
						m.Rows = slices.Clone(m.Rows)
						slices.SortStableFunc(m.Rows, func(a, b stream.Row) int { return int(b.ID - a.ID) })
						return m
					}
					return f
				})
			},
		},
		{
			Name: "key-packages-not-streamed", Summary: "delivers no key packages on streams, as queries do not",
			Requirements: []spec.ID{backendreq.API096}, Streams: true, Signed: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				keepRows(p, func() func(stream.Row) bool {
					return func(r stream.Row) bool { return r.Topic.Kind() != backend.KindKeyPackage }
				})
			},
		},
		{
			Name: "commit-log-entry-lost-on-streams", Summary: "leaves every third commit-log entry out of a stream",
			Requirements: []spec.ID{backendreq.API066, backendreq.API096}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				keepRows(p, func() func(stream.Row) bool {
					n := 0
					return func(r stream.Row) bool {
						if r.Topic.Kind() == backend.KindCommitLogEntry {
							n++
						}
						return r.Topic.Kind() != backend.KindCommitLogEntry || n%3 != 0
					}
				})
			},
		},
		{
			Name: "removed-topic-goes-on", Summary: "acknowledges a removal and goes on delivering the topic",
			Requirements: []spec.ID{backendreq.API100}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundUpdates(p, func() func(*backendv1.SubscribeRequest_Update) {
					return func(u *backendv1.SubscribeRequest_Update) { u.Removes = nil }
				})
			},
		},
		{
			Name: "readded-topic-resumes", Summary: "goes on where a topic was when it is added again, not at the cursor",
			Requirements: []spec.ID{backendreq.API100, backendreq.API096}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundSessions(p, func(stream.Settings) layer {
					position := make(map[backend.Topic]int64)
					return layer{
						event: func(e stream.Event) []stream.Event {
							r, ok := e.(stream.Received)
							if !ok {
								return []stream.Event{e}
							}
							for _, q := range r.Frame.GetUpdate().GetAdds() {
								if at := position[wireTopicOf(q.GetTopic())]; uint64(at) > q.GetCursor().GetSequenceId() {
									q.Cursor = &backendv1.Cursor{SequenceId: uint64(at)}
								}
							}
							return []stream.Event{e}
						},
						effects: func(_ stream.Event, effects []stream.Effect) []stream.Effect {
							for _, e := range effects {
								if s, ok := e.(stream.Send); ok {
									if m, ok := s.Frame.(stream.Messages); ok {
										for _, r := range m.Rows {
											position[r.Topic] = r.ID
										}
									}
								}
							}
							return effects
						},
					}
				})
			},
		},
		{
			Name: "one-of-moved-topics", Summary: "delivers only one of the topics that moved at the same time, until the others move again",
			Requirements: []spec.ID{backendreq.API096}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				changeArrived(p, func(rows []stream.Row) []stream.Row {
					return slices.DeleteFunc(rows, func(r stream.Row) bool { return r.Topic != rows[0].Topic })
				})
			},
		},
	}
}

// uncut is a store whose pages do not say that their budget ended.
type uncut struct{ stream.Reads }

func (u uncut) Page(ctx context.Context, from []backend.Position, rows int, maxBytes int64) (stream.EntryPage, error) {
	page, err := u.Reads.Page(ctx, from, rows, maxBytes)
	page.Cut = len(from)
	return page, err
}

// changeArrived changes what sessions are given as new. change gets a copy that
// is not empty.
func changeArrived(p *backend.Parts, change func([]stream.Row) []stream.Row) {
	aroundEvents(p, func(stream.Settings) func(stream.Event) []stream.Event {
		return func(e stream.Event) []stream.Event {
			if a, ok := e.(stream.Arrived); ok {
				return []stream.Event{stream.Arrived{Rows: change(slices.Clone(a.Rows))}}
			}
			return []stream.Event{e}
		}
	})
}
