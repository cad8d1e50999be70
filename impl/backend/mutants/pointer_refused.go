package mutants

import (
	"errors"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// pointerRefused knows only the first form of a welcome.
func pointerRefused() Mutant {
	return Mutant{
		Name:         "pointer-refused",
		Summary:      "refuses welcome pointers",
		Requirements: []spec.ID{backendreq.API045},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundDecode(p, func(e *backendv1.ClientEnvelope, payload backend.Payload, err error) (backend.Payload, error) {
				if err == nil && e.GetWelcomeMessage().GetWelcomePointer() != nil {
					return backend.Payload{}, errors.New("nobody is registered under this installation key")
				}
				return payload, err
			})
		},
	}
}
