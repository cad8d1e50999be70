package mutants

import (
	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// streamsUnlimited lets a connection carry more.
func streamsUnlimited() Mutant {
	return Mutant{
		Name:         "streams-unlimited",
		Summary:      "advertises 1000 concurrent HTTP/2 streams",
		Requirements: []spec.ID{backendreq.API132},
		Apply: func(_ *backend.Parts, c *config.Config) {
			c.Limits.MaxHTTP2Streams = 1000
		},
	}
}
