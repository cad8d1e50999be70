package mutants

import (
	"context"
	"fmt"
	"sync"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// queriesShareARead answers a query with what an equal one that is still under
// way reads: it may have begun before a publish that has returned since.
func queriesShareARead() Mutant {
	return Mutant{
		Name:         "queries-share-a-read",
		Summary:      "lets equal queries at the same time share one read, also one that began before a publish returned",
		Requirements: []spec.ID{backendreq.API016},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			flights := &flights{open: make(map[string]*flight)}
			aroundPage(p, func(ctx context.Context, from []backend.Position, limit int, maxBytes int64, next pageFunc) (backend.Page, error) {
				return flights.join(fmt.Sprint(from, limit), func() (backend.Page, error) {
					return next(context.WithoutCancel(ctx), from, limit, maxBytes)
				})
			})
		},
	}
}

type flight struct {
	done chan struct{}
	page backend.Page
	err  error
}

type flights struct {
	mu   sync.Mutex
	open map[string]*flight
}

func (f *flights) join(key string, read func() (backend.Page, error)) (backend.Page, error) {
	f.mu.Lock()
	one := f.open[key]
	if one == nil {
		one = &flight{done: make(chan struct{})}
		f.open[key] = one
		f.mu.Unlock()
		one.page, one.err = read()
		f.mu.Lock()
		delete(f.open, key)
		close(one.done)
	}
	f.mu.Unlock()
	<-one.done
	return one.page, one.err
}
