package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// moreInSecondQuery asks a second time whether there is more than the page.
func moreInSecondQuery() Mutant {
	return Mutant{
		Name:         "more-in-second-query",
		Summary:      "tells has_more from a read after that of the page",
		Requirements: []spec.ID{backendreq.API073, backendreq.API077},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPage(p, func(ctx context.Context, from []backend.Position, limit int, maxBytes int64, next pageFunc) (backend.Page, error) {
				page, err := next(ctx, from, limit, maxBytes)
				if err != nil {
					return page, err
				}
				after := append([]backend.Position(nil), from...)
				for i := range after {
					for _, e := range page.Entries {
						if e.Topic == after[i].Topic {
							after[i].After = max(after[i].After, e.SequenceID)
						}
					}
				}
				rest, err := next(ctx, after, 1, maxBytes)
				page.More = len(rest.Entries) > 0
				return page, err
			})
		},
	}
}
