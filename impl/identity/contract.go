package identity

import (
	"context"
	"strings"
)

// ContractSignature is a signature that only the wallet's contract can judge.
type ContractSignature struct {
	Account AccountID
	// Block is the block at which the wallet is asked. Zero is block zero,
	// not "unset": the wire has no way to leave it out. It is not signed.
	Block uint64
	Bytes []byte
}

// WalletVerifier asks a contract wallet. Package chain has the real one.
type WalletVerifier interface {
	// VerifyWallet reports whether the wallet accepts the claim. An error
	// means that no verdict could be had (no route, node down, the call
	// reverted) and makes the update Unavailable; an account that cannot
	// exist on its chain is a plain false.
	VerifyWallet(ctx context.Context, claim WalletClaim) (bool, error)
}

// WalletClaim is the question to a wallet: at this block, does this signature
// hold for this hash?
type WalletClaim struct {
	Account   AccountID
	Block     uint64
	Hash      [32]byte
	Signature []byte
}

// verify remembers the signature by its raw bytes. The block and the spelling
// of the account are not signed, so they must not make a used one fresh.
func (s ContractSignature) verify(ctx context.Context, m message, wallets WalletVerifier) (Signed, *Error) {
	if wallets == nil {
		return Signed{}, refuse(Unavailable, RuleContractSignature, "no chain is configured, so wallet %q cannot be asked", s.Account)
	}
	valid, err := wallets.VerifyWallet(ctx, WalletClaim{s.Account, s.Block, m.eip191, s.Bytes})
	if err != nil {
		e := refuse(Unavailable, RuleContractSignature, "wallet %q could not be asked at block %d", s.Account, s.Block)
		e.cause = err
		return Signed{}, e
	}
	if !valid {
		return Signed{}, refuse(InvalidSignature, RuleContractSignature, "wallet %q does not accept the signature at block %d", s.Account, s.Block)
	}
	number, ok := s.Account.ChainNumber()
	if !ok {
		return Signed{}, refuse(InvalidSignature, RuleContractSignature, "chain %q has no number, so no member can be tied to it", s.Account.Chain)
	}
	return Signed{
		By:     EthereumAddress(strings.ToLower(s.Account.Address)),
		Scheme: ByContract,
		Chain:  ChainID{Known: true, Number: number},
		Used:   string(s.Bytes),
	}, nil
}
