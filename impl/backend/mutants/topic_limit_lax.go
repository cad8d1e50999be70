package mutants

import (
	"math"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// topicLimitLax does not count the topics of a publish.
func topicLimitLax() Mutant {
	return Mutant{
		Name:         "topic-limit-lax",
		Summary:      "accepts a publish to more topics than allowed",
		Requirements: []spec.ID{backendreq.API031},
		Apply: func(p *backend.Parts, c *config.Config) {
			published := backend.PublishedConfiguration(c)
			c.Limits.MaxPublishTopics = math.MaxInt32
			publishOriginal(p, published)
		},
	}
}
