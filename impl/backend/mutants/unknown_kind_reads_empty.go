package mutants

import (
	"slices"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// unknownKindReadsEmpty treats a kind that does not exist as a topic without
// envelopes.
func unknownKindReadsEmpty() Mutant {
	return Mutant{
		Name:         "unknown-kind-reads-empty",
		Summary:      "answers a query of an unknown topic kind with an empty page",
		Requirements: []spec.ID{backendreq.API003},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPlan(p, func(r *backendv1.QueryRequest) {
				r.Queries = slices.DeleteFunc(r.Queries, func(q *backendv1.TopicQuery) bool {
					topic := q.GetTopic().GetTopic()
					return len(topic) > 1 && topic[0] > byte(backend.KindCommitLogEntry)
				})
			})
		},
	}
}
