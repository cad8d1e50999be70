package craft

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"assay/harness/backend/chain/contract"
	"assay/model/backend"
)

// Contracts is the chain as craft needs it: a source of block numbers at which
// wallets are what their behaviour says.
type Contracts interface {
	// ID is the chain's number, for eip155:ID.
	ID() uint64
	// Block returns the number of a block as the wallet's signer means it, and
	// makes it true first: it deploys the wallet, or throws its switch. Asked
	// again it returns the same number. Newest has no number.
	Block(w contract.Wallet, b backend.Block) (uint64, error)
	// BlockOf is Block for an address that has no contract of ours.
	BlockOf(a common.Address, b backend.Block) (uint64, error)
}

// WithChain returns a crafter of the same parties that can sign as contracts.
func (c *Crafter) WithChain(chain Contracts) *Crafter {
	d := *c
	d.chain = chain
	return &d
}

// secondRoute is the number of a chain that only a configuration makes a route
// to the run's node; noRoute is nobody's.
const (
	secondRoute = 31337
	noRoute     = 999999
)

// CAIP returns the CAIP-2 name of a chain, such as eip155:1337. A subject's
// routes for RunChain and SecondRoute lead to the same node.
func (c *Crafter) CAIP(chain backend.Chain) (string, error) {
	if c.chain == nil {
		return "", errors.New("a contract signature needs a chain: give the crafter one with WithChain")
	}
	id := c.chain.ID()
	switch chain {
	case backend.RunChain:
		return fmt.Sprintf("eip155:%d", id), nil
	case backend.SecondRoute:
		return fmt.Sprintf("eip155:%d", secondRoute), nil
	case backend.NoRoute:
		return fmt.Sprintf("eip155:%d", noRoute), nil
	case backend.CosmosChain:
		return "cosmos:cosmoshub-4", nil
	case backend.WordyChain:
		return "eip155:mainnet", nil
	case backend.PaddedChain:
		return fmt.Sprintf("eip155:0%d", id), nil
	default:
		return "", fmt.Errorf("chain %q is unknown: use one of %q", chain, backend.Chains())
	}
}

// account is the account id of a signature (CAIP-10).
func (c *Crafter) account(k *keys, s backend.Signing) (string, error) {
	chain, err := c.CAIP(s.Chain)
	if err != nil {
		return "", err
	}
	address := k.identifier()
	if s.Variant == backend.AccountChecksummed {
		address = k.checksummed()
	}
	switch s.Flaw {
	case backend.AccountColons:
		return fmt.Sprintf("eip/155:%d:%s", c.chain.ID(), address), nil
	case backend.AccountTwoParts:
		return chain, nil
	}
	return chain + ":" + address, nil
}

// blockOf is the number of the block that a signature names.
func (c *Crafter) blockOf(k *keys, s backend.Signing) (uint64, error) {
	if c.chain == nil {
		return 0, errors.New("a contract signature needs a chain: give the crafter one with WithChain")
	}
	if k.kind == backend.Contract {
		return c.chain.Block(k.contract, s.Block)
	}
	return c.chain.BlockOf(k.address, s.Block)
}

// walletSignature is the Signature message that a contract is asked about, or
// that stands in the place of one.
func (c *Crafter) walletSignature(k *keys, text string, s backend.Signing) (field, error) {
	account, err := c.account(k, s)
	if err != nil {
		return field{}, err
	}
	if s.Block == backend.Newest {
		return field{}, errors.New("an identity update always names a block: only a verification can ask for the newest")
	}
	block, err := c.blockOf(k, s)
	if err != nil {
		return field{}, err
	}
	b, err := k.walletBytes(personalHash(text, s.Flaw), s)
	return message(erc6492Field, bytesOf(1, []byte(account)), number(2, block), bytesOf(3, b)), err
}

// walletBytes is a contract's signature over a hash. Wallets that check nothing
// get bytes that follow from party, hash and salt, so that equal intents carry
// equal signatures and others do not.
func (k *keys) walletBytes(hash []byte, s backend.Signing) ([]byte, error) {
	junk := func() []byte {
		h := crypto.Keccak256([]byte("wallet signature"), k.address[:], hash, []byte{byte(s.Salt >> 24), byte(s.Salt >> 16), byte(s.Salt >> 8), byte(s.Salt)})
		return append(append(h, crypto.Keccak256(h)...), lowV)
	}
	switch {
	case s.Flaw == backend.WrapperMissing:
		return junk(), nil
	case k.kind == backend.Contract && k.contract.Behaviour != backend.Plainly && k.contract.Behaviour != backend.Counterfactual:
		return junk(), nil
	}
	b, err := recoverable(k.ethereum, hash)
	if err != nil {
		return nil, err
	}
	if s.Salt != 0 && k.kind == backend.Contract {
		// The wallet reads 65 bytes; what follows makes it another signature.
		b = append(b, bytes.Repeat([]byte{byte(s.Salt >> 24), byte(s.Salt >> 16), byte(s.Salt >> 8), byte(s.Salt)}, 8)...)
	}
	if k.kind == backend.Contract && k.contract.Behaviour == backend.Counterfactual {
		b = k.contract.Wrap(b)
	}
	return b, nil
}
