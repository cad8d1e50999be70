package serve

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"

	"assay/impl/backend"
	"assay/impl/chain"
)

// wallets asks wallets through package chain.
type wallets struct{ chain *chain.Verifier }

// VerifySignatures implements [backend.WalletVerifier]: every question is
// checked before the first is put to a chain.
func (w wallets) VerifySignatures(ctx context.Context, questions []backend.WalletQuestion) ([]backend.WalletAnswer, error) {
	requests := make([]chain.Request, len(questions))
	for i, q := range questions {
		var err error
		if requests[i], err = chain.NewRequest(q.Account, q.Block, q.Hash, q.Signature); err != nil {
			return nil, &backend.Refusal{Code: codes.InvalidArgument, Index: backend.WholeRequest, Text: fmt.Sprintf("signature %d: %v", i, err)}
		}
	}
	verdicts, err := w.chain.VerifyAll(ctx, requests)
	if err != nil {
		code := codes.InvalidArgument
		if _, outage := errors.AsType[*chain.Outage](err); outage {
			code = codes.Unavailable
		}
		return nil, &backend.Refusal{Code: code, Index: backend.WholeRequest, Text: err.Error()}
	}
	answers := make([]backend.WalletAnswer, len(verdicts))
	for i, v := range verdicts {
		answers[i] = backend.WalletAnswer{Valid: v.Valid, Block: v.Block}
	}
	return answers, nil
}
