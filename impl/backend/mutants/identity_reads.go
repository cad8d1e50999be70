package mutants

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/mls"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// memory keeps the first value under each key.
type memory[T any] struct {
	mu     sync.Mutex
	values map[string]T
}

func newMemory[T any]() *memory[T] { return &memory[T]{values: make(map[string]T)} }

// keep returns the value that was kept first under the key.
func (m *memory[T]) keep(key string, v T) T {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.values[key]; ok {
		return old
	}
	m.values[key] = v
	return v
}

// lookupMutant changes what is looked up or what is answered.
func lookupMutant(name, summary string, relating bool, id spec.ID, f func(ctx context.Context, r *backendv1.GetInboxIdsRequest, next lookupFunc) (*backendv1.GetInboxIdsResponse, error)) Mutant {
	return Mutant{Name: name, Summary: summary, Requirements: []spec.ID{id}, Relating: relating,
		Apply: func(p *backend.Parts, _ *config.Config) { aroundLookup(p, f) }}
}

func lookupCaseSensitive() Mutant {
	return lookupMutant("lookup-case-sensitive", "does not find an address that is asked for in mixed case", true, backendreq.API122,
		func(ctx context.Context, r *backendv1.GetInboxIdsRequest, next lookupFunc) (*backendv1.GetInboxIdsResponse, error) {
			response, err := next(ctx, r)
			for _, answer := range response.GetResponses() {
				if answer.GetIdentifier() != strings.ToLower(answer.GetIdentifier()) {
					answer.InboxId = nil
				}
			}
			return response, err
		})
}

func lookupIgnoresKind() Mutant {
	return lookupMutant("lookup-ignores-kind", "looks every identifier up as an address", true, backendreq.API122,
		func(ctx context.Context, r *backendv1.GetInboxIdsRequest, next lookupFunc) (*backendv1.GetInboxIdsResponse, error) {
			asked := proto.CloneOf(r)
			for _, q := range asked.GetRequests() {
				if strings.HasPrefix(q.GetIdentifier(), "0x") {
					q.IdentifierKind = 1
				}
			}
			response, err := next(ctx, asked)
			for i, answer := range response.GetResponses() {
				answer.IdentifierKind = r.GetRequests()[i].GetIdentifierKind()
			}
			return response, err
		})
}

func lookupEchoNormalised() Mutant {
	return lookupMutant("lookup-echo-normalised", "echoes identifiers in lower case", false, backendreq.API121,
		func(ctx context.Context, r *backendv1.GetInboxIdsRequest, next lookupFunc) (*backendv1.GetInboxIdsResponse, error) {
			response, err := next(ctx, r)
			for _, answer := range response.GetResponses() {
				answer.Identifier = strings.ToLower(answer.GetIdentifier())
			}
			return response, err
		})
}

func lookupDropsRepeats() Mutant {
	return lookupMutant("lookup-drops-repeats", "answers a repeated identifier once", false, backendreq.API121,
		func(ctx context.Context, r *backendv1.GetInboxIdsRequest, next lookupFunc) (*backendv1.GetInboxIdsResponse, error) {
			response, err := next(ctx, r)
			if err != nil {
				return nil, err
			}
			seen := make(map[string]bool)
			response.Responses = slices.DeleteFunc(response.GetResponses(), func(a *backendv1.GetInboxIdsResponse_Response) bool {
				key := a.GetIdentifierKind().String() + a.GetIdentifier()
				twice := seen[key]
				seen[key] = true
				return twice
			})
			return response, nil
		})
}

func lookupReversed() Mutant {
	return lookupMutant("lookup-reversed", "answers a lookup from its last entry to its first", false, backendreq.API121,
		func(ctx context.Context, r *backendv1.GetInboxIdsRequest, next lookupFunc) (*backendv1.GetInboxIdsResponse, error) {
			response, err := next(ctx, r)
			slices.Reverse(response.GetResponses())
			return response, err
		})
}

