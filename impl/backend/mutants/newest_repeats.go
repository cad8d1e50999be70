package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// newestRepeats answers topic by topic, as they were named.
func newestRepeats() Mutant {
	return Mutant{
		Name:         "newest-repeats",
		Summary:      "lists the result of a topic once for each time it is named in a newest read",
		Requirements: []spec.ID{backendreq.API084},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundResults(p, func(r *backendv1.QueryNewestRequest, response *backendv1.QueryNewestResponse) {
				of := make(map[string]*backendv1.QueryNewestResponse_Result)
				for _, result := range response.Results {
					of[string(result.GetTopic().GetTopic())] = result
				}
				response.Results = nil
				for _, t := range r.GetTopics() {
					if result, ok := of[string(t.GetTopic())]; ok {
						response.Results = append(response.Results, result)
					}
				}
			})
		},
	}
}
