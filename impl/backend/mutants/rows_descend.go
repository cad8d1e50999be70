package mutants

import (
	"slices"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// rowsDescend shows the newest first.
func rowsDescend() Mutant {
	return Mutant{
		Name:         "rows-descend",
		Summary:      "returns the envelopes of a page in descending order",
		Requirements: []spec.ID{backendreq.API072},
		Apply: func(p *backend.Parts, _ *config.Config) {
			afterPage(p, func(_ []backend.Position, _ int, page *backend.Page) { slices.Reverse(page.Entries) })
		},
	}
}
