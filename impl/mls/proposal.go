package mls

// Proposal types with a layout of their own (RFC 9420 section 12.1).
const (
	proposalAdd                    = 1
	proposalUpdate                 = 2
	proposalRemove                 = 3
	proposalPSK                    = 4
	proposalReInit                 = 5
	proposalExternalInit           = 6
	proposalGroupContextExtensions = 7
	proposalSelfRemove             = 10
)

// proposal reads a Proposal. RFC 9420 gives no layout to types it does not define; here they carry one opaque<V>, as
// the known implementation of this protocol reads them.
func (c *cursor) proposal() {
	switch c.uint16("proposal_type") {
	case proposalAdd:
		c.keyPackage()
	case proposalUpdate:
		c.leafNode()
	case proposalRemove:
		c.uint32("removed")
	case proposalPSK:
		c.preSharedKeyID()
	case proposalReInit:
		c.opaque("group_id")
		c.uint16("version")
		c.cipherSuite()
		c.extensions(anywhere)
	case proposalExternalInit:
		c.opaque("kem_output")
	case proposalGroupContextExtensions:
		c.extensions(anywhere)
	case proposalSelfRemove:
	default:
		c.opaque("proposal")
	}
}

// preSharedKeyID reads a PreSharedKeyID (RFC 9420 section 8.4).
func (c *cursor) preSharedKeyID() {
	const external, resumption, lastUsage = 1, 2, 3
	start := c.pos
	switch c.uint8("psktype") {
	case external:
		c.opaque("psk_id")
	case resumption:
		start := c.pos
		if usage := c.uint8("usage"); usage < 1 || usage > lastUsage {
			c.reject(start, "usage", UnknownValue)
		}
		c.opaque("psk_group_id")
		c.uint64("psk_epoch")
	default:
		c.reject(start, "psktype", UnknownValue)
	}
	c.opaque("psk_nonce")
}

// commit reads a Commit (RFC 9420 section 12.4).
func (c *cursor) commit() {
	c.vector("proposals", (*cursor).proposalOrRef)
	if c.present("path") {
		c.leafNode()
		c.vector("nodes", (*cursor).updatePathNode)
	}
}

func (c *cursor) proposalOrRef() {
	const proposal, reference = 1, 2
	start := c.pos
	switch c.uint8("proposal_or_ref") {
	case proposal:
		c.proposal()
	case reference:
		c.opaque("reference")
	default:
		c.reject(start, "proposal_or_ref", UnknownValue)
	}
}

func (c *cursor) updatePathNode() {
	c.opaque("encryption_key")
	c.vector("encrypted_path_secret", (*cursor).hpkeCiphertext)
}

func (c *cursor) hpkeCiphertext() {
	c.opaque("kem_output")
	c.opaque("ciphertext")
}
