package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/mls"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// trailingBytesCut stores what it parsed and not what it received.
func trailingBytesCut() Mutant {
	return Mutant{
		Name:         "trailing-bytes-cut",
		Summary:      "drops the bytes behind the MLS message of a group message",
		Requirements: []spec.ID{backendreq.API023, backendreq.API041},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundEncode(p, func(e *backendv1.ClientEnvelope) {
				m := e.GetGroupMessage()
				if parsed, err := mls.ParseGroupMessage(m.GetData()); m != nil && err == nil {
					m.Data = m.Data[:parsed.Len]
				}
			})
		},
	}
}
