package mutants

import (
	"errors"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// commitLogSignatureChecked looks at a signature that is none of its business.
func commitLogSignatureChecked() Mutant {
	return Mutant{
		Name:         "commit-log-signature-checked",
		Summary:      "refuses commit-log entries whose signature is not 64 bytes with a 32-byte key",
		Requirements: []spec.ID{backendreq.API046},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundDecode(p, func(e *backendv1.ClientEnvelope, payload backend.Payload, err error) (backend.Payload, error) {
				if entry := e.GetCommitLogEntry(); err == nil && entry != nil {
					if s := entry.GetSignature(); len(s.GetBytes()) != 64 || len(s.GetPublicKey()) != 32 {
						return backend.Payload{}, errors.New("the signature of the commit-log entry is not one")
					}
				}
				return payload, err
			})
		},
	}
}
