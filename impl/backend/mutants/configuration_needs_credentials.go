package mutants

import (
	"net/http"

	"google.golang.org/grpc/codes"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// configurationNeedsCredentials asks for a credential before it says which ones
// there are.
func configurationNeedsCredentials() Mutant {
	return Mutant{
		Name:         "configuration-needs-credentials",
		Summary:      "refuses GetConfiguration without an authorization header",
		Requirements: []spec.ID{backendreq.API162},
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Transport = func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == backendv1.ConfigurationService_GetConfiguration_FullMethodName && r.Header.Get("Authorization") == "" && r.Method == http.MethodPost {
						endCall(w, r, codes.Unauthenticated, "the call carries no credentials")
						return
					}
					next.ServeHTTP(w, r)
				})
			}
		},
	}
}
