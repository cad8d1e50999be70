package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/eth/catalyst"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/eth/filters"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/p2p"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rpc"

	"assay/harness/backend/chain/contract"
)

// chainID is that of go-ethereum's development chains; 1337 is nobody's.
const chainID = 1337

// Chain is a running chain. It is safe for concurrent use; Close it in the end.
type Chain struct {
	front  *front
	stack  *node.Node
	beacon *catalyst.SimulatedBeacon
	server *rpc.Server
	client *ethclient.Client

	mu      sync.Mutex // serialises blocks, and guards wallets
	wallets map[common.Address]*wallet
	closed  bool
}

// Start runs a chain whose JSON-RPC over HTTP is at the address listen, such as
// 127.0.0.1:0. It is ready when Start returns. The context bounds the start only.
func Start(ctx context.Context, listen string) (*Chain, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s for the simulated chain: %w", listen, err)
	}
	c := &Chain{wallets: make(map[common.Address]*wallet)}
	if err := c.run(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the simulated chain: %w", err), c.stop(), listener.Close())
	}
	c.front = newFront(listener, c.server)
	// Block 0 is of 1970; nothing is asked about before there is a block of today.
	c.beacon.Commit()
	return c, nil
}

// run assembles the node. go-ethereum's own simulated.Backend does the same, but
// keeps its RPC server to itself.
func (c *Chain) run() error {
	nodeConfig := node.DefaultConfig
	nodeConfig.DataDir = "" // in memory
	nodeConfig.P2P = p2p.Config{NoDiscovery: true}
	var err error
	if c.stack, err = node.New(&nodeConfig); err != nil {
		return err
	}

	alloc := core.SystemContractAllocs()
	alloc[richAddress()] = types.Account{Balance: new(big.Int).Mul(big.NewInt(params.Ether), big.NewInt(params.Ether))}
	alloc[contract.FactoryAddress()] = types.Account{Code: contract.Factory(), Balance: new(big.Int)}
	config := ethconfig.Defaults
	config.Genesis = &core.Genesis{Config: params.AllDevChainProtocolChanges, GasLimit: config.Miner.GasCeil, Alloc: alloc}
	config.SyncMode = ethconfig.FullSync
	config.TxPool.NoLocals = true
	config.LogNoHistory = true
	// A signature may name any block there ever was, so no state is thrown away.
	config.StateScheme, config.NoPruning = "hash", true
	// The defaults, two gigabytes of caches, are for a real chain.
	config.DatabaseCache, config.TrieCleanCache, config.TrieDirtyCache, config.SnapshotCache = 16, 16, 16, 0
	backend, err := eth.New(c.stack, &config)
	if err != nil {
		return err
	}
	if err := c.stack.Start(); err != nil {
		return err
	}
	if c.beacon, err = catalyst.NewSimulatedBeacon(0, common.Address{}, backend); err != nil {
		return err
	}
	if err := c.beacon.Fork(backend.BlockChain().GetCanonicalHash(0)); err != nil {
		return err
	}

	c.server = rpc.NewServer()
	apis := append(backend.APIs(),
		rpc.API{Namespace: "eth", Service: filters.NewFilterAPI(filters.NewFilterSystem(backend.APIBackend, filters.Config{}))},
		rpc.API{Namespace: "web3", Service: web3{}})
	if err := node.RegisterApis(apis, []string{"eth", "net", "web3"}, c.server); err != nil {
		return err
	}
	c.client = ethclient.NewClient(rpc.DialInProc(c.server))
	return nil
}

// web3 answers what some clients ask first.
type web3 struct{}

// ClientVersion names the node.
func (web3) ClientVersion() string { return "assay/simulated" }

// URL is where the chain's JSON-RPC is.
func (c *Chain) URL() string { return "http://" + c.front.address() }

// ID is the chain's number: its CAIP-2 name is eip155:ID.
func (c *Chain) ID() uint64 { return chainID }

// Close ends the chain. What it held is gone.
func (c *Chain) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return errors.Join(c.front.close(), c.stop())
}

func (c *Chain) stop() error {
	if c.client != nil {
		c.client.Close()
	}
	if c.server != nil {
		c.server.Stop()
	}
	var err error
	if c.beacon != nil {
		err = c.beacon.Stop()
	}
	if c.stack != nil {
		err = errors.Join(err, c.stack.Close())
	}
	if err != nil {
		return fmt.Errorf("stop the simulated chain: %w", err)
	}
	return nil
}

// The one account that has money. Anybody may know its key.
func richSecret() []byte { return crypto.Keccak256([]byte("assay simulated chain")) }

func richAddress() common.Address {
	key, err := crypto.ToECDSA(richSecret())
	if err != nil {
		// The secret is a constant, and a test holds it to be a key.
		return common.Address{}
	}
	return crypto.PubkeyToAddress(key.PublicKey)
}
