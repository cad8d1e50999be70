package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/mutants/loose"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// noTopicLock takes ids in one order and commits in another, and meets copies that
// the check for duplicates could not see.
func noTopicLock() Mutant {
	return Mutant{
		Name:         "no-topic-lock",
		Summary:      "lets publishes to one topic run side by side",
		Requirements: []spec.ID{backendreq.API011, backendreq.API035, backendreq.API036, backendreq.API066},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = loose.Store(p.Store, loose.Faults{NoTopicLock: true})
		},
	}
}
