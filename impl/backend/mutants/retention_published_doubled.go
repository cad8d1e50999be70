package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// retentionPublishedDoubled publishes another number than it applies.
func retentionPublishedDoubled() Mutant {
	return Mutant{
		Name:         "retention-published-doubled",
		Summary:      "publishes twice the welcome retention that it applies",
		Requirements: []spec.ID{backendreq.API021},
		Relating:     true,
		Apply: func(p *backend.Parts, c *config.Config) {
			published := backend.PublishedConfiguration(c)
			published.Retention.WelcomeSeconds *= 2
			publishOriginal(p, published)
		},
	}
}
