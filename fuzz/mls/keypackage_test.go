package mls_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/impl/mls"
)

// FuzzKeyPackage reads any bytes as a key package.
func FuzzKeyPackage(f *testing.F) {
	for _, data := range vectors(f, "keypackages.json") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > maxInput {
			return
		}
		k, accepted := agreeOnPackage(t, data)
		if !accepted {
			return
		}
		if id := k.InboxID(); !utf8.ValidString(id) || len(id) > len(data) {
			t.Fatalf("inbox id %q", id)
		}
		var invalid *mls.InvalidError
		if err := k.Validate(time.Unix(1_800_000_000, 0)); err != nil && (!errors.As(err, &invalid) || invalid.Detail == "") {
			t.Fatalf("refused without a rule and a detail: %v", err)
		}
		if longer, err := mls.ParseKeyPackage(append(slices.Clone(data), 0)); err == nil {
			t.Fatalf("with a byte more still read as %+v", longer)
		}
		if shorter, err := mls.ParseKeyPackage(data[: len(data)-1 : len(data)-1]); err == nil {
			t.Fatalf("with a byte less still read as %+v", shorter)
		}
	})
}

// agreeOnPackage reads the bytes twice and fails unless both readings come to the same.
func agreeOnPackage(t *testing.T, data []byte) (k mls.KeyPackage, accepted bool) {
	t.Helper()
	var err error
	boundedMemory(t, data, func() { k, err = mls.ParseKeyPackage(data) })
	want, accepted := wholeKeyPackage(data)
	if !accepted {
		var decode *mls.DecodeError
		if !errors.As(err, &decode) {
			t.Fatalf("%x: read as %+v, %v; the grammar refuses it", data, k, err)
		}
		return k, false
	}
	if err != nil {
		t.Fatalf("%x: refused: %v; the grammar accepts it", data, err)
	}
	if !bytes.Equal(k.InstallationKey(), want.signatureKey) || len(k.InstallationKey()) != mls.InstallationKeyLen {
		t.Fatalf("%x: installation key %x; the grammar reads %x", data, k.InstallationKey(), want.signatureKey)
	}
	return k, true
}

// TestReaderAndGrammarAgreeOnEveryPackageWithOneByteChanged is the fuzz target's question for the nearest neighbours
// of the vectors and of the corpus, in every test run.
func TestReaderAndGrammarAgreeOnEveryPackageWithOneByteChanged(t *testing.T) {
	neighbours(t, append(vectors(t, "keypackages.json"), corpus(t, "FuzzKeyPackage")...), func(data []byte) {
		agreeOnPackage(t, data)
	})
}

// wholeKeyPackage reads all of the input and asks for a key that makes a topic (API-002).
func wholeKeyPackage(data []byte) (fields, bool) {
	var f fields
	rest, ok := keyPackage(&f)(data)
	return f, ok && len(rest) == 0 && len(f.signatureKey) == 32
}

// FuzzSignedKeyPackage signs mutated packages again, with the published test key of the vectors, and compares the
// rule that refuses them with one worked out from the grammar's reading.
func FuzzSignedKeyPackage(f *testing.F) {
	for i, data := range vectors(f, "keypackages.json") {
		f.Add(data, int64(1_796_040_000+i))
	}
	key := testKey()
	f.Fuzz(func(t *testing.T, data []byte, now int64) {
		if len(data) > maxInput {
			return
		}
		data = slices.Clone(data)
		said, ok := wholeKeyPackage(data)
		if !ok || len(said.leafSignature) != ed25519.SignatureSize || len(said.signature) != ed25519.SignatureSize {
			return
		}
		// The fields lie inside data: writing to them writes the package. The key comes first, the leaf's signature
		// is part of what the second one signs.
		copy(said.signatureKey, key.Public().(ed25519.PublicKey))
		copy(said.leafSignature, signed(key, "MLS 1.0 LeafNodeTBS", said.leaf))
		content := data[:len(data)-len(said.signature)-2] // a header of two bytes stands before 64
		copy(said.signature, signed(key, "MLS 1.0 KeyPackageTBS", content))

		k, err := mls.ParseKeyPackage(data)
		if err != nil {
			t.Fatalf("signed again and refused: %v", err)
		}
		want, sure := expectedRule(said, now)
		if !sure {
			return
		}
		err = k.Validate(time.Unix(now, 0))
		var invalid *mls.InvalidError
		switch {
		case want == 0 && err != nil:
			t.Fatalf("refused: %v; no rule is broken", err)
		case want != 0 && (!errors.As(err, &invalid) || invalid.Rule != want):
			t.Fatalf("got %v, expected the %s rule", err, want)
		}
	})
}

