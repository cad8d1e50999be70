package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/mutants/loose"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// racingCopyStoredAgain looks for duplicates once, and nothing in the database
// stops the second row.
func racingCopyStoredAgain() Mutant {
	return Mutant{
		Name:         "racing-copy-stored-again",
		Summary:      "stores a copy that commits during validation a second time",
		Requirements: []spec.ID{backendreq.API033, backendreq.API035},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = loose.Store(p.Store, loose.Faults{NoUnique: true})
			aroundTx(p, func(tx backend.Tx) backend.Tx { return uncheckedTx{tx} })
		},
	}
}
