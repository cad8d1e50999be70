package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// moreAtExactLimit takes a full page for one that was cut.
func moreAtExactLimit() Mutant {
	return Mutant{
		Name:         "more-at-exact-limit",
		Summary:      "says that there is more when exactly as many envelopes matched as the limit allows",
		Requirements: []spec.ID{backendreq.API073},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			afterPage(p, func(_ []backend.Position, limit int, page *backend.Page) {
				page.More = page.More || len(page.Entries) == limit
			})
		},
	}
}
