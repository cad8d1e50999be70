package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// limitsUnpublished has limits and does not say which.
func limitsUnpublished() Mutant {
	return Mutant{
		Name:         "limits-unpublished",
		Summary:      "publishes no limits",
		Requirements: []spec.ID{backendreq.API135},
		Apply: func(p *backend.Parts, c *config.Config) {
			published := backend.PublishedConfiguration(c)
			published.Limits = nil
			publishOriginal(p, published)
		},
	}
}
