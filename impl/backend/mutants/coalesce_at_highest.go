package mutants

import (
	"math"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// coalesceAtHighest believes that a client has what its highest cursor says.
func coalesceAtHighest() Mutant {
	return Mutant{
		Name:         "coalesce-at-highest",
		Summary:      "reads a topic that is named twice from the highest of its cursors",
		Requirements: []spec.ID{backendreq.API077},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPlan(p, func(r *backendv1.QueryRequest) {
				highest := make(map[string]uint64)
				for _, q := range r.Queries {
					if after := q.GetCursor().GetSequenceId(); after <= math.MaxInt64 {
						topic := string(q.GetTopic().GetTopic())
						highest[topic] = max(highest[topic], after)
					}
				}
				for i, q := range r.Queries {
					if q.GetTopic() != nil && q.GetCursor().GetSequenceId() <= math.MaxInt64 {
						after := highest[string(q.GetTopic().GetTopic())]
						r.Queries[i] = &backendv1.TopicQuery{Topic: q.GetTopic(), Cursor: &backendv1.Cursor{SequenceId: after}}
					}
				}
			})
		},
	}
}
