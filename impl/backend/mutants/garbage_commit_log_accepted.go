package mutants

import (
	"crypto/sha256"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// garbageCommitLogAccepted makes up a topic for an entry that it cannot read.
func garbageCommitLogAccepted() Mutant {
	return Mutant{
		Name:         "garbage-commit-log-accepted",
		Summary:      "stores commit-log entries that do not parse",
		Requirements: []spec.ID{backendreq.API040, backendreq.API046},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundDecode(p, func(e *backendv1.ClientEnvelope, payload backend.Payload, err error) (backend.Payload, error) {
				if err == nil || e.GetCommitLogEntry() == nil {
					return payload, err
				}
				sum := sha256.Sum256(e.GetCommitLogEntry().GetSerializedCommitLogEntry())
				topic, err := backend.NewTopic(backend.KindCommitLogEntry, sum[:16])
				return backend.Payload{Topic: topic}, err
			})
		},
	}
}
