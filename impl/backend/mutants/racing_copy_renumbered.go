package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/mutants/loose"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// racingCopyRenumbered writes over the row of a copy that it did not see in time.
func racingCopyRenumbered() Mutant {
	return Mutant{
		Name:         "racing-copy-renumbered",
		Summary:      "gives a stored envelope a new sequence id when a copy of it was published at the same time",
		Requirements: []spec.ID{backendreq.API033, backendreq.API035},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = loose.Store(p.Store, loose.Faults{Renumber: true})
			aroundTx(p, func(tx backend.Tx) backend.Tx { return uncheckedTx{tx} })
		},
	}
}
