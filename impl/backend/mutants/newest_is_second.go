package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// newestIsSecond is always one envelope behind.
func newestIsSecond() Mutant {
	return Mutant{
		Name:         "newest-is-second",
		Summary:      "returns the second newest envelope of a topic that has more than one",
		Requirements: []spec.ID{backendreq.API083},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = secondStore{p.Store}
		},
	}
}

type secondStore struct{ backend.Store }

func (s secondStore) Newest(ctx context.Context, topics []backend.Topic, payloads bool, maxBytes int64) (backend.Page, error) {
	page, err := s.Store.Newest(ctx, topics, payloads, maxBytes)
	if err != nil {
		return page, err
	}
	for i, newest := range page.Entries {
		before, err := s.before(ctx, newest)
		if err != nil {
			return backend.Page{}, err
		}
		if before.SequenceID == 0 {
			continue
		}
		if !payloads {
			before.Payload = nil
		}
		page.Entries[i] = before
	}
	return page, nil
}

// before finds the envelope in front of the newest one of its topic.
func (s secondStore) before(ctx context.Context, newest backend.Entry) (backend.Entry, error) {
	const page, room = 1000, 1 << 31
	var last backend.Entry
	for {
		p, err := s.Store.Query(ctx, []backend.Position{{Topic: newest.Topic, After: last.SequenceID}}, page, room)
		if err != nil {
			return last, err
		}
		for _, e := range p.Entries {
			if e.SequenceID < newest.SequenceID {
				last = e
			}
		}
		if !p.More || p.Entries[len(p.Entries)-1].SequenceID >= newest.SequenceID {
			return last, nil
		}
	}
}