func lookupLimitLax() Mutant {
	return Mutant{Name: "lookup-limit-lax", Summary: "looks up more identifiers than allowed", Requirements: []spec.ID{backendreq.API120},
		Apply: func(p *backend.Parts, c *config.Config) {
			limits := c.Limits
			limits.MaxLookupIdentifiers = 1 << 20
			p.PlanLookup = backend.LookupPlanner(limits)
		}}
}

// projected is a store whose projection of identifiers is changed.
type projectedStore struct {
	backend.Store
	change func([]backend.Association) []backend.Association
}

func (s projectedStore) Begin(ctx context.Context) (backend.Tx, error) {
	tx, err := s.Store.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return projectedTx{tx, s.change}, nil
}

type projectedTx struct {
	backend.Tx
	change func([]backend.Association) []backend.Association
}

func (t projectedTx) Project(ctx context.Context, changes []backend.Association) error {
	if changes = t.change(changes); len(changes) == 0 {
		return nil
	}
	return t.Tx.Project(ctx, changes)
}

// lookupNeverReveals forgets revocations: an older association stays hidden.
func lookupNeverReveals() Mutant {
	return Mutant{Name: "lookup-never-reveals", Summary: "goes on finding an association that was revoked", Requirements: []spec.ID{backendreq.API122, backendreq.API053}, Relating: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Store = projectedStore{p.Store, func(changes []backend.Association) []backend.Association {
				return slices.DeleteFunc(slices.Clone(changes), func(a backend.Association) bool { return a.Revoked })
			}}
		}}
}

// lookupFirstAssociation keeps an identifier with the first inbox it was in.
func lookupFirstAssociation() Mutant {
	return Mutant{Name: "lookup-first-association", Summary: "resolves an identifier to the first inbox that had it", Requirements: []spec.ID{backendreq.API053, backendreq.API122}, Relating: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			first := newMemory[[32]byte]()
			p.Store = projectedStore{p.Store, func(changes []backend.Association) []backend.Association {
				return slices.DeleteFunc(slices.Clone(changes), func(a backend.Association) bool {
					return !a.Revoked && first.keep(a.Identifier, a.Inbox) != a.Inbox
				})
			}}
		}}
}

// walletsFunc answers verifications.
type walletsFunc func(ctx context.Context, questions []backend.WalletQuestion) ([]backend.WalletAnswer, error)

func (f walletsFunc) VerifySignatures(ctx context.Context, questions []backend.WalletQuestion) ([]backend.WalletAnswer, error) {
	return f(ctx, questions)
}

func verificationReversed() Mutant {
	return Mutant{Name: "verification-reversed", Summary: "answers verified signatures from the last to the first", Requirements: []spec.ID{backendreq.API123},
		Apply: func(p *backend.Parts, _ *config.Config) {
			inner := p.Wallets
			p.Wallets = walletsFunc(func(ctx context.Context, questions []backend.WalletQuestion) ([]backend.WalletAnswer, error) {
				answers, err := inner.VerifySignatures(ctx, questions)
				slices.Reverse(answers)
				return answers, err
			})
		}}
}

func verificationLimitLax() Mutant {
	return Mutant{Name: "verification-limit-lax", Summary: "verifies more signatures than allowed in a request", Requirements: []spec.ID{backendreq.API123},
		Apply: func(p *backend.Parts, c *config.Config) {
			published := backend.PublishedConfiguration(c)
			c.Limits.MaxSCWSignatures = 1 << 20
			publishOriginal(p, published)
		}}
}

