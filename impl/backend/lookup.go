package backend

import (
	"context"
	"encoding/hex"
	"log/slog"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend/config"
	"assay/impl/identity"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Identifier is what an inbox is looked up by, normalized by kind (API-122).
type Identifier struct {
	Text string
	// Kind is the wire number of the identifier's kind.
	Kind int16
}

// Resolved is an identifier that has an inbox: Index is its place among those
// asked for.
type Resolved struct {
	Index int
	Inbox [32]byte
}

// WalletVerifier answers whether signatures are their wallets' (API-123).
type WalletVerifier interface {
	// VerifySignatures answers one by one, in order. An error is a *Refusal:
	// Unavailable when a chain gave no verdict, InvalidArgument when a question
	// makes no sense.
	VerifySignatures(ctx context.Context, questions []WalletQuestion) ([]WalletAnswer, error)
}

// WalletQuestion asks whether a wallet made a signature over a hash.
type WalletQuestion struct {
	// Account is in CAIP-10 form, as sent.
	Account string
	// Block is the block to ask at; nil is the newest.
	Block     *uint64
	Hash      []byte
	Signature []byte
}

// WalletAnswer is what the wallet said, and at which block.
type WalletAnswer struct {
	Valid bool
	Block uint64
}

// LookupPlanner returns the checks of an inbox lookup (API-120): first the
// number of identifiers, then each.
func LookupPlanner(limits config.Limits) func(*backendv1.GetInboxIdsRequest) ([]Identifier, error) {
	return func(request *backendv1.GetInboxIdsRequest) ([]Identifier, error) {
		if n := len(request.GetRequests()); n > int(limits.MaxLookupIdentifiers) {
			return nil, refuseRead("the lookup names %d identifiers, more than the %d allowed", n, limits.MaxLookupIdentifiers)
		}
		plan := make([]Identifier, len(request.GetRequests()))
		for i, r := range request.GetRequests() {
			key, err := identity.NormalizeLookup(int32(r.GetIdentifierKind()), r.GetIdentifier())
			if err != nil {
				return nil, refuseRead("entry %d: %v", i, err)
			}
			plan[i] = Identifier{Text: key.Text, Kind: int16(key.Kind)}
		}
		return plan, nil
	}
}

type identityService struct {
	backendv1.UnimplementedIdentityServiceServer
	parts  *Parts
	limits config.Limits
	log    *slog.Logger
}

// GetInboxIds answers every entry, in order, echoing what was sent (API-121).
func (s *identityService) GetInboxIds(ctx context.Context, request *backendv1.GetInboxIdsRequest) (*backendv1.GetInboxIdsResponse, error) {
	plan, err := s.parts.PlanLookup(request)
	if err != nil {
		return nil, told(ctx, s.log, "get inbox ids", err)
	}
	response := &backendv1.GetInboxIdsResponse{Responses: make([]*backendv1.GetInboxIdsResponse_Response, len(plan))}
	for i, r := range request.GetRequests() {
		response.Responses[i] = &backendv1.GetInboxIdsResponse_Response{Identifier: r.GetIdentifier(), IdentifierKind: r.GetIdentifierKind()}
	}
	if len(plan) == 0 {
		return response, nil
	}
	found, err := s.parts.Store.Inboxes(ctx, plan)
	if err != nil {
		return nil, told(ctx, s.log, "get inbox ids", err)
	}
	for _, f := range found {
		response.Responses[f.Index].InboxId = proto.String(hex.EncodeToString(f.Inbox[:]))
	}
	return response, nil
}

// VerifySmartContractWalletSignatures answers every signature, in order, or
// fails as a whole when a chain does (API-123).
func (s *identityService) VerifySmartContractWalletSignatures(ctx context.Context, request *backendv1.VerifySmartContractWalletSignaturesRequest) (*backendv1.VerifySmartContractWalletSignaturesResponse, error) {
	if n := len(request.GetSignatures()); n > int(s.limits.MaxSCWSignatures) {
		return nil, told(ctx, s.log, "verify signatures", refuseRead("the request has %d signatures, more than the %d allowed", n, s.limits.MaxSCWSignatures))
	}
	if s.parts.Wallets == nil {
		return nil, told(ctx, s.log, "verify signatures", &Refusal{Code: codes.Unimplemented, Index: WholeRequest, Text: "this backend cannot ask wallets"})
	}
	questions := make([]WalletQuestion, len(request.GetSignatures()))
	for i, q := range request.GetSignatures() {
		questions[i] = WalletQuestion{Account: q.GetAccountId(), Block: q.BlockNumber, Hash: q.GetHash(), Signature: q.GetSignature()}
	}
	answers, err := s.parts.Wallets.VerifySignatures(ctx, questions)
	if err != nil {
		return nil, told(ctx, s.log, "verify signatures", err)
	}
	response := &backendv1.VerifySmartContractWalletSignaturesResponse{}
	for _, a := range answers {
		response.Responses = append(response.Responses, &backendv1.VerifySmartContractWalletSignaturesResponse_Response{
			IsValid: a.Valid, BlockNumber: proto.Uint64(a.Block)})
	}
	return response, nil
}
