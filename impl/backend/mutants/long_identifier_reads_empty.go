package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// longIdentifierReadsEmpty looks at the kind of a newest read's topic and not
// at its length.
func longIdentifierReadsEmpty() Mutant {
	return Mutant{
		Name:         "long-identifier-reads-empty",
		Summary:      "answers a newest read of a topic whose identifier is too long with no result",
		Requirements: []spec.ID{backendreq.API003},
		Apply: func(p *backend.Parts, _ *config.Config) {
			next := p.PlanNewest
			p.PlanNewest = func(r *backendv1.QueryNewestRequest) (backend.NewestPlan, error) {
				changed := &backendv1.QueryNewestRequest{IncludeFullEnvelope: r.GetIncludeFullEnvelope()}
				for _, t := range r.GetTopics() {
					if len(t.GetTopic()) <= 1+32 {
						changed.Topics = append(changed.Topics, t)
					}
				}
				return next(changed)
			}
		},
	}
}
