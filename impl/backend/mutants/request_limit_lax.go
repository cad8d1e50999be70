package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// requestLimitLax has room for larger requests.
func requestLimitLax() Mutant {
	return Mutant{
		Name:         "request-limit-lax",
		Summary:      "accepts publish requests of up to twice the size allowed",
		Requirements: []spec.ID{backendreq.API031, backendreq.API130},
		Apply: func(p *backend.Parts, c *config.Config) {
			published := backend.PublishedConfiguration(c)
			c.Limits.MaxRequestBytes *= 2
			publishOriginal(p, published)
		},
	}
}
