package mutants

import (
	"context"

	"assay/impl/backend"
)

// txStore puts something around every transaction.
type txStore struct {
	backend.Store
	f func(backend.Tx) backend.Tx
}

func (s txStore) Begin(ctx context.Context) (backend.Tx, error) {
	tx, err := s.Store.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return s.f(tx), nil
}

// aroundTx puts f around every transaction.
func aroundTx(p *backend.Parts, f func(backend.Tx) backend.Tx) { p.Store = txStore{p.Store, f} }

// uncheckedTx finds no copies under the locks.
type uncheckedTx struct{ backend.Tx }

func (uncheckedTx) Recheck(context.Context, []backend.Key) ([]backend.Known, error) { return nil, nil }
