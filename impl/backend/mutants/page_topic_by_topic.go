package mutants

import (
	"context"
	"slices"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// pageTopicByTopic reads every topic of a page with a statement of its own.
func pageTopicByTopic() Mutant {
	return Mutant{
		Name:         "page-topic-by-topic",
		Summary:      "reads the topics of a page one after the other, each as it is by then",
		Requirements: []spec.ID{backendreq.API030, backendreq.API077},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPage(p, func(ctx context.Context, from []backend.Position, limit int, maxBytes int64, next pageFunc) (backend.Page, error) {
				var page backend.Page
				for _, one := range from {
					part, err := next(ctx, []backend.Position{one}, limit, maxBytes)
					if err != nil {
						return page, err
					}
					page.Entries = append(page.Entries, part.Entries...)
					page.More = page.More || part.More
					page.TooLarge = page.TooLarge || part.TooLarge
				}
				slices.SortFunc(page.Entries, func(a, b backend.Entry) int { return int(a.SequenceID - b.SequenceID) })
				if len(page.Entries) > limit {
					page.Entries, page.More = page.Entries[:limit], true
				}
				return page, nil
			})
		},
	}
}
