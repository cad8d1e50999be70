package mls

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"
)

// TestDecodingAKeyPackage holds the line between bytes that are no key package and a key package that is not valid.
func TestDecodingAKeyPackage(t *testing.T) {
	with := aPackageWith
	extensions := func(x ...[]byte) []byte { return with(func(p *aPackage) { p.extensions = x }).bytes() }
	leafExtensions := func(x ...[]byte) []byte { return with(func(p *aPackage) { p.leafExtensions = x }).bytes() }
	whole := goodPackage().bytes()
	cases := []struct {
		name    string
		data    []byte
		problem Problem // zero: decodes
		field   string
	}{
		{"a good package", whole, 0, ""},
		{"one byte more", append(slices.Clone(whole), 0), LeftOver, "key_package"},
		{"one byte less", whole[:len(whole)-1], Truncated, "key_package_signature"},
		{"nothing", nil, Truncated, "version"},
		{"an unknown version", with(func(p *aPackage) { p.version = 0x0102 }).bytes(), 0, ""},
		{"suite 7", with(func(p *aPackage) { p.suite = 7 }).bytes(), 0, ""},
		{"suite 8", with(func(p *aPackage) { p.suite = 8 }).bytes(), UnknownValue, "cipher_suite"},
		{"a key of 31 bytes", with(func(p *aPackage) { p.signatureKey = p.signatureKey[:31] }).bytes(), KeyLength, "signature_key"},
		{"a key of 33 bytes", with(func(p *aPackage) { p.signatureKey = make([]byte, 33) }).bytes(), KeyLength, "signature_key"},
		{"a leaf of an update", with(func(p *aPackage) { p.source, p.sourceFields = 2, nil }).bytes(), 0, ""},
		{"a leaf of a commit", with(func(p *aPackage) { p.source, p.sourceFields = 3, str("parent") }).bytes(), 0, ""},
		{"a leaf of no source", with(func(p *aPackage) { p.source = 0 }).bytes(), UnknownValue, "leaf_node_source"},
		{"empty signatures", with(func(p *aPackage) {
			p.spoilLeaf = func([]byte) []byte { return nil }
			p.spoilOuter = p.spoilLeaf
		}).bytes(), 0, ""},
		{"capabilities of an odd number of bytes", bytes.Replace(whole, join(numbers(1), numbers(3)), join(str("abc"), numbers(3)), 1), Truncated, "versions"},

		{"an unknown extension with any data", extensions(ext(0xabcd, []byte{0xff})), 0, ""},
		{"one type twice", extensions(ext(0xabcd, nil), ext(0xabce, nil), ext(0xabcd, nil)), DuplicateExtension, "extension_type"},
		{"types 64 apart", extensions(ext(0x1000, nil), ext(0x1040, nil)), 0, ""},
		{"one type twice in the leaf", leafExtensions(ext(0xabcd, nil), ext(0xabcd, nil)), DuplicateExtension, "extension_type"},
		{"one type in both lists", with(func(p *aPackage) {
			p.leafExtensions = [][]byte{ext(0xabcd, nil)}
			p.extensions = p.leafExtensions
		}).bytes(), 0, ""},
		{"an application id in the leaf", leafExtensions(ext(1, str("app"))), 0, ""},
		{"a GREASE number in the leaf", leafExtensions(ext(0x0a0a, nil)), 0, ""},
		{"a ratchet tree in the leaf", leafExtensions(ext(2, vec())), MisplacedExtension, "extension_type"},
		{"required capabilities in the leaf", leafExtensions(ext(3, make([]byte, 3))), MisplacedExtension, "extension_type"},
		{"an external key in the leaf", leafExtensions(ext(4, str("key"))), MisplacedExtension, "extension_type"},
		{"external senders in the leaf", leafExtensions(ext(5, vec())), MisplacedExtension, "extension_type"},
		{"a last resort mark in the leaf", leafExtensions(ext(10, nil)), MisplacedExtension, "extension_type"},
		{"immutable metadata in the leaf", leafExtensions(ext(0xf000, nil)), MisplacedExtension, "extension_type"},

		{"an application id without its length", extensions(ext(1, nil)), Truncated, "application_id"},
		{"an application id with a byte behind", extensions(ext(1, append(str("app"), 0))), LeftOver, "extension_data"},
		{"a last resort mark with data", extensions(ext(10, []byte{0})), LeftOver, "extension_data"},
		{"required capabilities", extensions(ext(3, join(numbers(1), numbers(2, 3), numbers()))), 0, ""},
		{"required capabilities of two lists", extensions(ext(3, join(numbers(1), numbers(2)))), Truncated, "credential_types"},
		{"an external key", extensions(ext(4, str("key"))), 0, ""},
		{"an external key cut short", extensions(ext(4, []byte{5, 1})), Truncated, "external_pub"},
		{"external senders", extensions(ext(5, vec(str("key"), u16(1), str("id"), str("key"), u16(9), str("")))), 0, ""},
		{"an external sender without credential", extensions(ext(5, vec(str("key")))), Truncated, "credential_type"},
		{"a ratchet tree of a leaf, a gap and a parent", extensions(ext(2, vec(u8(1), u8(1), aLeaf, u8(0),
			u8(1), u8(2), str("key"), str("hash"), vec(u32(1), u32(2))))), 0, ""},
		{"a ratchet tree with node type 3", extensions(ext(2, vec(u8(1), u8(3)))), UnknownValue, "node_type"},
		{"a ratchet tree with presence 2", extensions(ext(2, vec(u8(2)))), UnknownValue, "node"},
		{"a parent with three and a half unmerged leaves", extensions(ext(2, vec(u8(1), u8(2), str("key"), str("hash"), vec(make([]byte, 14))))), Truncated, "unmerged_leaf"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseKeyPackage(c.data)
			if c.problem == 0 {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			var decode *DecodeError
			if !errors.As(err, &decode) || decode.Problem != c.problem || decode.Field != c.field {
				t.Fatalf("got %v, expected %s: %s", err, c.field, c.problem)
			}
		})
	}
}

