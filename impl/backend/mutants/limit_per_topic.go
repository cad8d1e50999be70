package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// limitPerTopic reads every topic up to the limit.
func limitPerTopic() Mutant {
	return Mutant{
		Name:         "limit-per-topic",
		Summary:      "applies the limit of a query to each topic instead of to all together",
		Requirements: []spec.ID{backendreq.API071, backendreq.API076},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPage(p, func(ctx context.Context, from []backend.Position, limit int, maxBytes int64, next pageFunc) (backend.Page, error) {
				var all backend.Page
				for _, one := range from {
					page, err := next(ctx, []backend.Position{one}, limit, maxBytes)
					if err != nil {
						return backend.Page{}, err
					}
					all.Entries = append(all.Entries, page.Entries...)
					all.More = all.More || page.More
					all.TooLarge = all.TooLarge || page.TooLarge
				}
				return all, nil
			})
		},
	}
}
