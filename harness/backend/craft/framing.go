package craft

import (
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/model/backend"
)

// field is one protobuf field of an envelope to be written. A message is its
// fields in ascending order, defaults included: which of them appear on the wire
// is the encoding's choice.
type field struct {
	num  protowire.Number
	kind fieldKind
	// value is a varint field's value, data the content of a bytes or string
	// field, sub the fields of a message.
	value uint64
	data  []byte
	sub   []field
}

type fieldKind uint8

const (
	_ fieldKind = iota
	varintField
	bytesField
	messageField
)

func number(num protowire.Number, v uint64) field {
	return field{num: num, kind: varintField, value: v}
}

func flag(num protowire.Number, on bool) field { return number(num, protowire.EncodeBool(on)) }

func bytesOf(num protowire.Number, b []byte) field {
	return field{num: num, kind: bytesField, data: b}
}

func text(num protowire.Number, s string) field { return bytesOf(num, []byte(s)) }

func message(num protowire.Number, sub ...field) field {
	return field{num: num, kind: messageField, sub: sub}
}

// zero reports whether the field is a scalar with its default value, which a
// canonical encoder leaves out. A message that is set is never a default.
func (f field) zero() bool {
	return f.kind == varintField && f.value == 0 || f.kind == bytesField && len(f.data) == 0
}

// writer writes messages in one encoding.
type writer struct {
	encoding backend.Encoding
	// twice makes Explicit write a default before each scalar. It is set for
	// envelopes in which no scalar has its default: the later value wins in
	// every protobuf decoder, so the decoded value stays what it is.
	twice bool
}

func writerFor(fields []field, e backend.Encoding) writer {
	return writer{encoding: e, twice: e == backend.Explicit && !anyZero(fields)}
}

func anyZero(fields []field) bool {
	for _, f := range fields {
		if f.zero() || anyZero(f.sub) {
			return true
		}
	}
	return false
}

// canonicalSize is the length of the canonical encoding (API-020).
func canonicalSize(fields []field) int { return writer{}.size(fields) }

func (w writer) size(fields []field) int {
	n := 0
	for _, f := range fields {
		n += w.fieldSize(f)
	}
	return n
}

func (w writer) fieldSize(f field) int {
	tag := w.varintSize(protowire.EncodeTag(f.num, f.wireType()))
	n := 0
	switch {
	case f.zero() && w.encoding != backend.Explicit:
		return 0
	case f.kind == varintField:
		n = tag + w.varintSize(f.value)
	case f.kind == bytesField:
		n = tag + w.varintSize(uint64(len(f.data))) + len(f.data)
	default:
		inner := w.size(f.sub)
		return tag + w.varintSize(uint64(inner)) + inner
	}
	if w.twice {
		n += tag + 1
	}
	return n
}

func (f field) wireType() protowire.Type {
	if f.kind == varintField {
		return protowire.VarintType
	}
	return protowire.BytesType
}

func (w writer) append(b []byte, fields []field) []byte {
	if w.encoding == backend.Reordered {
		// Elements of a repeated field keep their order, which is part of the value.
		for end := len(fields); end > 0; {
			start := end - 1
			for start > 0 && fields[start-1].num == fields[start].num {
				start--
			}
			for _, f := range fields[start:end] {
				b = w.appendField(b, f)
			}
			end = start
		}
		return b
	}
	for _, f := range fields {
		b = w.appendField(b, f)
	}
	return b
}

func (w writer) appendField(b []byte, f field) []byte {
	if f.zero() && w.encoding != backend.Explicit {
		return b
	}
	tag := protowire.EncodeTag(f.num, f.wireType())
	if w.twice && f.kind != messageField {
		b = append(w.appendVarint(b, tag), 0)
	}
	b = w.appendVarint(b, tag)
	switch f.kind {
	case varintField:
		return w.appendVarint(b, f.value)
	case bytesField:
		b = w.appendVarint(b, uint64(len(f.data)))
		return append(b, f.data...)
	default:
		b = w.appendVarint(b, uint64(w.size(f.sub)))
		return w.append(b, f.sub)
	}
}

// longestVarint is the most bytes a protobuf varint may have.
const longestVarint = 10

func (w writer) varintSize(v uint64) int {
	n := (bits.Len64(v|1) + 6) / 7
	if w.encoding == backend.Padded && n < longestVarint {
		n++
	}
	return n
}

// appendVarint writes v, under Padded with one byte more than it needs.
func (w writer) appendVarint(b []byte, v uint64) []byte {
	b = protowire.AppendVarint(b, v)
	if w.encoding == backend.Padded && w.varintSize(v) > protowire.SizeVarint(v) {
		b[len(b)-1] |= 0x80
		b = append(b, 0)
	}
	return b
}
