package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// detailMissing leaves it at the status.
func detailMissing() Mutant {
	return Mutant{
		Name:         "detail-missing",
		Summary:      "refuses a publish without the error detail",
		Requirements: []spec.ID{backendreq.API047},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundDetail(p, func(*backendv1.PublishRequest, *backendv1.PublishError) *backendv1.PublishError { return nil })
		},
	}
}
