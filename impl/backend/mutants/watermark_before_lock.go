package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// watermarkBeforeLock reads the heads of inboxes in the statement that waits for
// the locks, whose snapshot is older than they are.
func watermarkBeforeLock() Mutant {
	return Mutant{
		Name:         "watermark-before-lock",
		Summary:      "compares the newest update of an inbox as it was before the identity lock was had",
		Requirements: []spec.ID{backendreq.API051},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundTx(p, func(tx backend.Tx) backend.Tx { return &earlyTx{Tx: tx} })
		},
	}
}

// earlyTx puts its locks off until it knows which heads to read before them.
type earlyTx struct {
	backend.Tx
	identity bool
	keys     []int64
	heads    map[backend.Topic]int64
}

func (t *earlyTx) LockIdentity(context.Context) error { t.identity = true; return nil }

func (t *earlyTx) Lock(ctx context.Context, keys []int64) error {
	if !t.identity {
		return t.Tx.Lock(ctx, keys)
	}
	t.keys = keys
	return nil
}

func (t *earlyTx) Recheck(ctx context.Context, keys []backend.Key) ([]backend.Known, error) {
	if t.identity {
		topics := make([]backend.Topic, len(keys))
		for i, k := range keys {
			topics[i] = k.Topic
		}
		heads, err := t.Tx.Heads(ctx, topics)
		if err != nil {
			return nil, err
		}
		t.heads = make(map[backend.Topic]int64)
		for i, topic := range topics {
			t.heads[topic] = heads[i]
		}
		if err := t.Tx.LockIdentity(ctx); err != nil {
			return nil, err
		}
		if err := t.Tx.Lock(ctx, t.keys); err != nil {
			return nil, err
		}
	}
	return t.Tx.Recheck(ctx, keys)
}

func (t *earlyTx) Heads(_ context.Context, topics []backend.Topic) ([]int64, error) {
	out := make([]int64, len(topics))
	for i, topic := range topics {
		out[i] = t.heads[topic]
	}
	return out, nil
}
