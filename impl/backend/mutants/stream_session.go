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

// streamSessions are faults in what keeps a stream going, and in the static form.
func streamSessions() []Mutant {
	return []Mutant{
		{
			Name: "ping-unanswered", Summary: "does not answer a client's Ping",
			Requirements: []spec.ID{backendreq.API099}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundFrames(p, func() func(stream.Frame) []stream.Frame {
					return func(f stream.Frame) []stream.Frame {
						if _, ok := f.(stream.Pong); ok {
							return nil
						}
						return []stream.Frame{f}
					}
				})
			},
		},
		{
			Name: "pong-counts", Summary: "numbers its Pongs instead of repeating the nonce",
			Requirements: []spec.ID{backendreq.API099}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundFrames(p, func() func(stream.Frame) []stream.Frame {
					n := uint64(0)
					return func(f stream.Frame) []stream.Frame {
						if _, ok := f.(stream.Pong); ok {
							n++
							f = stream.Pong{Nonce: n}
						}
						return []stream.Frame{f}
					}
				})
			},
		},
		{
			Name: "stream-without-topics-ends", Summary: "ends a stream when its last topic was removed",
			Requirements: []spec.ID{backendreq.API104}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundEvents(p, func(stream.Settings) func(stream.Event) []stream.Event {
					active := make(map[backend.Topic]bool)
					return func(e stream.Event) []stream.Event {
						received, ok := e.(stream.Received)
						u := received.Frame.GetUpdate()
						if !ok || u == nil {
							return []stream.Event{e}
						}
						had := len(active) > 0
						for _, q := range u.GetAdds() {
							active[wireTopicOf(q.GetTopic())] = true
						}
						for _, t := range u.GetRemoves() {
							delete(active, wireTopicOf(t))
						}
						if had && len(active) == 0 {
							return []stream.Event{e, stream.HalfClosed{}}
						}
						return []stream.Event{e}
					}
				})
			},
		},
		{
			Name: "buckets-shared", Summary: "takes the tokens of pings from the bucket of updates",
			Requirements: []spec.ID{backendreq.API107}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				countFrames(p, func(s stream.Settings) func(*backendv1.SubscribeRequest) bool {
					left := int(s.Limits.MaxUpdateBurst)
					return func(r *backendv1.SubscribeRequest) bool {
						if r.GetUpdate() != nil || r.GetPing() != nil {
							left--
						}
						return left >= 0
					}
				})
			},
		},
		{
			Name: "pong-takes-token", Summary: "takes a token of the pings for every Pong of the client",
			Requirements: []spec.ID{backendreq.API107}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				countFrames(p, func(s stream.Settings) func(*backendv1.SubscribeRequest) bool {
					left := int(s.Limits.MaxPingBurst)
					return func(r *backendv1.SubscribeRequest) bool {
						if r.GetPong() != nil || r.GetPing() != nil {
							left--
						}
						return left >= 0
					}
				})
			},
		},
		{
			Name: "buckets-of-all-streams", Summary: "counts the pings of all streams together",
			Requirements: []spec.ID{backendreq.API107}, Streams: true, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				var mu sync.Mutex
				sent := 0
				countFrames(p, func(s stream.Settings) func(*backendv1.SubscribeRequest) bool {
					return func(r *backendv1.SubscribeRequest) bool {
						if r.GetPing() == nil {
							return true
						}
						mu.Lock()
						defer mu.Unlock()
						sent++
						return sent <= int(s.Limits.MaxPingBurst)
					}
				})
			},
		},
		{
			Name: "updates-unlimited", Summary: "takes updates as fast as they come",
			Requirements: []spec.ID{backendreq.API107}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				withLimits(p, func(s *stream.Settings) { s.Limits.MaxUpdateBurst, s.Limits.MaxUpdateFramesPerSecond = 1<<30, 1<<30 })
			},
		},
		{
			Name: "flood-unavailable", Summary: "fails a stream whose frames come too fast with UNAVAILABLE",
			Requirements: []spec.ID{backendreq.API107, backendreq.API130}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				changeEnd(p, func(r *backend.Refusal) {
					if strings.Contains(r.Text, "faster") {
						r.Code = codes.Unavailable
					}
				})
			},
		},
		{
			Name: "half-close-ignored", Summary: "goes on delivering when the client has half-closed",
			Requirements: []spec.ID{backendreq.API108}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundEvents(p, func(stream.Settings) func(stream.Event) []stream.Event {
					return func(e stream.Event) []stream.Event {
						if _, ok := e.(stream.HalfClosed); ok {
							return nil
						}
						return []stream.Event{e}
					}
				})
			},
		},
		{
			Name: "static-without-topics", Summary: "opens a static stream of no topics",
			Requirements: []spec.ID{backendreq.API110}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundStatic(p, func(r *backendv1.SubscribeStaticRequest) {
					if len(r.GetTopics()) == 0 {
						nobody := append([]byte{byte(backend.KindWelcome)}, make([]byte, 32)...)
						r.Topics = []*backendv1.TopicQuery{{Topic: &backendv1.Topic{Topic: nobody}}}
					}
				})
			},
		},
		{
			Name: "static-duplicate-accepted", Summary: "opens a static stream that names a topic twice",
			Requirements: []spec.ID{backendreq.API110}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundStatic(p, func(r *backendv1.SubscribeStaticRequest) { r.Topics = firstOfEach(r.GetTopics()) })
			},
		},
		{
			Name: "static-topics-lax", Summary: "opens a static stream of one topic more than allowed",
			Requirements: []spec.ID{backendreq.API110}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				withLimits(p, func(s *stream.Settings) { s.Limits.MaxStaticTopics++ })
			},
		},
		startedMutant("static-targets-sorted", "lists the targets of a static stream in the order of the topics", sortedTargets),
		startedMutant("static-empty-topics-left-out", "leaves empty topics out of the targets of a static stream", func(targets []stream.Target) []stream.Target {
			return slices.DeleteFunc(targets, func(t stream.Target) bool { return t.Through == 0 })
		}),
		{
			Name: "static-ends-at-targets", Summary: "ends a static stream when its history was delivered",
			Requirements: []spec.ID{backendreq.API112}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundSessions(p, func(stream.Settings) layer {
					owed := make(map[backend.Topic]int64)
					return layer{effects: func(_ stream.Event, effects []stream.Effect) []stream.Effect {
						for _, e := range effects {
							send, ok := e.(stream.Send)
							if !ok {
								continue
							}
							switch f := send.Frame.(type) {
							case stream.Started:
								for _, t := range f.Targets {
									owed[t.Topic] = t.Through
								}
							case stream.Messages:
								if len(owed) == 0 {
									continue
								}
								done := true
								for _, r := range f.Rows {
									if r.ID >= owed[r.Topic] {
										owed[r.Topic] = 0
									}
								}
								for _, left := range owed {
									done = done && left == 0
								}
								if done {
									return append(effects, stream.End{})
								}
							}
						}
						return effects
					}}
				})
			},
		},
		{
			Name: "static-never-shows-life", Summary: "sends no Keepalive on an idle static stream",
			Requirements: []spec.ID{backendreq.API113}, Streams: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				aroundFrames(p, func() func(stream.Frame) []stream.Frame {
					return func(f stream.Frame) []stream.Frame {
						if _, ok := f.(stream.Keepalive); ok {
							return nil
						}
						return []stream.Frame{f}
					}
				})
			},
		},
	}
}

