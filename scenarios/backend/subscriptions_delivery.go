package backend

import (
	"context"
	"fmt"

	suite "assay/harness/backend"
	"assay/harness/run"
	rules "assay/model/backend"
)

// flow publishes n envelopes of some size, a few in a request, and returns the
// id of the last.
func flow(ctx context.Context, s *suite.Session, l rules.Log, word string, n int) (uint64, error) {
	const size, together = 20_000, 20
	last := uint64(0)
	for i := 0; i < n; i += together {
		var es []rules.Envelope
		for k := i; k < min(i+together, n); k++ {
			es = append(es, rules.Envelope{Log: l, Content: fmt.Sprint(word, k), Size: size})
		}
		r, err := s.Publish(ctx, "A", es...)
		if err != nil {
			return 0, err
		}
		if r.Publish == nil || len(r.Publish.Metas) != len(es) {
			return 0, &run.Unmet{File: "scenarios/backend/subscriptions.go", Err: fmt.Errorf("a publish of %d envelopes was answered %s", len(es), r.Code)}
		}
		last = r.Publish.Metas[len(es)-1].Sequence
	}
	return last, nil
}

// flowing is how many envelopes a slow reader is behind: more than the buffers
// between it and any server hold.
const flowing = 300

func slowHistory(ctx context.Context, s *suite.Session) error {
	log := rules.Log{Kind: rules.Welcome, Name: "w"}
	last, err := flow(ctx, s, log, "history", flowing)
	if err != nil {
		return err
	}
	slow, err := opened(ctx, s, "S")
	if err != nil {
		return err
	}
	slow.Pause()
	if err := slow.Update(ctx, 1, []rules.Read{{Log: log}}, nil); err != nil {
		return err
	}
	quick, err := opened(ctx, s, "T")
	if err != nil {
		return err
	}
	if err := quick.Update(ctx, 1, []rules.Read{{Log: log}}, nil); err != nil {
		return err
	}
	if err := quick.AwaitThrough(ctx, log, last); err != nil {
		return err
	}
	slow.Resume()
	return tolerate(slow.AwaitThrough(ctx, log, last))
}

func largeHistory(ctx context.Context, s *suite.Session) error {
	var adds []rules.Read
	var last []uint64
	for n := range 4 {
		log := numbered(rules.Welcome)(n)
		id, err := flow(ctx, s, log, "history", 120)
		if err != nil {
			return err
		}
		adds, last = append(adds, rules.Read{Log: log}), append(last, id)
	}
	t, err := opened(ctx, s, "S")
	if err != nil {
		return err
	}
	if err := t.Update(ctx, 1, adds, nil); err != nil {
		return err
	}
	for n, read := range adds {
		if err := t.AwaitThrough(ctx, read.Log, last[n]); err != nil {
			return err
		}
	}
	return nil
}

func slowLive(ctx context.Context, s *suite.Session) error {
	log := rules.Log{Kind: rules.Welcome, Name: "w"}
	slow, err := opened(ctx, s, "S")
	if err != nil {
		return err
	}
	if err := applied(ctx, slow, 1, []rules.Read{{Log: log}}, nil); err != nil {
		return err
	}
	quick, err := opened(ctx, s, "T")
	if err != nil {
		return err
	}
	if err := applied(ctx, quick, 1, []rules.Read{{Log: log}}, nil); err != nil {
		return err
	}
	slow.Pause()
	last, err := flow(ctx, s, log, "live", flowing)
	if err != nil {
		return err
	}
	if err := quick.AwaitThrough(ctx, log, last); err != nil {
		return err
	}
	slow.Resume()
	return tolerate(slow.AwaitThrough(ctx, log, last))
}

