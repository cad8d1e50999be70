package mls

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// The identity of a basic credential is a protobuf message of one field, `string inbox_id = 1`. It is read here by
// hand, strictly where generated Go code is not: field 1 with another wire type is an error and not an unknown field.

// Protobuf wire types.
const (
	wireVarint     = 0
	wireFixed64    = 1
	wireBytes      = 2
	wireGroupStart = 3
	wireGroupEnd   = 4
	wireFixed32    = 5
)

// maxGroupDepth bounds groups inside groups, which only an unknown field can hold.
const maxGroupDepth = 100

var (
	errFieldCut      = errors.New("a field runs past the end")
	errFieldTag      = errors.New("a field has no valid number or wire type")
	errInboxIDType   = errors.New("the inbox id is not length-delimited")
	errInboxIDText   = errors.New("the inbox id is not UTF-8")
	errGroupsTooDeep = errors.New("groups are nested too deeply")
)

// credentialInboxID returns the inbox id of an identity: "" when the field is absent, the last one when it is
// repeated. Fields of other numbers are skipped.
func credentialInboxID(identity []byte) (string, error) {
	var id []byte
	for len(identity) > 0 {
		field, kind, rest, err := protoTag(identity)
		if err != nil {
			return "", err
		}
		if field != 1 {
			if identity, err = skipField(field, kind, rest, maxGroupDepth); err != nil {
				return "", err
			}
			continue
		}
		if kind != wireBytes {
			return "", errInboxIDType
		}
		if id, identity, err = protoBytes(rest); err != nil {
			return "", err
		}
		if !utf8.Valid(id) {
			return "", errInboxIDText
		}
	}
	return string(id), nil
}

// protoTag reads a field's number and wire type.
func protoTag(in []byte) (field uint32, kind uint8, rest []byte, err error) {
	tag, n := binary.Uvarint(in)
	if n <= 0 {
		return 0, 0, nil, errFieldCut
	}
	if tag > 1<<32-1 || tag>>3 == 0 {
		return 0, 0, nil, errFieldTag
	}
	return uint32(tag >> 3), uint8(tag & 7), in[n:], nil
}

// protoBytes reads a length-delimited value.
func protoBytes(in []byte) (value, rest []byte, err error) {
	size, n := binary.Uvarint(in)
	if n <= 0 || size > uint64(len(in)-n) {
		return nil, nil, errFieldCut
	}
	end := n + int(size)
	return in[n:end], in[end:], nil
}

// skipField passes over the value of a field that means nothing here.
func skipField(field uint32, kind uint8, in []byte, depth int) (rest []byte, err error) {
	fixed := 0
	switch kind {
	case wireVarint:
		_, fixed = binary.Uvarint(in)
		if fixed <= 0 {
			return nil, errFieldCut
		}
	case wireFixed64:
		fixed = 8
	case wireFixed32:
		fixed = 4
	case wireBytes:
		_, rest, err = protoBytes(in)
		return rest, err
	case wireGroupStart:
		return skipGroup(field, in, depth)
	default:
		return nil, errFieldTag
	}
	if fixed > len(in) {
		return nil, errFieldCut
	}
	return in[fixed:], nil
}

// skipGroup passes over fields up to the end mark with the same number.
func skipGroup(group uint32, in []byte, depth int) ([]byte, error) {
	if depth == 0 {
		return nil, errGroupsTooDeep
	}
	for {
		field, kind, rest, err := protoTag(in)
		if err != nil {
			return nil, err
		}
		if kind == wireGroupEnd {
			if field != group {
				return nil, errFieldTag
			}
			return rest, nil
		}
		if in, err = skipField(field, kind, rest, depth-1); err != nil {
			return nil, err
		}
	}
}
