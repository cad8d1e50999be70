package mutants

import (
	"time"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// duplicateGetsNewTime finds the stored copy and reports when it was sent again.
func duplicateGetsNewTime() Mutant {
	return Mutant{
		Name:         "duplicate-gets-new-time",
		Summary:      "answers a duplicate with a later server time than was stored",
		Requirements: []spec.ID{backendreq.API033},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = duplicateStore{p.Store, func(k *backend.Known) { k.ServerNS += int64(time.Millisecond) }}
		},
	}
}
