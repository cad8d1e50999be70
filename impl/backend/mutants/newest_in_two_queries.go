package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// newestInTwoQueries reads metadata and envelope one after the other: they may
// belong to two heads.
func newestInTwoQueries() Mutant {
	return Mutant{
		Name:         "newest-in-two-queries",
		Summary:      "answers a newest read with the metadata of one head and the envelope of the next",
		Requirements: []spec.ID{backendreq.API023, backendreq.API083, backendreq.API084},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = twiceStore{p.Store}
		},
	}
}

type twiceStore struct{ backend.Store }

func (s twiceStore) Newest(ctx context.Context, topics []backend.Topic, payloads bool, maxBytes int64) (backend.Page, error) {
	page, err := s.Store.Newest(ctx, topics, false, 0)
	if err != nil || !payloads {
		return page, err
	}
	full, err := s.Store.Newest(ctx, topics, true, maxBytes)
	page.TooLarge = full.TooLarge
	byTopic := make(map[backend.Topic][]byte)
	for _, e := range full.Entries {
		byTopic[e.Topic] = e.Payload
	}
	for i := range page.Entries {
		page.Entries[i].Payload = byTopic[page.Entries[i].Topic]
	}
	return page, err
}
