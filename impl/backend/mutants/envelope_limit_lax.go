package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// envelopeLimitLax has room for larger envelopes.
func envelopeLimitLax() Mutant {
	return Mutant{
		Name:         "envelope-limit-lax",
		Summary:      "accepts envelopes of up to twice the size allowed",
		Requirements: []spec.ID{backendreq.API031},
		Apply: func(p *backend.Parts, c *config.Config) {
			published := backend.PublishedConfiguration(c)
			c.Limits.MaxEnvelopeBytes *= 2
			publishOriginal(p, published)
		},
	}
}
