package mutants

import (
	"context"
	"math"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// idsShared numbers half of the topics one higher than the others, so that
// neighbours in the sequence meet. It translates cursors back, so that every
// topic on its own looks right.
func idsShared() Mutant {
	return Mutant{
		Name:         "ids-shared",
		Summary:      "gives envelopes of different topics the same sequence id",
		Requirements: []spec.ID{backendreq.API010},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundServices(p, func(s backend.Services) backend.Services {
				return shiftIDs(s, func(topic []byte) uint64 {
					if len(topic) == 0 {
						return 0
					}
					return uint64(topic[len(topic)-1] & 1)
				})
			})
		},
	}
}

// shiftIDs adds shift of the topic to every sequence id that leaves, and takes
// it from every cursor that arrives.
func shiftIDs(s backend.Services, shift func(topic []byte) uint64) backend.Services {
	out := func(m *backendv1.EnvelopeMeta) { m.Cursor.SequenceId += shift(m.GetTopic().GetTopic()) }
	publish := publishLayer{s.Publish, func(ctx context.Context, r *backendv1.PublishRequest, next publishFunc) (*backendv1.PublishResponse, error) {
		response, err := next(ctx, r)
		for _, m := range response.GetEnvelopeMetas() {
			out(m)
		}
		return response, err
	}}
	query := queryLayer{
		QueryServiceServer: s.Query,
		query: func(ctx context.Context, r *backendv1.QueryRequest, next queryFunc) (*backendv1.QueryResponse, error) {
			for _, q := range r.GetQueries() {
				if after := q.GetCursor().GetSequenceId(); after > 0 && after <= math.MaxInt64 {
					q.Cursor.SequenceId = after - shift(q.GetTopic().GetTopic())
				}
			}
			response, err := next(ctx, r)
			for _, e := range response.GetEnvelopes() {
				out(e.Meta)
			}
			return response, err
		},
		newest: func(ctx context.Context, r *backendv1.QueryNewestRequest, next newestFunc) (*backendv1.QueryNewestResponse, error) {
			response, err := next(ctx, r)
			for _, result := range response.GetResults() {
				out(result.Meta)
			}
			return response, err
		},
	}
	s.Publish, s.Query = publish, query
	return s
}
