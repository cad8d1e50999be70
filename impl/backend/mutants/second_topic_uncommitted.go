package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// secondTopicUncommitted answers a publish to several topics and then rolls it
// back.
func secondTopicUncommitted() Mutant {
	return Mutant{
		Name:         "second-topic-uncommitted",
		Summary:      "answers a publish to more than one topic as stored, and does not commit it",
		Requirements: []spec.ID{backendreq.API016},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = forgetfulStore{p.Store}
		},
	}
}

type forgetfulStore struct{ backend.Store }

func (s forgetfulStore) Begin(ctx context.Context) (backend.Tx, error) {
	tx, err := s.Store.Begin(ctx)
	return &forgetfulTx{Tx: tx}, err
}

type forgetfulTx struct {
	backend.Tx
	forget bool
}

func (t *forgetfulTx) Insert(ctx context.Context, rows []backend.Row) ([]backend.Stored, error) {
	for _, r := range rows {
		t.forget = t.forget || r.Topic != rows[0].Topic
	}
	return t.Tx.Insert(ctx, rows)
}

func (t *forgetfulTx) Commit(ctx context.Context) error {
	if t.forget {
		t.Tx.Rollback(ctx)
		return nil
	}
	return t.Tx.Commit(ctx)
}
