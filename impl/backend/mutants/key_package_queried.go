package mutants

import (
	"slices"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// keyPackageQueried reads a key-package topic like any other.
func keyPackageQueried() Mutant {
	return Mutant{
		Name:         "key-package-queried",
		Summary:      "answers a query of a key-package topic",
		Requirements: []spec.ID{backendreq.API075},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPlan(p, func(r *backendv1.QueryRequest) {
				r.Queries = slices.DeleteFunc(r.Queries, func(q *backendv1.TopicQuery) bool {
					topic, err := backend.ParseTopic(q.GetTopic().GetTopic())
					return err == nil && topic.Kind() == backend.KindKeyPackage
				})
			})
		},
	}
}
