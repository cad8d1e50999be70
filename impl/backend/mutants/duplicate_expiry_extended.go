package mutants

import (
	"time"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// duplicateExpiryExtended takes a retry for a reason to keep an envelope longer.
func duplicateExpiryExtended() Mutant {
	return Mutant{
		Name:         "duplicate-expiry-extended",
		Summary:      "answers a duplicate with a later expiry than was stored",
		Requirements: []spec.ID{backendreq.API033},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = duplicateStore{p.Store, func(k *backend.Known) {
				if k.ExpiryNS != 0 {
					k.ExpiryNS += int64(time.Hour)
				}
			}}
		},
	}
}
