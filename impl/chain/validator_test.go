package chain

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"assay/impl/identity"
)

// wrap makes an ERC-6492 signature.
func wrap(t testing.TB, by common.Address, deploy, inner []byte) []byte {
	t.Helper()
	var arguments abi.Arguments
	for _, name := range []string{"address", "bytes", "bytes"} {
		kind, err := abi.NewType(name, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, abi.Argument{Type: kind})
	}
	packed, err := arguments.Pack(by, deploy, inner)
	if err != nil {
		t.Fatal(err)
	}
	return append(packed, magic()...)
}

func magic() []byte { return bytes.Repeat([]byte{0x64, 0x92}, 16) }

func TestWalletsAnswerOnTheChain(t *testing.T) {
	c := newTestChain(t)
	hash := [32]byte(crypto.Keccak256([]byte("a text")))
	other := [32]byte(crypto.Keccak256([]byte("another text")))
	owner := crypto.PubkeyToAddress(c.owner.PublicKey)
	byOwner := signWith(t, c.owner, hash)
	highS := bytes.Clone(byOwner)
	new(big.Int).Sub(crypto.S256().Params().N, new(big.Int).SetBytes(highS[32:64])).FillBytes(highS[32:64])
	highS[64] = 27 + (28 - highS[64])
	bare := bytes.Clone(byOwner)
	bare[64] -= 27
	junk := append(bytes.Repeat([]byte{0xee}, 64), 27)
	word := func(n uint64) []byte { return common.BigToHash(new(big.Int).SetUint64(n)).Bytes() }
	huge := bytes.Repeat([]byte{0xff}, 32)
	join := func(parts ...[]byte) []byte { return append(bytes.Join(parts, nil), magic()...) }

	const yes, no, nothing = "yes", "no", "no verdict"
	for _, tc := range []struct {
		name   string
		wallet common.Address
		sig    []byte
		want   string
	}{
		{"a wallet that says yes is valid", yesWallet, junk, yes},
		{"a signature of exactly 32 bytes is asked about", yesWallet, junk[:32], yes},
		{"a long signature is asked about", yesWallet, bytes.Repeat([]byte{7}, 5000), yes},
		{"a wallet that says no is invalid", noWallet, junk, no},
		{"a wallet finds its owner's signature over the hash", ownedWallet, byOwner, yes},
		{"a wallet refuses its owner's signature over another hash", ownedWallet, signWith(t, c.owner, other), no},
		{"a wallet gets bytes after the first 65 too and ignores them", ownedWallet, append(bytes.Clone(byOwner), 1, 2, 3), yes},
		{"a wallet that reverts gives no verdict", deafWallet, junk, nothing},
		{"a wallet that returns four bytes gives no verdict", shortWallet, junk, nothing},
		{"a wallet that returns a word of ff gives no verdict", dirtyWallet, junk, nothing},
		{"the magic value with a dirty tail gives no verdict", tailWallet, junk, nothing},
		{"31 bytes give no verdict even on a wallet that says yes", yesWallet, junk[:31], nothing},
		{"no bytes give no verdict even on a wallet that says yes", yesWallet, nil, nothing},

		{"an address without code signs with its key", owner, byOwner, yes},
		{"an address without code signs with S in the upper half", owner, highS, yes},
		{"an address without code refuses another's signature", common.HexToAddress("0xdead"), byOwner, no},
		{"an address without code refuses a signature over another hash", owner, signWith(t, c.owner, other), no},
		{"an address without code takes no V of 0 or 1", owner, bare, nothing},
		{"an address without code takes no 64 bytes", owner, byOwner[:64], nothing},
		{"an address without code takes no 66 bytes", owner, append(bytes.Clone(byOwner), 0), nothing},
		{"the zero address does not sign what nobody signed", common.Address{}, append(make([]byte, 64), 27), no},

		{"a wallet to be deployed answers", c.child, wrap(t, factory, nil, byOwner), yes},
		{"a wallet to be deployed refuses another hash", c.child, wrap(t, factory, nil, signWith(t, c.owner, other)), no},
		{"a wallet to be deployed needs its wrapper", c.child, byOwner, no},
		{"a wallet that is deployed answers inside a wrapper", ownedWallet, wrap(t, deafFactory, []byte{1}, byOwner), yes},
		{"a factory that reverts gives no verdict", c.child, wrap(t, deafFactory, nil, byOwner), nothing},
		{"a factory without code gives no verdict", c.child, wrap(t, common.HexToAddress("0xcc"), nil, byOwner), nothing},
		{"a factory that deploys elsewhere gives no verdict", common.HexToAddress("0xdd"), wrap(t, factory, nil, byOwner), nothing},
		{"an inner signature may be short", yesWallet, wrap(t, factory, nil, nil), yes},

		{"the magic word alone gives no verdict", yesWallet, magic(), nothing},
		{"two words before the magic one give no verdict", yesWallet, join(word(1), word(64)), nothing},
		{"a factory of more than 20 bytes gives no verdict", yesWallet, join(huge, word(96), word(96), word(0)), nothing},
		{"both byte strings may share a place", yesWallet, join(word(1), word(96), word(96), word(0)), yes},
		{"a byte string may fill the rest", yesWallet, join(word(1), word(96), word(96), word(32), word(7)), yes},
		{"an offset beyond the end gives no verdict", yesWallet, join(word(1), word(96), word(128), word(0)), nothing},
		{"a length that is cut out of the magic word gives no verdict", yesWallet, join(word(1), word(97), word(96), word(0)), nothing},
		{"a huge offset gives no verdict", yesWallet, join(word(1), huge, word(96), word(0)), nothing},
		{"a length up to the end is that of the magic word too", yesWallet, join(word(1), word(96), word(96), word(32)), yes},
		{"a length beyond the end gives no verdict", yesWallet, join(word(1), word(96), word(96), word(33)), nothing},
		{"a huge length gives no verdict", yesWallet, join(word(1), word(96), word(96), huge), nothing},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := newVerifier(t, c.url, 0)
			block := c.head(t)
			verdict, err := v.Verify(t.Context(), Request{
				Account: identity.AccountID{Chain: "eip155:1", Address: tc.wallet.Hex()}, Hash: hash, Signature: tc.sig, Block: &block,
			})
			got := no
			var outage *Outage
			switch {
			case errors.As(err, &outage) && outage.Trouble == CallFailed:
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

func TestAssemblerRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown word":        "PUSH2",
		"a missing label":        "@nowhere JUMP",
		"a label that is reused": "a: a:",
		"a negative number":      "-1",
		"a number too large":     "0x1" + string(bytes.Repeat([]byte("00"), 32)),
	} {
		t.Run(name, func(t *testing.T) {
			if code, err := assemble(text); err == nil {
				t.Errorf("made %x", code)
			}
		})
	}
	if code, err := assemble("0x1234 ; a comment\n@end .size end: STOP"); err != nil || !bytes.Equal(code, []byte{0x61, 0x12, 0x34, 0x61, 0, 9, 0x61, 0, 11, 0x5b, 0}) {
		t.Errorf("made %x, %v", code, err)
	}
}
