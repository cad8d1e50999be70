// Package wire reads the Postgres protocol as far as a proxy must: where each
// message begins and ends, and what the few say that decide whether a statement
// is held. Start with [Buffer], which finds messages in a stream without copying
// or changing it, and [Memory], which knows what a client has prepared.
//
// It does no I/O. It does not check that messages come in an order that the
// protocol allows, or that their bodies are right: both ends do that themselves,
// and whatever cannot be read here is passed on as it came.
package wire

import (
	"encoding/binary"
	"fmt"
)

// HeaderSize is what every message after the startup begins with: its kind, and
// a length that counts itself but not the kind.
const HeaderSize = 5

// MaxMessage is the longest message that Postgres takes or sends, in bytes
// (MaxAllocSize). A longer one is a stream that is not this protocol.
const MaxMessage = 1<<30 - 1

// Kind is the first byte of a message. Client and server use some letters
// twice.
type Kind byte

// What a client sends.
const (
	Bind         Kind = 'B'
	Close        Kind = 'C'
	Describe     Kind = 'D'
	Execute      Kind = 'E'
	FunctionCall Kind = 'F'
	Flush        Kind = 'H'
	Parse        Kind = 'P'
	Query        Kind = 'Q'
	Sync         Kind = 'S'
	Terminate    Kind = 'X'
)

// What a server sends.
const (
	CommandComplete  Kind = 'C'
	ErrorResponse    Kind = 'E'
	CopyInResponse   Kind = 'G'
	EmptyQuery       Kind = 'I'
	BackendKeyData   Kind = 'K'
	Authentication   Kind = 'R'
	PortalSuspended  Kind = 's'
	CopyBothResponse Kind = 'W'
	ReadyForQuery    Kind = 'Z'
)

// Kinds are those whose bodies somebody wants.
type Kinds [256]bool

// Want returns a set of kinds.
func Want(kinds ...Kind) *Kinds {
	var k Kinds
	for _, kind := range kinds {
		k[kind] = true
	}
	return &k
}

// Message is one message of a stream.
type Message struct {
	Kind Kind
	// Body is set for wanted kinds. It points into the buffer.
	Body []byte
	// Short says that Body is only the beginning: the message is above the limit.
	Short bool
}

// Buffer holds a part of a stream. From the front: what was looked at but not
// yet passed on, then what was not looked at. Nothing in it is ever changed.
type Buffer struct {
	data             []byte
	start, pos, stop int // data[start:pos] waits to be passed on, data[pos:stop] to be looked at
	skip             int // bytes of the current body that have yet to come or to be looked at
	need             int // bytes from pos that Next waits for
	limit            int
}

// NewBuffer uses data as its first space. It waits for at most limit bytes of a
// body that is wanted.
func NewBuffer(data []byte, limit int) *Buffer { return &Buffer{data: data, limit: limit} }

// Room returns space to read into, at least one byte; Filled says how much was
// read. Bodies that Next returned stay valid until what they are part of was
// passed on and Room is called again.
func (b *Buffer) Room() []byte {
	if b.start == b.stop {
		b.start, b.pos, b.stop = 0, 0, 0
	}
	if b.stop < len(b.data) && b.pos+b.need <= len(b.data) {
		return b.data[b.stop:]
	}
	size := len(b.data)
	for size < b.pos-b.start+b.need || size <= b.stop-b.start {
		size *= 2
	}
	to := b.data
	// Bodies that wait with their messages must not be written over.
	if size > len(b.data) || b.start < b.pos {
		to = make([]byte, size)
	}
	copy(to, b.data[b.start:b.stop])
	b.data, b.start, b.pos, b.stop = to, 0, b.pos-b.start, b.stop-b.start
	return b.data[b.stop:]
}

// Filled says that n bytes were read into what Room returned.
func (b *Buffer) Filled(n int) { b.stop += n }

// Next moves past the next message, as far as it has come; ok is false when
// more must be read first. The body of a kind that is not wanted need not have
// come yet. An error means that the stream is not this protocol.
func (b *Buffer) Next(wanted *Kinds) (m Message, ok bool, err error) {
	b.need = 0
	if b.skip > 0 {
		n := min(b.skip, b.stop-b.pos)
		b.pos += n
		if b.skip -= n; b.skip > 0 {
			return m, false, nil
		}
	}
	if b.stop-b.pos < HeaderSize {
		b.need = HeaderSize
		return m, false, nil
	}
	m.Kind = Kind(b.data[b.pos])
	length := binary.BigEndian.Uint32(b.data[b.pos+1:])
	if length < 4 || length > MaxMessage {
		return m, false, fmt.Errorf("message %q claims a length of %d bytes: want 4 to %d", byte(m.Kind), length, MaxMessage)
	}
	size := int(length) - 4
	if wanted[m.Kind] {
		most := min(size, b.limit)
		if b.stop-b.pos-HeaderSize < most {
			b.need = HeaderSize + most
			return m, false, nil
		}
		m.Body = b.data[b.pos+HeaderSize : b.pos+HeaderSize+most : b.pos+HeaderSize+most]
		m.Short = most < size
	}
	b.pos += HeaderSize
	n := min(size, b.stop-b.pos)
	b.pos += n
	b.skip = size - n
	return m, true, nil
}

// Waiting is what was looked at and not yet passed on.
func (b *Buffer) Waiting() []byte { return b.data[b.start:b.pos] }

// Passed says that all of Waiting was passed on.
func (b *Buffer) Passed() { b.start = b.pos }

// Last splits Waiting before the message that Next returned last, which must
// have come whole and have a body of this size.
func (b *Buffer) Last(body int) (before, message []byte) {
	at := max(b.pos-HeaderSize-body, b.start)
	return b.data[b.start:at], b.data[at:b.pos]
}

// Unread is how many bytes Next has not yet looked at.
func (b *Buffer) Unread() int { return b.stop - b.pos }

// Data gives up the space, for another buffer.
func (b *Buffer) Data() []byte {
	d := b.data
	*b = Buffer{}
	return d
}
