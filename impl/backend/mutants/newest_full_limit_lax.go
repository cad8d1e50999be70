package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// newestFullLimitLax has one limit for both modes.
func newestFullLimitLax() Mutant {
	return Mutant{
		Name:         "newest-full-limit-lax",
		Summary:      "accepts as many topics of a full newest read as of one for metadata",
		Requirements: []spec.ID{backendreq.API080},
		Apply: func(p *backend.Parts, c *config.Config) {
			limits := c.Limits
			limits.MaxNewestFullTopics = limits.MaxNewestMetadataTopics
			p.PlanNewest = backend.NewestPlanner(limits)
		},
	}
}
