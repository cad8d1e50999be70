package mutants

import (
	"context"
	"errors"
	"time"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// conflictIsSuccess takes a failed insert for a duplicate that is there anyway,
// and answers with the ids it had taken.
func conflictIsSuccess() Mutant {
	return Mutant{
		Name:         "conflict-is-success",
		Summary:      "answers a publish that failed on a concurrent copy as stored, under ids that nothing has",
		Requirements: []spec.ID{backendreq.API016, backendreq.API033, backendreq.API035, backendreq.API036},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundTx(p, func(tx backend.Tx) backend.Tx { return &trustingTx{Tx: uncheckedTx{tx}} })
		},
	}
}

type trustingTx struct {
	backend.Tx
	failed bool
}

func (t *trustingTx) Insert(ctx context.Context, rows []backend.Row) ([]backend.Stored, error) {
	stored, err := t.Tx.Insert(ctx, rows)
	if e, ok := errors.AsType[*backend.StoreError](err); !ok || e.Kind != backend.Conflict {
		return stored, err
	}
	t.failed = true
	now := time.Now().UnixMicro() * 1000
	stored = make([]backend.Stored, len(rows))
	for i, r := range rows {
		stored[i] = backend.Stored{SequenceID: r.SequenceID, ServerNS: now, CommitOrProposal: r.CommitOrProposal}
		if r.Retention > 0 {
			stored[i].ExpiryNS = now + r.Retention.Nanoseconds()
		}
	}
	return stored, nil
}

func (t *trustingTx) Commit(ctx context.Context) error {
	if t.failed {
		t.Rollback(ctx)
		return nil
	}
	return t.Tx.Commit(ctx)
}
