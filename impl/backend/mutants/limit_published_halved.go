package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// limitPublishedHalved publishes a bound that it does not enforce.
func limitPublishedHalved() Mutant {
	return Mutant{
		Name:         "limit-published-halved",
		Summary:      "publishes half the number of query entries that it accepts",
		Requirements: []spec.ID{backendreq.API131, backendreq.API135, backendreq.API070},
		Relating:     true,
		Apply: func(p *backend.Parts, c *config.Config) {
			published := backend.PublishedConfiguration(c)
			published.Limits.MaxQueryTopics /= 2
			publishOriginal(p, published)
		},
	}
}
