package identity

import (
	"context"
	"crypto/sha256"

	"github.com/ethereum/go-ethereum/common/lru"
	"google.golang.org/protobuf/proto"

	"assay/spec/gen/xmtp/identity/associations"
)

// memory keeps verified updates by the hash of their bytes. Whether a key
// signed a text never changes, so an entry is never stale; it is only worth
// its space while its inbox is written to. A nil memory keeps nothing.
type memory struct {
	entries *lru.Cache[[sha256.Size]byte, Verified]
}

// memorable bounds the encoded update that is kept. Ordinary updates have a
// few hundred bytes; without a bound the entries could be a megabyte each.
const memorable = 4 << 10

func newMemory(entries int) *memory {
	if entries <= 0 {
		return nil
	}
	return &memory{lru.NewCache[[sha256.Size]byte, Verified](entries)}
}

// remembered is an update on its way through validation: already verified, or
// decoded and to be verified, then kept under key if it has one.
type remembered struct {
	update   Update
	verified *Verified
	key      *[sha256.Size]byte
}

// decode gives an update its domain form, unless it was verified before.
func (v *Validator) decode(wire *associations.IdentityUpdate) (remembered, *Error) {
	var r remembered
	if v.memory != nil && proto.Size(wire) <= memorable && CountWalletSignatures(wire) == 0 {
		if encoded, err := (proto.MarshalOptions{Deterministic: true}).Marshal(wire); err == nil {
			key := sha256.Sum256(encoded)
			if verified, ok := v.memory.entries.Get(key); ok {
				return remembered{verified: &verified}, nil
			}
			r.key = &key
		}
	}
	var err *Error
	r.update, err = decode(wire)
	return r, err
}

// verify verifies an update, unless it was verified before.
func (v *Validator) verify(ctx context.Context, r remembered) (Verified, *Error) {
	if r.verified != nil {
		return *r.verified, nil
	}
	verified, err := v.config.Rules.verify(ctx, r.update, v.config.Wallets)
	if err != nil {
		return Verified{}, err
	}
	if r.key != nil {
		v.memory.entries.Add(*r.key, verified)
	}
	return verified, nil
}
