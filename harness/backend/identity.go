package backend

import (
	"context"
	"fmt"

	"assay/harness/backend/craft"
	"assay/harness/backend/wire"
	rules "assay/model/backend"
)

// WithChain returns a session whose contract wallets live on the chain. It
// records into the same history and shares every other party.
func (s *Session) WithChain(chain craft.Contracts) *Session {
	c := *s
	c.craft = s.craft.WithChain(chain)
	return &c
}

// Lookup asks which inboxes identifiers belong to. Its error means that an
// intent cannot be crafted.
func (s *Session) Lookup(ctx context.Context, actor string, lookups ...rules.Lookup) (*rules.Return, error) {
	request, call, err := s.craft.LookupRequest(lookups)
	if err != nil {
		return nil, fmt.Errorf("craft a lookup: %w", err)
	}
	return s.call(ctx, actor, &rules.Call{Method: rules.MethodLookup, Lookup: &call, WireLen: len(request), CanonicalLen: len(request)}, request, (*wire.Client).Lookup)
}

// Verify asks whether contract signatures are valid. Its error means that an
// intent cannot be crafted.
func (s *Session) Verify(ctx context.Context, actor string, verifications ...rules.Verification) (*rules.Return, error) {
	request, call, err := s.craft.VerifyRequest(verifications)
	if err != nil {
		return nil, fmt.Errorf("craft a verification: %w", err)
	}
	return s.call(ctx, actor, &rules.Call{Method: rules.MethodVerify, Verify: &call, WireLen: len(request), CanonicalLen: len(request)}, request, (*wire.Client).Verify)
}
