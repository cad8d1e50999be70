package mls

import (
	"encoding/binary"
	"iter"
)

// Extension types that this package looks into or refuses (RFC 9420 section 17.3 and later registrations).
const (
	extApplicationID        = 0x0001
	extRatchetTree          = 0x0002
	extRequiredCapabilities = 0x0003
	extExternalPub          = 0x0004
	extExternalSenders      = 0x0005
	extLastResort           = 0x000a
	extImmutableMetadata    = 0xf000
)

// place is where a list of extensions stands.
type place uint8

const (
	anywhere place = iota // a key package or a group context
	inLeaf
)

// Extensions is a decoded list of extensions in the form it was sent, without its length header.
type Extensions []byte

// All goes through types and data in the order they were sent.
func (x Extensions) All() iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		c := newCursor(x)
		for c.more() {
			t, data := c.uint16("extension_type"), c.opaque("extension_data")
			if c.err != nil || !yield(t, data) {
				return
			}
		}
	}
}

// extensions reads a list of extensions. No type may stand in it twice, and the data of a type that RFC 9420 defines
// must decode.
func (c *cursor) extensions(where place) Extensions {
	outer := c.enter("extensions")
	list := c.in[c.pos:c.end:c.end]
	if c.err == nil && len(list) > 0 {
		var seen typeSet
		for c.more() {
			c.extension(where, &seen)
		}
	}
	c.leave(outer, "extensions")
	return list
}

func (c *cursor) extension(where place, seen *typeSet) {
	start := c.pos
	t := c.uint16("extension_type")
	if where == inLeaf && !mayStandInLeaf(t) {
		c.reject(start, "extension_type", MisplacedExtension)
	}
	if seen.has(t) {
		c.reject(start, "extension_type", DuplicateExtension)
	}
	seen.add(t)
	switch t {
	case extApplicationID, extRatchetTree, extRequiredCapabilities, extExternalPub, extExternalSenders, extLastResort:
		outer := c.enter("extension_data")
		c.knownExtension(t)
		c.leave(outer, "extension_data")
	default:
		c.opaque("extension_data")
	}
}

// mayStandInLeaf refuses the types that speak of a group or of a whole key package.
func mayStandInLeaf(t uint16) bool {
	switch t {
	case extRatchetTree, extRequiredCapabilities, extExternalPub, extExternalSenders, extLastResort, extImmutableMetadata:
		return false
	}
	return true
}

// knownExtension reads the data of a type whose layout RFC 9420 gives. A ratchet tree holds leaf nodes, which hold
// extensions; the depth is bounded because a leaf may not hold a ratchet tree.
func (c *cursor) knownExtension(t uint16) {
	switch t {
	case extApplicationID:
		c.opaque("application_id")
	case extRatchetTree:
		c.vector("ratchet_tree", (*cursor).optionalNode)
	case extRequiredCapabilities:
		c.codes("extension_types")
		c.codes("proposal_types")
		c.codes("credential_types")
	case extExternalPub:
		c.opaque("external_pub")
	case extExternalSenders:
		c.vector("external_senders", (*cursor).externalSender)
	case extLastResort: // a mark without data
	}
}

func (c *cursor) externalSender() {
	c.opaque("signature_key")
	c.credential()
}

// optionalNode reads one node of a ratchet tree (RFC 9420 section 12.4.3.3).
func (c *cursor) optionalNode() {
	const leaf, parent = 1, 2
	if !c.present("node") {
		return
	}
	start := c.pos
	switch c.uint8("node_type") {
	case leaf:
		c.leafNode()
	case parent:
		c.opaque("encryption_key")
		c.opaque("parent_hash")
		c.vector("unmerged_leaves", func(c *cursor) { c.uint32("unmerged_leaf") })
	default:
		c.reject(start, "node_type", UnknownValue)
	}
}

// typeSet is a set of 16-bit numbers. A fixed 8 KiB, so that a list of sixty thousand types is read in one pass.
type typeSet [1 << 10]uint64

func (s *typeSet) has(t uint16) bool { return s[t>>6]&(1<<(t&63)) != 0 }
func (s *typeSet) add(t uint16)      { s[t>>6] |= 1 << (t & 63) }

// isGREASE reports whether a number is one that senders put in to see that receivers ignore it (RFC 9420 section 13.5):
// 0x0a0a, 0x1a1a … 0xeaea.
func isGREASE(t uint16) bool {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], t)
	return b[0] == b[1] && b[0]&0x0f == 0x0a && b[0] != 0xfa
}
