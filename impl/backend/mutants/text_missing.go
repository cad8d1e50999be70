package mutants

import (
	"context"

	"google.golang.org/grpc/status"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// textMissing lets the code speak for itself.
func textMissing() Mutant {
	return Mutant{
		Name:         "text-missing",
		Summary:      "refuses queries without a text",
		Requirements: []spec.ID{backendreq.API150},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundQuery(p, func(ctx context.Context, r *backendv1.QueryRequest, next queryFunc) (*backendv1.QueryResponse, error) {
				response, err := next(ctx, r)
				if err != nil {
					return nil, status.Error(status.Code(err), "")
				}
				return response, nil
			})
		},
	}
}
