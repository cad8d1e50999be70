package mutants

import (
	"google.golang.org/protobuf/proto"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// hashOverDataOnly hashes what a message says and not the envelope around it:
// two envelopes that differ in another field count as one.
func hashOverDataOnly() Mutant {
	return Mutant{
		Name:         "hash-over-data-only",
		Summary:      "hashes only the data of a group message, so that envelopes that differ elsewhere count as duplicates",
		Requirements: []spec.ID{backendreq.API020},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			hash := p.Hash
			p.Hash = func(canonical []byte) backend.Hash {
				var e backendv1.ClientEnvelope
				if err := proto.Unmarshal(canonical, &e); err == nil && e.GetGroupMessage() != nil {
					return hash(e.GetGroupMessage().GetData())
				}
				return hash(canonical)
			}
		},
	}
}
