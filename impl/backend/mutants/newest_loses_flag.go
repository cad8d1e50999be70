package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// newestLosesFlag does not read one column.
func newestLosesFlag() Mutant {
	return Mutant{
		Name:         "newest-loses-flag",
		Summary:      "reports commits and proposals as neither in a newest read",
		Requirements: []spec.ID{backendreq.API084},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundResults(p, func(_ *backendv1.QueryNewestRequest, response *backendv1.QueryNewestResponse) {
				for _, result := range response.Results {
					result.Meta.IsCommitOrProposal = false
				}
			})
		},
	}
}
