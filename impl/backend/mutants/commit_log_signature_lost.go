package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// commitLogSignatureLost stores the entry without what was signed beside it.
func commitLogSignatureLost() Mutant {
	return Mutant{
		Name:         "commit-log-signature-lost",
		Summary:      "does not return the signature of a commit-log entry",
		Requirements: []spec.ID{backendreq.API046, backendreq.API023},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundEncode(p, func(e *backendv1.ClientEnvelope) {
				if entry := e.GetCommitLogEntry(); entry != nil {
					entry.Signature = nil
				}
			})
		},
	}
}
