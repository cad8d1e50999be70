package backend

import (
	"context"
	"errors"
	"log/slog"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"assay/impl/backend/config"
	"assay/impl/backend/front"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Server is a backend on one listener.
type Server struct {
	front  *front.Server
	health *health.Server
}

// New puts a server together. The configuration must have passed Validate, and
// neither it nor the parts may change afterwards.
func New(parts Parts, c config.Config, log *slog.Logger) (*Server, error) {
	if parts.Store == nil || parts.Encode == nil || parts.Hash == nil || parts.Decode == nil || parts.Retention == nil ||
		parts.LockKey == nil || parts.Resolve == nil || parts.PlanQuery == nil || parts.PlanNewest == nil || parts.PlanLookup == nil || parts.Configuration == nil {
		return nil, errors.New("a backend needs all its parts: start from backend.Standard")
	}
	s := &Server{
		front: front.New(front.Options{
			MaxRequestBytes:  c.Limits.MaxRequestBytes,
			MaxResponseBytes: c.Limits.MaxResponseBytes,
			ResponseBytes:    map[string]uint64{backendv1.ConfigurationService_GetConfiguration_FullMethodName: MaxConfigurationBytes},
			MaxStreams:       c.Limits.MaxHTTP2Streams,
			MaxHeaderBytes:   int(c.Server.MaxRequestHeaderLen),
			Around:           parts.Transport,
			Log:              log,
		}),
		health: health.NewServer(),
	}
	services := newServices(&parts, c, log)
	backendv1.RegisterPublishServiceServer(s.front, services.Publish)
	backendv1.RegisterQueryServiceServer(s.front, services.Query)
	backendv1.RegisterSubscriptionServiceServer(s.front, services.Subscription)
	backendv1.RegisterIdentityServiceServer(s.front, services.Identity)
	backendv1.RegisterConfigurationServiceServer(s.front, services.Configuration)
	healthpb.RegisterHealthServer(s.front, s.health)
	// The health of the whole, "", is registered by the health server itself.
	for _, d := range []grpc.ServiceDesc{
		backendv1.PublishService_ServiceDesc, backendv1.QueryService_ServiceDesc, backendv1.SubscriptionService_ServiceDesc,
		backendv1.IdentityService_ServiceDesc, backendv1.ConfigurationService_ServiceDesc,
	} {
		s.health.SetServingStatus(d.ServiceName, healthpb.HealthCheckResponse_SERVING)
	}
	return s, nil
}

// Serve answers on l until Drain, and then returns nil.
func (s *Server) Serve(l net.Listener) error { return s.front.Serve(l) }

// Drain takes no more calls and returns when those in progress ended or ctx did.
func (s *Server) Drain(ctx context.Context) error {
	s.health.Shutdown()
	return s.front.Drain(ctx)
}
