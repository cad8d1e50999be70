package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// watermarkReadApart validates an identity update against one history and
// remembers the head of another.
func watermarkReadApart() Mutant {
	return Mutant{
		Name:         "watermark-read-apart",
		Summary:      "reads the history of an inbox and then, again, its newest sequence id",
		Requirements: []spec.ID{backendreq.API051},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = rereadingStore{p.Store}
		},
	}
}

type rereadingStore struct{ backend.Store }

func (s rereadingStore) History(ctx context.Context, topic backend.Topic) ([]backend.Entry, error) {
	entries, err := s.Store.History(ctx, topic)
	if err != nil || len(entries) == 0 {
		return entries, err
	}
	head, err := s.Store.Newest(ctx, []backend.Topic{topic}, false, 0)
	if err == nil && len(head.Entries) == 1 {
		entries[len(entries)-1].SequenceID = head.Entries[0].SequenceID
	}
	return entries, err
}
