package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/mutants/loose"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// recheckInOldSnapshot publishes at REPEATABLE READ: what committed while it
// waited is not seen, and the insert fails on it.
func recheckInOldSnapshot() Mutant {
	return Mutant{
		Name:         "recheck-in-old-snapshot",
		Summary:      "looks for copies under the lock in a snapshot from before the lock",
		Requirements: []spec.ID{backendreq.API035, backendreq.API036},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = loose.Store(p.Store, loose.Faults{OldSnapshot: true})
		},
	}
}
