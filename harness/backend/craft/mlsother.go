package craft

import (
	"crypto/ed25519"
	"encoding/hex"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// welcome is a well-formed Welcome (RFC 9420 section 12.4.3.1) for one new
// member, padded in its encrypted group info.
func welcome(out tls, d draw, pad int) []byte {
	secrets := tls(nil).vector(d.bytes("key package reference", hashLength))
	secrets = secrets.vector(d.bytes("kem output", keyLength)).vector(d.bytes("group secrets", 100))
	return out.u16(suite3).vector(secrets).vector(d.bytes("encrypted group info", pad))
}

// groupInfo is a well-formed GroupInfo (section 12.4.3) of the group with the
// given id, so that a subject that reads it as a message finds the topic. It is
// padded in its confirmation tag.
func groupInfo(out tls, id []byte, d draw, pad int) []byte {
	out = out.u16(mls10).u16(suite3).vector(id).u64(1)
	out = out.vector(d.bytes("tree hash", hashLength)).vector(d.bytes("transcript hash", hashLength))
	out = out.vector(nil)                              // extensions of the group context
	out = out.vector(nil)                              // extensions of the group info
	out = out.vector(d.bytes("confirmation tag", pad)) // opaque MAC
	return out.u32(0).vector(d.bytes("signature", signatureLength))
}

// Parts of a key package (sections 7.2 and 10).
const (
	credentialBasic  = 1
	sourceKeyPackage = 1
)

// keyPackage is a KeyPackage that every check of RFC 9420 section 10.1 which
// needs no group and no clock holds for: it is really signed, and valid at all
// times. It is only ever crafted inside something that must not hold it, for a
// receiver may refuse so long a lifetime.
func keyPackage(out tls, d draw) []byte {
	seed := d.bytes("installation seed", ed25519.SeedSize)
	key := ed25519.NewKeyFromSeed(seed)
	// Read behind a message header, this byte is where a vector's length stands;
	// a length that starts with two ones never decodes (section 2.1.2). So a
	// wrapped package can be mistaken for no other package.
	initKey := append([]byte(nil), d.bytes("init key", keyLength)...)
	initKey[4] |= 0xc0

	inbox := hex.EncodeToString(d.bytes("inbox", hashLength))
	identity := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), inbox)

	leaf := tls(nil).vector(d.bytes("encryption key", keyLength)).vector(key.Public().(ed25519.PublicKey))
	leaf = leaf.u16(credentialBasic).vector(identity)
	leaf = leaf.vector(tls(nil).u16(mls10))           // versions
	leaf = leaf.vector(tls(nil).u16(suite3))          // cipher suites
	leaf = leaf.vector(nil).vector(nil)               // extensions, proposals
	leaf = leaf.vector(tls(nil).u16(credentialBasic)) // credentials
	leaf = leaf.u8(sourceKeyPackage).u64(0).u64(math.MaxUint64)
	leaf = leaf.vector(nil) // extensions of the leaf
	leaf = leaf.vector(sign(key, "LeafNodeTBS", leaf))

	pack := tls(nil).u16(mls10).u16(suite3).vector(initKey)
	pack = append(pack, leaf...)
	pack = pack.vector(nil) // extensions of the package
	pack = pack.vector(sign(key, "KeyPackageTBS", pack))
	return append(out, pack...)
}

// sign is SignWithLabel (section 5.1.2).
func sign(key ed25519.PrivateKey, label string, content []byte) []byte {
	return ed25519.Sign(key, tls(nil).vector([]byte("MLS 1.0 "+label)).vector(content))
}
