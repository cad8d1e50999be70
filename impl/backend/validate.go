package backend

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"

	"assay/impl/identity"
	"assay/impl/mls"
	"assay/spec/gen/xmtp/identity/associations"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// KeyPackageRules validates key packages with package mls (API-042). now is
// asked for the time that a lifetime has to include.
func KeyPackageRules(now func() time.Time) KeyPackageValidator { return keyPackageRules{now} }

type keyPackageRules struct{ now func() time.Time }

func (r keyPackageRules) ValidateKeyPackage(_ context.Context, tls []byte) error {
	k, err := mls.ParseKeyPackage(tls)
	if err != nil {
		return &Refusal{Reason: backendv1.PublishError_REASON_MALFORMED_PAYLOAD, Text: err.Error()}
	}
	if err := k.Validate(r.now()); err != nil {
		return &Refusal{Reason: backendv1.PublishError_REASON_INVALID_KEY_PACKAGE, Text: err.Error()}
	}
	return nil
}

// IdentityRules validates identity updates with package identity (API-043,
// API-044).
func IdentityRules(v *identity.Validator) IdentityValidator { return identityRules{v} }

type identityRules struct{ validator *identity.Validator }

func (r identityRules) ValidateIdentityUpdate(ctx context.Context, history []*associations.IdentityUpdate, update *associations.IdentityUpdate) ([]Association, error) {
	change, err := r.validator.Validate(ctx, history, update)
	if err != nil {
		return nil, identityRefusal(err)
	}
	inbox, err := hex.DecodeString(change.InboxID)
	if err != nil || len(inbox) != 32 {
		return nil, fmt.Errorf("an accepted update names the inbox %.80q", change.InboxID)
	}
	var changes []Association
	add := func(keys []identity.LookupKey, revoked bool) {
		for _, key := range keys {
			changes = append(changes, Association{Identifier: key.Text, Kind: int16(key.Kind), Inbox: [32]byte(inbox), Revoked: revoked})
		}
	}
	add(change.Added, false)
	add(change.Removed, true)
	return changes, nil
}

// identityRefusal gives a refused update its code and reason.
func identityRefusal(err error) error {
	refused, ok := errors.AsType[*identity.Error](err)
	if !ok {
		return err
	}
	r := &Refusal{Code: codes.InvalidArgument, Text: refused.Error()}
	switch refused.Class {
	case identity.Malformed:
		r.Reason = backendv1.PublishError_REASON_MALFORMED_PAYLOAD
	case identity.TooLarge:
		r.Reason = backendv1.PublishError_REASON_TOO_LARGE
	case identity.InvalidSignature:
		r.Reason = backendv1.PublishError_REASON_INVALID_SIGNATURE
	case identity.InvalidUpdate:
		r.Reason = backendv1.PublishError_REASON_INVALID_IDENTITY_UPDATE
	case identity.Unavailable:
		r.Code = codes.Unavailable
	default:
		return err
	}
	return r
}
