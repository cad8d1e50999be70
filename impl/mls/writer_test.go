package mls

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"slices"
	"testing"
)

// The writer below makes what the tests feed to the reader. It states layouts a second time, from RFC 9420 and not
// from the reader, so that a slip in one of them shows.

// join concatenates encodings.
func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

func u8(v uint8) []byte   { return []byte{v} }
func u16(v uint16) []byte { return binary.BigEndian.AppendUint16(nil, v) }
func u32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }
func u64(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// vec puts the shortest length header before the concatenation of parts.
func vec(parts ...[]byte) []byte {
	body := join(parts...)
	n := uint32(len(body))
	switch {
	case n <= 63:
		return append(u8(uint8(n)), body...)
	case n <= 16383:
		return append(u16(uint16(n)|1<<14), body...)
	case n <= 1<<30-1:
		return append(u32(n|1<<31), body...)
	}
	panic("longer than any vector")
}

func str(s string) []byte { return vec([]byte(s)) }

func numbers(values ...uint16) []byte {
	var body []byte
	for _, v := range values {
		body = append(body, u16(v)...)
	}
	return vec(body)
}

func ext(t uint16, data []byte) []byte { return join(u16(t), vec(data)) }

// identity is the protobuf message with an inbox id.
func identity(inboxID string) []byte {
	return append([]byte{0x0a, byte(len(inboxID))}, inboxID...)
}

// aPackage holds the fields of a key package to build; the zero value of nothing is meaningful. Start from goodPackage.
type aPackage struct {
	version, suite         uint16
	initKey, encryptionKey []byte
	key                    ed25519.PrivateKey
	signatureKey           []byte
	credentialType         uint16
	identity               []byte
	listed                 []uint16 // capabilities.extensions
	source                 uint8
	sourceFields           []byte
	leafExtensions         [][]byte
	extensions             [][]byte
	spoilLeaf, spoilOuter  func(signature []byte) []byte
}

const (
	goodFrom  = 1_000_000
	goodUntil = 2_000_000
)

func goodPackage() aPackage {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	return aPackage{
		version: 1, suite: 3,
		initKey: bytes.Repeat([]byte{1}, 32), encryptionKey: bytes.Repeat([]byte{2}, 32),
		key: key, signatureKey: key.Public().(ed25519.PublicKey),
		credentialType: 1, identity: identity("inbox"),
		listed: []uint16{0x000a},
		source: 1, sourceFields: join(u64(goodFrom), u64(goodUntil)),
		extensions: [][]byte{ext(0x000a, nil)},
	}
}

func (p aPackage) leafTBS() []byte {
	return join(vec(p.encryptionKey), vec(p.signatureKey), u16(p.credentialType), vec(p.identity),
		numbers(1), numbers(p.suite), numbers(p.listed...), numbers(), numbers(1),
		u8(p.source), p.sourceFields, vec(p.leafExtensions...))
}

func (p aPackage) leaf() []byte {
	content := p.leafTBS()
	return join(content, vec(sign(p.key, "MLS 1.0 LeafNodeTBS", content, p.spoilLeaf)))
}

func (p aPackage) bytes() []byte {
	content := join(u16(p.version), u16(p.suite), vec(p.initKey), p.leaf(), vec(p.extensions...))
	return join(content, vec(sign(p.key, "MLS 1.0 KeyPackageTBS", content, p.spoilOuter)))
}

func sign(key ed25519.PrivateKey, label string, content []byte, spoil func([]byte) []byte) []byte {
	signature := ed25519.Sign(key, join(str(label), vec(content)))
	if spoil != nil {
		signature = spoil(signature)
	}
	return signature
}

// wrongSignature turns a signature into one that verifies nothing.
func wrongSignature(signature []byte) []byte {
	return slices.Concat([]byte{signature[0] ^ 1}, signature[1:])
}

// groupID is the group of every message the tests build.
var groupID = []byte("sixteen byte id!")

// private builds a PrivateMessage with three opaque fields behind its content type.
func private(content uint8, fields ...string) []byte {
	out := join(u16(1), u16(2), vec(groupID), u64(9), u8(content))
	for _, f := range fields {
		out = append(out, str(f)...)
	}
	return out
}

// public builds a PublicMessage of a member around a content type and its body.
func public(content uint8, body []byte) []byte {
	out := join(u16(1), u16(1), vec(groupID), u64(9), u8(1), u32(5), str("aad"), u8(content), body, str("signature"))
	if content == 3 {
		out = append(out, str("confirmation")...)
	}
	return append(out, str("membership")...)
}

func mustParsePackage(t testing.TB, p aPackage) KeyPackage {
	t.Helper()
	k, err := ParseKeyPackage(p.bytes())
	if err != nil {
		t.Fatalf("does not decode: %v", err)
	}
	return k
}
