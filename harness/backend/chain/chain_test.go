package chain_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	"go.uber.org/goleak"

	"assay/harness/backend/chain"
	"assay/harness/backend/chain/contract"
	"assay/harness/backend/craft"
	"assay/harness/postgres/pgtest"
	implchain "assay/impl/chain"
	"assay/impl/identity"
	"assay/model/backend"
)

func TestMain(m *testing.M) {
	// A closed database of go-ethereum's peer table drains its pool for a second
	// more. Its senders of transactions are looked up by workers of the whole
	// process, which start with the first block and never end.
	os.Exit(pgtest.Main(m, func() error {
		return goleak.Find(
			goleak.IgnoreAnyFunction("github.com/syndtr/goleveldb/leveldb.(*DB).mpoolDrain"),
			goleak.IgnoreAnyFunction("github.com/ethereum/go-ethereum/core.(*txSenderCacher).cache"))
	}))
}

func start(t *testing.T) *chain.Chain {
	t.Helper()
	c, err := chain.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// verifier is the reference's, pointed at the chain.
func verifier(t *testing.T, c *chain.Chain, timeout time.Duration) *implchain.Verifier {
	t.Helper()
	v, err := implchain.New(implchain.Config{Timeout: timeout, Routes: map[string]string{
		fmt.Sprintf("eip155:%d", c.ID()): c.URL(), "eip155:31337": c.URL(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

const patience = 30 * time.Second

// ask crafts one verification and puts it to the reference's verifier.
func ask(t *testing.T, v *implchain.Verifier, c *craft.Crafter, intent backend.Verification) (implchain.Verdict, error) {
	t.Helper()
	request, call, err := c.VerifyRequest([]backend.Verification{intent})
	if err != nil {
		t.Fatal(err)
	}
	entry := decode(t, request)
	r, err := implchain.NewRequest(call.Entries[0].Account, call.Entries[0].Number, entry.GetHash(), entry.GetSignature())
	if err != nil {
		t.Fatal(err)
	}
	return v.Verify(t.Context(), r)
}

func party(b backend.Behaviour) backend.Party {
	return backend.Party{Kind: backend.Contract, Name: "c", Behaviour: b}
}

func TestEveryWalletBehavesAsItsBehaviourSays(t *testing.T) {
	c := start(t)
	v := verifier(t, c, patience)
	cr := craft.New(1, "n", "s").WithChain(c)
	const yes, no, nothing = "yes", "no", "no verdict"
	wallet := backend.Party{Kind: backend.Wallet, Name: "w"}
	for _, tc := range []struct {
		name string
		v    backend.Verification
		want string
	}{
		{"an owner's signature is valid", backend.Verification{By: backend.Signing{Party: party(backend.Plainly)}}, yes},
		{"an owner's signature with a salt is valid", backend.Verification{By: backend.Signing{Party: party(backend.Plainly), Salt: 7}}, yes},
		{"an owner's signature over another hash is not", backend.Verification{By: backend.Signing{Party: party(backend.Plainly), Flaw: backend.OverOtherText}}, no},
		{"another hash than the signed one is not valid", backend.Verification{By: backend.Signing{Party: party(backend.Plainly)}, Hash: backend.OtherHash}, no},
		{"an account in mixed case is the same account", backend.Verification{By: backend.Signing{Party: party(backend.Plainly), Variant: backend.AccountChecksummed}}, yes},
		{"one block later it is valid too", backend.Verification{By: backend.Signing{Party: party(backend.Plainly), Block: backend.AfterDeployment}}, yes},
		{"the newest block needs no number", backend.Verification{By: backend.Signing{Party: party(backend.Plainly), Block: backend.Newest}}, yes},
		{"the second route leads to the same node", backend.Verification{By: backend.Signing{Party: party(backend.Plainly), Chain: backend.SecondRoute}}, yes},
		{"at block 0 there is no wallet, and its address signs nothing", backend.Verification{By: backend.Signing{Party: party(backend.Plainly), Block: backend.Genesis}}, no},
		{"a chain without a route gives no verdict", backend.Verification{By: backend.Signing{Party: party(backend.Plainly), Chain: backend.NoRoute}}, nothing},
		{"a block above the head gives no verdict", backend.Verification{By: backend.Signing{Party: party(backend.Plainly), Block: backend.AboveHead}}, nothing},
		{"who says yes says yes", backend.Verification{By: backend.Signing{Party: party(backend.Always)}}, yes},
		{"who says no says no", backend.Verification{By: backend.Signing{Party: party(backend.Never)}}, no},
		{"who reverts gives no verdict", backend.Verification{By: backend.Signing{Party: party(backend.Reverts)}}, nothing},
		{"four bytes give no verdict", backend.Verification{By: backend.Signing{Party: party(backend.Short)}}, nothing},
		{"a dirty tail gives no verdict", backend.Verification{By: backend.Signing{Party: party(backend.Dirty)}}, nothing},
		{"a wallet not yet deployed answers its owner's signature", backend.Verification{By: backend.Signing{Party: party(backend.Counterfactual)}}, yes},
		{"a wallet not yet deployed refuses another hash", backend.Verification{By: backend.Signing{Party: party(backend.Counterfactual), Flaw: backend.OverOtherText}}, no},
		{"a wallet not yet deployed needs its wrapper", backend.Verification{By: backend.Signing{Party: party(backend.Counterfactual), Flaw: backend.WrapperMissing}}, no},
		{"before its switch a wallet says yes", backend.Verification{By: backend.Signing{Party: party(backend.Toggled)}}, yes},
		{"after its switch it says no", backend.Verification{By: backend.Signing{Party: party(backend.Toggled), Block: backend.AfterSwitch}}, no},
		{"at the block before its switch it still says yes", backend.Verification{By: backend.Signing{Party: party(backend.Toggled)}}, yes},
		{"switched, it says no at the newest block", backend.Verification{By: backend.Signing{Party: party(backend.Toggled), Block: backend.Newest}}, no},
		{"a wallet's own key signs for its address", backend.Verification{By: backend.Signing{Party: wallet, Variant: backend.AsContract}}, yes},
		{"a wallet's own key over another hash does not", backend.Verification{By: backend.Signing{Party: wallet, Variant: backend.AsContract, Flaw: backend.OverOtherText}}, no},
	} {
		t.Run(tc.name, func(t *testing.T) {
			verdict, err := ask(t, v, cr, tc.v)
			got := no
			var outage *implchain.Outage
			switch {
			case errors.As(err, &outage):
				got = nothing
			case err != nil:
				t.Fatal(err)
			case verdict.Valid:
				got = yes
			}
			if got != tc.want {
				t.Errorf("got %s (%v), want %s", got, err, tc.want)
			}
		})
	}
}

func TestABlockStaysWhatItWas(t *testing.T) {
	c := start(t)
	for b := range strings.SplitSeq("0 1 2 3", " ") {
		w := newWallet(t, backend.Toggled, b)
		first, err := c.Block(w, backend.AtDeployment)
		if err != nil {
			t.Fatal(err)
		}
		later, err := c.Block(w, backend.AfterDeployment)
		if err != nil || later != first+1 {
			t.Fatalf("block %d one later is %d, %v", first, later, err)
		}
		switched, err := c.Switch(w)
		if err != nil || switched <= first {
			t.Fatalf("deployed at %d, switched at %d, %v", first, switched, err)
		}
		if _, err := c.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		for b, want := range map[backend.Block]uint64{backend.AtDeployment: first, backend.AfterDeployment: later, backend.AfterSwitch: switched, backend.Genesis: 0} {
			if got, err := c.Block(w, b); err != nil || got != want {
				t.Errorf("asked again, block %q is %d, %v, want %d", b, got, err, want)
			}
		}
	}
	if _, err := c.Switch(newWallet(t, backend.Always, "a")); err == nil {
		t.Error("a wallet without a switch was switched")
	}
	if _, err := c.BlockOf(common.HexToAddress("0xabc"), backend.AfterSwitch); err == nil {
		t.Error("an address without code was switched")
	}
	if _, err := c.Block(newWallet(t, backend.Always, "a"), backend.Newest); err == nil {
		t.Error("the newest block has a number")
	}
}

func newWallet(t *testing.T, b backend.Behaviour, name string) contract.Wallet {
	t.Helper()
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte(name)))
	if err != nil {
		t.Fatal(err)
	}
	w, err := contract.New(b, crypto.PubkeyToAddress(key.PublicKey), [32]byte(crypto.Keccak256([]byte(name))))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWalletsAreWhereTheirAddressesSay(t *testing.T) {
	c := start(t)
	client, err := ethclient.Dial(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if id, err := client.ChainID(t.Context()); err != nil || id.Uint64() != c.ID() {
		t.Errorf("chain %v, %v", id, err)
	}
	seen := map[common.Address]bool{}
	for _, b := range backend.Behaviours() {
		for _, name := range []string{"a", "b"} {
			w := newWallet(t, b, name)
			if seen[w.Address] {
				t.Errorf("two wallets at %s", w.Address)
			}
			seen[w.Address] = true
			if code, err := client.CodeAt(t.Context(), w.Address, nil); err != nil || len(code) != 0 {
				t.Errorf("%s: %d bytes of code before anybody deployed it, %v", b, len(code), err)
			}
			at, err := c.Deploy(w)
			if err != nil {
				t.Fatal(err)
			}
			code, err := client.CodeAt(t.Context(), w.Address, nil)
			if err != nil || (len(code) == 0) != (b == backend.Counterfactual) {
				t.Errorf("a wallet that %s has %d bytes of code at block %d, %v", b, len(code), at, err)
			}
			if again, err := c.Deploy(w); err != nil || again != at {
				t.Errorf("deployed again: block %d, %v, want %d", again, err, at)
			}
		}
	}
}

func TestAnOutageIsSeenAsOneAndEndsWithNothingLost(t *testing.T) {
	c := start(t)
	cr := craft.New(1, "n", "s").WithChain(c)
	intent := backend.Verification{By: backend.Signing{Party: party(backend.Plainly)}}
	for outage, want := range map[chain.Outage]implchain.Trouble{
		chain.Broken: implchain.Unreachable, chain.Silent: implchain.TimedOut, chain.Refusing: implchain.HTTPFailure, chain.Failing: implchain.CallFailed,
	} {
		t.Run(outage.String(), func(t *testing.T) {
			timeout := patience
			if outage == chain.Silent {
				timeout = 100 * time.Millisecond
			}
			v := verifier(t, c, timeout)
			asked := c.Asked()
			c.Cut(outage)
			_, err := ask(t, v, cr, intent)
			var o *implchain.Outage
			if !errors.As(err, &o) || o.Trouble != want {
				t.Errorf("cut, the verifier says %v, want trouble %q", err, want)
			}
			if c.Asked() == asked {
				t.Error("the chain was not asked")
			}
			c.Restore()
			if verdict, err := ask(t, verifier(t, c, patience), cr, intent); err != nil || !verdict.Valid {
				t.Errorf("restored, the verifier says %v, %v", verdict, err)
			}
		})
	}
}

func TestASilentChainAnswersWhenItIsRestored(t *testing.T) {
	c := start(t)
	cr := craft.New(1, "n", "s").WithChain(c)
	v := verifier(t, c, patience)
	intent := backend.Verification{By: backend.Signing{Party: party(backend.Always)}}
	if _, err := ask(t, v, cr, intent); err != nil {
		t.Fatal(err)
	}
	c.Cut(chain.Silent)
	asked, answered := c.Asked(), make(chan error, 1)
	go func() {
		_, err := v.Verify(context.Background(), implchain.Request{Account: identity.AccountID{Chain: "eip155:1337", Address: common.Address{1}.Hex()}, Signature: make([]byte, 65)})
		answered <- err
	}()
	for c.Asked() == asked {
		select {
		case err := <-answered:
			t.Fatalf("a silent chain answered: %v", err)
		case <-t.Context().Done():
			t.Fatal("the question did not arrive")
		case <-time.After(time.Millisecond):
		}
	}
	c.Restore()
	var outage *implchain.Outage
	if err := <-answered; err != nil && (!errors.As(err, &outage) || outage.Trouble != implchain.CallFailed) {
		t.Errorf("restored, the answer is %v", err)
	}
}

func TestAChainThatEndsDuringAnOutageHoldsNobody(t *testing.T) {
	c, err := chain.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Cut(chain.Silent)
	client, err := ethclient.Dial(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	answered := make(chan error, 1)
	go func() {
		_, err := client.BlockNumber(context.Background())
		answered <- err
	}()
	for c.Asked() == 0 {
		select {
		case err := <-answered:
			t.Fatalf("a silent chain answered: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-answered; err == nil {
		t.Error("a chain that ended answered")
	}
	if err := c.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	if _, err := c.Deploy(newWallet(t, backend.Always, "a")); err == nil {
		t.Error("a closed chain deployed a wallet")
	}
}

func TestServeSaysWhereItIsAndEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	lines := make(chan string, 8)
	done := make(chan error, 1)
	go func() { done <- chain.Serve(ctx, "127.0.0.1:0", writer(lines)) }()
	line := <-lines
	_, url, ok := strings.Cut(strings.TrimSpace(line), " at ")
	if !ok {
		t.Fatalf("said %q", line)
	}
	client, err := ethclient.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if n, err := client.BlockNumber(t.Context()); err != nil || n == 0 {
		t.Errorf("newest block %d, %v", n, err)
	}
	if code, err := client.CodeAt(t.Context(), contract.FactoryAddress(), nil); err != nil || len(code) == 0 {
		t.Errorf("factory of %d bytes, %v", len(code), err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := chain.Serve(t.Context(), "256.0.0.1:0", writer(lines)); err == nil {
		t.Error("served at an address that is none")
	}
}

type writer chan string

func (w writer) Write(b []byte) (int, error) {
	w <- string(b)
	return len(b), nil
}
