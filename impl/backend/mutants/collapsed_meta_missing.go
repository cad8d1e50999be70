package mutants

import (
	"slices"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// collapsedMetaMissing answers for rows and not for envelopes.
func collapsedMetaMissing() Mutant {
	return Mutant{
		Name:         "collapsed-meta-missing",
		Summary:      "leaves out the metadata of an envelope that is in the request a second time",
		Requirements: []spec.ID{backendreq.API032, backendreq.API034},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundMetas(p, func(_ *backendv1.PublishRequest, response *backendv1.PublishResponse) {
				seen := make(map[uint64]bool)
				response.EnvelopeMetas = slices.DeleteFunc(response.EnvelopeMetas, func(m *backendv1.EnvelopeMeta) bool {
					id := m.GetCursor().GetSequenceId()
					again := seen[id]
					seen[id] = true
					return again
				})
			})
		},
	}
}
