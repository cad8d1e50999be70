package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/mutants/loose"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// idsBeforeLock takes ids first: whoever waits longer commits a lower id later.
func idsBeforeLock() Mutant {
	return Mutant{
		Name:         "ids-before-lock",
		Summary:      "takes sequence ids before it waits for the topic",
		Requirements: []spec.ID{backendreq.API011, backendreq.API066},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = loose.Store(p.Store, loose.Faults{IDsFirst: true})
		},
	}
}
