package mutants

import (
	"google.golang.org/protobuf/proto"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// requestErrorHasIndex cannot say "the request as a whole".
func requestErrorHasIndex() Mutant {
	return Mutant{
		Name:         "request-error-has-index",
		Summary:      "names envelope 0 when the request as a whole is refused",
		Requirements: []spec.ID{backendreq.API047},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundDetail(p, func(_ *backendv1.PublishRequest, detail *backendv1.PublishError) *backendv1.PublishError {
				if detail.Index == nil {
					detail.Index = proto.Uint32(0)
				}
				return detail
			})
		},
	}
}
