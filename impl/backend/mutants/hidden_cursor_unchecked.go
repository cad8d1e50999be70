package mutants

import (
	"math"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// hiddenCursorUnchecked puts repeated topics together before it looks at their
// cursors, so a lower one hides one that is out of range.
func hiddenCursorUnchecked() Mutant {
	return Mutant{
		Name:         "hidden-cursor-unchecked",
		Summary:      "accepts a cursor above INT64_MAX when the same topic is also named with a lower one",
		Requirements: []spec.ID{backendreq.API004, backendreq.API077},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPlan(p, func(r *backendv1.QueryRequest) {
				lowest := make(map[string]uint64)
				for _, q := range r.Queries {
					topic, after := string(q.GetTopic().GetTopic()), q.GetCursor().GetSequenceId()
					if have, ok := lowest[topic]; !ok || after < have {
						lowest[topic] = after
					}
				}
				for i, q := range r.Queries {
					if q.GetCursor().GetSequenceId() > math.MaxInt64 {
						after := lowest[string(q.GetTopic().GetTopic())]
						r.Queries[i] = &backendv1.TopicQuery{Topic: q.GetTopic(), Cursor: &backendv1.Cursor{SequenceId: after}}
					}
				}
			})
		},
	}
}
