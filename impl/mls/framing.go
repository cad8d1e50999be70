package mls

// mls10 is the only protocol version there is (RFC 9420 section 6).
const mls10 = 1

// WireFormat says what an MLSMessage carries (RFC 9420 section 6, `wire_format`).
type WireFormat uint16

const (
	PublicMessage     WireFormat = 1
	PrivateMessage    WireFormat = 2
	welcomeMessage    WireFormat = 3
	groupInfoMessage  WireFormat = 4
	keyPackageMessage WireFormat = 5
)

func (f WireFormat) String() string {
	switch f {
	case PublicMessage:
		return "public message"
	case PrivateMessage:
		return "private message"
	case welcomeMessage:
		return "welcome"
	case groupInfoMessage:
		return "group info"
	case keyPackageMessage:
		return "key package"
	}
	return "unknown wire format"
}

// ContentType says what a group message does (RFC 9420 section 6, `content_type`). In a private message it stands in
// clear, and nothing lets a backend authenticate it.
type ContentType uint8

const (
	Application ContentType = 1
	Proposal    ContentType = 2
	Commit      ContentType = 3
)

func (t ContentType) String() string {
	switch t {
	case Application:
		return "application"
	case Proposal:
		return "proposal"
	case Commit:
		return "commit"
	}
	return "unknown content type"
}

// Sender types of a public message (RFC 9420 section 6, `SenderType`).
const (
	senderMember            = 1
	senderExternal          = 2
	senderNewMemberProposal = 3
	senderNewMemberCommit   = 4
)

// GroupMessage is what a backend takes from a group message. The value points into the bytes it was parsed from.
type GroupMessage struct {
	GroupID     []byte      // as long as the sender made it; a topic needs exactly 16 bytes (API-002)
	Epoch       uint64      // group state the sender was in; not compared with anything
	ContentType ContentType // one of the three
	WireFormat  WireFormat  // PublicMessage or PrivateMessage
	Len         int         // bytes of the message itself; what follows is its tail, stored but not read (API-041)
}

// CommitOrProposal reports whether the message changes the group. Such messages never expire (API-021).
func (m GroupMessage) CommitOrProposal() bool {
	return m.ContentType == Proposal || m.ContentType == Commit
}

// ParseGroupMessage decodes an MLSMessage that holds a public or a private message (API-041). The whole message must
// decode: one that breaks off behind its content type is refused. Bytes after it are allowed and change nothing. Any
// error is a *DecodeError.
func ParseGroupMessage(data []byte) (GroupMessage, error) {
	c := newCursor(data)
	version := c.uint16("version")
	m := GroupMessage{WireFormat: WireFormat(c.uint16("wire_format"))}
	switch m.WireFormat {
	case PublicMessage, PrivateMessage:
	case welcomeMessage, groupInfoMessage, keyPackageMessage:
		c.reject(2, "wire_format", NotProtocolMessage)
	default:
		c.reject(2, "wire_format", UnknownValue)
	}
	if version != mls10 {
		c.reject(0, "version", UnknownValue)
	}
	m.GroupID = c.opaque("group_id")
	m.Epoch = c.uint64("epoch")
	if m.WireFormat == PrivateMessage {
		m.ContentType = c.privateMessage()
	} else {
		m.ContentType = c.publicMessage()
	}
	if c.err != nil {
		return GroupMessage{}, c.err
	}
	m.Len = c.pos
	return m, nil
}

// contentType reads a content type, refusing those that RFC 9420 does not define.
func (c *cursor) contentType() ContentType {
	start := c.pos
	t := ContentType(c.uint8("content_type"))
	if t < Application || t > Commit {
		c.reject(start, "content_type", UnknownValue)
	}
	return t
}

// privateMessage reads a PrivateMessage behind its epoch (RFC 9420 section 6.3). The encrypted fields have no
// smallest length: only a member could tell what is in them.
func (c *cursor) privateMessage() ContentType {
	t := c.contentType()
	c.opaque("authenticated_data")
	c.opaque("encrypted_sender_data")
	c.opaque("ciphertext")
	return t
}

// publicMessage reads a PublicMessage behind its epoch (RFC 9420 sections 6, 6.1 and 6.2). Which sender may send
// which content is for the group to judge.
func (c *cursor) publicMessage() ContentType {
	start := c.pos
	sender := c.uint8("sender_type")
	switch sender {
	case senderMember:
		c.uint32("leaf_index")
	case senderExternal:
		c.uint32("sender_index")
	case senderNewMemberProposal, senderNewMemberCommit:
	default:
		c.reject(start, "sender_type", UnknownValue)
	}
	c.opaque("authenticated_data")
	t := c.contentType()
	switch t {
	case Application:
		c.opaque("application_data")
	case Proposal:
		c.proposal()
	case Commit:
		c.commit()
	}
	c.opaque("signature")
	if t == Commit {
		c.opaque("confirmation_tag")
	}
	if sender == senderMember {
		c.opaque("membership_tag")
	}
	return t
}
