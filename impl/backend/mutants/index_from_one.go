package mutants

import (
	"google.golang.org/protobuf/proto"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// indexFromOne counts as people do.
func indexFromOne() Mutant {
	return Mutant{
		Name:         "index-from-one",
		Summary:      "counts the index of a failing envelope from 1",
		Requirements: []spec.ID{backendreq.API047},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundDetail(p, func(_ *backendv1.PublishRequest, detail *backendv1.PublishError) *backendv1.PublishError {
				if detail.Index != nil {
					detail.Index = proto.Uint32(detail.GetIndex() + 1)
				}
				return detail
			})
		},
	}
}
