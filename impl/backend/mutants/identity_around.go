package mutants

import (
	"context"
	"slices"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/identity"
	"assay/spec"
	"assay/spec/gen/backendreq"
	"assay/spec/gen/xmtp/identity/associations"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// identityMutants break what is asked of identity updates, key packages and
// lookups. Those that differ in which rule is forgotten share a file.
func identityMutants() []Mutant {
	out := slices.Concat(forgottenRules(), forgottenPackageRules(), []Mutant{revocationNotCascading(), revocationTakesEverybody(), textInOtherOrder(), textWithUnflooredSecond(),
		badSignatureAccepted(), badSignatureIsInvalidUpdate(), staleHistory(), capOffByOne(), capBlocksRetry(), identityDuplicateUnseen(),
		twoUpdatesAccepted(), abortedOutOfNothing(), outageIsInvalidSignature(), walletSignaturesUncounted(), identityExpires(),
		lookupCaseSensitive(), lookupIgnoresKind(), lookupEchoNormalised(), lookupDropsRepeats(), lookupReversed(), lookupLimitLax(),
		lookupNeverReveals(), lookupFirstAssociation(), verificationReversed(), verificationLimitLax(), verificationOutageIsInvalid(),
		validPackageRefused(), packageReasonWrong(), newestPackageIsFirst()})
	for i := range out {
		out[i].Signed = true
	}
	return out
}

// validateFunc is the validator of identity updates as a function.
type validateFunc func(ctx context.Context, history []*associations.IdentityUpdate, update *associations.IdentityUpdate) ([]backend.Association, error)

func (f validateFunc) ValidateIdentityUpdate(ctx context.Context, history []*associations.IdentityUpdate, update *associations.IdentityUpdate) ([]backend.Association, error) {
	return f(ctx, history, update)
}

// aroundIdentity puts f around the validation of identity updates.
func aroundIdentity(p *backend.Parts, f func(ctx context.Context, history []*associations.IdentityUpdate, update *associations.IdentityUpdate, next validateFunc) ([]backend.Association, error)) {
	inner := p.Identity
	p.Identity = validateFunc(func(ctx context.Context, history []*associations.IdentityUpdate, update *associations.IdentityUpdate) ([]backend.Association, error) {
		return f(ctx, history, update, inner.ValidateIdentityUpdate)
	})
}

// aroundLookup puts f around the lookup of inboxes.
func aroundLookup(p *backend.Parts, f func(ctx context.Context, r *backendv1.GetInboxIdsRequest, next lookupFunc) (*backendv1.GetInboxIdsResponse, error)) {
	aroundServices(p, func(s backend.Services) backend.Services {
		s.Identity = lookupLayer{s.Identity, f}
		return s
	})
}

type lookupFunc func(context.Context, *backendv1.GetInboxIdsRequest) (*backendv1.GetInboxIdsResponse, error)

type lookupLayer struct {
	backendv1.IdentityServiceServer
	f func(context.Context, *backendv1.GetInboxIdsRequest, lookupFunc) (*backendv1.GetInboxIdsResponse, error)
}

func (l lookupLayer) GetInboxIds(ctx context.Context, r *backendv1.GetInboxIdsRequest) (*backendv1.GetInboxIdsResponse, error) {
	return l.f(ctx, r, l.IdentityServiceServer.GetInboxIds)
}

// forgottenRules are the rules of the association state, one mutant for each
// that is not looked at.
func forgottenRules() []Mutant {
	forget := func(name, summary string, rule identity.Rule) Mutant {
		return Mutant{Name: name, Summary: summary, Requirements: []spec.ID{backendreq.API043}, Relating: true,
			Apply: func(p *backend.Parts, _ *config.Config) {
				without := func(rows []identity.Precondition) []identity.Precondition {
					return slices.DeleteFunc(slices.Clone(rows), func(row identity.Precondition) bool { return row.Rule == rule })
				}
				r := &p.IdentityRules
				r.Create, r.Add, r.Revoke, r.ChangeRecovery = without(r.Create), without(r.Add), without(r.Revoke), without(r.ChangeRecovery)
			}}
	}
	return []Mutant{
		forget("inbox-created-twice", "lets an inbox be created a second time", identity.RuleNoInboxYet),
		forget("owner-unsigned", "lets anybody create an inbox for an address", identity.RuleOwnerSigns),
		forget("replay-key-forgotten", "lets a signature of an earlier update work again", identity.RuleUnused),
		forget("joiner-unsigned", "adds a member that did not sign for itself", identity.RuleJoinerSigns),
		forget("self-add-allowed", "lets a member add itself", identity.RuleNotSelf),
		forget("stranger-adds", "lets somebody who is no member add", identity.RuleMayAdd),
		forget("installation-adds-installation", "lets an installation add an installation", identity.RuleNoInstallationTree),
		forget("recovery-check-skipped", "lets anybody revoke and change recovery", identity.RuleRecoverySigns),
		forget("chain-of-member-unchecked", "takes a member's signature on any chain or none", identity.RuleSameChain),
	}
}

// revocationNotCascading leaves the installations that a revoked member added.
func revocationNotCascading() Mutant {
	return Mutant{Name: "revocation-not-cascading", Summary: "leaves the installations that a revoked member added", Requirements: []spec.ID{backendreq.API043}, Relating: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.IdentityRules.Revoked = func(_ *identity.State, subject identity.Identifier) []identity.Identifier {
				return []identity.Identifier{subject}
			}
		}}
}

// revocationTakesEverybody follows who added whom to the end.
func revocationTakesEverybody() Mutant {
	return Mutant{Name: "revocation-takes-everybody", Summary: "removes what a revoked member added, level by level", Requirements: []spec.ID{backendreq.API043}, Relating: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.IdentityRules.Revoked = func(s *identity.State, subject identity.Identifier) []identity.Identifier {
				gone := []identity.Identifier{subject}
				for i := 0; i < len(gone); i++ {
					for id, member := range s.Members() {
						if member.AddedBy == gone[i] && !slices.Contains(gone, id) {
							gone = append(gone, id)
						}
					}
				}
				return gone
			}
		}}
}

// textInOtherOrder expects the actions of the signed text from last to first.
func textInOtherOrder() Mutant {
	return Mutant{Name: "text-in-other-order", Summary: "expects the actions of the signed text in the opposite order", Requirements: []spec.ID{backendreq.API043},
		Apply: func(p *backend.Parts, _ *config.Config) {
			text := p.IdentityRules.Text
			p.IdentityRules.Text = func(u identity.Update) string {
				u.Actions = slices.Clone(u.Actions)
				slices.Reverse(u.Actions)
				return text(u)
			}
		}}
}

// textWithUnflooredSecond rounds the time of the signed text.
func textWithUnflooredSecond() Mutant {
	return Mutant{Name: "text-time-rounded", Summary: "rounds the time of the signed text to the nearest second", Requirements: []spec.ID{backendreq.API043}, Relating: true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			text := p.IdentityRules.Text
			p.IdentityRules.Text = func(u identity.Update) string {
				u.TimestampNS += 500_000_000
				return text(u)
			}
		}}
}
