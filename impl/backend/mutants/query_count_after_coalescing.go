package mutants

import (
	"slices"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// queryCountAfterCoalescing puts repeated topics together before it counts.
func queryCountAfterCoalescing() Mutant {
	return Mutant{
		Name:         "query-count-after-coalescing",
		Summary:      "counts the entries of a query after it put repeated topics together",
		Requirements: []spec.ID{backendreq.API070, backendreq.API077},
		Apply: func(p *backend.Parts, c *config.Config) {
			aroundPlan(p, func(r *backendv1.QueryRequest) {
				if len(r.Queries) <= int(c.Limits.MaxQueryTopics) {
					return
				}
				seen := make(map[string]bool)
				r.Queries = slices.DeleteFunc(r.Queries, func(q *backendv1.TopicQuery) bool {
					topic := string(q.GetTopic().GetTopic())
					again := seen[topic]
					seen[topic] = true
					return again
				})
			})
		},
	}
}
