package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// moreFromLastTopic asks a second time, and only for the topic of the page's last
// row, whether there is more.
func moreFromLastTopic() Mutant {
	return Mutant{
		Name:         "more-from-last-topic",
		Summary:      "judges whether there is more by the topic of the last returned envelope alone",
		Requirements: []spec.ID{backendreq.API073},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPage(p, func(ctx context.Context, from []backend.Position, limit int, maxBytes int64, next pageFunc) (backend.Page, error) {
				page, err := next(ctx, from, limit, maxBytes)
				if err != nil || len(page.Entries) == 0 {
					return page, err
				}
				last := page.Entries[len(page.Entries)-1]
				rest, err := next(ctx, []backend.Position{{Topic: last.Topic, After: last.SequenceID}}, 1, maxBytes)
				page.More = len(rest.Entries) > 0
				return page, err
			})
		},
	}
}
