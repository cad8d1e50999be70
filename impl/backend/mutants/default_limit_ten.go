package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// defaultLimitTen has a default of its own.
func defaultLimitTen() Mutant {
	return Mutant{
		Name:         "default-limit-ten",
		Summary:      "returns at most 10 envelopes from a query without a limit",
		Requirements: []spec.ID{backendreq.API071},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPlan(p, func(r *backendv1.QueryRequest) {
				if r.Limit == 0 {
					r.Limit = 10
				}
			})
		},
	}
}
