package mutants

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"
	"assay/spec/gen/xmtp/identity/associations"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// badSignatureAccepted takes an update whose signature does not verify, and
// changes nothing for it.
func badSignatureAccepted() Mutant {
	return Mutant{Name: "bad-signature-accepted", Summary: "stores identity updates whose signatures do not verify", Requirements: []spec.ID{backendreq.API043},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundIdentity(p, func(ctx context.Context, history []*associations.IdentityUpdate, u *associations.IdentityUpdate, next validateFunc) ([]backend.Association, error) {
				changes, err := next(ctx, history, u)
				if refusal, ok := errors.AsType[*backend.Refusal](err); ok && refusal.Reason == backendv1.PublishError_REASON_INVALID_SIGNATURE {
					return nil, nil
				}
				return changes, err
			})
		}}
}

// badSignatureIsInvalidUpdate gives every refused update one reason.
func badSignatureIsInvalidUpdate() Mutant {
	return Mutant{Name: "signature-reason-wrong", Summary: "tells a signature that does not verify as an invalid identity update", Requirements: []spec.ID{backendreq.API043},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundIdentity(p, func(ctx context.Context, history []*associations.IdentityUpdate, u *associations.IdentityUpdate, next validateFunc) ([]backend.Association, error) {
				changes, err := next(ctx, history, u)
				if refusal, ok := errors.AsType[*backend.Refusal](err); ok && refusal.Reason == backendv1.PublishError_REASON_INVALID_SIGNATURE {
					refusal.Reason = backendv1.PublishError_REASON_INVALID_IDENTITY_UPDATE
				}
				return changes, err
			})
		}}
}

// staleHistory validates against a history that lacks its last update, as one
// read from a lagging replica would.
func staleHistory() Mutant {
	return Mutant{Name: "stale-history", Summary: "validates an identity update against a history without its newest entry", Requirements: []spec.ID{backendreq.API017, backendreq.API043}, Relating: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundIdentity(p, func(ctx context.Context, history []*associations.IdentityUpdate, u *associations.IdentityUpdate, next validateFunc) ([]backend.Association, error) {
				if n := len(history); n > 1 {
					history = history[:n-1]
				}
				return next(ctx, history, u)
			})
		}}
}

// capOffByOne takes one update of an inbox too many.
func capOffByOne() Mutant {
	return Mutant{Name: "cap-off-by-one", Summary: "takes one identity update of an inbox more than allowed", Requirements: []spec.ID{backendreq.API148}, Relating: true,
		Apply: func(p *backend.Parts, c *config.Config) {
			published := backend.PublishedConfiguration(c)
			c.Limits.MaxIdentityEntries++
			publishOriginal(p, published)
		}}
}

// capBlocksRetry counts entries before it looks for a stored copy.
func capBlocksRetry() Mutant {
	return Mutant{Name: "cap-blocks-retry", Summary: "refuses a stored identity update when the log of its inbox is full", Requirements: []spec.ID{backendreq.API035, backendreq.API148}, Relating: true,
		Apply: func(p *backend.Parts, c *config.Config) {
			store, limit := p.Store, int(c.Limits.MaxIdentityEntries)
			aroundPublish(p, func(ctx context.Context, r *backendv1.PublishRequest, next publishFunc) (*backendv1.PublishResponse, error) {
				for i, e := range r.GetEnvelopes() {
					if e.GetIdentityUpdate() == nil {
						continue
					}
					payload, err := backend.Decode(e)
					if err != nil {
						continue
					}
					if history, err := store.History(ctx, payload.Topic); err == nil && len(history) >= limit {
						return nil, &backend.Refusal{Code: codes.InvalidArgument, Index: i, Reason: backendv1.PublishError_REASON_INVALID_IDENTITY_UPDATE, Text: "the log of the inbox is full"}
					}
				}
				return next(ctx, r)
			})
		}}
}

// identityDuplicateUnseen validates what is stored already: a copy of an update
// is a replay of its signatures.
func identityDuplicateUnseen() Mutant {
	return Mutant{Name: "identity-duplicate-validated", Summary: "validates an identity update that is stored already, and refuses it as a replay", Requirements: []spec.ID{backendreq.API033, backendreq.API035}, Relating: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			store := p.Store
			aroundPublish(p, func(ctx context.Context, r *backendv1.PublishRequest, next publishFunc) (*backendv1.PublishResponse, error) {
				for i, e := range r.GetEnvelopes() {
					if e.GetIdentityUpdate() == nil {
						continue
					}
					payload, err := backend.Decode(e)
					canonical, failed := backend.Canonical(e)
					if err != nil || failed != nil {
						continue
					}
					known, err := store.Lookup(ctx, []backend.Key{{Topic: payload.Topic, Hash: p.Hash(canonical)}})
					if err == nil && len(known) > 0 {
						return nil, &backend.Refusal{Code: codes.InvalidArgument, Index: i, Reason: backendv1.PublishError_REASON_INVALID_IDENTITY_UPDATE, Text: "a signature was used before"}
					}
				}
				return next(ctx, r)
			})
		}}
}

