package mutants

import (
	"context"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// noIdentityLock orders the updates of each inbox and not those of all inboxes.
func noIdentityLock() Mutant {
	return Mutant{
		Name:         "no-identity-lock",
		Summary:      "lets identity updates of different inboxes commit in another order than that of their ids",
		Requirements: []spec.ID{backendreq.API014},
		Relating:     true,
		Concurrent:   true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundTx(p, func(tx backend.Tx) backend.Tx { return unserializedTx{tx} })
		},
	}
}

type unserializedTx struct{ backend.Tx }

func (unserializedTx) LockIdentity(context.Context) error { return nil }
