package mls

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"math/big"
	"slices"
	"testing"
)

// The curve of Ed25519 in plain big numbers, to find the points of small order without trusting a list.
type curve struct{ p, d, l *big.Int }

func ed25519Curve() curve {
	one := big.NewInt(1)
	p := new(big.Int).Sub(new(big.Int).Lsh(one, 255), big.NewInt(19))
	d := new(big.Int).Mul(big.NewInt(-121665), new(big.Int).ModInverse(big.NewInt(121666), p))
	l, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	return curve{p: p, d: d.Mod(d, p), l: l}
}

// decode returns the point that 32 bytes encode, reduced, as lenient decoders read it. ok is false off the curve.
func (e curve) decode(encoded [32]byte) (x, y *big.Int, ok bool) {
	sign := uint(encoded[31] >> 7)
	encoded[31] &= 0x7f
	slices.Reverse(encoded[:])
	y = new(big.Int).SetBytes(encoded[:])
	y.Mod(y, e.p)
	yy := new(big.Int).Mul(y, y)
	u := new(big.Int).Sub(yy, big.NewInt(1))
	v := new(big.Int).Mul(yy, e.d)
	v.Add(v, big.NewInt(1))
	xx := u.Mul(u, v.ModInverse(v, e.p))
	x = new(big.Int).ModSqrt(xx.Mod(xx, e.p), e.p)
	if x == nil {
		return nil, nil, false
	}
	if x.Bit(0) != sign {
		x.Sub(e.p, x).Mod(x, e.p)
	}
	return x, y, true
}

// double returns the sum of a point with itself.
func (e curve) double(x, y *big.Int) (*big.Int, *big.Int) {
	xx, yy, xy := new(big.Int).Mul(x, x), new(big.Int).Mul(y, y), new(big.Int).Mul(x, y)
	t := new(big.Int).Mul(xx, yy)
	t.Mul(t, e.d).Mod(t, e.p)
	quotient := func(n, d *big.Int) *big.Int {
		n.Mul(n, new(big.Int).ModInverse(d.Mod(d, e.p), e.p))
		return n.Mod(n, e.p)
	}
	one := big.NewInt(1)
	return quotient(xy.Lsh(xy, 1), new(big.Int).Add(one, t)), quotient(yy.Add(yy, xx), new(big.Int).Sub(one, t))
}

// smallOrder computes what the product looks up: whether eight times the point is the neutral element.
func (e curve) smallOrder(encoded [32]byte) bool {
	x, y, ok := e.decode(encoded)
	if !ok {
		return false
	}
	for range 3 {
		x, y = e.double(x, y)
	}
	return x.Sign() == 0 && y.Cmp(big.NewInt(1)) == 0
}

func littleEndian(n *big.Int) (out [32]byte) {
	n.FillBytes(out[:])
	slices.Reverse(out[:])
	return out
}

// TestTheListOfSmallOrderPointsIsTheCurvesOwn compares the list with the arithmetic on every encoding that could
// surprise: all non-canonical ones, both neighbourhoods of 0 and p, every point of order 8, with both signs, and a
// few ordinary keys.
func TestTheListOfSmallOrderPointsIsTheCurvesOwn(t *testing.T) {
	e := ed25519Curve()
	var candidates [][32]byte
	for delta := int64(-40); delta < 19; delta++ { // p+18 = 2^255-1 is the last encoding
		candidates = append(candidates, littleEndian(new(big.Int).Add(e.p, big.NewInt(delta))))
	}
	for y := range int64(40) {
		candidates = append(candidates, littleEndian(big.NewInt(y)))
	}
	candidates = append(candidates, orderEight(t, e)...)
	for seed := range byte(16) {
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32)).Public().(ed25519.PublicKey)
		candidates = append(candidates, [32]byte(key))
	}
	found := 0
	for _, candidate := range candidates {
		for _, sign := range []byte{0, 0x80} {
			candidate[31] = candidate[31]&0x7f | sign
			want := e.smallOrder(candidate)
			if got := smallOrder(candidate); got != want {
				t.Errorf("%x: small order %t, expected %t", candidate, got, want)
			}
			if want {
				found++
			}
		}
	}
	// y = 0, 1, -1, two of order 8, and the second forms of 0 and 1, each with two signs.
	if found != 14 {
		t.Errorf("the candidates hold %d encodings of small order, expected 14", found)
	}
}

