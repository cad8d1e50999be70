package mutants

import (
	"context"
	"slices"
	"sync"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// commitLogDroppedWhenBusy says that it stored a commit-log entry and does not,
// when somebody else is publishing to the same topic.
func commitLogDroppedWhenBusy() Mutant {
	return Mutant{
		Name:         "commit-log-dropped-when-busy",
		Summary:      "loses a commit-log entry that is published while another waits for the same topic",
		Requirements: []spec.ID{backendreq.API016, backendreq.API066},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			busy := &busy{writers: make(map[int64]int)}
			aroundTx(p, func(tx backend.Tx) backend.Tx { return &droppingTx{Tx: tx, busy: busy} })
		},
	}
}

// busy counts the open publishes by the lock they hold or wait for.
type busy struct {
	mu      sync.Mutex
	writers map[int64]int
}

func (b *busy) add(keys []int64, n int) (most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range keys {
		if b.writers[k] += n; b.writers[k] == 0 {
			delete(b.writers, k)
		}
		most = max(most, b.writers[k])
	}
	return most
}

type droppingTx struct {
	backend.Tx
	busy *busy
	keys []int64
	drop bool
}

func (t *droppingTx) Lock(ctx context.Context, keys []int64) error {
	t.keys = keys
	t.busy.add(keys, 1)
	return t.Tx.Lock(ctx, keys)
}

func (t *droppingTx) Insert(ctx context.Context, rows []backend.Row) ([]backend.Stored, error) {
	other := func(r backend.Row) bool { return r.Topic.Kind() != backend.KindCommitLogEntry }
	t.drop = t.busy.add(t.keys, 0) > 1 && !slices.ContainsFunc(rows, other)
	return t.Tx.Insert(ctx, rows)
}

func (t *droppingTx) Commit(ctx context.Context) error {
	defer t.leave()
	if t.drop {
		t.Tx.Rollback(ctx)
		return nil
	}
	return t.Tx.Commit(ctx)
}

func (t *droppingTx) Rollback(ctx context.Context) {
	t.Tx.Rollback(ctx)
	t.leave()
}

func (t *droppingTx) leave() {
	t.busy.add(t.keys, -1)
	t.keys = nil
}