// startedMutant changes the targets of static streams.
func startedMutant(name, summary string, change func([]stream.Target) []stream.Target) Mutant {
	return Mutant{
		Name: name, Summary: summary, Requirements: []spec.ID{backendreq.API111}, Streams: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			afterFrame(p, func(f stream.Frame) stream.Frame {
				if s, ok := f.(stream.Started); ok && s.Targets != nil {
					s.Targets = change(slices.Clone(s.Targets))
					return s
				}
				return f
			})
		},
	}
}

// countFrames has a count of its own decide which frames of a client are too
// many. It knows no time, so it only decides about bursts; what it refuses goes
// through as a flood that the session refuses itself.
func countFrames(p *backend.Parts, make func(stream.Settings) func(*backendv1.SubscribeRequest) bool) {
	aroundEvents(p, func(s stream.Settings) func(stream.Event) []stream.Event {
		fits := make(s)
		return func(e stream.Event) []stream.Event {
			r, ok := e.(stream.Received)
			if !ok || fits(r.Frame) {
				return []stream.Event{e}
			}
			flood := slices.Repeat([]stream.Event{stream.Received{Frame: pingFrame()}}, int(s.Limits.MaxPingBurst)+1)
			return flood
		}
	})
}

func pingFrame() *backendv1.SubscribeRequest {
	return &backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Ping{Ping: &backendv1.Ping{}}}
}
