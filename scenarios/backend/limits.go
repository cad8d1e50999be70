package backend

import (
	"context"
	"fmt"

	suite "assay/harness/backend"
	"assay/harness/run"
	"assay/harness/subject"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// limits probes every limit at its boundary and one past it, at the value the
// subject publishes (API-145).
func limits() []run.Scenario {
	return []run.Scenario{
		{
			Name:    "backend/limits/query-topics",
			Summary: "A query names as many topics as the limit says and not one more, counted before they coalesce.",
			Decides: []spec.ID{backendreq.API070, backendreq.API077},
			Touches: []spec.ID{backendreq.API131},
			Body:    body(queryTopics),
		},
		{
			Name:    "backend/limits/newest-topics",
			Summary: "A newest-envelope read names as many topics as its mode allows and not one more, counted before they coalesce.",
			Decides: []spec.ID{backendreq.API080},
			Touches: []spec.ID{backendreq.API131},
			Body:    body(newestTopics),
		},
		{
			Name:    "backend/limits/publish-topics",
			Summary: "A publish addresses as many distinct topics as the limit says; one more is a request-level error without an index.",
			Decides: []spec.ID{backendreq.API031, backendreq.API047},
			Touches: []spec.ID{backendreq.API131},
			Body:    body(publishTopics),
		},
		{
			Name:    "backend/limits/envelope-bytes",
			Summary: "An envelope of exactly the limit is stored, one of a byte more is refused with its index and stores nothing beside it.",
			Decides: []spec.ID{backendreq.API031, backendreq.API047},
			Touches: []spec.ID{backendreq.API131},
			Body:    body(envelopeBytes),
		},
		{
			Name:    "backend/limits/request-bytes",
			Summary: "A request of nearly the limit is stored, one above it is refused with a size code and stores nothing.",
			Decides: []spec.ID{backendreq.API031, backendreq.API130},
			Stress:  true,
			Body:    body(requestBytes),
		},
		{
			Name:    "backend/limits/response-bytes",
			Summary: "A page that would be longer than the response limit is refused whole; no row is left out to make it fit.",
			Decides: []spec.ID{backendreq.API134, backendreq.API130},
			Stress:  true,
			Body:    body(responseBytes),
		},
	}
}

func reads(n int, log func(i int) rules.Log) []rules.Read {
	out := make([]rules.Read, n)
	for i := range out {
		out[i] = rules.Read{Log: log(i)}
	}
	return out
}

func numbered(kind rules.Kind) func(int) rules.Log {
	return func(i int) rules.Log { return rules.Log{Kind: kind, Name: fmt.Sprint("t", i)} }
}

func always(l rules.Log) func(int) rules.Log { return func(int) rules.Log { return l } }

// control publishes one envelope, so that reads have something to show.
func control(ctx context.Context, s *suite.Session) (rules.Log, error) {
	log := numbered(rules.Welcome)(0)
	_, err := s.Publish(ctx, "A", rules.Envelope{Log: log, Content: "control"})
	return log, err
}

func queryTopics(ctx context.Context, s *suite.Session) error {
	log, err := control(ctx, s)
	if err != nil {
		return err
	}
	n := s.Limit("max_query_topics")
	for _, r := range [][]rules.Read{
		reads(n, numbered(rules.Welcome)),
		reads(n+1, numbered(rules.Welcome)),
		reads(n, always(log)),
		reads(n+1, always(log)),
	} {
		if _, err := s.Query(ctx, "A", 0, r...); err != nil {
			return err
		}
	}
	return nil
}

func newestTopics(ctx context.Context, s *suite.Session) error {
	log, err := control(ctx, s)
	if err != nil {
		return err
	}
	for full, name := range map[bool]string{false: "max_newest_metadata_topics", true: "max_newest_full_topics"} {
		n := s.Limit(name)
		for _, r := range [][]rules.Read{
			reads(n, numbered(rules.Welcome)),
			reads(n+1, numbered(rules.Welcome)),
			reads(n+1, always(log)),
		} {
			if _, err := s.Newest(ctx, "A", full, r...); err != nil {
				return err
			}
		}
	}
	return nil
}

func publishTopics(ctx context.Context, s *suite.Session) error {
	if _, err := control(ctx, s); err != nil {
		return err
	}
	n := s.Limit("max_publish_topics")
	envelopes := func(n int, content string) []rules.Envelope {
		out := make([]rules.Envelope, n)
		for i := range out {
			out[i] = rules.Envelope{Log: numbered(rules.Welcome)(i), Content: content}
		}
		return out
	}
	// As many envelopes as one likes, on one topic less than the limit.
	many := append(envelopes(n-1, "many"), envelopes(n-1, "more")...)
	for _, es := range [][]rules.Envelope{envelopes(n, "at"), envelopes(n+1, "above"), many} {
		if _, err := s.Publish(ctx, "A", es...); err != nil {
			return err
		}
	}
	_, err := s.Query(ctx, "A", 0, rules.Read{Log: numbered(rules.Welcome)(0)}, rules.Read{Log: numbered(rules.Welcome)(n)})
	return err
}

func envelopeBytes(ctx context.Context, s *suite.Session) error {
	log, err := control(ctx, s)
	if err != nil {
		return err
	}
	n := s.Limit("max_envelope_bytes")
	group := rules.Log{Kind: rules.Group, Name: "g"}
	sized := func(l rules.Log, content string, size int) rules.Envelope {
		return rules.Envelope{Log: l, Content: content, Size: size}
	}
	for _, es := range [][]rules.Envelope{
		{sized(log, "at", n)},
		{sized(log, "above", n+1)},
		{sized(group, "at", n)},
		{{Log: log, Content: "beside"}, sized(group, "above", n+1)},
	} {
		if _, err := s.Publish(ctx, "A", es...); err != nil {
			return err
		}
	}
	_, err = s.Query(ctx, "A", 0, rules.Read{Log: log}, rules.Read{Log: group})
	return err
}

// filling returns envelopes of nearly a megabyte whose request is as long as asked.
func filling(log rules.Log, content string, total int) []rules.Envelope {
	const framing = 4 // tag and length of one envelope of this size in a request
	piece := 1_000_000
	var out []rules.Envelope
	for left := total; left > 0; {
		size := piece
		switch rest := left - piece - framing; {
		case rest == 0:
		case rest < 0:
			size = left - framing
		case rest < 200_000:
			size = left/2 - framing // leave two pieces that both have this framing
		}
		out = append(out, rules.Envelope{Log: log, Content: fmt.Sprint(content, len(out)), Size: size})
		left -= size + framing
	}
	return out
}

func requestBytes(ctx context.Context, s *suite.Session) error {
	log, err := control(ctx, s)
	if err != nil {
		return err
	}
	n := s.Limit("max_request_bytes")
	for _, es := range [][]rules.Envelope{filling(log, "above", n+1), filling(log, "far above", n+n/4), filling(log, "at", n)} {
		if _, err := s.Publish(ctx, "A", es...); err != nil {
			return err
		}
	}
	// Thirty-odd megabytes are stored at most: page through them a few at a time.
	return drain(ctx, s, "A", 4, log)
}

func responseBytes(ctx context.Context, s *suite.Session) error {
	if _, err := control(ctx, s); err != nil {
		return err
	}
	log := rules.Log{Kind: rules.Welcome, Name: "wide"}
	n := s.Limit("max_response_bytes")
	half := filling(log, "half", n/2+500_000)
	other := filling(log, "other", n/2+500_000)
	for _, es := range [][]rules.Envelope{half, other} {
		if _, err := s.Publish(ctx, "A", es...); err != nil {
			return err
		}
	}
	if _, err := s.Query(ctx, "A", 0, rules.Read{Log: log}); err != nil {
		return err
	}
	return drain(ctx, s, "A", 4, log)
}

// drain follows the rule of API-074 until a page says that nothing is left.
func drain(ctx context.Context, s *suite.Session, actor string, limit uint32, logs ...rules.Log) error {
	cursors := make(map[rules.Bytes]uint64)
	for page := 0; ; page++ {
		if page > 10_000 {
			return fmt.Errorf("paging did not end after %d pages", page)
		}
		var rs []rules.Read
		for _, l := range logs {
			c := cursors[s.Topic(l)]
			rs = append(rs, rules.Read{Log: l, Cursor: &c})
		}
		r, err := s.Query(ctx, actor, limit, rs...)
		if err != nil {
			return err
		}
		if r.Query == nil || !r.Query.HasMore {
			return nil
		}
		moved := false
		for _, row := range r.Query.Rows {
			if row.Meta.Sequence > cursors[row.Meta.Topic] {
				cursors[row.Meta.Topic] = row.Meta.Sequence
				moved = true
			}
		}
		if !moved {
			return &run.Unmet{File: "scenarios/backend/limits.go", Err: fmt.Errorf("page %d says that there is more and moves no cursor", page)}
		}
	}
}

// configured changes limits and retention at the subject's start and probes
// them there: a limit is one named value, not a literal (API-131).
func configured() []run.Scenario {
	small := subject.Configuration{Limits: map[string]uint64{"max_query_topics": 7, "max_query_limit": 9, "default_query_limit": 5,
		"max_newest_metadata_topics": 6, "max_newest_full_topics": 4, "max_publish_topics": 8, "max_envelope_bytes": 65_536}}
	brief := subject.Configuration{Limits: map[string]uint64{"group_message_seconds": 1, "welcome_seconds": 2}}
	withConfiguration := func(f func(ctx context.Context, s *suite.Session) error) func(ctx context.Context, s *suite.Session) error {
		return func(ctx context.Context, s *suite.Session) error {
			if _, err := s.Configuration(ctx, "A"); err != nil {
				return err
			}
			return f(ctx, s)
		}
	}
	scenario := func(name, summary string, c subject.Configuration, f func(ctx context.Context, s *suite.Session) error, decides ...spec.ID) run.Scenario {
		return run.Scenario{Name: "backend/limits/configured-" + name, Summary: summary, Configuration: c, Decides: append(decides, backendreq.API135, backendreq.API162), Body: body(withConfiguration(f))}
	}
	return []run.Scenario{
		scenario("query", "A configured query limit is the enforced and the published one.", small, queryTopics, backendreq.API070, backendreq.API077, backendreq.API131),
		scenario("query-limit", "A configured page size is the default and the maximum.", small, pageSize, backendreq.API071, backendreq.API131),
		scenario("newest", "A configured newest-envelope limit is the enforced and the published one.", small, newestTopics, backendreq.API080, backendreq.API131),
		scenario("publish", "A configured publish limit is the enforced and the published one.", small, publishTopics, backendreq.API031, backendreq.API047, backendreq.API131),
		scenario("envelope", "A configured envelope size is the enforced and the published one.", small, envelopeBytes, backendreq.API031, backendreq.API047, backendreq.API131),
		scenario("retention", "A configured retention sets the expiry, and rows past it stay readable.", brief, pastExpiry, backendreq.API021),
	}
}

func pageSize(ctx context.Context, s *suite.Session) error {
	log := rules.Log{Kind: rules.Welcome, Name: "w"}
	var es []rules.Envelope
	for i := range s.Limit("max_query_limit") + 3 {
		es = append(es, rules.Envelope{Log: log, Content: fmt.Sprint("m", i)})
	}
	if _, err := s.Publish(ctx, "A", es...); err != nil {
		return err
	}
	most := uint32(s.Limit("max_query_limit"))
	for _, limit := range []uint32{0, 1, most, most + 1, 1000} {
		if _, err := s.Query(ctx, "A", limit, rules.Read{Log: log}); err != nil {
			return err
		}
	}
	return drain(ctx, s, "A", 2, log)
}

// pastExpiry publishes rows that expire within seconds and reads them when the
// subject's own clock, seen in the server time of later publishes, is past it.
func pastExpiry(ctx context.Context, s *suite.Session) error {
	group, welcome := rules.Log{Kind: rules.Group, Name: "g"}, rules.Log{Kind: rules.Welcome, Name: "w"}
	r, err := s.Publish(ctx, "A", rules.Envelope{Log: group, Content: "brief"}, rules.Envelope{Log: group, Content: "commit", Form: rules.PrivateCommit},
		rules.Envelope{Log: welcome, Content: "brief"})
	if err != nil {
		return err
	}
	if r.Publish == nil || len(r.Publish.Metas) != 3 {
		return &run.Unmet{File: "scenarios/backend/limits.go", Err: fmt.Errorf("the first publish was answered %s", r.Code)}
	}
	until := max(r.Publish.Metas[0].ExpiryNS, r.Publish.Metas[2].ExpiryNS)
	for i := 0; ; i++ {
		r, err := s.Publish(ctx, "B", rules.Envelope{Log: rules.Log{Kind: rules.Welcome, Name: "clock"}, Content: fmt.Sprint("tick", i)})
		if err != nil {
			return err
		}
		if r.Publish == nil || len(r.Publish.Metas) != 1 {
			return &run.Unmet{File: "scenarios/backend/limits.go", Err: fmt.Errorf("a publish that reads the clock was answered %s", r.Code)}
		}
		if r.Publish.Metas[0].ServerNS > until {
			break
		}
		if err := s.Pause(ctx); err != nil {
			return err
		}
	}
	if _, err := s.Query(ctx, "A", 0, rules.Read{Log: group}, rules.Read{Log: welcome}); err != nil {
		return err
	}
	_, err = s.Newest(ctx, "A", true, rules.Read{Log: group}, rules.Read{Log: welcome})
	return err
}
