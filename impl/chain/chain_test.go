package chain

import (
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient/simulated"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rpc"
)

// The wallets and factories of the test chain, each a few lines of program.
const (
	sayYes = "0x1626ba7e 0xe0 SHL 0 MSTORE 0x20 0 RETURN\n"
	sayNo  = "0xffffffff 0xe0 SHL 0 MSTORE 0x20 0 RETURN\n"

	// ownerProgram recovers who signed the hash with the first 65 bytes of the
	// signature and compares with OWNER.
	ownerProgram = `
		0x04 CALLDATALOAD 0 MSTORE
		0xa4 CALLDATALOAD 0 BYTE 0x20 MSTORE
		0x64 CALLDATALOAD 0x40 MSTORE
		0x84 CALLDATALOAD 0x60 MSTORE
		0x20 0x80 0x80 0 1 GAS STATICCALL POP
		OWNER 0x80 MLOAD EQ @yes JUMPI
	` + sayNo + `
	yes: ` + sayYes

	// toggleProgram is valid until somebody calls it without data.
	toggleProgram = `
		CALLDATASIZE @asked JUMPI
		1 0 SSTORE STOP
	asked: 0 SLOAD @no JUMPI
	` + sayYes + `
	no: ` + sayNo

	// initProgram returns what stands behind it as the code of a new contract.
	initProgram = ".size CODESIZE SUB DUP1 .size 0 CODECOPY 0 RETURN"
	// factoryProgram creates a contract from what stands behind it, salt 0.
	factoryProgram = ".size CODESIZE SUB DUP1 .size 0 CODECOPY 0 SWAP1 0 0 CREATE2 POP STOP"
)

var (
	yesWallet    = common.HexToAddress("0xa1")
	noWallet     = common.HexToAddress("0xa2")
	ownedWallet  = common.HexToAddress("0xa3")
	toggleWallet = common.HexToAddress("0xa4")
	deafWallet   = common.HexToAddress("0xa5") // reverts
	shortWallet  = common.HexToAddress("0xa6") // returns the magic value in four bytes
	dirtyWallet  = common.HexToAddress("0xa7") // returns a word of ff
	tailWallet   = common.HexToAddress("0xa8") // returns the magic value and a dirty last byte
	factory      = common.HexToAddress("0xb1")
	deafFactory  = common.HexToAddress("0xb2")
)

func mustAssemble(t testing.TB, text string) []byte {
	t.Helper()
	code, err := assemble(text)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// testChain is a simulated chain behind an HTTP server.
type testChain struct {
	url     string
	backend *simulated.Backend
	owner   *ecdsa.PrivateKey
	rich    *ecdsa.PrivateKey
	// child is where the factory puts a wallet owned by owner.
	child common.Address
}

func newTestChain(t *testing.T) *testChain {
	t.Helper()
	c := &testChain{owner: testKey(t, 1), rich: testKey(t, 2)}
	owned := mustAssemble(t, strings.ReplaceAll(ownerProgram, "OWNER", crypto.PubkeyToAddress(c.owner.PublicKey).Hex()))
	init := append(mustAssemble(t, initProgram), owned...)
	c.child = crypto.CreateAddress2(factory, [32]byte{}, crypto.Keccak256(init))

	alloc := types.GenesisAlloc{crypto.PubkeyToAddress(c.rich.PublicKey): {Balance: big.NewInt(params.Ether)}}
	for at, text := range map[common.Address]string{
		yesWallet:    sayYes,
		noWallet:     sayNo,
		toggleWallet: toggleProgram,
		deafWallet:   "0 0 REVERT",
		shortWallet:  "0x1626ba7e 0xe0 SHL 0 MSTORE 4 0 RETURN",
		dirtyWallet:  "0 NOT 0 MSTORE 0x20 0 RETURN",
		tailWallet:   "0x1626ba7e 0xe0 SHL 1 OR 0 MSTORE 0x20 0 RETURN",
		deafFactory:  "0 0 REVERT",
	} {
		alloc[at] = types.Account{Code: mustAssemble(t, text), Balance: new(big.Int)}
	}
	alloc[ownedWallet] = types.Account{Code: owned, Balance: new(big.Int)}
	alloc[factory] = types.Account{Code: append(mustAssemble(t, factoryProgram), init...), Balance: new(big.Int)}

	c.backend = simulated.NewBackend(alloc)
	t.Cleanup(func() { c.backend.Close() })
	c.backend.Commit()
	server := httptest.NewServer(forward(c.backend.Client()))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// forward serves the two calls that a verifier makes.
func forward(client simulated.Client) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question struct {
			ID     json.RawMessage
			Method string
			Params []json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := func() (string, error) {
			if question.Method == "eth_blockNumber" {
				n, err := client.BlockNumber(r.Context())
				return hexutil.EncodeUint64(n), err
			}
			var call map[string]hexutil.Bytes
			var block hexutil.Uint64
			if question.Method != "eth_call" || len(question.Params) != 2 ||
				json.Unmarshal(question.Params[0], &call) != nil || json.Unmarshal(question.Params[1], &block) != nil || len(call) != 1 {
				return "", fmt.Errorf("unexpected question %s%s", question.Method, question.Params)
			}
			out, err := client.CallContract(r.Context(), ethereum.CallMsg{Data: call["data"]}, new(big.Int).SetUint64(uint64(block)))
			return hexutil.Encode(out), err
		}
		result, err := answer()
		if err == nil {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%q}`, question.ID, result)
			return
		}
		code := -32000
		var coded rpc.Error
		if errors.As(err, &coded) {
			code = coded.ErrorCode()
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, question.ID, code, err)
	})
}

func testKey(t *testing.T, seed byte) *ecdsa.PrivateKey {
	t.Helper()
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte{seed}))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func signWith(t *testing.T, key *ecdsa.PrivateKey, hash [32]byte) []byte {
	t.Helper()
	sig, err := crypto.Sign(hash[:], key)
	if err != nil {
		t.Fatal(err)
	}
	sig[64] += 27
	return sig
}

// send commits a transaction with the given data and fails the test unless it
// succeeded.
func (c *testChain) send(t *testing.T, to common.Address, data []byte) {
	t.Helper()
	client := c.backend.Client()
	head, err := client.HeaderByNumber(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	nonce, err := client.PendingNonceAt(t.Context(), crypto.PubkeyToAddress(c.rich.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	tx := types.MustSignNewTx(c.rich, types.LatestSignerForChainID(big.NewInt(1337)), &types.DynamicFeeTx{
		ChainID: big.NewInt(1337), Nonce: nonce, To: &to, Data: data, Gas: 1_000_000,
		GasTipCap: big.NewInt(params.GWei), GasFeeCap: new(big.Int).Add(head.BaseFee, big.NewInt(2*params.GWei)),
	})
	if err := client.SendTransaction(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	c.backend.Commit()
	receipt, err := client.TransactionReceipt(t.Context(), tx.Hash())
	if err != nil || receipt.Status != types.ReceiptStatusSuccessful {
		t.Fatalf("transaction failed: %+v, %v", receipt, err)
	}
}

func (c *testChain) head(t *testing.T) uint64 {
	t.Helper()
	n, err := c.backend.Client().BlockNumber(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const testTimeout = 30 * time.Second

func newVerifier(t *testing.T, url string, entries int) *Verifier {
	t.Helper()
	v, err := New(Config{Routes: map[string]string{"eip155:1": url}, Timeout: testTimeout, CacheEntries: entries})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}
