package mls

import (
	"encoding/binary"
	"iter"
	"slices"
)

// LeafSource says how a leaf node came about (RFC 9420 section 7.2, `leaf_node_source`).
type LeafSource uint8

const (
	LeafFromKeyPackage LeafSource = 1
	LeafFromUpdate     LeafSource = 2
	LeafFromCommit     LeafSource = 3
)

// Lifetime is the time in which a key package may be used, in seconds since 1970 (RFC 9420 section 7.2).
type Lifetime struct {
	NotBefore, NotAfter uint64
}

// BasicCredential is the credential type whose data is an identity and nothing else (RFC 9420 section 5.3).
const BasicCredential = 1

// Credential is who the owner of a leaf claims to be (RFC 9420 section 5.3). Data is one opaque<V> whatever the type.
type Credential struct {
	Type uint16
	Data []byte
}

// Capabilities lists what the owner of a leaf understands (RFC 9420 section 7.2).
type Capabilities struct {
	Versions, CipherSuites, Extensions, Proposals, Credentials Codes
}

// Codes is a vector of 16-bit numbers in the form they were sent: two bytes each.
type Codes []byte

// All goes through the numbers in the order they were sent.
func (s Codes) All() iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		for ; len(s) >= 2; s = s[2:] {
			if !yield(binary.BigEndian.Uint16(s)) {
				return
			}
		}
	}
}

// LeafNode is one member's, or one member-to-be's, public part (RFC 9420 section 7.2).
type LeafNode struct {
	EncryptionKey []byte
	SignatureKey  []byte // the installation key
	Credential    Credential
	Capabilities  Capabilities
	Source        LeafSource
	Lifetime      Lifetime // set when Source is LeafFromKeyPackage
	ParentHash    []byte   // set when Source is LeafFromCommit
	Extensions    Extensions
	Signature     []byte

	signed []byte // the encoding up to, and without, Signature
}

func (c *cursor) leafNode() LeafNode {
	first := c.pos
	var leaf LeafNode
	leaf.EncryptionKey = c.opaque("encryption_key")
	leaf.SignatureKey = c.opaque("signature_key")
	leaf.Credential = c.credential()
	leaf.Capabilities = Capabilities{
		Versions:     c.codes("versions"),
		CipherSuites: c.codes("cipher_suites"),
		Extensions:   c.codes("extensions"),
		Proposals:    c.codes("proposals"),
		Credentials:  c.codes("credentials"),
	}
	start := c.pos
	leaf.Source = LeafSource(c.uint8("leaf_node_source"))
	switch leaf.Source {
	case LeafFromKeyPackage:
		leaf.Lifetime = Lifetime{NotBefore: c.uint64("not_before"), NotAfter: c.uint64("not_after")}
	case LeafFromUpdate:
	case LeafFromCommit:
		leaf.ParentHash = c.opaque("parent_hash")
	default:
		c.reject(start, "leaf_node_source", UnknownValue)
	}
	leaf.Extensions = c.extensions(inLeaf)
	leaf.signed = c.in[first:c.pos]
	leaf.Signature = c.opaque("leaf_signature")
	return leaf
}

func (c *cursor) credential() Credential {
	return Credential{Type: c.uint16("credential_type"), Data: c.opaque("credential")}
}

// codes reads a vector of 16-bit numbers.
func (c *cursor) codes(field string) Codes {
	start := c.pos
	codes := c.opaque(field)
	if len(codes)%2 != 0 {
		c.reject(start, field, Truncated)
	}
	return codes
}

// knownSuites are the numbers that decode: the seven of RFC 9420 section 17.1, and the one with an X-Wing key that
// this protocol's clients use beside them. A suite outside the list leaves the rest of the structure without meaning.
var knownSuites = [...]uint16{1, 2, 3, 4, 5, 6, 7, 0x004d}

func (c *cursor) cipherSuite() uint16 {
	start := c.pos
	suite := c.uint16("cipher_suite")
	if !slices.Contains(knownSuites[:], suite) {
		c.reject(start, "cipher_suite", UnknownValue)
	}
	return suite
}
