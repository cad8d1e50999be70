package mutants

import (
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// healthMissing leaves health to others.
func healthMissing() Mutant {
	return Mutant{
		Name:         "health-missing",
		Summary:      "does not serve the health service",
		Requirements: []spec.ID{backendreq.API162},
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Transport = func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if strings.HasPrefix(r.URL.Path, "/grpc.health.v1.Health/") && r.Method == http.MethodPost {
						endCall(w, r, codes.Unimplemented, "there is no such service")
						return
					}
					next.ServeHTTP(w, r)
				})
			}
		},
	}
}
