package mutants

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend"
	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// aroundServices adds one more layer around the services.
func aroundServices(p *backend.Parts, layer func(backend.Services) backend.Services) {
	inner := p.Services
	p.Services = func(s backend.Services) backend.Services {
		if inner != nil {
			s = inner(s)
		}
		return layer(s)
	}
}

// aroundPublish puts f around the publish call.
func aroundPublish(p *backend.Parts, f func(context.Context, *backendv1.PublishRequest, publishFunc) (*backendv1.PublishResponse, error)) {
	aroundServices(p, func(s backend.Services) backend.Services {
		s.Publish = publishLayer{s.Publish, f}
		return s
	})
}

type publishFunc func(context.Context, *backendv1.PublishRequest) (*backendv1.PublishResponse, error)

type publishLayer struct {
	backendv1.PublishServiceServer
	f func(context.Context, *backendv1.PublishRequest, publishFunc) (*backendv1.PublishResponse, error)
}

func (l publishLayer) Publish(ctx context.Context, r *backendv1.PublishRequest) (*backendv1.PublishResponse, error) {
	return l.f(ctx, r, l.PublishServiceServer.Publish)
}

// aroundMetas changes every answer of a publish.
func aroundMetas(p *backend.Parts, f func(*backendv1.PublishRequest, *backendv1.PublishResponse)) {
	aroundPublish(p, func(ctx context.Context, r *backendv1.PublishRequest, next publishFunc) (*backendv1.PublishResponse, error) {
		response, err := next(ctx, r)
		if err == nil {
			f(r, response)
		}
		return response, err
	})
}

// aroundDetail changes the detail of every refused publish. f returns nil to
// leave it out.
func aroundDetail(p *backend.Parts, f func(*backendv1.PublishRequest, *backendv1.PublishError) *backendv1.PublishError) {
	aroundPublish(p, func(ctx context.Context, r *backendv1.PublishRequest, next publishFunc) (*backendv1.PublishResponse, error) {
		response, err := next(ctx, r)
		s := status.Convert(err)
		if s.Code() != codes.InvalidArgument || len(s.Details()) != 1 {
			return response, err
		}
		detail, ok := s.Details()[0].(*backendv1.PublishError)
		if !ok {
			return response, err
		}
		return nil, withDetail(s, f(r, detail))
	})
}

// withDetail is the status with another detail, or none.
func withDetail(s *status.Status, detail *backendv1.PublishError) error {
	bare := status.New(s.Code(), s.Message())
	if detail == nil {
		return bare.Err()
	}
	with, err := bare.WithDetails(detail)
	if err != nil {
		return bare.Err()
	}
	return with.Err()
}

type queryFunc func(context.Context, *backendv1.QueryRequest) (*backendv1.QueryResponse, error)

type newestFunc func(context.Context, *backendv1.QueryNewestRequest) (*backendv1.QueryNewestResponse, error)

type queryLayer struct {
	backendv1.QueryServiceServer
	query  func(context.Context, *backendv1.QueryRequest, queryFunc) (*backendv1.QueryResponse, error)
	newest func(context.Context, *backendv1.QueryNewestRequest, newestFunc) (*backendv1.QueryNewestResponse, error)
}

func (l queryLayer) Query(ctx context.Context, r *backendv1.QueryRequest) (*backendv1.QueryResponse, error) {
	if l.query == nil {
		return l.QueryServiceServer.Query(ctx, r)
	}
	return l.query(ctx, r, l.QueryServiceServer.Query)
}

func (l queryLayer) QueryNewest(ctx context.Context, r *backendv1.QueryNewestRequest) (*backendv1.QueryNewestResponse, error) {
	if l.newest == nil {
		return l.QueryServiceServer.QueryNewest(ctx, r)
	}
	return l.newest(ctx, r, l.QueryServiceServer.QueryNewest)
}

// aroundQuery puts f around the query call.
func aroundQuery(p *backend.Parts, f func(context.Context, *backendv1.QueryRequest, queryFunc) (*backendv1.QueryResponse, error)) {
	aroundServices(p, func(s backend.Services) backend.Services {
		s.Query = queryLayer{QueryServiceServer: s.Query, query: f}
		return s
	})
}

