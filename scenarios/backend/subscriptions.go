package backend

import (
	"context"
	"errors"
	"fmt"

	suite "assay/harness/backend"
	"assay/harness/run"
	"assay/harness/subject"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// subscriptions are the scenarios of both subscription forms that need a loop, a
// limit or a disturbance; what reads well as text is in subscribe/.
func subscriptions() []run.Scenario {
	few := subject.Configuration{Limits: map[string]uint64{"max_update_adds": 5, "max_update_removes": 4, "max_stream_topics": 8, "max_static_topics": 6}}
	return []run.Scenario{
		{
			Name:    "backend/subscribe/limit-update-and-stream-topics",
			Summary: "An update adds and removes as many topics as the limit says and not one more; nor does a stream have more.",
			Decides: []spec.ID{backendreq.API092, backendreq.API130},
			Stress:  true,
			Body:    body(streamTopics),
		},
		{
			Name:          "backend/subscribe/configured-update-and-stream-topics",
			Summary:       "Configured bounds of an update and of a stream are the enforced ones.",
			Decides:       []spec.ID{backendreq.API092, backendreq.API131},
			Configuration: few,
			Body:          body(streamTopics),
		},
		{
			Name:    "backend/subscribe/limit-static-topics",
			Summary: "A static subscription names as many topics as the limit says and not one more.",
			Decides: []spec.ID{backendreq.API110, backendreq.API111},
			Stress:  true,
			Body:    body(staticTopics),
		},
		{
			Name:          "backend/subscribe/configured-static-topics",
			Summary:       "A configured bound of a static subscription is the enforced one.",
			Decides:       []spec.ID{backendreq.API110, backendreq.API131},
			Configuration: few,
			Body:          body(staticTopics),
		},
		{
			Name:    "backend/subscribe/burst-of-updates",
			Summary: "A burst of updates as large as the bucket is taken, after a pause some more, and whoever goes on without one is stopped.",
			Decides: []spec.ID{backendreq.API107},
			Body:    body(updateBucket),
		},
		{
			Name:    "backend/subscribe/burst-of-pings",
			Summary: "A burst of pings as large as the bucket is answered, Pongs cost nothing, and a flood is stopped.",
			Decides: []spec.ID{backendreq.API107, backendreq.API099},
			Body:    body(pingBucket),
		},
		{
			Name:    "backend/subscribe/buckets-of-several-streams",
			Summary: "Several streams take as many updates and pings as their buckets hold, all at the same time.",
			Decides: []spec.ID{backendreq.API107},
			Body:    body(bucketsApart),
		},
		{
			Name:          "backend/subscribe/more-history-than-a-frame-holds",
			Summary:       "The history of several topics, far more than one frame, comes whole.",
			Decides:       []spec.ID{backendreq.API095, backendreq.API096},
			Configuration: subject.Configuration{KeepaliveMS: 200},
			Body:          body(largeHistory),
		},
		{
			Name:    "backend/subscribe/a-slow-reader-of-history",
			Summary: "A client that stops reading holds up nobody else and loses nothing, or is told.",
			Decides: []spec.ID{backendreq.API095, backendreq.API096},
			Body:    body(slowHistory),
		},
		{
			Name:    "backend/subscribe/a-slow-reader-of-live-envelopes",
			Summary: "Envelopes that are published while a client does not read come when it reads again, or the stream fails openly.",
			Decides: []spec.ID{backendreq.API095, backendreq.API096},
			Body:    body(slowLive),
		},
		{
			Name:    "backend/subscribe/cut-anywhere-and-resumed",
			Summary: "A client that goes away after any number of envelopes and comes back with its cursors loses nothing.",
			Decides: []spec.ID{backendreq.API095, backendreq.API102},
			Body:    body(resumed),
		},
		{
			Name:    "backend/subscribe/many-topics-in-one-publish",
			Summary: "A publish to as many topics as the limit allows arrives whole on a stream of all of them.",
			Decides: []spec.ID{backendreq.API096, backendreq.API011},
			Body:    body(wholePublish),
		},
		{
			Name:    "backend/subscribe/many-streams",
			Summary: "As many subscriptions as fit on some connections are open at a time and all are served.",
			Decides: []spec.ID{backendreq.API101, backendreq.API096},
			Body:    body(manyStreams),
		},
		{
			Name:      "backend/subscribe/listeners-are-cut-off",
			Summary:   "When the subject's connections to its database end, what is published then reaches the streams that live on, or they fail.",
			Decides:   []spec.ID{backendreq.API095},
			Needs:     spec.AccessOf(spec.Control),
			Exclusive: true,
			Body:      listenersCut,
		},
	}
}

// tolerate lets a scenario go on when a subscription has ended: what that means
// is in the history.
func tolerate(err error) error {
	if e := (*suite.Ended)(nil); errors.As(err, &e) {
		return nil
	}
	return err
}

// opened opens a subscription and waits until it has begun.
func opened(ctx context.Context, s *suite.Session, actor string, options ...suite.StreamOption) (*suite.Stream, error) {
	t, err := s.Subscribe(ctx, actor, options...)
	if err != nil {
		return nil, err
	}
	_, err = t.AwaitStarted(ctx)
	return t, err
}

// applied sends an update and waits for its acknowledgement.
func applied(ctx context.Context, t *suite.Stream, id uint64, adds, removes []rules.Read) error {
	if err := t.Update(ctx, id, adds, removes); err != nil {
		return err
	}
	_, err := t.AwaitApplied(ctx, id)
	return err
}

// from lists n topics of a kind from the given number on.
func from(first, n int) []rules.Read {
	return reads(n, func(i int) rules.Log { return numbered(rules.Group)(first + i) })
}

func streamTopics(ctx context.Context, s *suite.Session) error {
	adds, removes, topics := s.Limit("max_update_adds"), s.Limit("max_update_removes"), s.Limit("max_stream_topics")
	t, err := opened(ctx, s, "S")
	if err != nil {
		return err
	}
	id, next, on := uint64(0), 0, 0
	add := func(n int) error {
		id++
		err := applied(ctx, t, id, from(next, n), nil)
		next, on = next+n, on+n
		return err
	}
	if err := add(adds); err != nil {
		return err
	}
	id++
	gone := min(removes, on)
	if err := applied(ctx, t, id, nil, from(0, gone)); err != nil {
		return err
	}
	for on -= gone; on < topics; {
		if err := add(min(adds, topics-on)); err != nil {
			return err
		}
	}
	// The stream is full; one topic more ends it.
	if err := tolerate(t.Update(ctx, id+1, from(next, 1), nil)); err != nil {
		return err
	}
	if _, err := t.AwaitEnd(ctx); err != nil {
		return err
	}
	for actor, over := range map[string][2][]rules.Read{"T": {from(0, adds+1), nil}, "U": {nil, from(0, removes+1)}} {
		t, err := opened(ctx, s, actor)
		if err != nil {
			return err
		}
		if err := tolerate(t.Update(ctx, 1, over[0], over[1])); err != nil {
			return err
		}
		if _, err := t.AwaitEnd(ctx); err != nil {
			return err
		}
	}
	return nil
}

func staticTopics(ctx context.Context, s *suite.Session) error {
	n := s.Limit("max_static_topics")
	full, err := s.SubscribeStatic(ctx, "S", from(0, n))
	if err != nil {
		return err
	}
	if _, err := full.AwaitStarted(ctx); err != nil {
		return err
	}
	if _, err := s.Publish(ctx, "A", rules.Envelope{Log: numbered(rules.Group)(n - 1), Content: "live"}); err != nil {
		return err
	}
	if err := full.AwaitRows(ctx, 1); err != nil {
		return err
	}
	full.Cancel()
	for actor, over := range map[string][]rules.Read{"T": from(0, n+1), "U": nil} {
		t, err := s.SubscribeStatic(ctx, actor, over)
		if err != nil {
			return err
		}
		if _, err := t.AwaitEnd(ctx); err != nil {
			return err
		}
	}
	return nil
}

// emptyUpdates are n updates that do nothing, from the id on.
func emptyUpdates(t *suite.Stream, first uint64, n int) []*rules.Request {
	out := make([]*rules.Request, n)
	for i := range out {
		out[i] = t.NewUpdate(first+uint64(i), nil, nil)
	}
	return out
}

func pings(first uint64, n int) []*rules.Request {
	out := make([]*rules.Request, n)
	for i := range out {
		out[i] = suite.NewPing(first + uint64(i))
	}
	return out
}

// updateBucket empties the bucket of several streams, one after the other: how the
// first ends could be an accident.
func updateBucket(ctx context.Context, s *suite.Session) error {
	burst := s.Limit("max_update_burst")
	for n := range 3 {
		t, err := opened(ctx, s, fmt.Sprint("S", n))
		if err != nil {
			return err
		}
		if err := t.Burst(ctx, emptyUpdates(t, 1, burst)...); err != nil {
			return err
		}
		if _, err := t.AwaitApplied(ctx, uint64(burst)); err != nil {
			return err
		}
		if err := s.Pause(ctx); err != nil {
			return err
		}
		// As much again as the bucket holds, and more than any pause has put back.
		last := uint64(2*burst + burst/2)
		if err := t.Burst(ctx, emptyUpdates(t, uint64(burst)+1, int(last)-burst)...); err != nil {
			return err
		}
		if err := t.Await(ctx, "the end, or the last Applied", func(seen *suite.Seen) bool { return seen.End != nil || seen.Applied[last] != nil }); err != nil {
			return err
		}
	}
	return nil
}

// bucketsApart lets streams use up their buckets at the same time: each has its own.
func bucketsApart(ctx context.Context, s *suite.Session) error {
	updates, asked := s.Limit("max_update_burst"), s.Limit("max_ping_burst")
	all := make([]*suite.Stream, 4)
	for n := range all {
		t, err := opened(ctx, s, fmt.Sprint("S", n))
		if err != nil {
			return err
		}
		all[n] = t
		if err := t.Burst(ctx, append(emptyUpdates(t, 1, updates), pings(1, asked)...)...); err != nil {
			return err
		}
	}
	for _, t := range all {
		if _, err := t.AwaitApplied(ctx, uint64(updates)); tolerate(err) != nil {
			return err
		}
		if err := tolerate(t.AwaitPong(ctx, uint64(asked))); err != nil {
			return err
		}
	}
	return nil
}

func pingBucket(ctx context.Context, s *suite.Session) error {
	burst := s.Limit("max_ping_burst")
	t, err := opened(ctx, s, "S")
	if err != nil {
		return err
	}
	if err := t.Burst(ctx, pings(1, burst)...); err != nil {
		return err
	}
	if err := t.AwaitPong(ctx, uint64(burst)); err != nil {
		return err
	}
	for n := range 3 * burst {
		if err := t.Pong(uint64(n)); err != nil {
			return err
		}
	}
	// Neither the pings nor the pongs took from the updates' bucket.
	if err := applied(ctx, t, 1, nil, nil); err != nil {
		return err
	}
	last := uint64(2*burst + burst/2)
	if err := t.Burst(ctx, pings(uint64(burst)+1, int(last)-burst)...); err != nil {
		return err
	}
	return t.Await(ctx, "the end, or the last Pong", func(seen *suite.Seen) bool { return seen.End != nil || seen.Pongs[last] > 0 })
}