// testKey is the key whose seed the vectors publish: the bytes 0x11 to 0x30.
func testKey() ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = 0x11 + byte(i)
	}
	return ed25519.NewKeyFromSeed(seed)
}

// signed signs a label and a content, each behind its length.
func signed(key ed25519.PrivateKey, label string, content []byte) []byte {
	return ed25519.Sign(key, append(withLength([]byte(label)), withLength(content)...))
}

func withLength(b []byte) []byte {
	switch n := len(b); {
	case n < 1<<6:
		return append([]byte{byte(n)}, b...)
	case n < 1<<14:
		return append(binary.BigEndian.AppendUint16(nil, uint16(n)|0x4000), b...)
	default:
		return append(binary.BigEndian.AppendUint32(nil, uint32(n)|0x8000_0000), b...)
	}
}

// expectedRule is the rule that a correctly signed package breaks first, 0 for none. sure is false where this
// reading and the reader may differ without either being wrong.
func expectedRule(f fields, now int64) (rule mls.Rule, sure bool) {
	listed := map[uint16]bool{}
	for i := 0; i < len(f.listed); i += 2 {
		listed[binary.BigEndian.Uint16(f.listed[i:])] = true
	}
	foreign, unlisted := false, false
	for rest := f.extensions; len(rest) > 0; {
		t := binary.BigEndian.Uint16(rest)
		rest, _ = opaque(rest[2:])
		grease := t>>8 == t&0xff && t&0xf == 0xa && t != 0xfafa
		standard := 1 <= t && t <= 5
		foreign = foreign || standard || grease || t == 0xf000
		unlisted = unlisted || !standard && !listed[t]
	}
	switch {
	case f.source[0] != 1:
		return mls.RuleLeafSource, true
	case !slices.Contains([]byte{1, 3, 0x4d}, f.suite[1]):
		return mls.RuleLeafSignature, true
	case f.version[0] != 0 || f.version[1] != 1:
		return mls.RuleVersion, true
	case string(f.initKey) == string(f.encryptionKey):
		return mls.RuleDistinctKeys, true
	case foreign:
		return mls.RuleAllowedExtensions, true
	case unlisted:
		return mls.RuleListedExtensions, true
	}
	from, until := binary.BigEndian.Uint64(f.from), binary.BigEndian.Uint64(f.until)
	if clock := uint64(max(now, 0)); clock < from || clock >= until {
		return mls.RuleLifetime, true
	}
	if f.credentialType[0] != 0 || f.credentialType[1] != 1 {
		return mls.RuleCredentialType, true
	}
	ok, sure := decodesAsCredential(f.identity)
	if !ok {
		return mls.RuleCredentialContent, sure
	}
	return 0, sure
}

// decodesAsCredential asks the protobuf library. It allows deeper groups and higher field numbers than the reader.
func decodesAsCredential(identity []byte) (ok, sure bool) {
	const shorterThanTooManyGroups, highestField = 200, 1<<29 - 1
	sure = len(identity) < shorterThanTooManyGroups
	for len(identity) > 0 {
		number, kind, n := protowire.ConsumeTag(identity)
		if n < 0 {
			return false, sure
		}
		sure = sure && number <= highestField
		value := identity[n:]
		if number == 1 {
			text, n := protowire.ConsumeBytes(value)
			if kind != protowire.BytesType || n < 0 || !utf8.Valid(text) {
				return false, sure
			}
		}
		if n = protowire.ConsumeFieldValue(number, kind, value); n < 0 {
			return false, sure
		}
		identity = value[n:]
	}
	return true, sure
}
