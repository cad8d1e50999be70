package wire

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

const (
	lookupPath = "/xmtp.backend.v1.IdentityService/GetInboxIds"
	verifyPath = "/xmtp.backend.v1.IdentityService/VerifySmartContractWalletSignatures"
)

// mostAnswers is more entries than a request of either call may have (API-050,
// API-120 to 123).
const mostAnswers = 1 << 16

// Lookup sends an encoded GetInboxIdsRequest.
func (c *Client) Lookup(ctx context.Context, request []byte, header ...Header) backend.Return {
	return c.call(ctx, lookupPath, request, header, decodeLookup)
}

// Verify sends an encoded VerifySmartContractWalletSignaturesRequest.
func (c *Client) Verify(ctx context.Context, request []byte, header ...Header) backend.Return {
	return c.call(ctx, verifyPath, request, header, decodeVerify)
}

// decodeLookup reads a GetInboxIdsResponse.
func decodeLookup(r *backend.Return, message []byte) error {
	out := &backend.InboxIDs{}
	r.InboxIDs = out
	return repeated(message, func(num protowire.Number, raw []byte) error {
		if num != 1 {
			return nil
		}
		if len(out.Entries) == mostAnswers {
			return fmt.Errorf("a lookup response of more than %d entries", mostAnswers)
		}
		var m backendv1.GetInboxIdsResponse_Response
		if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, &m); err != nil {
			return errors.New("an entry of a lookup response does not decode")
		}
		e := backend.InboxID{Identifier: cut(m.GetIdentifier()), Kind: uint32(m.GetIdentifierKind())}
		if m.InboxId != nil {
			id := cut(m.GetInboxId())
			e.Inbox = &id
		}
		out.Entries = append(out.Entries, e)
		return nil
	})
}

// decodeVerify reads a VerifySmartContractWalletSignaturesResponse.
func decodeVerify(r *backend.Return, message []byte) error {
	out := &backend.WalletAnswers{}
	r.Verified = out
	return repeated(message, func(num protowire.Number, raw []byte) error {
		if num != 1 {
			return nil
		}
		if len(out.Entries) == mostAnswers {
			return fmt.Errorf("a verification response of more than %d entries", mostAnswers)
		}
		var m backendv1.VerifySmartContractWalletSignaturesResponse_Response
		if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, &m); err != nil {
			return errors.New("an entry of a verification response does not decode")
		}
		e := backend.WalletAnswer{Valid: m.GetIsValid(), Number: m.BlockNumber}
		if m.Error != nil {
			s := bounded(m.GetError())
			e.Error = &s
		}
		out.Entries = append(out.Entries, e)
		return nil
	})
}

// cut keeps the beginning of a text that is compared and never printed raw: one
// that is longer than any identifier is wrong by its length whatever follows.
func cut(s string) string {
	if len(s) > mostIdentifier {
		return s[:mostIdentifier]
	}
	return s
}
