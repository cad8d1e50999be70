package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// malformedIsTooLarge has one reason for everything.
func malformedIsTooLarge() Mutant {
	return Mutant{
		Name:         "malformed-is-too-large",
		Summary:      "gives the reason TOO_LARGE for a payload that does not parse",
		Requirements: []spec.ID{backendreq.API040, backendreq.API047},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundDetail(p, func(_ *backendv1.PublishRequest, detail *backendv1.PublishError) *backendv1.PublishError {
				detail.Reason = backendv1.PublishError_REASON_TOO_LARGE
				return detail
			})
		},
	}
}
