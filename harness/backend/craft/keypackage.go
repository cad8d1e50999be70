package craft

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/model/backend"
)

// Numbers of RFC 9420 section 17 and of XMTP's extensions.
const (
	suite1 = 1 // X25519, AES-128-GCM, SHA-256, Ed25519
	suite2 = 2 // P-256 throughout
	xWing  = 0x004d

	credentialX509 = 2
	sourceUpdate   = 2
	sourceCommit   = 3

	extApplicationID = 0x0001
	extRatchetTree   = 0x0002
	extRequired      = 0x0003
	extExternalPub   = 0x0004
	extLastResort    = 0x000a
	extWrapper       = 0xff03
	extPointee       = 0xff04
	extUnknown       = 0xf123

	grease = 0x0a0a
)

// extension is one extension of a leaf or a package.
type extension struct {
	kind uint16
	data []byte
}

// parts are the fields of a key package before they are signed.
type parts struct {
	version, suite            uint16
	initKey, encryptionKey    []byte
	signatureKey              []byte
	credential                uint16
	identity                  []byte
	versions, suites          []uint16
	extensions, proposals     []uint16
	credentials               []uint16
	source                    uint8
	notBefore, notAfter       uint64
	leafExts, packageExts     []extension
	leafLabel, packageLabel   string
	signLeaf, signPackage     func(content []byte) ([]byte, error)
	spoilLeaf, spoilSignature func([]byte) []byte
	// position follows what the leaf's signature is over.
	position []byte
}

// keyPackage makes the payload of a key package and the topic that it leads to,
// "" when it leads to none.
func (c *Crafter) keyPackage(p *backend.KeyPackageIntent) ([]field, backend.Bytes, error) {
	k, err := c.checkPackage(p)
	if err != nil {
		return nil, "", err
	}
	b, key, err := c.packageBytes(*p, k)
	if err != nil {
		return nil, "", fmt.Errorf("key package %d of %s: %w", p.Serial, p.Installation, err)
	}
	topic := backend.Bytes("")
	if !p.Flaw.NoTopic() {
		topic = backend.Bytes(append([]byte{kindByte(backend.KeyPackage)}, key...))
	}
	return []field{message(keyPackageField, bytesOf(1, b))}, topic, nil
}

func (c *Crafter) checkPackage(p *backend.KeyPackageIntent) (*keys, error) {
	flawed, odd := p.Flaw != backend.SoundPackage, p.Variant != backend.OrdinaryPackage
	switch {
	case p.Installation.Kind != backend.Installation:
		return nil, fmt.Errorf("a key package of %s: only installations have any", p.Installation)
	case flawed && !slices.Contains(backend.KeyPackageFlaws(), p.Flaw):
		return nil, fmt.Errorf("key package flaw %q is unknown: use one of %q", p.Flaw, backend.KeyPackageFlaws())
	case odd && !slices.Contains(backend.KeyPackageVariants(), p.Variant):
		return nil, fmt.Errorf("key package variant %q is unknown: use one of %q", p.Variant, backend.KeyPackageVariants())
	case flawed && odd:
		return nil, fmt.Errorf("a key package of %s with flaw %q and variant %q: give it one of them", p.Installation, p.Flaw, p.Variant)
	case !slices.Contains(backend.Lifetimes(), p.Lifetime):
		return nil, fmt.Errorf("lifetime %q is unknown: use one of %q", p.Lifetime, backend.Lifetimes())
	}
	return c.keysOf(p.Installation)
}

// packageBytes encodes and signs, and returns the installation key as well.
func (c *Crafter) packageBytes(p backend.KeyPackageIntent, k *keys) (b, key []byte, err error) {
	parts, err := c.parts(p, k)
	if err != nil {
		return nil, nil, err
	}
	if err = parts.spoil(c, p); err != nil {
		return nil, nil, err
	}
	parts.vary(p)
	if b, err = parts.encode(p.Flaw); err != nil {
		return nil, nil, err
	}
	switch p.Flaw {
	case backend.PackageTrailing:
		b = append(b, 0)
	case backend.PackageTwice:
		b = append(b, b...)
	case backend.PackageWrapped:
		b = append(tls(nil).u16(mls10).u16(keyPackageFormat), b...)
	case backend.PackageCutByte:
		b = b[:len(b)-1]
	case backend.PackageCutHalf:
		b = b[:len(b)/2]
	case backend.PackageCutVersion:
		b = b[:2]
	case backend.PackageNothing:
		b = nil
	}
	return b, parts.signatureKey, nil
}

