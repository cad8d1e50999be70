package mls

import (
	"bytes"
	"fmt"
	"time"
)

// Rule is one thing a decoded key package must satisfy. The order of the constants is the order in which
// [KeyPackage.Validate] looks. The zero value is not a rule.
type Rule uint8

const (
	// RuleLeafSource: the leaf node was made for a key package (RFC 9420 section 10.1).
	RuleLeafSource Rule = iota + 1
	// RuleLeafSignature: the installation key signed the leaf node (section 7.3).
	RuleLeafSignature
	// RuleVersion: the protocol version is mls10.
	RuleVersion
	// RuleDistinctKeys: the init key is not the leaf's encryption key (section 10.1).
	RuleDistinctKeys
	// RuleAllowedExtensions: no extension that belongs into a leaf node or a group, none with a GREASE number. The
	// latter is the known implementation's habit; RFC 9420 section 13.5 would have it ignored.
	RuleAllowedExtensions
	// RulePackageSignature: the installation key signed the package (section 10.1).
	RulePackageSignature
	// RuleListedExtensions: the leaf's capabilities list the package's extensions (section 10).
	RuleListedExtensions
	// RuleLifetime: now lies in the lifetime.
	RuleLifetime
	// RuleCredentialType: the credential is a basic one.
	RuleCredentialType
	// RuleCredentialContent: the credential's identity decodes.
	RuleCredentialContent

	lastRule = RuleCredentialContent
)

func (r Rule) String() string {
	switch r {
	case RuleLeafSource:
		return "leaf source"
	case RuleLeafSignature:
		return "leaf signature"
	case RuleVersion:
		return "version"
	case RuleDistinctKeys:
		return "distinct keys"
	case RuleAllowedExtensions:
		return "allowed extensions"
	case RulePackageSignature:
		return "package signature"
	case RuleListedExtensions:
		return "listed extensions"
	case RuleLifetime:
		return "lifetime"
	case RuleCredentialType:
		return "credential type"
	case RuleCredentialContent:
		return "credential content"
	}
	return fmt.Sprintf("rule %d", uint8(r))
}

// InvalidError says that a key package decodes and breaks a rule. A publish answers it with INVALID_KEY_PACKAGE
// (API-042).
type InvalidError struct {
	Rule   Rule
	Detail string // what was found
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("mls: key package breaks the %s rule: %s", e.Rule, e.Detail)
}

// Validate reports whether the package may be stored at the time now, of which whole seconds count. It looks at the
// rules in order and returns the first that is broken, as an *InvalidError.
func (k KeyPackage) Validate(now time.Time) error {
	for rule := RuleLeafSource; rule <= lastRule; rule++ {
		if err := k.Check(rule, now); err != nil {
			return err
		}
	}
	return nil
}

// Check looks at one rule alone. Only RuleLifetime looks at now.
func (k KeyPackage) Check(rule Rule, now time.Time) error {
	if detail := k.broken(rule, now); detail != "" {
		return &InvalidError{Rule: rule, Detail: detail}
	}
	return nil
}

// broken says in which way the package breaks a rule, or nothing.
func (k KeyPackage) broken(rule Rule, now time.Time) string {
	switch rule {
	case RuleLeafSource:
		if k.Leaf.Source != LeafFromKeyPackage {
			return "the leaf node was made for an update or a commit"
		}
	case RuleLeafSignature:
		return k.badSignature("LeafNodeTBS", k.Leaf.signed, k.Leaf.Signature)
	case RuleVersion:
		if k.Version != mls10 {
			return "the version is not mls10"
		}
	case RuleDistinctKeys:
		if bytes.Equal(k.InitKey, k.Leaf.EncryptionKey) {
			return "the init key is the encryption key"
		}
	case RuleAllowedExtensions:
		return k.foreignExtension()
	case RulePackageSignature:
		return k.badSignature("KeyPackageTBS", k.signed, k.Signature)
	case RuleListedExtensions:
		return k.unlistedExtension()
	case RuleLifetime:
		return k.Leaf.Lifetime.excludes(now)
	case RuleCredentialType:
		if k.Leaf.Credential.Type != BasicCredential {
			return "the credential is not a basic one"
		}
	case RuleCredentialContent:
		if _, err := credentialInboxID(k.Leaf.Credential.Data); err != nil {
			return err.Error()
		}
	default:
		return "there is no such rule"
	}
	return ""
}

// badSignature verifies one of the two signatures. Both are the installation key's, in the signature scheme of the
// package's suite; suites with another scheme than Ed25519 have keys of another length.
func (k KeyPackage) badSignature(label string, content, signature []byte) string {
	const x25519AES, x25519ChaCha, xWing = 1, 3, 0x004d
	switch k.CipherSuite {
	case x25519AES, x25519ChaCha, xWing:
	default:
		return "the suite's signature scheme has no key of 32 bytes"
	}
	if !verifyStrict(k.Leaf.SignatureKey, signedContent(label, content), signature) {
		return "the installation key did not sign this"
	}
	return ""
}

func (k KeyPackage) foreignExtension() string {
	for t := range k.Extensions.All() {
		switch {
		case t >= extApplicationID && t <= extExternalSenders, t == extImmutableMetadata:
			return fmt.Sprintf("extension %#04x does not belong into a key package", t)
		case isGREASE(t):
			return fmt.Sprintf("extension %#04x is a GREASE number", t)
		}
	}
	return ""
}

func (k KeyPackage) unlistedExtension() string {
	if len(k.Extensions) == 0 {
		return ""
	}
	var listed typeSet
	for t := range k.Leaf.Capabilities.Extensions.All() {
		listed.add(t)
	}
	for t := range k.Extensions.All() {
		// The types of RFC 9420 itself need no listing.
		if t >= extApplicationID && t <= extExternalSenders {
			continue
		}
		if !listed.has(t) {
			return fmt.Sprintf("the capabilities do not list extension %#04x", t)
		}
	}
	return ""
}

// excludes says why the package cannot be used at a time. There is no tolerance for clocks that differ: authors are
// expected to date packages back a little.
func (l Lifetime) excludes(now time.Time) string {
	second := uint64(max(now.Unix(), 0))
	if l.NotAfter <= second {
		return "the lifetime has ended"
	}
	if l.NotBefore > second {
		return "the lifetime has not begun"
	}
	return ""
}
