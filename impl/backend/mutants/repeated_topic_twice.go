package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// repeatedTopicTwice reads every entry of a query for itself.
func repeatedTopicTwice() Mutant {
	return Mutant{
		Name:         "repeated-topic-twice",
		Summary:      "returns an envelope once for each time its topic is named",
		Requirements: []spec.ID{backendreq.API077},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundQuery(p, func(ctx context.Context, r *backendv1.QueryRequest, next queryFunc) (*backendv1.QueryResponse, error) {
				response, err := next(ctx, r)
				if err != nil {
					return nil, err
				}
				named := make(map[string]int)
				for _, q := range r.GetQueries() {
					named[string(q.GetTopic().GetTopic())]++
				}
				var rows []*backendv1.ServerEnvelope
				for _, e := range response.Envelopes {
					for range named[string(e.GetMeta().GetTopic().GetTopic())] {
						rows = append(rows, e)
					}
				}
				response.Envelopes = rows
				return response, nil
			})
		},
	}
}
