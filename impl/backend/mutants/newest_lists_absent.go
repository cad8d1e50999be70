package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// newestListsAbsent has a result for every topic that was asked for.
func newestListsAbsent() Mutant {
	return Mutant{
		Name:         "newest-lists-absent",
		Summary:      "lists topics without envelopes in a newest read",
		Requirements: []spec.ID{backendreq.API081},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundResults(p, func(r *backendv1.QueryNewestRequest, response *backendv1.QueryNewestResponse) {
				seen := make(map[string]bool)
				for _, result := range response.Results {
					seen[string(result.GetTopic().GetTopic())] = true
				}
				for _, t := range r.GetTopics() {
					if topic := string(t.GetTopic()); !seen[topic] {
						seen[topic] = true
						response.Results = append(response.Results, &backendv1.QueryNewestResponse_Result{Topic: t})
					}
				}
			})
		},
	}
}
