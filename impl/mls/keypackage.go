package mls

// InstallationKeyLen is how many bytes an installation key has (API-002).
const InstallationKeyLen = 32

// KeyPackage is a decoded key package (RFC 9420 section 10). Decoded is not valid: see [KeyPackage.Validate]. The
// value points into the bytes it was parsed from.
type KeyPackage struct {
	Version     uint16
	CipherSuite uint16
	InitKey     []byte
	Leaf        LeafNode
	Extensions  Extensions
	Signature   []byte

	signed []byte // the encoding up to, and without, Signature
}

// ParseKeyPackage decodes a bare key package, one without an MLSMessage around it. The input must be used up to its
// last byte and the installation key must have 32 bytes. Any error is a *DecodeError.
//
// A publisher looks for a stored copy of the envelope between this and [KeyPackage.Validate], so that a retry
// succeeds although the package has expired since (API-035).
func ParseKeyPackage(data []byte) (KeyPackage, error) {
	c := newCursor(data)
	k := c.keyPackage()
	if c.err == nil && c.pos != len(data) {
		c.reject(c.pos, "key_package", LeftOver)
	}
	if len(k.Leaf.SignatureKey) != InstallationKeyLen {
		c.reject(0, "signature_key", KeyLength)
	}
	if c.err != nil {
		return KeyPackage{}, c.err
	}
	return k, nil
}

// keyPackage reads a KeyPackage whatever its version says and whatever its keys measure, as an add proposal needs it.
func (c *cursor) keyPackage() KeyPackage {
	first := c.pos
	var k KeyPackage
	k.Version = c.uint16("version")
	k.CipherSuite = c.cipherSuite()
	k.InitKey = c.opaque("init_key")
	k.Leaf = c.leafNode()
	k.Extensions = c.extensions(anywhere)
	k.signed = c.in[first:c.pos]
	k.Signature = c.opaque("key_package_signature")
	return k
}

// InstallationKey returns the 32 bytes that name the package's topic (API-002).
func (k KeyPackage) InstallationKey() []byte { return k.Leaf.SignatureKey }

// InboxID returns the inbox id that the credential claims, or "" when the credential is not one of this protocol (and
// also when it claims an empty id, which is allowed). Nothing proves the claim.
func (k KeyPackage) InboxID() string {
	if k.Leaf.Credential.Type != BasicCredential {
		return ""
	}
	id, err := credentialInboxID(k.Leaf.Credential.Data)
	if err != nil {
		return ""
	}
	return id
}
