package store

import (
	"assay/impl/backend"
	"assay/impl/postgres"
)

// Pool returns the store's connections, for statements that are not the store's
// own. Only faulty backends have any.
func (s *Store) Pool() *postgres.Pool { return s.pool }

// Transaction returns what a transaction of this package runs on, nil for
// another's. Only faulty backends run statements of their own on it.
func Transaction(t backend.Tx) *postgres.Tx {
	if x, ok := t.(*tx); ok {
		return x.t
	}
	return nil
}

// Failed gives the failure of such a statement the kind that the pipeline knows.
func Failed(err error) error { return translate(err) }
