package identity

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha512"
	"fmt"
	"math/big"
)

// installationContext separates identity updates from everything else that an
// installation key signs (RFC 8032, section 5.1: dom2).
const installationContext = "IDENTITY UPDATE SIGNATURE"

// InstallationSignature is Ed25519ph under the installation's own key, which
// it names.
type InstallationSignature struct {
	Bytes []byte
	Key   [ed25519.PublicKeySize]byte
}

func (s InstallationSignature) verify(_ context.Context, m message, _ WalletVerifier) (Signed, *Error) {
	const rule = RuleInstallationSignature
	if len(s.Bytes) != ed25519.SignatureSize {
		return Signed{}, refuse(InvalidSignature, rule, "an Ed25519 signature has %d bytes, this one has %d", ed25519.SignatureSize, len(s.Bytes))
	}
	digest := sha512.Sum512([]byte(m.text))
	options := &ed25519.Options{Hash: crypto.SHA512, Context: installationContext}
	if ed25519.VerifyWithOptions(s.Key[:], digest[:], s.Bytes, options) != nil {
		return Signed{}, refuse(InvalidSignature, rule, "the signature does not verify under key %x", s.Key)
	}
	return Signed{By: InstallationKey(s.Key[:]), Scheme: ByInstallationKey, Used: string(s.Bytes)}, nil
}

// parseInstallationKey refuses what is no Ed25519 public key: 32 bytes that
// encode a point of the curve. The signature is not looked at.
func parseInstallationKey(b []byte) (key [ed25519.PublicKeySize]byte, err error) {
	if len(b) != len(key) {
		return key, fmt.Errorf("an installation key has %d bytes, this one has %d", len(key), len(b))
	}
	copy(key[:], b)
	if !onEdwards25519(key) {
		return key, fmt.Errorf("the installation key %x is no point of the curve", b)
	}
	return key, nil
}

// onEdwards25519 reports whether an encoding decompresses (RFC 8032, 5.1.3):
// with y the low 255 bits, x^2 = (y^2-1)/(d*y^2+1) must have a root. A
// fraction is a square exactly when the product of its parts is, so no
// inverse is needed; the sign bit never matters for existence. Encodings of y
// that are not reduced are let pass, as Ed25519 verification does.
func onEdwards25519(key [32]byte) bool {
	// p = 2^255 - 19 and d = -121665/121666 mod p, RFC 8032, section 5.1.
	p, _ := new(big.Int).SetString("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed", 16)
	d, _ := new(big.Int).SetString("52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3", 16)

	var bigEndian [32]byte
	for i, b := range key {
		bigEndian[31-i] = b
	}
	bigEndian[0] &= 0x7f
	y := new(big.Int).SetBytes(bigEndian[:])
	yy := y.Mul(y, y).Mod(y, p)
	u := new(big.Int).Sub(yy, big.NewInt(1))
	v := new(big.Int).Mul(d, yy)
	v.Add(v, big.NewInt(1))
	return big.Jacobi(u.Mul(u, v).Mod(u, p), p) >= 0
}
