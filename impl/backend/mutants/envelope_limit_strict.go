package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// envelopeLimitStrict compares with the wrong operator.
func envelopeLimitStrict() Mutant {
	return Mutant{
		Name:         "envelope-limit-strict",
		Summary:      "refuses an envelope of exactly the size allowed",
		Requirements: []spec.ID{backendreq.API031},
		Apply: func(p *backend.Parts, c *config.Config) {
			published := backend.PublishedConfiguration(c)
			c.Limits.MaxEnvelopeBytes--
			publishOriginal(p, published)
		},
	}
}
