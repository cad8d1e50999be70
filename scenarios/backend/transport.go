package backend

import (
	"context"

	suite "assay/harness/backend"
	"assay/harness/backend/wire"
	"assay/harness/run"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// transport holds what concerns calls as such, whatever they carry.
func transport() []run.Scenario {
	return []run.Scenario{{
		Name:    "backend/service/client-headers",
		Summary: "The version and authorization headers are accepted on every unary call.",
		Decides: []spec.ID{backendreq.API161, backendreq.API135, backendreq.API162},
		Touches: []spec.ID{backendreq.API132},
		Body:    body(clientHeaders),
	}, {
		Name:    "backend/service/concurrent-streams",
		Summary: "A connection announces that it takes at most 100 concurrent streams.",
		Decides: []spec.ID{backendreq.API132},
		// What somebody else's address announces may be a proxy's before it.
		Needs: spec.AccessOf(spec.Control),
		Body: body(func(ctx context.Context, s *suite.Session) error {
			_, err := s.Settings(ctx, "A")
			return err
		}),
	}}
}

func clientHeaders(ctx context.Context, s *suite.Session) error {
	h := s.WithHeaders(wire.Header{Name: "x-app-version", Value: "assay/1"}, wire.Header{Name: "x-libxmtp-version", Value: "1.2.3"},
		wire.Header{Name: "authorization", Value: "Bearer none"})
	log, err := control(ctx, h)
	if err != nil {
		return err
	}
	if _, err := h.Query(ctx, "A", 0, rules.Read{Log: log}); err != nil {
		return err
	}
	if _, err := h.Newest(ctx, "A", true, rules.Read{Log: log}); err != nil {
		return err
	}
	if _, err := h.Configuration(ctx, "A"); err != nil {
		return err
	}
	if _, err := h.Health(ctx, "A", ""); err != nil {
		return err
	}
	_, err = s.Settings(ctx, "A")
	return err
}