// resumed reads two topics over many streams, each cut after one envelope more
// than the one before, while others are published.
func resumed(ctx context.Context, s *suite.Session) error {
	logs := []rules.Log{{Kind: rules.Group, Name: "g"}, {Kind: rules.Welcome, Name: "w"}}
	cursors := make(map[rules.Log]uint64)
	var last [2]uint64
	add := func(back uint64) []rules.Read {
		out := make([]rules.Read, len(logs))
		for i, l := range logs {
			out[i] = rules.Read{Log: l}
			if at := cursors[l]; at > back {
				at -= back
				out[i].Cursor = &at
			}
		}
		return out
	}
	const times = 8
	for n := range times {
		for k := range 3 {
			r, err := s.Publish(ctx, "A", rules.Envelope{Log: logs[0], Content: fmt.Sprint(n, ".", k)}, rules.Envelope{Log: logs[1], Content: fmt.Sprint(n, ".", k)})
			if err != nil {
				return err
			}
			if r.Publish != nil && len(r.Publish.Metas) == 2 {
				last = [2]uint64{r.Publish.Metas[0].Sequence, r.Publish.Metas[1].Sequence}
			}
		}
		t, err := opened(ctx, s, "S")
		if err != nil {
			return err
		}
		if err := t.Update(ctx, 1, add(0), nil); err != nil {
			return err
		}
		if err := t.AwaitRows(ctx, min(n, 5)); err != nil {
			return err
		}
		t.Cancel()
		t.Look(func(seen *suite.Seen) {
			for _, l := range logs {
				cursors[l] = max(cursors[l], seen.Through[s.Topic(l)])
			}
		})
	}
	// From what is durable, and once from further back: what came comes again.
	for actor, back := range map[string]uint64{"T": 0, "U": 5} {
		t, err := opened(ctx, s, actor)
		if err != nil {
			return err
		}
		if err := t.Update(ctx, 1, add(back), nil); err != nil {
			return err
		}
		for i, l := range logs {
			if last[i] > cursors[l] {
				if err := t.AwaitThrough(ctx, l, last[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func wholePublish(ctx context.Context, s *suite.Session) error {
	n := s.Limit("max_publish_topics")
	t, err := opened(ctx, s, "S")
	if err != nil {
		return err
	}
	if err := applied(ctx, t, 1, from(0, n), nil); err != nil {
		return err
	}
	es := make([]rules.Envelope, n)
	for i := range es {
		es[i] = rules.Envelope{Log: numbered(rules.Group)(i), Content: "all at once"}
	}
	if _, err := s.Publish(ctx, "A", es...); err != nil {
		return err
	}
	return t.AwaitRows(ctx, n)
}

func manyStreams(ctx context.Context, s *suite.Session) error {
	const n = 130 // more than one connection carries (API-132)
	all := make([]*suite.Stream, n)
	es := make([]rules.Envelope, n)
	for i := range all {
		log := numbered(rules.Welcome)(i)
		t, err := opened(ctx, s, fmt.Sprint("S", i))
		if err != nil {
			return err
		}
		if err := t.Update(ctx, 1, []rules.Read{{Log: log}}, nil); err != nil {
			return err
		}
		all[i], es[i] = t, rules.Envelope{Log: log, Content: "for one"}
	}
	for _, t := range all {
		if _, err := t.AwaitApplied(ctx, 1); err != nil {
			return err
		}
	}
	if _, err := s.Publish(ctx, "A", es...); err != nil {
		return err
	}
	for _, t := range all {
		if err := t.AwaitRows(ctx, 1); err != nil {
			return err
		}
	}
	return nil
}

// listenersCut ends what the subject listens on while streams are open. They
// live on and get what is published then, or they end and are opened again.
func listenersCut(ctx context.Context, p *run.Play) error {
	s, err := suite.Of(p, "")
	if err != nil {
		return err
	}
	sessions, ok := p.Running().(run.Sessions)
	if !ok {
		return run.ErrNoDatabase
	}
	log := rules.Log{Kind: rules.Group, Name: "g"}
	t, err := opened(ctx, s, "S")
	if err != nil {
		return err
	}
	if err := applied(ctx, t, 1, []rules.Read{{Log: log}}, nil); err != nil {
		return err
	}
	for round := range 3 {
		if _, err := sessions.EndSessions(ctx); err != nil {
			return err
		}
		last := uint64(0)
		for attempt := 0; last == 0; attempt++ {
			r, err := s.Publish(ctx, "A", rules.Envelope{Log: log, Content: fmt.Sprint("after ", round)})
			switch {
			case err != nil:
				return err
			case r.Publish != nil && len(r.Publish.Metas) == 1:
				last = r.Publish.Metas[0].Sequence
			case attempt == 100:
				return &run.Unmet{File: "scenarios/backend/subscriptions.go", Err: fmt.Errorf("the subject did not publish again: %s", r.Code)}
			default:
				if err := s.Pause(ctx); err != nil {
					return err
				}
			}
		}
		err := t.AwaitThrough(ctx, log, last)
		if err == nil {
			continue
		}
		if err := tolerate(err); err != nil {
			return err
		}
		if t, err = opened(ctx, s, "S"); err != nil {
			return err
		}
		if err := t.Update(ctx, 1, []rules.Read{{Log: log}}, nil); err != nil {
			return err
		}
		if err := t.AwaitThrough(ctx, log, last); err != nil {
			return err
		}
	}
	return nil
}