// TestEveryRuleIsTheOneThatRefuses breaks one rule at a time, and checks beside it that no other rule complains, so
// that the refusal has one cause.
func TestEveryRuleIsTheOneThatRefuses(t *testing.T) {
	now := time.Unix(goodFrom, 0)
	if err := mustParsePackage(t, goodPackage()).Validate(now); err != nil {
		t.Fatalf("the good package is refused: %v", err)
	}
	cases := []struct {
		name   string
		change func(*aPackage)
		rule   Rule
	}{
		{"a leaf made for an update", func(p *aPackage) { p.source, p.sourceFields = 2, nil }, RuleLeafSource},
		{"a leaf made for a commit", func(p *aPackage) { p.source, p.sourceFields = 3, str("parent") }, RuleLeafSource},
		{"a leaf signature with a wrong bit", func(p *aPackage) { p.spoilLeaf = wrongSignature }, RuleLeafSignature},
		{"version 2", func(p *aPackage) { p.version = 2 }, RuleVersion},
		{"one key for two purposes", func(p *aPackage) { p.initKey = p.encryptionKey }, RuleDistinctKeys},
		{"no keys at all", func(p *aPackage) { p.initKey, p.encryptionKey = nil, nil }, RuleDistinctKeys},
		{"an application id outside the leaf", func(p *aPackage) { p.extensions = [][]byte{ext(1, str("app"))} }, RuleAllowedExtensions},
		{"a ratchet tree", func(p *aPackage) { p.extensions = [][]byte{ext(2, vec())} }, RuleAllowedExtensions},
		{"external senders", func(p *aPackage) { p.extensions = [][]byte{ext(5, vec())} }, RuleAllowedExtensions},
		{"the first GREASE number", func(p *aPackage) { p.listed, p.extensions = []uint16{0x0a0a}, [][]byte{ext(0x0a0a, nil)} }, RuleAllowedExtensions},
		{"the last GREASE number", func(p *aPackage) { p.listed, p.extensions = []uint16{0xeaea}, [][]byte{ext(0xeaea, nil)} }, RuleAllowedExtensions},
		{"immutable metadata", func(p *aPackage) { p.listed, p.extensions = []uint16{0xf000}, [][]byte{ext(0xf000, nil)} }, RuleAllowedExtensions},
		{"a package signature with a wrong bit", func(p *aPackage) { p.spoilOuter = wrongSignature }, RulePackageSignature},
		{"an extension that is not listed", func(p *aPackage) { p.listed = []uint16{0xff03} }, RuleListedExtensions},
		{"a second extension that is not listed", func(p *aPackage) { p.extensions = append(p.extensions, ext(0xff03, nil)) }, RuleListedExtensions},
		{"a lifetime of nothing", func(p *aPackage) { p.sourceFields = join(u64(0), u64(0)) }, RuleLifetime},
		{"an x509 credential", func(p *aPackage) { p.credentialType = 2 }, RuleCredentialType},
		{"an identity that is no credential", func(p *aPackage) { p.identity = []byte("0xabc") }, RuleCredentialContent},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			k := mustParsePackage(t, aPackageWith(c.change))
			var invalid *InvalidError
			if err := k.Validate(now); !errors.As(err, &invalid) || invalid.Rule != c.rule {
				t.Fatalf("got %v, expected the %s rule", err, c.rule)
			}
			for rule := RuleLeafSource; rule <= lastRule; rule++ {
				err := k.Check(rule, now)
				if (err != nil) != (rule == c.rule) && !(c.rule == RuleLeafSource && rule == RuleLifetime) {
					t.Errorf("the %s rule says %v", rule, err)
				}
			}
		})
	}
}