// parts is the package that everybody must accept.
func (c *Crafter) parts(p backend.KeyPackageIntent, k *keys) (*parts, error) {
	serial := fmt.Sprint(p.Serial)
	exchange := func(label string) ([]byte, error) {
		root := c.root("hpke", p.Installation.Name, serial, label)
		key, err := ecdh.X25519().NewPrivateKey(root[:])
		if err != nil {
			return nil, fmt.Errorf("derive an X25519 key: %w", err)
		}
		return key.PublicKey().Bytes(), nil
	}
	initKey, err := exchange("init")
	if err != nil {
		return nil, err
	}
	// Behind a message header this byte stands where a vector's length is, and a
	// length that starts with two ones never decodes (RFC 9420 section 2.1.2): a
	// wrapped package can be mistaken for no other. X25519 takes any 32 bytes.
	initKey[4] |= 0xc0
	encryption, err := exchange("encryption")
	if err != nil {
		return nil, err
	}
	inbox, err := c.inbox(p.Inbox)
	if err != nil {
		return nil, fmt.Errorf("inbox of the credential: %w", err)
	}
	suite := p.Suite
	if suite == 0 {
		suite = suite3
	}
	notBefore, notAfter := lifetime(p.Lifetime, c.made(p))
	whole := func(b []byte) []byte { return b }
	out := &parts{
		version: mls10, suite: suite, initKey: initKey, encryptionKey: encryption, signatureKey: k.public,
		credential: credentialBasic, identity: mlsCredential([]byte(inbox)),
		versions: []uint16{mls10}, suites: []uint16{suite}, credentials: []uint16{credentialBasic},
		source: sourceKeyPackage, notBefore: notBefore, notAfter: notAfter,
		leafLabel: "LeafNodeTBS", packageLabel: "KeyPackageTBS", spoilLeaf: whole, spoilSignature: whole,
	}
	out.signedBy(k.installation)
	return out, nil
}

// signedBy makes an Ed25519 key sign both layers.
func (p *parts) signedBy(key ed25519.PrivateKey) {
	p.signLeaf = func(b []byte) ([]byte, error) { return ed25519.Sign(key, b), nil }
	p.signPackage = p.signLeaf
}

// mlsCredential is the protobuf inside a basic credential: field 1 is the inbox id.
func mlsCredential(inbox []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inbox)
}

// spoil applies a flaw of the package's fields or signatures.
func (p *parts) spoil(c *Crafter, intent backend.KeyPackageIntent) error {
	flip := func(b []byte) []byte { b[len(b)-1] ^= 1; return b }
	none := func([]byte) []byte { return nil }
	cut := func(b []byte) []byte { return b[:len(b)-1] }
	stranger := func() ed25519.PrivateKey {
		seed := c.root("stranger", intent.Installation.Name)
		return ed25519.NewKeyFromSeed(seed[:])
	}
	switch intent.Flaw {
	case backend.PackageKey0:
		p.signatureKey = nil
	case backend.PackageKey31:
		p.signatureKey = p.signatureKey[:31]
	case backend.PackageKey33:
		p.signatureKey = append(slices.Clone(p.signatureKey), 0)
	case backend.PackageKeyP256:
		return p.onP256(c, intent)
	case backend.SuiteOfOtherCurve:
		p.suite, p.suites = suite2, []uint16{suite2}
	case backend.SourceUpdate:
		p.source = sourceUpdate
	case backend.SourceCommit:
		p.source = sourceCommit
	case backend.LeafFlipped:
		p.spoilLeaf = flip
	case backend.LeafUnsigned:
		p.spoilLeaf = none
	case backend.LeafCut:
		p.spoilLeaf = cut
	case backend.LeafLabel:
		p.leafLabel = p.packageLabel
	case backend.LeafPosition:
		// What an update's leaf is signed with: the group's id and an index.
		p.position = tls(nil).vector(make([]byte, 16)).u32(0)
	case backend.SignedByOther:
		p.signedBy(stranger())
	case backend.PackageFlipped:
		p.spoilSignature = flip
	case backend.PackageUnsigned:
		p.spoilSignature = none
	case backend.PackageCutSign:
		p.spoilSignature = cut
	case backend.PackageLabel:
		p.packageLabel = p.leafLabel
	case backend.PackageByOther:
		key := stranger()
		p.signPackage = func(b []byte) ([]byte, error) { return ed25519.Sign(key, b), nil }
	case backend.SameKeys:
		p.initKey = p.encryptionKey
	}
	return nil
}