// twoUpdatesAccepted publishes the identity updates of a request one by one.
func twoUpdatesAccepted() Mutant {
	return Mutant{Name: "two-updates-accepted", Summary: "takes several updates of one inbox in one request", Requirements: []spec.ID{backendreq.API050},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundPublish(p, func(ctx context.Context, r *backendv1.PublishRequest, next publishFunc) (*backendv1.PublishResponse, error) {
				inboxes := make(map[string]int)
				for _, e := range r.GetEnvelopes() {
					if u := e.GetIdentityUpdate(); u != nil {
						inboxes[u.GetInboxId()]++
					}
				}
				whole := true
				for _, n := range inboxes {
					whole = whole && n < 2
				}
				if whole {
					return next(ctx, r)
				}
				out := &backendv1.PublishResponse{}
				for _, e := range r.GetEnvelopes() {
					one, err := next(ctx, &backendv1.PublishRequest{Envelopes: []*backendv1.ClientEnvelope{e}})
					if err != nil {
						return nil, err
					}
					out.EnvelopeMetas = append(out.EnvelopeMetas, one.GetEnvelopeMetas()...)
				}
				return out, nil
			})
		}}
}

// abortedOutOfNothing answers ABORTED to an inbox's third update, whoever else
// writes.
func abortedOutOfNothing() Mutant {
	return Mutant{Name: "aborted-out-of-nothing", Summary: "answers ABORTED to an identity update that nothing raced", Requirements: []spec.ID{backendreq.API051}, Relating: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundIdentity(p, func(ctx context.Context, history []*associations.IdentityUpdate, u *associations.IdentityUpdate, next validateFunc) ([]backend.Association, error) {
				if len(history) == 2 {
					return nil, &backend.Refusal{Code: codes.Aborted, Index: backend.WholeRequest, Text: "the identity history changed during validation"}
				}
				return next(ctx, history, u)
			})
		}}
}

// outageIsInvalidSignature blames the signature when the chain does not answer.
func outageIsInvalidSignature() Mutant {
	return Mutant{Name: "outage-is-invalid-signature", Summary: "calls a signature invalid when the chain does not answer", Requirements: []spec.ID{backendreq.API044},
		Apply: func(p *backend.Parts, _ *config.Config) {
			aroundIdentity(p, func(ctx context.Context, history []*associations.IdentityUpdate, u *associations.IdentityUpdate, next validateFunc) ([]backend.Association, error) {
				changes, err := next(ctx, history, u)
				if refusal, ok := errors.AsType[*backend.Refusal](err); ok && refusal.Code == codes.Unavailable {
					refusal.Code, refusal.Reason = codes.InvalidArgument, backendv1.PublishError_REASON_INVALID_SIGNATURE
				}
				return changes, err
			})
		}}
}

// walletSignaturesUncounted takes any number of contract signatures.
func walletSignaturesUncounted() Mutant {
	return Mutant{Name: "wallet-signatures-uncounted", Summary: "takes more contract signatures in an update than allowed", Requirements: []spec.ID{backendreq.API044},
		Apply: func(p *backend.Parts, c *config.Config) {
			published := backend.PublishedConfiguration(c)
			c.Limits.MaxSCWSignatures = 1 << 20
			publishOriginal(p, published)
		}}
}

// identityExpires gives identity updates the retention of messages.
func identityExpires() Mutant {
	return Mutant{Name: "identity-expires", Summary: "gives identity updates an expiry", Requirements: []spec.ID{backendreq.API021},
		Apply: func(p *backend.Parts, _ *config.Config) {
			retention := p.Retention
			p.Retention = func(payload backend.Payload) time.Duration {
				if payload.Topic.Kind() == backend.KindIdentityUpdate {
					return 90 * 24 * time.Hour
				}
				return retention(payload)
			}
		}}
}

// newestPackageIsFirst answers a newest read of a key-package topic with the
// first package that it was asked about.
func newestPackageIsFirst() Mutant {
	return Mutant{Name: "newest-package-is-first", Summary: "returns the first key package of an installation as its newest", Requirements: []spec.ID{backendreq.API061, backendreq.API083}, Relating: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			first := newMemory[*backendv1.QueryNewestResponse_Result]()
			aroundResults(p, func(_ *backendv1.QueryNewestRequest, r *backendv1.QueryNewestResponse) {
				for i, result := range r.GetResults() {
					if t := result.GetTopic().GetTopic(); len(t) > 0 && t[0] == byte(backend.KindKeyPackage) && result.GetEnvelope() != nil {
						r.Results[i] = proto.CloneOf(first.keep(string(t), result))
					}
				}
			})
		}}
}