// TestNumbersBesideTheForbiddenOnesAreTaken keeps the extension rules from growing.
func TestNumbersBesideTheForbiddenOnesAreTaken(t *testing.T) {
	for _, n := range []uint16{0, 6, 9, 11, 0x0a1a, 0x1a0a, 0x0b0b, 0xfafa, 0xeffe, 0xf001, 0xff03, 0xffff} {
		k := mustParsePackage(t, aPackageWith(func(p *aPackage) { p.listed, p.extensions = []uint16{n}, [][]byte{ext(n, nil)} }))
		if err := k.Validate(time.Unix(goodFrom, 0)); err != nil {
			t.Errorf("extension %#04x: %v", n, err)
		}
	}
}

// TestTheEarlierRuleIsNamed breaks all rules at once and repairs them in order.
func TestTheEarlierRuleIsNamed(t *testing.T) {
	steps := []struct {
		rule   Rule
		repair func(*aPackage)
	}{
		{RuleLeafSource, func(p *aPackage) { p.source, p.sourceFields = 1, make([]byte, 16) }},
		{RuleLeafSignature, func(p *aPackage) { p.spoilLeaf = nil }},
		{RuleVersion, func(p *aPackage) { p.version = 1 }},
		{RuleDistinctKeys, func(p *aPackage) { p.initKey = []byte("another") }},
		{RuleAllowedExtensions, func(p *aPackage) { p.extensions = [][]byte{ext(10, nil)} }},
		{RulePackageSignature, func(p *aPackage) { p.spoilOuter = nil }},
		{RuleListedExtensions, func(p *aPackage) { p.listed = []uint16{10} }},
		{RuleLifetime, func(p *aPackage) { p.sourceFields = join(u64(0), u64(goodUntil)) }},
		{RuleCredentialType, func(p *aPackage) { p.credentialType = 1 }},
		{RuleCredentialContent, func(p *aPackage) { p.identity = identity("inbox") }},
	}
	p := goodPackage()
	p.source, p.sourceFields = 2, nil
	p.spoilLeaf, p.spoilOuter = wrongSignature, wrongSignature
	p.version, p.initKey, p.listed = 0, p.encryptionKey, nil
	p.extensions = [][]byte{ext(0x0a0a, nil)}
	p.credentialType, p.identity = 2, []byte{0xff}
	for _, step := range steps {
		var invalid *InvalidError
		err := mustParsePackage(t, p).Validate(time.Unix(goodFrom, 0))
		if !errors.As(err, &invalid) || invalid.Rule != step.rule {
			t.Fatalf("got %v, expected the %s rule", err, step.rule)
		}
		step.repair(&p)
	}
	if err := mustParsePackage(t, p).Validate(time.Unix(goodFrom, 0)); err != nil {
		t.Fatalf("repaired and refused: %v", err)
	}
}

