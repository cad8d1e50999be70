package craft

import (
	"encoding/binary"

	"assay/model/backend"
)

// Numbers of RFC 9420 that a builder of messages needs: the protocol version,
// wire formats and content types of section 6, the proposal type of 12.1.3, the
// suite whose keys and hashes are 32 bytes long (17.1).
const (
	mls10 = 1

	publicMessage    = 1
	privateMessage   = 2
	welcomeFormat    = 3
	groupInfoFormat  = 4
	keyPackageFormat = 5

	contentApplication = 1
	contentProposal    = 2
	contentCommit      = 3

	senderMember   = 1
	proposalRemove = 3
	inlineProposal = 1
	noPath         = 0

	suite3 = 3 // X25519, ChaCha20-Poly1305, SHA-256, Ed25519
)

// Lengths of what suite 3 puts into a message.
const (
	hashLength      = 32
	keyLength       = 32
	signatureLength = 64
)

// tls is MLS's presentation language (RFC 9420 section 2.1), written.
type tls []byte

func (t tls) u8(v uint8) tls   { return append(t, v) }
func (t tls) u16(v uint16) tls { return binary.BigEndian.AppendUint16(t, v) }
func (t tls) u32(v uint32) tls { return binary.BigEndian.AppendUint32(t, v) }
func (t tls) u64(v uint64) tls { return binary.BigEndian.AppendUint64(t, v) }

// length is the header of a vector in its shortest form (section 2.1.2).
func (t tls) length(n int) tls {
	switch {
	case n < 1<<6:
		return t.u8(uint8(n))
	case n < 1<<14:
		return t.u16(1<<14 | uint16(n))
	default:
		return t.u32(1<<31 | uint32(n))
	}
}

// vector is an opaque<V>.
func (t tls) vector(b []byte) tls { return append(t.length(len(b)), b...) }

// largestLength is 2^30 - 1 in its only legal form, four bytes.
const largestLength = 0xbfffffff

// groupMessage builds what a GroupMessage carries in its data field: an
// MLSMessage, sound or flawed, padded in a vector that may have any length, and
// the trailing bytes of API-041. The flaw must be one of a group message.
func groupMessage(e backend.Envelope, d draw, a amounts) []byte {
	id, shape, pad := d.identifier, d.shape, a.pad
	format := uint16(privateMessage)
	if e.Form == backend.PublicProposal || e.Form == backend.PublicCommit {
		format = publicMessage
	}
	version := uint16(mls10)
	switch e.Flaw {
	case backend.GroupEmpty:
		return nil
	case backend.GroupOneByte:
		return []byte{pick[byte](shape[0], 0xff, 0x00, 0x01)}
	case backend.GroupHeaderOnly:
		return tls(nil).u16(version).u16(format)
	case backend.GroupHoldsWelcome:
		return welcome(tls(nil).u16(version).u16(welcomeFormat), d, pad)
	case backend.GroupHoldsGroupInfo:
		return groupInfo(tls(nil).u16(version).u16(groupInfoFormat), id, d, pad)
	case backend.GroupHoldsKeyPackage:
		return keyPackage(tls(nil).u16(version).u16(keyPackageFormat), d)
	case backend.GroupVersion:
		version = pick[uint16](shape[0], 2, 0, 0x0100, 0xffff)
	case backend.GroupWireFormat:
		format = pick[uint16](shape[0], 6, 0, 0x0a0a, 0xf000, 0xffff)
	case backend.GroupID0:
		id = nil
	case backend.GroupID15:
		id = d.bytes("group id", 15)
	case backend.GroupID17:
		id = d.bytes("group id", 17)
	case backend.GroupID32:
		id = d.bytes("group id", 32)
	}

	out := make(tls, 0, pad+512+e.Trailing)
	if e.Flaw != backend.GroupNoHeader {
		out = out.u16(version).u16(format)
	}
	if e.Flaw == backend.GroupLongLength {
		out = append(out.u16(1<<14|uint16(len(id))), id...)
	} else {
		out = out.vector(id)
	}
	out = out.u64(uint64(binary.BigEndian.Uint16(shape[1:3]))) // epoch
	if e.Form == backend.PublicProposal || e.Form == backend.PublicCommit {
		out = publicBody(out, e, d, pad)
	} else {
		out = privateBody(out, e, d, a)
	}
	if e.Flaw == backend.GroupCutLastByte {
		out = out[:len(out)-1]
	}
	if e.Trailing > 0 {
		out = append(out, d.bytes("trailing", e.Trailing)...)
	}
	return out
}

// privateBody is a PrivateMessage behind its epoch (section 6.3).
func privateBody(out tls, e backend.Envelope, d draw, a amounts) tls {
	out = out.u8(contentType(e, d.shape))
	if e.Flaw == backend.GroupCutAfterType {
		return out
	}
	authenticated, sender := pick(d.shape[4], 0, 16, 70), 28
	if a.bare {
		authenticated, sender = 0, 0
	}
	out = out.vector(d.bytes("authenticated data", authenticated)).vector(d.bytes("sender data", sender))
	return lastVector(out, e, d.bytes("ciphertext", a.pad))
}

// publicBody is a PublicMessage of a member behind its epoch (sections 6 to
// 6.2). It is padded in its authenticated data.
func publicBody(out tls, e backend.Envelope, d draw, pad int) tls {
	out = out.u8(senderMember).u32(uint32(d.shape[5]))
	out = out.vector(d.bytes("authenticated data", pad))
	out = out.u8(contentType(e, d.shape))
	if e.Flaw == backend.GroupCutAfterType {
		return out
	}
	if e.Form == backend.PublicProposal {
		out = remove(out, d.shape)
	} else {
		var proposals tls
		if d.shape[6]&1 == 1 {
			proposals = remove(proposals.u8(inlineProposal), d.shape)
		}
		out = out.vector(proposals).u8(noPath)
	}
	out = out.vector(d.bytes("signature", signatureLength))
	if e.Form == backend.PublicCommit {
		out = out.vector(d.bytes("confirmation tag", hashLength))
	}
	return lastVector(out, e, d.bytes("membership tag", hashLength))
}

func remove(out tls, shape [32]byte) tls { return out.u16(proposalRemove).u32(uint32(shape[7])) }

// lastVector ends a message, as it should or with a length that runs past the end.
func lastVector(out tls, e backend.Envelope, b []byte) tls {
	if e.Flaw == backend.GroupHugeLength {
		return append(out.u32(largestLength), b...)
	}
	return out.vector(b)
}

func contentType(e backend.Envelope, shape [32]byte) uint8 {
	if e.Flaw == backend.GroupContentType {
		return pick[uint8](shape[0], 4, 0, 255)
	}
	switch e.Form {
	case backend.PrivateProposal, backend.PublicProposal:
		return contentProposal
	case backend.PrivateCommit, backend.PublicCommit:
		return contentCommit
	default:
		return contentApplication
	}
}

// pick chooses among values by one byte of an envelope's shape.
func pick[T any](by byte, values ...T) T { return values[int(by)%len(values)] }
