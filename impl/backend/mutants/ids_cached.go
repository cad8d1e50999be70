package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/mutants/loose"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// idsCached is a sequence with a cache above 1: a later publish on another
// connection gets a lower id.
func idsCached() Mutant {
	return Mutant{
		Name:         "ids-cached",
		Summary:      "takes sequence ids in blocks, one for each database connection",
		Requirements: []spec.ID{backendreq.API011, backendreq.API066},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = loose.Store(p.Store, loose.Faults{CachedIDs: 32})
		},
	}
}
