package mutants

import (
	"net/http"

	"google.golang.org/grpc/codes"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// retiredGetMissing has forgotten that there ever was such a call.
func retiredGetMissing() Mutant {
	return Mutant{
		Name:         "retired-get-missing",
		Summary:      "answers the retired read by sequence id with NOT_FOUND",
		Requirements: []spec.ID{backendreq.API152},
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Transport = func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/xmtp.backend.v1.QueryService/Get" && r.Method == http.MethodPost {
						endCall(w, r, codes.NotFound, "there is no such envelope")
						return
					}
					next.ServeHTTP(w, r)
				})
			}
		},
	}
}
