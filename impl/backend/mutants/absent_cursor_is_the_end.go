package mutants

import (
	"math"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// absentCursorIsTheEnd reads "no cursor" as "from now on".
func absentCursorIsTheEnd() Mutant {
	return Mutant{
		Name:         "absent-cursor-is-the-end",
		Summary:      "reads a query entry without a cursor from the end of its topic",
		Requirements: []spec.ID{backendreq.API004, backendreq.API072},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPlan(p, func(r *backendv1.QueryRequest) {
				for i, q := range r.Queries {
					if q.GetCursor() == nil {
						r.Queries[i] = &backendv1.TopicQuery{Topic: q.GetTopic(), Cursor: &backendv1.Cursor{SequenceId: math.MaxInt64}}
					}
				}
			})
		},
	}
}
