package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// commitLogEntryDropped loses one entry in the middle of a log.
func commitLogEntryDropped() Mutant {
	return Mutant{
		Name:         "commit-log-entry-dropped",
		Summary:      "leaves out the second of three or more commit-log entries of a page",
		Requirements: []spec.ID{backendreq.API066},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			afterPage(p, func(_ []backend.Position, _ int, page *backend.Page) {
				of := make(map[backend.Topic][]int)
				for i, e := range page.Entries {
					if e.Topic.Kind() == backend.KindCommitLogEntry {
						of[e.Topic] = append(of[e.Topic], i)
					}
				}
				drop := make(map[int]bool)
				for _, places := range of {
					if len(places) > 2 {
						drop[places[1]] = true
					}
				}
				kept := page.Entries[:0]
				for i, e := range page.Entries {
					if !drop[i] {
						kept = append(kept, e)
					}
				}
				page.Entries = kept
			})
		},
	}
}
