package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"

	"assay/harness/backend/chain/contract"
	"assay/harness/backend/craft"
	"assay/model/backend"
)

var _ craft.Contracts = (*Chain)(nil)

// wallet is what is known of an address that somebody named.
type wallet struct {
	// known is the first block at which it was asked about; what is to be
	// deployed has its code there. switched is the block of its switch, 0 before.
	known, switched uint64
}

// aboveHead is a block that no run reaches.
const aboveHead = 1 << 40

// sendTimeout bounds one transaction, which waits for nothing but this process.
const sendTimeout = 30 * time.Second

// Deploy makes sure that the wallet is on the chain, unless its behaviour is not
// to be, and returns a block from which on it is. It does so once.
func (c *Chain) Deploy(w contract.Wallet) (uint64, error) { return c.Block(w, backend.AtDeployment) }

// Switch makes a Toggled wallet say no from the returned block on.
func (c *Chain) Switch(w contract.Wallet) (uint64, error) { return c.Block(w, backend.AfterSwitch) }

// Block returns the number of a block as a signature of the wallet means it, and
// makes it true first. It returns the same number again when asked again.
func (c *Chain) Block(w contract.Wallet, b backend.Block) (uint64, error) {
	return c.block(w.Address, &w, b)
}

// BlockOf is Block for an address without a contract.
func (c *Chain) BlockOf(a common.Address, b backend.Block) (uint64, error) {
	return c.block(a, nil, b)
}

func (c *Chain) block(a common.Address, w *contract.Wallet, b backend.Block) (uint64, error) {
	switch b {
	case backend.Genesis:
		return 0, nil
	case backend.AboveHead:
		return aboveHead, nil
	case backend.AtDeployment, backend.AfterDeployment, backend.AfterSwitch:
	default:
		return 0, fmt.Errorf("block %q has no number", b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, errors.New("the simulated chain is closed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), sendTimeout)
	defer cancel()
	known, err := c.knownAt(ctx, a, w)
	if err != nil {
		return 0, err
	}
	switch b {
	case backend.AfterDeployment:
		head, err := c.client.BlockNumber(ctx)
		if err != nil {
			return 0, fmt.Errorf("ask for the newest block: %w", err)
		}
		if head == known.known {
			c.beacon.Commit()
		}
		return known.known + 1, nil
	case backend.AfterSwitch:
		if w == nil || w.Behaviour != backend.Toggled {
			return 0, fmt.Errorf("%s has no switch: only a wallet that %s has one", a, backend.Toggled)
		}
		if known.switched == 0 {
			// A call without data throws it.
			if known.switched, err = c.send(ctx, a, nil); err != nil {
				return 0, fmt.Errorf("switch the wallet at %s: %w", a, err)
			}
		}
		return known.switched, nil
	default:
		return known.known, nil
	}
}

// knownAt looks an address up, and deploys the wallet there if it is one to be
// deployed.
func (c *Chain) knownAt(ctx context.Context, a common.Address, w *contract.Wallet) (*wallet, error) {
	if known, ok := c.wallets[a]; ok {
		return known, nil
	}
	known := &wallet{}
	var err error
	if w != nil && w.Behaviour != backend.Counterfactual {
		if known.known, err = c.send(ctx, contract.FactoryAddress(), w.Deployment()); err != nil {
			return nil, fmt.Errorf("deploy the wallet at %s: %w", a, err)
		}
	} else if known.known, err = c.client.BlockNumber(ctx); err != nil {
		return nil, fmt.Errorf("ask for the newest block: %w", err)
	}
	c.wallets[a] = known
	return known, nil
}

// gas is what one transaction may use: deploying the largest wallet takes some
// 250,000, and a storage write 131,041 (with less it fails and says nothing).
const gas = 1_000_000

// send commits a transaction in a block of its own and returns its number.
func (c *Chain) send(ctx context.Context, to common.Address, data []byte) (uint64, error) {
	key, err := crypto.ToECDSA(richSecret())
	if err != nil {
		return 0, err
	}
	head, err := c.client.HeaderByNumber(ctx, nil)
	if err != nil {
		return 0, err
	}
	nonce, err := c.client.PendingNonceAt(ctx, richAddress())
	if err != nil {
		return 0, err
	}
	tip := big.NewInt(params.GWei)
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(big.NewInt(chainID)), &types.DynamicFeeTx{
		ChainID: big.NewInt(chainID), Nonce: nonce, To: &to, Data: data, Gas: gas,
		GasTipCap: tip, GasFeeCap: new(big.Int).Add(tip, new(big.Int).Lsh(head.BaseFee, 1)),
	})
	if err != nil {
		return 0, err
	}
	if err := c.client.SendTransaction(ctx, tx); err != nil {
		return 0, err
	}
	c.beacon.Commit()
	receipt, err := c.client.TransactionReceipt(ctx, tx.Hash())
	if err != nil {
		return 0, err
	}
	if receipt.Status != types.ReceiptStatusSuccessful {
		return 0, errors.New("the transaction failed")
	}
	return receipt.BlockNumber.Uint64(), nil
}

// Commit makes an empty block and returns its number.
func (c *Chain) Commit(ctx context.Context) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, errors.New("the simulated chain is closed")
	}
	c.beacon.Commit()
	n, err := c.client.BlockNumber(ctx)
	if err != nil {
		return 0, fmt.Errorf("ask for the newest block: %w", err)
	}
	return n, nil
}
