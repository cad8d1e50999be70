package backend

import (
	"context"
	"fmt"

	"assay/harness/backend/chain"
	"assay/harness/backend/craft"
	"assay/harness/backend/wire"
	rules "assay/model/backend"
)

// CutChain makes the subject's chain look down in the given way, and says so in
// the history. It concerns every session of the subject, so its scenario is
// exclusive. A session without a chain does nothing.
func (s *Session) CutChain(how chain.Outage) {
	if s.node == nil {
		return
	}
	// The history must not say that a chain answers which does not: the mark of
	// a cut comes before it, and that of its end after.
	s.recorder.Actor("harness").Mark(&rules.Node{Routed: true, Cut: true})
	s.node.Cut(how)
}

// RestoreChain lets the chain answer again, as it was.
func (s *Session) RestoreChain() {
	if s.node == nil {
		return
	}
	s.node.Restore()
	s.recorder.Actor("harness").Mark(&rules.Node{Routed: true})
}

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
