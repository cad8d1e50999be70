package mutants

import (
	"bytes"
	"slices"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// metasGroupedByTopic answers in the order in which rows are written.
func metasGroupedByTopic() Mutant {
	return Mutant{
		Name:         "metas-grouped-by-topic",
		Summary:      "lists the metadata of a publish by topic and not in request order",
		Requirements: []spec.ID{backendreq.API032},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundMetas(p, func(_ *backendv1.PublishRequest, response *backendv1.PublishResponse) {
				slices.SortStableFunc(response.EnvelopeMetas, func(a, b *backendv1.EnvelopeMeta) int {
					return bytes.Compare(a.GetTopic().GetTopic(), b.GetTopic().GetTopic())
				})
			})
		},
	}
}