// onP256 makes the package one of suite 2 throughout: sound, and its signature
// key is no installation's.
func (p *parts) onP256(c *Crafter, intent backend.KeyPackageIntent) error {
	p.suite, p.suites = suite2, []uint16{suite2}
	for i, to := range []*[]byte{&p.initKey, &p.encryptionKey} {
		key := p256(c.root("hpke p256", intent.Installation.Name, fmt.Sprint(intent.Serial), fmt.Sprint(i)))
		b, err := key.PublicKey.Bytes()
		if err != nil {
			return fmt.Errorf("encode a P-256 key: %w", err)
		}
		*to = b
	}
	key := p256(c.root("party p256", intent.Installation.Name))
	b, err := key.PublicKey.Bytes()
	if err != nil {
		return fmt.Errorf("encode a P-256 key: %w", err)
	}
	p.signatureKey = b
	p.signLeaf = func(content []byte) ([]byte, error) {
		digest := sha256.Sum256(content)
		return key.Sign(nil, digest[:], crypto.SHA256)
	}
	p.signPackage = p.signLeaf
	return nil
}

// encode writes the package. A flaw of the encoding itself is here, signed as
// the sound encoding is.
func (p *parts) encode(flaw backend.KeyPackageFlaw) ([]byte, error) {
	leaf := tls(nil).vector(p.encryptionKey).vector(p.signatureKey).u16(p.credential).vector(p.identity)
	for _, list := range [][]uint16{p.versions, p.suites, p.extensions, p.proposals, p.credentials} {
		leaf = leaf.vector(numbers(list))
	}
	leaf = leaf.u8(p.source)
	switch p.source {
	case sourceUpdate:
	case sourceCommit:
		leaf = leaf.vector(make([]byte, hashLength))
	default:
		leaf = leaf.u64(p.notBefore).u64(p.notAfter)
	}
	leaf = leaf.vector(extensions(p.leafExts))
	signature, err := p.signLeaf(content(p.leafLabel, append(leaf[:len(leaf):len(leaf)], p.position...)))
	if err != nil {
		return nil, fmt.Errorf("sign the leaf: %w", err)
	}
	leaf = leaf.vector(p.spoilLeaf(signature))

	write := func(initKey func(tls) tls) tls {
		out := initKey(tls(nil).u16(p.version).u16(p.suite))
		return append(out, leaf...).vector(extensions(p.packageExts))
	}
	pack := write(func(t tls) tls { return t.vector(p.initKey) })
	if signature, err = p.signPackage(content(p.packageLabel, pack)); err != nil {
		return nil, fmt.Errorf("sign the package: %w", err)
	}
	switch flaw {
	case backend.PackageLongLength:
		pack = write(func(t tls) tls { return append(t.u16(1<<14|uint16(len(p.initKey))), p.initKey...) })
	case backend.PackagePrefix11:
		pack = write(func(t tls) tls { return append(t.u8(0xc0|uint8(len(p.initKey))), p.initKey...) })
	}
	return pack.vector(p.spoilSignature(signature)), nil
}

// content is what SignWithLabel signs (section 5.1.2).
func content(label string, b []byte) []byte {
	return tls(nil).vector([]byte("MLS 1.0 " + label)).vector(b)
}

func numbers(list []uint16) tls {
	var t tls
	for _, n := range list {
		t = t.u16(n)
	}
	return t
}

func extensions(list []extension) tls {
	var t tls
	for _, e := range list {
		t = t.u16(e.kind).vector(e.data)
	}
	return t
}
