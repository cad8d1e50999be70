package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// firstRowOfPageLost skips one row when it cuts a page, and nobody comes back for
// it: the cursor passes it.
func firstRowOfPageLost() Mutant {
	return Mutant{
		Name:         "first-row-of-page-lost",
		Summary:      "leaves out the first envelope of a page that is not the last",
		Requirements: []spec.ID{backendreq.API072},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			afterPage(p, func(_ []backend.Position, _ int, page *backend.Page) {
				if page.More && len(page.Entries) > 1 {
					page.Entries = page.Entries[1:]
				}
			})
		},
	}
}
