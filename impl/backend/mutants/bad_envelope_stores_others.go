package mutants

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// badEnvelopeStoresOthers refuses the request and keeps what was good in it.
func badEnvelopeStoresOthers() Mutant {
	return Mutant{
		Name:         "bad-envelope-stores-others",
		Summary:      "stores the other envelopes of a request that it refuses for one of them",
		Requirements: []spec.ID{backendreq.API030},
		Relating:     true,
		Apply: func(p *backend.Parts, c *config.Config) {
			aroundPublish(p, func(ctx context.Context, r *backendv1.PublishRequest, next publishFunc) (*backendv1.PublishResponse, error) {
				response, err := next(ctx, r)
				if status.Code(err) != codes.InvalidArgument || len(r.GetEnvelopes()) < 2 {
					return response, err
				}
				var good []*backendv1.ClientEnvelope
				for _, e := range r.Envelopes {
					if _, failed := p.Decode(e); failed == nil && uint64(proto.Size(e)) <= c.Limits.MaxEnvelopeBytes {
						good = append(good, e)
					}
				}
				if len(good) < len(r.Envelopes) {
					// The answer was given already.
					_, _ = next(ctx, &backendv1.PublishRequest{Envelopes: good})
				}
				return response, err
			})
		},
	}
}