func verificationOutageIsInvalid() Mutant {
	return Mutant{Name: "verification-outage-is-invalid", Summary: "answers that signatures are invalid when the chain does not answer", Requirements: []spec.ID{backendreq.API123, backendreq.API044},
		Apply: func(p *backend.Parts, _ *config.Config) {
			inner := p.Wallets
			p.Wallets = walletsFunc(func(ctx context.Context, questions []backend.WalletQuestion) ([]backend.WalletAnswer, error) {
				answers, err := inner.VerifySignatures(ctx, questions)
				if refusal, ok := errors.AsType[*backend.Refusal](err); ok && refusal.Code == codes.Unavailable {
					return make([]backend.WalletAnswer, len(questions)), nil
				}
				return answers, err
			})
		}}
}

// packagesFunc decides key packages.
type packagesFunc func(ctx context.Context, tls []byte) error

func (f packagesFunc) ValidateKeyPackage(ctx context.Context, tls []byte) error { return f(ctx, tls) }

// forgottenPackageRules are the rules of key packages that the specification's
// own reading of RFC 9420 asks for, one mutant for each that is not looked at.
func forgottenPackageRules() []Mutant {
	forget := func(name, summary string, forgotten mls.Rule) Mutant {
		return Mutant{Name: name, Summary: summary, Requirements: []spec.ID{backendreq.API042},
			Apply: func(p *backend.Parts, _ *config.Config) {
				p.KeyPackages = packagesFunc(func(_ context.Context, tls []byte) error {
					k, err := mls.ParseKeyPackage(tls)
					if err != nil {
						return &backend.Refusal{Code: codes.InvalidArgument, Reason: backendv1.PublishError_REASON_MALFORMED_PAYLOAD, Text: err.Error()}
					}
					for rule := mls.RuleLeafSource; rule <= mls.RuleCredentialContent; rule++ {
						if rule == forgotten {
							continue
						}
						if err := k.Check(rule, time.Now()); err != nil {
							return &backend.Refusal{Code: codes.InvalidArgument, Reason: backendv1.PublishError_REASON_INVALID_KEY_PACKAGE, Text: err.Error()}
						}
					}
					return nil
				})
			}}
	}
	return []Mutant{
		forget("leaf-signature-unchecked", "does not verify the signature of a key package's leaf", mls.RuleLeafSignature),
		forget("package-signature-unchecked", "does not verify the outer signature of a key package", mls.RulePackageSignature),
		forget("package-keys-unchecked", "takes a key package whose init key is its encryption key", mls.RuleDistinctKeys),
	}
}

// validPackageRefused takes no key package of the suites that everybody knows.
func validPackageRefused() Mutant {
	return Mutant{Name: "valid-package-refused", Summary: "refuses key packages that last longer than a week", Requirements: []spec.ID{backendreq.API042},
		Apply: func(p *backend.Parts, _ *config.Config) {
			inner := p.KeyPackages
			p.KeyPackages = packagesFunc(func(ctx context.Context, tls []byte) error {
				if k, err := mls.ParseKeyPackage(tls); err == nil && k.Leaf.Lifetime.NotAfter > uint64(time.Now().Add(7*24*time.Hour).Unix()) {
					return &backend.Refusal{Code: codes.InvalidArgument, Reason: backendv1.PublishError_REASON_INVALID_KEY_PACKAGE, Text: "the key package lasts too long"}
				}
				return inner.ValidateKeyPackage(ctx, tls)
			})
		}}
}

// packageReasonWrong tells a key package that breaks a rule as unparsable.
func packageReasonWrong() Mutant {
	return Mutant{Name: "package-reason-wrong", Summary: "tells a key package that breaks a rule as a malformed payload", Requirements: []spec.ID{backendreq.API042},
		Apply: func(p *backend.Parts, _ *config.Config) {
			inner := p.KeyPackages
			p.KeyPackages = packagesFunc(func(ctx context.Context, tls []byte) error {
				err := inner.ValidateKeyPackage(ctx, tls)
				if refusal, ok := errors.AsType[*backend.Refusal](err); ok {
					refusal.Reason = backendv1.PublishError_REASON_MALFORMED_PAYLOAD
				}
				return err
			})
		}}
}
