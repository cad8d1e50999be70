package identity

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/crypto"
)

// AddressSignature is an EIP-191 personal signature: 32 bytes R, 32 bytes S,
// one byte V. It names no signer; the signer is whoever recovery yields. A
// good signature over another text is therefore no bad signature: it is the
// signature of somebody else.
type AddressSignature struct {
	Bytes []byte
}

func (s AddressSignature) verify(_ context.Context, m message, _ WalletVerifier) (Signed, *Error) {
	address, used, err := recoverAddress(m.eip191, s.Bytes)
	if err != nil {
		return Signed{}, refuse(InvalidSignature, RuleAddressSignature, "%v", err)
	}
	return Signed{By: EthereumAddress(address), Scheme: ByAddressKey, Used: used}, nil
}

// personalHash is the EIP-191 hash of a personal message: the length in the
// prefix is that of the text in bytes, in decimal.
func personalHash(text string) [32]byte {
	return [32]byte(crypto.Keccak256(
		fmt.Appendf(nil, "\x19Ethereum Signed Message:\n%d", len(text)),
		[]byte(text),
	))
}

// recoverAddress recovers the lowercase address that signed hash, and the key
// under which the signature counts as used.
//
// S is folded into the lower half of the group order while the parity of V
// stays as sent. So (R, n-S, V) reads as (R, S, V), and the other encoding
// that the mathematics allows, (R, n-S, other V), recovers a stranger and
// fails later. This is the long-standing reading of the field; newer drafts
// turn it round. In either reading one signature has one used key.
func recoverAddress(hash [32]byte, sig []byte) (address, used string, err error) {
	if len(sig) != crypto.SignatureLength {
		return "", "", fmt.Errorf("an address signature has %d bytes, this one has %d", crypto.SignatureLength, len(sig))
	}
	parity, err := parityOf(sig[64])
	if err != nil {
		return "", "", err
	}
	n := crypto.S256().Params().N
	r, s := new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:64])
	if !crypto.ValidateSignatureValues(parity, r, s, false) {
		return "", "", fmt.Errorf("r or s is zero or not below the group order")
	}
	if s.Cmp(new(big.Int).Rsh(n, 1)) > 0 {
		s.Sub(n, s)
	}
	normal := make([]byte, crypto.SignatureLength)
	copy(normal, sig[:32])
	s.FillBytes(normal[32:64])
	normal[64] = parity

	public, err := crypto.Ecrecover(hash[:], normal)
	if err != nil {
		return "", "", fmt.Errorf("no public key can be recovered from this signature")
	}
	return addressOf(public), string(normal), nil
}

// parityOf reads V. Besides the bare parity and the classic 27 and 28 it
// takes the EIP-155 values from 35 on, whose parity is that of V-35: wallets
// that sign a message like a transaction produce them.
func parityOf(v byte) (byte, error) {
	switch {
	case v == 0 || v == 1:
		return v, nil
	case v == 27 || v == 28:
		return v - 27, nil
	case v >= 35:
		return (v - 35) % 2, nil
	default:
		return 0, fmt.Errorf("the last byte of an address signature is %d, not 0, 1, 27, 28 or at least 35", v)
	}
}

// addressOf is the lowercase address of an uncompressed secp256k1 key.
func addressOf(public []byte) string {
	return "0x" + hex.EncodeToString(crypto.Keccak256(public[1:])[12:])
}
