package mutants

import (
	"time"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// commitExpires forgets that commits and proposals are exempt.
func commitExpires() Mutant {
	return Mutant{
		Name:         "commit-expires",
		Summary:      "gives commits and proposals the retention of application messages",
		Requirements: []spec.ID{backendreq.API021},
		Apply: func(p *backend.Parts, _ *config.Config) {
			next := p.Retention
			p.Retention = func(payload backend.Payload) time.Duration {
				payload.CommitOrProposal = false
				return next(payload)
			}
		},
	}
}
