package backend

import (
	"context"
	"fmt"
	"math"
	"slices"

	suite "assay/harness/backend"
	"assay/harness/generate"
	"assay/harness/run"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// properties draw whole sessions from the run's seed and shrink what fails.
func properties() []run.Scenario {
	// A short draw may reach any of these and must reach none but the first few.
	decides := []spec.ID{backendreq.API032, backendreq.API072, backendreq.API073}
	touches := []spec.ID{backendreq.API003, backendreq.API004, backendreq.API015, backendreq.API031, backendreq.API034, backendreq.API036,
		backendreq.API037, backendreq.API040, backendreq.API047, backendreq.API066, backendreq.API070, backendreq.API071, backendreq.API075,
		backendreq.API076, backendreq.API077, backendreq.API080, backendreq.API130, backendreq.API131}
	return []run.Scenario{{
		Name:    "backend/property/publish-and-read",
		Summary: "Random sessions of publishes, retries, queries, newest reads and paging agree with the model call by call.",
		Decides: decides,
		Touches: touches,
		Body: func(ctx context.Context, p *run.Play) error {
			return drawn(ctx, p, p.Effort(2, 6, 100))
		},
	}}
}

// drawn runs n drawn sessions. Only sessions before the first failure count,
// and the smallest failing one.
func drawn(ctx context.Context, p *run.Play, n int) error {
	if p.Choices != nil {
		s, err := drawnSession(ctx, p, "replay", generate.FromBytes(p.Choices))
		if s != nil {
			p.Count(s)
		}
		return err
	}
	var smallest run.Session
	var failure error
	ended := func() bool { return ctx.Err() != nil || failure != nil }
	failed, err := generate.Check(p.Scenario.Name, n, ended, func(t *generate.Trial) string {
		rec := generate.Record(t.Choice)
		s, err := drawnSession(ctx, p, fmt.Sprint("draw ", t.Number), rec)
		if err != nil {
			failure = err
			return ""
		}
		_, judged := p.Judge(s)
		breaches := judged.Breaches()
		if len(breaches) == 0 {
			if !t.Shrinking {
				p.Count(s)
			}
			return ""
		}
		p.Count(s)
		if smallest != nil {
			p.Discard(smallest)
		}
		smallest = s
		p.Keep(s, rec.Bytes())
		return string(breaches[0].Assertion.Requirement)
	})
	switch {
	case err != nil:
		return err
	case failure != nil:
		return failure
	case failed != "" && smallest == nil:
		return fmt.Errorf("a failure of %s was drawn and not kept", failed)
	}
	return nil
}

// walk is one drawn session: what it published so far and where its cursors are.
type walk struct {
	*suite.Session
	choice    generate.Choice
	published []rules.Envelope
	cursors   map[rules.Bytes]uint64
	fresh     int
}

// sessionLength is the number of operations of one drawn session; each is at
// least one call.
const sessionLength = 50

func drawnSession(ctx context.Context, p *run.Play, label string, c generate.Choice) (*suite.Session, error) {
	s, err := suite.Of(p, label)
	if err != nil {
		return nil, err
	}
	// A draw that the shrinker cuts short must not count: it counts once it is whole.
	p.Discard(s)
	w := &walk{Session: s, choice: c, cursors: make(map[rules.Bytes]uint64)}
	// Fewer operations are smaller, so that shrinking finds the short session.
	n := sessionLength - c.Intn(sessionLength, "operations left out")
	if _, whole := c.(*generate.Recording); whole && c.Intn(4, "a whole session") < 3 {
		n = sessionLength
	}
	for range n {
		if err := w.step(ctx); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (w *walk) step(ctx context.Context) error {
	var err error
	switch generate.Weighted(w.choice, "operation", 16, 6, 12, 6, 4, 4, 2, 1) {
	case 0:
		_, err = w.Publish(ctx, w.actor(), w.envelopes()...)
	case 1:
		_, err = w.Publish(ctx, w.actor(), w.again()...)
	case 2:
		_, err = w.Query(ctx, w.actor(), w.limit(), w.reads(true)...)
	case 3:
		_, err = w.Newest(ctx, w.actor(), w.choice.Intn(2, "full") == 1, w.reads(false)...)
	case 4:
		err = w.page(ctx)
	case 5:
		_, err = w.Publish(ctx, w.actor(), w.flawed()...)
	case 6:
		_, err = w.Query(ctx, w.actor(), w.limit(), w.badReads()...)
	default:
		es := w.envelopes()
		if _, err = w.PublishCut(ctx, w.actor(), es...); err == nil && w.choice.Intn(4, "retry") > 0 {
			_, err = w.Publish(ctx, w.actor(), es...)
		}
	}
	return err
}

func (w *walk) actor() string { return generate.Pick(w.choice, "actor", "A", "B", "C") }

func (w *walk) log() rules.Log {
	return generate.Pick(w.choice, "topic", rules.Log{Kind: rules.Group, Name: "g"}, rules.Log{Kind: rules.Welcome, Name: "w"},
		rules.Log{Kind: rules.CommitLog, Name: "g"}, rules.Log{Kind: rules.Group, Name: "h"}, rules.Log{Kind: rules.Welcome, Name: "x"})
}

// envelope draws a sound envelope, sometimes one that was published before.
func (w *walk) envelope() rules.Envelope {
	if len(w.published) > 0 && w.choice.Intn(5, "known envelope") == 0 {
		return w.encoded(w.published[w.choice.Intn(len(w.published), "which")])
	}
	w.fresh++
	e := rules.Envelope{Log: w.log(), Content: fmt.Sprint("m", w.fresh)}
	switch e.Log.Kind {
	case rules.Group:
		e.Form = generate.Pick(w.choice, "form", rules.Plain, rules.PrivateCommit, rules.PrivateProposal, rules.PublicCommit, rules.PublicProposal)
		e.Trailing = generate.Pick(w.choice, "trailing", 0, 0, 0, 1, 300)
	case rules.Welcome:
		e.Form = generate.Pick(w.choice, "form", rules.Plain, rules.Pointer)
	}
	return w.encoded(e)
}

func (w *walk) encoded(e rules.Envelope) rules.Envelope {
	e.Encoding = generate.Pick(w.choice, "encoding", rules.Canonical, rules.Canonical, rules.Reordered, rules.Padded, rules.Explicit)
	return e
}

func (w *walk) envelopes() []rules.Envelope {
	out := make([]rules.Envelope, 1+generate.Weighted(w.choice, "envelopes", 6, 3, 2, 1))
	for i := range out {
		out[i] = w.envelope()
	}
	w.published = append(w.published, out...)
	return out
}

// again repeats envelopes, some of them twice in one request.
func (w *walk) again() []rules.Envelope {
	if len(w.published) == 0 {
		return w.envelopes()
	}
	out := make([]rules.Envelope, 1+w.choice.Intn(3, "repeated"))
	for i := range out {
		out[i] = w.encoded(w.published[w.choice.Intn(len(w.published), "which")])
	}
	return out
}

func (w *walk) flawed() []rules.Envelope {
	out := w.envelopes()
	kind := generate.Pick(w.choice, "kind of the flawed", rules.Unset, rules.Group, rules.Welcome, rules.CommitLog)
	bad := rules.Envelope{Log: rules.Log{Kind: kind, Name: "g"}, Content: "bad", Flaw: generate.Pick(w.choice, "flaw", rules.Flaws(kind)...)}
	return slices.Insert(out, w.choice.Intn(len(out)+1, "where"), bad)
}

func (w *walk) limit() uint32 {
	return generate.Pick[uint32](w.choice, "limit", 0, 1, 2, 3, 7, 100, 5000)
}

func (w *walk) reads(cursors bool) []rules.Read {
	out := make([]rules.Read, 1+generate.Weighted(w.choice, "topics", 5, 3, 2, 1))
	for i := range out {
		out[i] = rules.Read{Log: w.log()}
		if cursors {
			out[i].Cursor = w.cursor(out[i].Log)
		}
	}
	return out
}

// cursor draws a position on a topic: none, the beginning, a known envelope,
// one id beside it, or the end of the range.
func (w *walk) cursor(l rules.Log) *uint64 {
	known := w.Positions(l)
	at := uint64(0)
	switch generate.Weighted(w.choice, "cursor", 3, 2, 5, 1, 1) {
	case 0:
		return nil
	case 2:
		if len(known) > 0 {
			at = known[w.choice.Intn(len(known), "which")]
		}
	case 3:
		if len(known) > 0 {
			at = known[len(known)-1] + uint64(w.choice.Intn(3, "beyond the head"))
		}
	case 4:
		at = math.MaxInt64
	}
	return &at
}

func (w *walk) badReads() []rules.Read {
	out := w.reads(true)
	i := w.choice.Intn(len(out), "which")
	switch w.choice.Intn(3, "what is wrong") {
	case 0:
		out[i].Flaw = generate.Pick(w.choice, "topic flaw", rules.TopicFlaws()...)
	case 1:
		beyond := uint64(math.MaxInt64) + 1 + uint64(w.choice.Intn(2, "how far"))
		out[i].Cursor = &beyond
	default:
		out[i].Log.Kind = rules.KeyPackage
	}
	return out
}

// page drains two topics by the client's rule (API-074).
func (w *walk) page(ctx context.Context) error {
	return drain(ctx, w.Session, w.actor(), uint32(1+w.choice.Intn(5, "page size")), w.log(), w.log())
}
