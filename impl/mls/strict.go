package mls

import "crypto/ed25519"

// signedContent puts a label in front of what is signed (RFC 9420 section 5.1.2, `SignContent`), so that a signature
// made for one purpose is none for another.
func signedContent(label string, content []byte) []byte {
	label = "MLS 1.0 " + label
	out := make([]byte, 0, len(label)+len(content)+5)
	out = append(out, byte(len(label))) // every label is shorter than 64 bytes: a one-byte header
	out = append(out, label...)
	switch n := len(content); {
	case n < 1<<6:
		out = append(out, byte(n))
	case n < 1<<14:
		out = append(out, 0x40|byte(n>>8), byte(n))
	default:
		out = append(out, 0x80|byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(out, content...)
}

// verifyStrict verifies an Ed25519 signature as `verify_strict` of ed25519-dalek does: beyond what crypto/ed25519
// checks, neither the key nor the signature's point R may be of small order. Under such a key one signature fits many
// messages, so that anybody could have made it.
//
// crypto/ed25519 itself refuses an S that is not reduced, and an R that is not encoded canonically because it compares
// R as bytes. Both libraries take a key of large order in a non-canonical encoding.
func verifyStrict(key, message, signature []byte) bool {
	if len(key) != ed25519.PublicKeySize || len(signature) != ed25519.SignatureSize {
		return false
	}
	if smallOrder([32]byte(key)) || smallOrder([32]byte(signature[:32])) {
		return false
	}
	return ed25519.Verify(key, message, signature)
}

// smallOrder reports whether 32 bytes encode a point whose order divides 8. There are eight such points, with five y
// coordinates; two of these, 0 and 1, have a second encoding below 2^255. The sign bit of x does not matter: negating
// a point leaves its order, and for x = 0 decoders ignore the bit.
func smallOrder(point [32]byte) bool {
	point[31] &= 0x7f
	switch point {
	case [32]byte{}, // y = 0, order 4
		[32]byte{1}, // y = 1, the neutral element
		// y of the points of order 8, and its negative
		[32]byte{
			0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
			0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
		[32]byte{
			0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
			0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
		nearPrime(0xec), // y = p-1, order 2
		nearPrime(0xed), // y = p, which is 0
		nearPrime(0xee): // y = p+1, which is 1
		return true
	}
	return false
}

// nearPrime returns the encoding of a number that differs from p = 2^255-19 (whose lowest byte is 0xed) in that byte
// only.
func nearPrime(lowest byte) [32]byte {
	b := [32]byte{lowest}
	for i := 1; i < 31; i++ {
		b[i] = 0xff
	}
	b[31] = 0x7f
	return b
}