// orderEight computes the y coordinates of the points of order 8. Doubling one gives a point with y = 0, so that
// y^2 = -x^2, and the curve's equation becomes d y^4 + 2 y^2 - 1 = 0.
func orderEight(t *testing.T, e curve) (encoded [][32]byte) {
	t.Helper()
	root := new(big.Int).ModSqrt(new(big.Int).Add(e.d, big.NewInt(1)), e.p)
	if root == nil {
		t.Fatal("d + 1 has no root")
	}
	for _, r := range []*big.Int{root, new(big.Int).Neg(root)} {
		yy := new(big.Int).Sub(r, big.NewInt(1))
		yy.Mul(yy, new(big.Int).ModInverse(e.d, e.p)).Mod(yy, e.p)
		if y := new(big.Int).ModSqrt(yy, e.p); y != nil {
			encoded = append(encoded, littleEndian(y), littleEndian(new(big.Int).Sub(e.p, y)))
		}
	}
	if len(encoded) != 2 {
		t.Fatalf("found %d y coordinates of order 8, expected 2", len(encoded))
	}
	return encoded
}

// TestASignatureWithAPointOfSmallOrderIsRefused makes the one kind of weak signature that the owner of an ordinary
// key can make: R is the neutral element and S is k times the secret. crypto/ed25519 takes it; strictly it is none.
func TestASignatureWithAPointOfSmallOrderIsRefused(t *testing.T) {
	e := ed25519Curve()
	seed := bytes.Repeat([]byte{9}, 32)
	key := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	message := []byte("message")

	neutral := [32]byte{1}
	hashed := sha512.Sum512(join(neutral[:], key, message))
	slices.Reverse(hashed[:])
	s := new(big.Int).Mul(secretScalar(seed), new(big.Int).SetBytes(hashed[:]))
	scalar := littleEndian(s.Mod(s, e.l))
	signature := join(neutral[:], scalar[:])

	if !ed25519.Verify(key, message, signature) {
		t.Fatal("crypto/ed25519 refuses the signature too: this test shows nothing")
	}
	if verifyStrict(key, message, signature) {
		t.Error("accepted")
	}
}

// secretScalar returns the number by which the base point is multiplied for a seed's public key.
func secretScalar(seed []byte) *big.Int {
	digest := sha512.Sum512(seed)
	secret := [32]byte(digest[:32])
	secret[0] &= 248
	secret[31] = secret[31]&63 | 64
	slices.Reverse(secret[:])
	return new(big.Int).SetBytes(secret[:])
}

// TestAKeyOfSmallOrderVerifiesNothing shows for the neutral element that only the strict check stands between anybody
// and a package of their making: S times the base point is R whatever the message says. R may be neutral too, or any
// other point.
func TestAKeyOfSmallOrderVerifiesNothing(t *testing.T) {
	e := ed25519Curve()
	key := append([]byte{1}, make([]byte, 31)...)
	seed := bytes.Repeat([]byte{8}, 32)
	scalar := littleEndian(new(big.Int).Mod(secretScalar(seed), e.l))
	signatures := map[string][]byte{
		"R is neutral":     append(slices.Clone(key), make([]byte, 32)...),
		"R is large order": join(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey), scalar[:]),
	}
	for name, signature := range signatures {
		for _, message := range []string{"", "one", "another"} {
			if !ed25519.Verify(key, []byte(message), signature) {
				t.Fatalf("%s: crypto/ed25519 refuses the signature too: this test shows nothing", name)
			}
			if verifyStrict(key, []byte(message), signature) {
				t.Errorf("%s: accepted for %q", name, message)
			}
		}
	}
}

func TestStrictVerificationTakesGoodSignaturesOnly(t *testing.T) {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, 32))
	key := private.Public().(ed25519.PublicKey)
	message := []byte("message")
	good := ed25519.Sign(private, message)
	unreduced := func() []byte { // S + L is the same scalar, written as a larger number
		half := [32]byte(good[32:])
		slices.Reverse(half[:])
		s := littleEndian(new(big.Int).Add(new(big.Int).SetBytes(half[:]), ed25519Curve().l))
		return join(good[:32], s[:])
	}()
	cases := []struct {
		name                    string
		key, message, signature []byte
		want                    bool
	}{
		{"the signature as made", key, message, good, true},
		{"another message", key, []byte("massage"), good, false},
		{"another key", ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey), message, good, false},
		{"a byte too few", key, message, good[:63], false},
		{"a byte too many", key, message, append(slices.Clone(good), 0), false},
		{"no signature", key, message, nil, false},
		{"a key too short", key[:31], message, good, false},
		{"a key that is no point", append([]byte{2}, make([]byte, 31)...), message, good, false},
		{"an S that is not reduced", key, message, unreduced, false},
	}
	for _, c := range cases {
		if got := verifyStrict(c.key, c.message, c.signature); got != c.want {
			t.Errorf("%s: verified %t, expected %t", c.name, got, c.want)
		}
	}
}