// TestALifetimeIsTakenToTheSecond moves the clock over both ends: the first second counts, the last does not.
func TestALifetimeIsTakenToTheSecond(t *testing.T) {
	lived := func(from, until uint64) KeyPackage {
		return mustParsePackage(t, aPackageWith(func(p *aPackage) { p.sourceFields = join(u64(from), u64(until)) }))
	}
	const forever = 1<<64 - 1
	cases := []struct {
		name string
		k    KeyPackage
		now  time.Time
		want bool
	}{
		{"a second before it begins", lived(100, 200), time.Unix(99, 0), false},
		{"the last nanosecond before it begins", lived(100, 200), time.Unix(99, 999_999_999), false},
		{"the second in which it begins", lived(100, 200), time.Unix(100, 0), true},
		{"the last second", lived(100, 200), time.Unix(199, 999_999_999), true},
		{"the second in which it ends", lived(100, 200), time.Unix(200, 0), false},
		{"long after its end", lived(100, 200), time.Unix(1<<40, 0), false},
		{"always", lived(0, forever), time.Unix(1<<40, 0), true},
		{"the first second there is", lived(0, forever), time.Unix(0, 0), true},
		{"a clock before 1970 counts as 1970", lived(0, forever), time.Unix(-5, 0), true},
		{"a clock before 1970 is before a later begin", lived(1, forever), time.Unix(-5, 0), false},
		{"a lifetime that ends before it begins, between", lived(200, 100), time.Unix(150, 0), false},
		{"a lifetime that ends before it begins, before", lived(200, 100), time.Unix(50, 0), false},
		{"a lifetime that ends before it begins, after", lived(200, 100), time.Unix(250, 0), false},
		{"a beginning beyond any signed clock", lived(1<<63, forever), time.Unix(1<<40, 0), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.k.Validate(c.now); (err == nil) != c.want {
				t.Errorf("got %v, expected valid to be %t", err, c.want)
			}
		})
	}
}

func TestAPackageOfAnotherSignatureSchemeIsInvalid(t *testing.T) {
	for suite, want := range map[uint16]bool{1: true, 2: false, 3: true, 4: false, 5: false, 6: false, 7: false, 0x4d: true} {
		k := mustParsePackage(t, aPackageWith(func(p *aPackage) { p.suite = suite }))
		if err := k.Validate(time.Unix(goodFrom, 0)); (err == nil) != want {
			t.Errorf("suite %d: got %v, expected valid to be %t", suite, err, want)
		}
	}
}

// TestSignedContentHasTheShortestHeader looks at contents around the places where the length header grows.
func TestSignedContentHasTheShortestHeader(t *testing.T) {
	for _, size := range []int{0, 63, 64, 16_383, 16_384, 100_000} {
		content := make([]byte, size)
		if got, want := signedContent("LeafNodeTBS", content), join(str("MLS 1.0 LeafNodeTBS"), vec(content)); !bytes.Equal(got, want) {
			t.Errorf("%d bytes of content: got %x…, expected %x…", size, got[:25], want[:25])
		}
	}
}

// TestSignaturesOverContentsOfEverySize signs whole packages, whose contents are longer than 63 bytes.
func TestSignaturesOverContentsOfEverySize(t *testing.T) {
	for _, size := range []int{0, 15_000, 16_384} {
		k := mustParsePackage(t, aPackageWith(func(p *aPackage) { p.initKey = make([]byte, size) }))
		if err := k.Validate(time.Unix(goodFrom, 0)); err != nil {
			t.Errorf("an init key of %d bytes: %v", size, err)
		}
	}
}

func TestTheZeroKeyPackageIsInvalidAndHarmless(t *testing.T) {
	var k KeyPackage
	for rule := Rule(0); rule <= lastRule+1; rule++ {
		_ = k.Check(rule, time.Unix(0, 0))
	}
	if err := k.Validate(time.Unix(0, 0)); err == nil {
		t.Error("valid")
	}
	if err := mustParsePackage(t, goodPackage()).Check(0, time.Unix(goodFrom, 0)); err == nil {
		t.Error("rule 0 is satisfied")
	}
	if k.InboxID() != "" || len(k.InstallationKey()) != 0 {
		t.Error("has an owner")
	}
}
