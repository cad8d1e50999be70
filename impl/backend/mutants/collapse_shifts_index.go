package mutants

import (
	"google.golang.org/protobuf/proto"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// collapseShiftsIndex numbers envelopes after it put copies together.
func collapseShiftsIndex() Mutant {
	return Mutant{
		Name:         "collapse-shifts-index",
		Summary:      "counts the index of a failing envelope without the copies before it",
		Requirements: []spec.ID{backendreq.API036, backendreq.API047},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundDetail(p, func(r *backendv1.PublishRequest, detail *backendv1.PublishError) *backendv1.PublishError {
				if detail.Index == nil {
					return detail
				}
				seen := make(map[string]bool)
				for _, e := range r.GetEnvelopes()[:detail.GetIndex()] {
					if canonical, err := backend.Canonical(e); err == nil {
						if _, failed := backend.Decode(e); failed == nil {
							seen[string(canonical)] = true
							continue
						}
					}
					return detail
				}
				detail.Index = proto.Uint32(uint32(len(seen)))
				return detail
			})
		},
	}
}
