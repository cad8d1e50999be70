package mutants

import (
	"google.golang.org/grpc/codes"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// largeLimitRefused takes a large limit for a mistake.
func largeLimitRefused() Mutant {
	return Mutant{
		Name:         "large-limit-refused",
		Summary:      "refuses a query whose limit is above the maximum",
		Requirements: []spec.ID{backendreq.API071},
		Apply: func(p *backend.Parts, c *config.Config) {
			next := p.PlanQuery
			p.PlanQuery = func(r *backendv1.QueryRequest) (backend.QueryPlan, error) {
				if r.GetLimit() > c.Limits.MaxQueryLimit {
					return backend.QueryPlan{}, &backend.Refusal{Code: codes.InvalidArgument, Index: backend.WholeRequest, Text: "the limit is above the maximum"}
				}
				return next(r)
			}
		},
	}
}
