package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// duplicatesCheckedOnce looks for copies before validation alone. One that
// commits meanwhile makes the insert fail.
func duplicatesCheckedOnce() Mutant {
	return Mutant{
		Name:         "duplicates-checked-once",
		Summary:      "looks for copies before validation and not again at commit time",
		Requirements: []spec.ID{backendreq.API035, backendreq.API036},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundTx(p, func(tx backend.Tx) backend.Tx { return uncheckedTx{tx} })
		},
	}
}
