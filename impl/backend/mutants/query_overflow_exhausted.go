package mutants

import (
	"google.golang.org/grpc/codes"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// queryOverflowExhausted takes a large query for a heavy one.
func queryOverflowExhausted() Mutant {
	return Mutant{
		Name:         "query-overflow-exhausted",
		Summary:      "refuses a query with too many entries as RESOURCE_EXHAUSTED",
		Requirements: []spec.ID{backendreq.API070, backendreq.API130},
		Apply: func(p *backend.Parts, c *config.Config) {
			next := p.PlanQuery
			p.PlanQuery = func(r *backendv1.QueryRequest) (backend.QueryPlan, error) {
				plan, err := next(r)
				if len(r.GetQueries()) > int(c.Limits.MaxQueryTopics) {
					return plan, &backend.Refusal{Code: codes.ResourceExhausted, Index: backend.WholeRequest, Text: "the query is too heavy"}
				}
				return plan, err
			}
		},
	}
}
