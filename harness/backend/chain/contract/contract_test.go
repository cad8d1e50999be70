package contract_test

import (
	"bytes"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"assay/harness/backend/chain/contract"
	"assay/model/backend"
)

func TestAddressesFollowFromOwnerBehaviourAndSalt(t *testing.T) {
	seen := map[common.Address]bool{}
	for _, b := range backend.Behaviours() {
		for _, owner := range []string{"0x01", "0x02"} {
			for _, salt := range [][32]byte{{1}, {2}} {
				w, err := contract.New(b, common.HexToAddress(owner), salt)
				if err != nil {
					t.Fatal(err)
				}
				if again, err := contract.New(b, common.HexToAddress(owner), salt); err != nil || again.Address != w.Address {
					t.Errorf("%q: %s and %s, %v", b, w.Address, again.Address, err)
				}
				if seen[w.Address] {
					t.Errorf("%q: a second wallet at %s", b, w.Address)
				}
				seen[w.Address] = true
				// EIP-1014, and what the factory is called with.
				call := w.Deployment()
				if got := crypto.CreateAddress2(contract.FactoryAddress(), [32]byte(call[:32]), crypto.Keccak256(call[32:])); got != w.Address {
					t.Errorf("%q: deployed to %s, said to be at %s", b, got, w.Address)
				}
			}
		}
	}
	if w, err := contract.New("sings", common.Address{1}, [32]byte{}); err == nil {
		t.Errorf("a wallet that sings is at %s", w.Address)
	}
}

// A jump has one byte for its target.
func TestProgramsAreShort(t *testing.T) {
	for _, b := range backend.Behaviours() {
		w, err := contract.New(b, common.Address{1}, [32]byte{})
		if err != nil || len(w.Init) == 0 || len(w.Init) > 255 {
			t.Errorf("%q: %d bytes, %v", b, len(w.Init), err)
		}
	}
	if n := len(contract.Factory()); n == 0 || n > 255 {
		t.Errorf("the factory has %d bytes", n)
	}
}

func TestAWrappedSignatureIsThatOfERC6492(t *testing.T) {
	var arguments abi.Arguments
	for _, name := range []string{"address", "bytes", "bytes"} {
		kind, err := abi.NewType(name, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, abi.Argument{Type: kind})
	}
	for _, inner := range [][]byte{nil, {1}, bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{7}, 65)} {
		w, err := contract.New(backend.Counterfactual, common.Address{1}, [32]byte{9})
		if err != nil {
			t.Fatal(err)
		}
		packed, err := arguments.Pack(contract.FactoryAddress(), w.Deployment(), inner)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := w.Wrap(inner), append(packed, bytes.Repeat([]byte{0x64, 0x92}, 16)...); !bytes.Equal(got, want) {
			t.Errorf("%d bytes are wrapped as\n%x, not\n%x", len(inner), got, want)
		}
	}
}
