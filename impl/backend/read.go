package backend

import (
	"context"

	"google.golang.org/grpc/codes"

	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// QueryPlan is a query that passed its checks.
type QueryPlan struct {
	// From has every topic once, at the lowest cursor it was asked for with
	// (API-077), in the order of its first mention.
	From []Position
	// Limit bounds the envelopes of all topics together (API-076).
	Limit int
}

// QueryPlanner returns the checks of section 6 for configured limits: first the
// number of entries, then every entry, and only then are repeated topics put
// together (API-070, API-077).
func QueryPlanner(limits config.Limits) func(*backendv1.QueryRequest) (QueryPlan, error) {
	return func(request *backendv1.QueryRequest) (QueryPlan, error) {
		queries := request.GetQueries()
		if n := len(queries); n > int(limits.MaxQueryTopics) {
			return QueryPlan{}, refuseRead("the query has %d entries, more than the %d allowed", n, limits.MaxQueryTopics)
		}
		plan := QueryPlan{From: make([]Position, 0, len(queries)), Limit: QueryLimit(request.GetLimit(), limits)}
		place := make(map[Topic]int, len(queries))
		for i, q := range queries {
			position, err := ParsePosition(q)
			if err != nil {
				return QueryPlan{}, refuseRead("entry %d: %v", i, err)
			}
			if position.Topic.Kind() == KindKeyPackage {
				return QueryPlan{}, refuseRead("entry %d: key packages cannot be queried; read the newest envelope instead", i)
			}
			if at, ok := place[position.Topic]; ok {
				plan.From[at].After = min(plan.From[at].After, position.After)
				continue
			}
			place[position.Topic] = len(plan.From)
			plan.From = append(plan.From, position)
		}
		return plan, nil
	}
}

// QueryLimit applies API-071: 0 is the default, and too much is clamped.
func QueryLimit(asked uint32, limits config.Limits) int {
	if asked == 0 {
		return int(limits.DefaultQueryLimit)
	}
	return int(min(asked, limits.MaxQueryLimit))
}

// ParsePosition reads one topic and cursor (API-003, API-004).
func ParsePosition(q *backendv1.TopicQuery) (Position, error) {
	topic, err := ParseTopic(q.GetTopic().GetTopic())
	if err != nil {
		return Position{}, err
	}
	after, err := ParseCursor(q.GetCursor().GetSequenceId())
	return Position{Topic: topic, After: after}, err
}

// NewestPlan is a newest read that passed its checks.
type NewestPlan struct {
	// Topics has every topic once (API-084).
	Topics []Topic
	// Full asks for envelopes beside the metadata (API-082).
	Full bool
}

// NewestPlanner returns the checks of section 7 for configured limits, in the
// same order as those of a query (API-080, API-084).
func NewestPlanner(limits config.Limits) func(*backendv1.QueryNewestRequest) (NewestPlan, error) {
	return func(request *backendv1.QueryNewestRequest) (NewestPlan, error) {
		most := limits.MaxNewestMetadataTopics
		if request.GetIncludeFullEnvelope() {
			most = limits.MaxNewestFullTopics
		}
		topics := request.GetTopics()
		if n := len(topics); n > int(most) {
			return NewestPlan{}, refuseRead("the request names %d topics, more than the %d allowed", n, most)
		}
		plan := NewestPlan{Topics: make([]Topic, 0, len(topics)), Full: request.GetIncludeFullEnvelope()}
		seen := make(map[Topic]bool, len(topics))
		for i, t := range topics {
			topic, err := ParseTopic(t.GetTopic())
			if err != nil {
				return NewestPlan{}, refuseRead("topic %d: %v", i, err)
			}
			if !seen[topic] {
				seen[topic] = true
				plan.Topics = append(plan.Topics, topic)
			}
		}
		return plan, nil
	}
}

// Reader answers queries and newest reads.
type Reader struct {
	parts  *Parts
	limits config.Limits
}

// NewReader returns a reader made of parts, which must not change while it is
// in use.
func NewReader(parts *Parts, limits config.Limits) *Reader {
	return &Reader{parts: parts, limits: limits}
}

// Query reads one page: one statement, so that the page and whether there is
// more come from one snapshot (API-073).
func (r *Reader) Query(ctx context.Context, plan QueryPlan) (Page, error) {
	if len(plan.From) == 0 {
		return Page{}, nil
	}
	page, err := r.parts.Store.Query(ctx, plan.From, plan.Limit, int64(r.limits.MaxResponseBytes))
	return r.fits(page, err)
}

// Newest reads the newest envelope of each topic that has one, head and row in
// one statement (API-081, API-083).
func (r *Reader) Newest(ctx context.Context, plan NewestPlan) (Page, error) {
	if len(plan.Topics) == 0 {
		return Page{}, nil
	}
	page, err := r.parts.Store.Newest(ctx, plan.Topics, plan.Full, int64(r.limits.MaxResponseBytes))
	return r.fits(page, err)
}

// fits refuses a page that no response could carry. Fewer envelopes would be a
// lie: the client would take them for all there are (API-134).
func (r *Reader) fits(page Page, err error) (Page, error) {
	if err == nil && page.TooLarge {
		err = &Refusal{Code: codes.OutOfRange, Index: WholeRequest,
			Text: "the envelopes do not fit one response; ask for fewer"}
	}
	if err != nil {
		return Page{}, err
	}
	return page, nil
}
