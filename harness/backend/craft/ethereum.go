package craft

import (
	"crypto/ecdsa"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/crypto"

	"assay/model/backend"
)

// personalHash is what a key signs of a text (EIP-191, version 0x45): the text
// behind a prefix that holds its length in bytes.
func personalHash(text string, flaw backend.SignatureFlaw) []byte {
	length := fmt.Sprint(len(text))
	switch flaw {
	case backend.RawKeccak:
		return crypto.Keccak256([]byte(text))
	case backend.PrefixPadded:
		length = "0" + length
	case backend.PrefixOffByOne:
		length = fmt.Sprint(len(text) + 1)
	}
	return crypto.Keccak256([]byte("\x19Ethereum Signed Message:\n" + length + text))
}

// Lengths and parts of a recoverable signature: r, s, v.
const (
	recoverableLength = 65
	vAt               = 64
	lowV              = 27
	// chain1V is V for parity 0 on chain 1 as EIP-155 has it: 35 + 2·1.
	chain1V = 37
)

// recoverable signs a hash: 65 bytes whose last is V, with s in the lower half.
// The nonce follows from key and hash (RFC 6979).
func recoverable(key *ecdsa.PrivateKey, hash []byte) ([]byte, error) {
	s, err := crypto.Sign(hash, key)
	if err != nil {
		return nil, fmt.Errorf("sign a hash of %d bytes: %w", len(hash), err)
	}
	s[vAt] += lowV
	return s, nil
}

// personal is the erc_191 signature of a text, sound, odd or flawed.
func personal(key *ecdsa.PrivateKey, text string, s backend.Signing) ([]byte, error) {
	out, err := recoverable(key, personalHash(text, s.Flaw))
	if err != nil {
		return nil, err
	}
	order := crypto.S256().Params().N
	upper := func() {
		new(big.Int).Sub(order, new(big.Int).SetBytes(out[32:64])).FillBytes(out[32:64])
	}
	switch s.Variant {
	case backend.ParityV:
		out[vAt] -= lowV
	case backend.ChainV:
		out[vAt] += chain1V - lowV
	case backend.HighS:
		upper()
		out[vAt] = lowV + (lowV + 1 - out[vAt])
	case backend.HighSSameV:
		upper()
	}
	switch s.Flaw {
	case backend.EthereumCut:
		out = out[:vAt]
	case backend.EthereumLong:
		out = append(out, 0)
	case backend.EthereumV5:
		out[vAt] = 5
	case backend.EthereumZeros:
		out = make([]byte, recoverableLength)
	case backend.EthereumLargeR:
		order.FillBytes(out[:32])
	}
	return out, nil
}

// ethereumSignature is the Signature message of a wallet.
func (k *keys) ethereumSignature(text string, s backend.Signing) (field, error) {
	if s.Variant == backend.Delegated {
		return k.delegated(text, s)
	}
	b, err := personal(k.ethereum, text, s)
	return message(erc191Field, bytesOf(1, b)), err
}

// delegated is the retired form: the wallet vouches for a key, and that key
// signs the text.
func (k *keys) delegated(text string, s backend.Signing) (field, error) {
	public := crypto.FromECDSAPub(&k.delegate.PublicKey)
	const createdNS = 1_600_000_000_000_000_000
	keyBytes := writer{}.append(nil, []field{number(1, createdNS), message(3, bytesOf(1, public))})
	voucher, err := recoverable(k.ethereum, personalHash(fmt.Sprintf("XMTP : Create Identity\n%x\n\nFor more info: https://xmtp.org/signatures/", keyBytes), backend.SoundSignature))
	if err != nil {
		return field{}, err
	}
	signer := k.delegate
	if s.Flaw == backend.DelegateStranger {
		signer = k.ethereum
	}
	own, err := personal(signer, text, backend.Signing{Flaw: s.Flaw})
	if err != nil {
		return field{}, err
	}
	return message(delegatedField,
		message(1, bytesOf(1, keyBytes), message(2, message(1, bytesOf(1, voucher[:vAt]), number(2, uint64(voucher[vAt]-lowV))))),
		message(2, bytesOf(1, own))), nil
}
