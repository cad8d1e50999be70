package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/mls"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// proposalUnmarked knows only commits.
func proposalUnmarked() Mutant {
	return Mutant{
		Name:         "proposal-unmarked",
		Summary:      "does not mark proposals as commit or proposal",
		Requirements: []spec.ID{backendreq.API041},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundDecode(p, func(e *backendv1.ClientEnvelope, payload backend.Payload, err error) (backend.Payload, error) {
				if m, failed := mls.ParseGroupMessage(e.GetGroupMessage().GetData()); failed == nil && m.ContentType == mls.Proposal {
					payload.CommitOrProposal = false
				}
				return payload, err
			})
		},
	}
}
