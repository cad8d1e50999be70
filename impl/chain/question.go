package chain

import (
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"assay/impl/identity"
)

//go:embed validator.easm
var validatorText string

// Request is one question to a wallet.
type Request struct {
	Account   identity.AccountID
	Hash      [32]byte
	Signature []byte
	// Block is the block to ask at; nil is the newest one.
	Block *uint64
}

// Verdict is what the wallet said, and at which block.
type Verdict struct {
	Valid bool
	Block uint64
}

// NewRequest checks what a caller sent for one signature: a CAIP-10 account
// and a hash of 32 bytes. The wallet's address is looked at only once a chain
// is found for it.
func NewRequest(accountID string, block *uint64, hash, signature []byte) (Request, error) {
	account, err := identity.ParseAccountID(accountID)
	if err != nil {
		return Request{}, err
	}
	if len(hash) != 32 {
		return Request{}, fmt.Errorf("the hash of a wallet signature has 32 bytes, this one has %d", len(hash))
	}
	return Request{Account: account, Hash: [32]byte(hash), Signature: signature, Block: block}, nil
}

// ErrNotAnAddress says that no wallet can live at the named address, so asking
// again is pointless. The signature is not valid.
var ErrNotAnAddress = errors.New("the address of a wallet is 0x and 40 hexadecimal digits")

func parseAddress(text string) (common.Address, error) {
	if len(text) != 2+2*common.AddressLength || text[:2] != "0x" {
		return common.Address{}, ErrNotAnAddress
	}
	b, err := hex.DecodeString(text[2:])
	if err != nil {
		return common.Address{}, ErrNotAnAddress
	}
	return common.BytesToAddress(b), nil
}

// questioner makes the data of calls: the validator and its arguments.
type questioner struct {
	validator []byte
	arguments abi.Arguments
}

func newQuestioner() (questioner, error) {
	validator, err := assemble(validatorText)
	if err != nil {
		return questioner{}, fmt.Errorf("assemble the signature validator: %w", err)
	}
	var arguments abi.Arguments
	for _, name := range []string{"address", "bytes32", "bytes"} {
		t, err := abi.NewType(name, "", nil)
		if err != nil {
			return questioner{}, fmt.Errorf("abi type %s: %w", name, err)
		}
		arguments = append(arguments, abi.Argument{Type: t})
	}
	return questioner{validator, arguments}, nil
}

func (q questioner) data(wallet common.Address, hash [32]byte, signature []byte) ([]byte, error) {
	packed, err := q.arguments.Pack(wallet, hash, signature)
	if err != nil {
		return nil, fmt.Errorf("encode the question to wallet %s: %w", wallet, err)
	}
	return append(append(make([]byte, 0, len(q.validator)+len(packed)), q.validator...), packed...), nil
}
