package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// commitLogOnGroupTopic takes the kind of the topic from the group id, which
// commit-log entries and group messages share.
func commitLogOnGroupTopic() Mutant {
	return Mutant{
		Name:         "commit-log-on-group-topic",
		Summary:      "stores commit-log entries on the topic of the group's messages",
		Requirements: []spec.ID{backendreq.API002},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundDecode(p, func(_ *backendv1.ClientEnvelope, payload backend.Payload, err error) (backend.Payload, error) {
				if err == nil && payload.Topic.Kind() == backend.KindCommitLogEntry {
					payload.Topic, err = backend.NewTopic(backend.KindGroupMessage, []byte(payload.Topic.Identifier()))
				}
				return payload, err
			})
		},
	}
}