// aroundNewest puts f around the newest read.
func aroundNewest(p *backend.Parts, f func(context.Context, *backendv1.QueryNewestRequest, newestFunc) (*backendv1.QueryNewestResponse, error)) {
	aroundServices(p, func(s backend.Services) backend.Services {
		s.Query = queryLayer{QueryServiceServer: s.Query, newest: f}
		return s
	})
}

// aroundResults changes every answer of a newest read.
func aroundResults(p *backend.Parts, f func(*backendv1.QueryNewestRequest, *backendv1.QueryNewestResponse)) {
	aroundNewest(p, func(ctx context.Context, r *backendv1.QueryNewestRequest, next newestFunc) (*backendv1.QueryNewestResponse, error) {
		response, err := next(ctx, r)
		if err == nil {
			f(r, response)
		}
		return response, err
	})
}

type pageFunc func(ctx context.Context, from []backend.Position, limit int, maxBytes int64) (backend.Page, error)

type pageStore struct {
	backend.Store
	f func(ctx context.Context, from []backend.Position, limit int, maxBytes int64, next pageFunc) (backend.Page, error)
}

func (s pageStore) Query(ctx context.Context, from []backend.Position, limit int, maxBytes int64) (backend.Page, error) {
	return s.f(ctx, from, limit, maxBytes, s.Store.Query)
}

// aroundPage puts f around the statement that reads a page.
func aroundPage(p *backend.Parts, f func(ctx context.Context, from []backend.Position, limit int, maxBytes int64, next pageFunc) (backend.Page, error)) {
	p.Store = pageStore{p.Store, f}
}

// afterPage changes every page that was read.
func afterPage(p *backend.Parts, f func(from []backend.Position, limit int, page *backend.Page)) {
	aroundPage(p, func(ctx context.Context, from []backend.Position, limit int, maxBytes int64, next pageFunc) (backend.Page, error) {
		page, err := next(ctx, from, limit, maxBytes)
		if err == nil {
			f(from, limit, &page)
		}
		return page, err
	})
}

// duplicateStore changes what is found of stored copies.
type duplicateStore struct {
	backend.Store
	f func(*backend.Known)
}

func (s duplicateStore) Lookup(ctx context.Context, keys []backend.Key) ([]backend.Known, error) {
	known, err := s.Store.Lookup(ctx, keys)
	for i := range known {
		s.f(&known[i])
	}
	return known, err
}

// aroundPlan changes a query before it is checked. f gets a copy.
func aroundPlan(p *backend.Parts, f func(*backendv1.QueryRequest)) {
	next := p.PlanQuery
	p.PlanQuery = func(r *backendv1.QueryRequest) (backend.QueryPlan, error) {
		changed := &backendv1.QueryRequest{Queries: append([]*backendv1.TopicQuery(nil), r.GetQueries()...), Limit: r.GetLimit()}
		f(changed)
		return next(changed)
	}
}

// aroundEncode changes an envelope before it is encoded. f gets a copy.
func aroundEncode(p *backend.Parts, f func(*backendv1.ClientEnvelope)) {
	next := p.Encode
	p.Encode = func(e *backendv1.ClientEnvelope) ([]byte, error) {
		changed := proto.Clone(e).(*backendv1.ClientEnvelope)
		f(changed)
		return next(changed)
	}
}

// aroundDecode puts f around the parsing of a payload.
func aroundDecode(p *backend.Parts, f func(e *backendv1.ClientEnvelope, payload backend.Payload, err error) (backend.Payload, error)) {
	next := p.Decode
	p.Decode = func(e *backendv1.ClientEnvelope) (backend.Payload, error) {
		payload, err := next(e)
		return f(e, payload, err)
	}
}

// publishOriginal publishes the given configuration, whatever is enforced.
func publishOriginal(p *backend.Parts, published *backendv1.GetConfigurationResponse) {
	p.Configuration = func(*config.Config) *backendv1.GetConfigurationResponse { return published }
}
