package mutants

import (
	"bytes"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// truncatedMessageAccepted reads an MLS message as far as it needs and no
// further.
func truncatedMessageAccepted() Mutant {
	return Mutant{
		Name:         "truncated-message-accepted",
		Summary:      "stores group messages that end behind their content type",
		Requirements: []spec.ID{backendreq.API040, backendreq.API041},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundDecode(p, func(e *backendv1.ClientEnvelope, payload backend.Payload, err error) (backend.Payload, error) {
				const header = 2 + 2 + 1 + 16 + 8 // version, wire format, length and group id, epoch
				data := e.GetGroupMessage().GetData()
				if err == nil || len(data) <= header || !bytes.HasPrefix(data, []byte{0, 1, 0, 2, 16}) {
					return payload, err
				}
				topic, err := backend.NewTopic(backend.KindGroupMessage, data[5:5+16])
				return backend.Payload{Topic: topic, CommitOrProposal: data[header] != 1}, err
			})
		},
	}
}
