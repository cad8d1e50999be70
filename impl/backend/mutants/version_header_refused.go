package mutants

import (
	"net/http"

	"google.golang.org/grpc/codes"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// versionHeaderRefused reads a header that it should only accept.
func versionHeaderRefused() Mutant {
	return Mutant{
		Name:         "version-header-refused",
		Summary:      "refuses calls that carry an x-app-version header",
		Requirements: []spec.ID{backendreq.API161},
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Transport = func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("X-App-Version") != "" && r.Method == http.MethodPost {
						endCall(w, r, codes.FailedPrecondition, "this version of the application is not served")
						return
					}
					next.ServeHTTP(w, r)
				})
			}
		},
	}
}
