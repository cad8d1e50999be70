package mutants

import (
	"time"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// commitLogExpires treats a commit-log entry as the message it is about.
func commitLogExpires() Mutant {
	return Mutant{
		Name:         "commit-log-expires",
		Summary:      "gives commit-log entries the retention of group messages",
		Requirements: []spec.ID{backendreq.API021},
		Apply: func(p *backend.Parts, c *config.Config) {
			next, group := p.Retention, time.Duration(c.Retention.GroupMessageSeconds)*time.Second
			p.Retention = func(payload backend.Payload) time.Duration {
				if payload.Topic.Kind() == backend.KindCommitLogEntry {
					return group
				}
				return next(payload)
			}
		},
	}
}
