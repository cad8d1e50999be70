package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// largePageCut makes a page fit by leaving out its end, and calls that the end.
func largePageCut() Mutant {
	return Mutant{
		Name:         "large-page-cut",
		Summary:      "returns fewer envelopes than matched when all of them do not fit one response",
		Requirements: []spec.ID{backendreq.API134, backendreq.API072, backendreq.API073},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPage(p, func(ctx context.Context, from []backend.Position, limit int, maxBytes int64, next pageFunc) (backend.Page, error) {
				page, err := next(ctx, from, limit, maxBytes)
				for err == nil && page.TooLarge && limit > 1 {
					limit = min(limit, len(page.Entries)) / 2
					page, err = next(ctx, from, limit, maxBytes)
					page.More = false
				}
				return page, err
			})
		},
	}
}
