package mls

import "fmt"

// DecodeError says that the input is not the structure it was read as. A publish answers it with MALFORMED_PAYLOAD
// (API-040).
type DecodeError struct {
	Offset  int    // byte of the input at which reading stopped, from 0
	Field   string // field being read, as RFC 9420 names it
	Problem Problem
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("mls: %s at byte %d: %s", e.Field, e.Offset, e.Problem)
}

// Problem is why a field did not decode. The zero value is not a problem.
type Problem uint8

const (
	// Truncated: the input, or the vector around the field, ends inside it.
	Truncated Problem = iota + 1
	// LengthForm: a vector length in more bytes than it needs, or in the 8-byte form, which MLS has not.
	LengthForm
	// UnknownValue: a number for which RFC 9420 defines no meaning here, and without which what follows cannot be read.
	UnknownValue
	// NotProtocolMessage: a welcome, group info or key package where a group message belongs (API-041).
	NotProtocolMessage
	// DuplicateExtension: one extension type twice in a list.
	DuplicateExtension
	// MisplacedExtension: an extension type that cannot stand in a leaf node.
	MisplacedExtension
	// LeftOver: bytes follow where the structure has ended.
	LeftOver
	// KeyLength: an installation key that is not 32 bytes, so that the package has no topic (API-002).
	KeyLength
)

func (p Problem) String() string {
	switch p {
	case Truncated:
		return "the input ends inside the field"
	case LengthForm:
		return "the length is not in its shortest form"
	case UnknownValue:
		return "the value has no meaning here"
	case NotProtocolMessage:
		return "a welcome, group info or key package is not a group message"
	case DuplicateExtension:
		return "the extension type stands in the list twice"
	case MisplacedExtension:
		return "the extension type cannot stand in a leaf node"
	case LeftOver:
		return "bytes are left over after the last field"
	case KeyLength:
		return "the installation key is not 32 bytes"
	}
	return fmt.Sprintf("problem %d", uint8(p))
}
