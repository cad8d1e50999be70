package mutants

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// cursorBeyondEndFails takes a cursor above everything stored for a mistake.
func cursorBeyondEndFails() Mutant {
	return Mutant{
		Name:         "cursor-beyond-end-fails",
		Summary:      "refuses a query whose every cursor is at or above the end of its topic",
		Requirements: []spec.ID{backendreq.API015},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundQuery(p, func(ctx context.Context, r *backendv1.QueryRequest, next queryFunc) (*backendv1.QueryResponse, error) {
				response, err := next(ctx, r)
				if err != nil || len(response.Envelopes) > 0 {
					return response, err
				}
				for _, q := range r.GetQueries() {
					if q.GetCursor().GetSequenceId() > 0 {
						return nil, status.Error(codes.OutOfRange, "the cursor is beyond the end of the topic")
					}
				}
				return response, nil
			})
		},
	}
}
