package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// commitLogRenumbered gives the entries of a commit log positions of their own.
func commitLogRenumbered() Mutant {
	return Mutant{
		Name:         "commit-log-renumbered",
		Summary:      "returns commit-log entries from a query with positions other than the sequence ids they were published under",
		Requirements: []spec.ID{backendreq.API065},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundQuery(p, func(ctx context.Context, r *backendv1.QueryRequest, next queryFunc) (*backendv1.QueryResponse, error) {
				response, err := next(ctx, r)
				for _, e := range response.GetEnvelopes() {
					if e.GetEnvelope().GetCommitLogEntry() != nil {
						// Still ascending, and still none twice.
						e.Meta.Cursor.SequenceId *= 2
					}
				}
				return response, err
			})
		},
	}
}
