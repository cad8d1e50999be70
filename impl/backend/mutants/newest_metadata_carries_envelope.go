package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// newestMetadataCarriesEnvelope reads the row anyway, and sends it.
func newestMetadataCarriesEnvelope() Mutant {
	return Mutant{
		Name:         "newest-metadata-carries-envelope",
		Summary:      "sends the envelope in a newest read that asks for metadata only",
		Requirements: []spec.ID{backendreq.API082},
		Apply: func(p *backend.Parts, c *config.Config) {
			aroundNewest(p, func(ctx context.Context, r *backendv1.QueryNewestRequest, next newestFunc) (*backendv1.QueryNewestResponse, error) {
				if len(r.GetTopics()) > int(c.Limits.MaxNewestFullTopics) {
					return next(ctx, r)
				}
				return next(ctx, &backendv1.QueryNewestRequest{Topics: r.GetTopics(), IncludeFullEnvelope: true})
			})
		},
	}
}
