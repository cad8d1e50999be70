package mutants

import (
	"crypto/sha256"
	"encoding/binary"
	"sync/atomic"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// duplicateStoredAgain never finds a copy, because it hashes the time of day, so
// to speak, along with the envelope.
func duplicateStoredAgain() Mutant {
	return Mutant{
		Name:         "duplicate-stored-again",
		Summary:      "stores an envelope again that is already stored",
		Requirements: []spec.ID{backendreq.API033},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			var count atomic.Uint64
			p.Hash = func(canonical []byte) backend.Hash {
				return sha256.Sum256(binary.BigEndian.AppendUint64(canonical[:len(canonical):len(canonical)], count.Add(1)))
			}
		},
	}
}
