package mutants

import (
	"time"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// queryExpiryRounded stores expiry right and rounds it down to an hour when a
// query returns it.
func queryExpiryRounded() Mutant {
	return Mutant{
		Name:         "query-expiry-rounded",
		Summary:      "returns from queries an expiry that is rounded down to the hour",
		Requirements: []spec.ID{backendreq.API021},
		Apply: func(p *backend.Parts, _ *config.Config) {
			afterPage(p, func(_ []backend.Position, _ int, page *backend.Page) {
				for i := range page.Entries {
					page.Entries[i].ExpiryNS -= page.Entries[i].ExpiryNS % int64(time.Hour)
				}
			})
		},
	}
}
