package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// topicsCommittedApart commits the first topic of a publish, then the others.
func topicsCommittedApart() Mutant {
	return Mutant{
		Name:         "topics-committed-apart",
		Summary:      "stores a publish to several topics in two transactions, one after the other",
		Requirements: []spec.ID{backendreq.API030},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = apartStore{p.Store}
		},
	}
}

type apartStore struct{ backend.Store }

func (s apartStore) Begin(ctx context.Context) (backend.Tx, error) {
	tx, err := s.Store.Begin(ctx)
	return &apartTx{Tx: tx, store: s.Store}, err
}

type apartTx struct {
	backend.Tx
	store  backend.Store
	second backend.Tx
}

func (t *apartTx) Insert(ctx context.Context, rows []backend.Row) ([]backend.Stored, error) {
	var parts [2][]backend.Row
	var places [2][]int
	for i, r := range rows {
		n := 0
		if r.Topic != rows[0].Topic {
			n = 1
		}
		parts[n], places[n] = append(parts[n], r), append(places[n], i)
	}
	if len(parts[1]) == 0 {
		return t.Tx.Insert(ctx, rows)
	}
	var err error
	if t.second, err = t.store.Begin(ctx); err != nil {
		return nil, err
	}
	stored := make([]backend.Stored, len(rows))
	for n, tx := range []backend.Tx{t.Tx, t.second} {
		some, err := tx.Insert(ctx, parts[n])
		if err != nil {
			t.second.Rollback(ctx)
			return nil, err
		}
		for i, s := range some {
			stored[places[n][i]] = s
		}
	}
	return stored, nil
}

func (t *apartTx) Commit(ctx context.Context) error {
	err := t.Tx.Commit(ctx)
	if t.second == nil {
		return err
	}
	if err != nil {
		t.second.Rollback(ctx)
		return err
	}
	return t.second.Commit(ctx)
}
