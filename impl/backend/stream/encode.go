package stream

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// Encoded is a frame in its wire form. Envelopes are encoded once, however many
// streams they go to, so frames are put together from bytes here and not by the
// generated code; the tests hold the two against each other.
type Encoded struct {
	frame  Frame
	static bool
	size   int
}

// Encode returns the wire form of a frame in one of the two forms of stream.
func Encode(f Frame, static bool) Encoded {
	e := Encoded{frame: f, static: static}
	e.size = delimited(e.field(), e.body())
	return e
}

// Size is the number of bytes that AppendTo adds.
func (e Encoded) Size() int { return e.size }

// The fields of SubscribeResponse and SubscribeStaticResponse.
func (e Encoded) field() protowire.Number {
	switch e.frame.(type) {
	case Started:
		return 1
	case Applied:
		return 2
	case Messages:
		if e.static {
			return 2
		}
		return 3
	case Ping:
		return 4
	case Pong:
		return 5
	}
	return 3 // Keepalive
}

// body is the length of the message inside the response.
func (e Encoded) body() int {
	n := 0
	switch f := e.frame.(type) {
	case Started:
		n = number(1, uint64(f.KeepaliveMS))
		for _, t := range f.Targets {
			n += delimited(2, t.size())
		}
	case Applied:
		n = number(1, f.ID)
		for _, t := range f.Targets {
			n += delimited(2, t.size())
		}
	case Messages:
		for _, r := range f.Rows {
			n += rowSize(r)
		}
	case Ping:
		n = number(1, f.Nonce)
	case Pong:
		n = number(1, f.Nonce)
	}
	return n
}

// AppendTo appends the encoded response to b.
func (e Encoded) AppendTo(b []byte) []byte {
	b = prefix(b, e.field(), e.body())
	switch f := e.frame.(type) {
	case Started:
		b = appendNumber(b, 1, uint64(f.KeepaliveMS))
		b = appendTargets(b, f.Targets)
	case Applied:
		b = appendNumber(b, 1, f.ID)
		b = appendTargets(b, f.Targets)
	case Messages:
		for _, r := range f.Rows {
			b = append(prefix(b, 1, len(r.Wire)), r.Wire...)
		}
	case Ping:
		b = appendNumber(b, 1, f.Nonce)
	case Pong:
		b = appendNumber(b, 1, f.Nonce)
	}
	return b
}

// rowSize is what a row adds to a Messages frame.
func rowSize(r Row) int { return delimited(1, len(r.Wire)) }

// size is the length of a CatchupTarget.
func (t Target) size() int {
	return delimited(1, delimited(1, len(t.Topic))) + number(2, uint64(t.Through))
}

func appendTargets(b []byte, targets []Target) []byte {
	for _, t := range targets {
		b = prefix(b, 2, t.size())
		b = prefix(b, 1, delimited(1, len(t.Topic)))
		b = append(prefix(b, 1, len(t.Topic)), t.Topic...)
		b = appendNumber(b, 2, uint64(t.Through))
	}
	return b
}

// delimited is the length of a field of n bytes with its tag and length.
func delimited(field protowire.Number, n int) int {
	return protowire.SizeTag(field) + protowire.SizeBytes(n)
}

// number is the length of a varint field, which is left out when it is 0.
func number(field protowire.Number, v uint64) int {
	if v == 0 {
		return 0
	}
	return protowire.SizeTag(field) + protowire.SizeVarint(v)
}

func prefix(b []byte, field protowire.Number, n int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(n))
}

func appendNumber(b []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}
