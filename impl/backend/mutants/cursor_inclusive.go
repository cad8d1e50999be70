package mutants

import (
	"context"
	"slices"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// cursorInclusive reads from the cursor on and not from behind it.
func cursorInclusive() Mutant {
	return Mutant{
		Name:         "cursor-inclusive",
		Summary:      "returns the envelope at the cursor again",
		Requirements: []spec.ID{backendreq.API072},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPage(p, func(ctx context.Context, from []backend.Position, limit int, maxBytes int64, next pageFunc) (backend.Page, error) {
				inclusive := slices.Clone(from)
				for i := range inclusive {
					inclusive[i].After = max(inclusive[i].After-1, 0)
				}
				return next(ctx, inclusive, limit, maxBytes)
			})
		},
	}
}
