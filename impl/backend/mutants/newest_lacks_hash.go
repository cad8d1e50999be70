package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// newestLacksHash thinks that whoever has the envelope needs no hash.
func newestLacksHash() Mutant {
	return Mutant{
		Name:         "newest-lacks-hash",
		Summary:      "leaves the message hash out of a full newest read",
		Requirements: []spec.ID{backendreq.API084},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundResults(p, func(r *backendv1.QueryNewestRequest, response *backendv1.QueryNewestResponse) {
				for _, result := range response.Results {
					if r.GetIncludeFullEnvelope() {
						result.Meta.MessageHash = nil
					}
				}
			})
		},
	}
}
