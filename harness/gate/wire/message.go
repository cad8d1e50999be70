package wire

import (
	"bytes"
	"encoding/binary"
)

// cut takes a zero-terminated string off the front. Without its zero it is all
// that there is, and not whole.
func cut(b []byte) (s, rest []byte, whole bool) {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i], b[i+1:], true
	}
	return b, nil, false
}

// ReadQuery returns the text of a Query.
func ReadQuery(body []byte) []byte {
	text, _, _ := cut(body)
	return text
}

// ReadParse returns the name and text of a Parse; ok is false when there is no
// text.
func ReadParse(body []byte) (name, text []byte, ok bool) {
	name, rest, ok := cut(body)
	if !ok {
		return nil, nil, false
	}
	text, _, _ = cut(rest)
	return name, text, true
}

// Bound is what a Bind says.
type Bound struct {
	Portal, Statement []byte
	// Values are the parameters as they were sent; nil for NULL.
	Values [][]byte
	// Whole is false when the body ended before the last value did.
	Whole bool
}

// ReadBind reads a Bind as far as it goes; ok is false when the names are
// missing.
func ReadBind(body []byte) (b Bound, ok bool) {
	if b.Portal, body, ok = cut(body); !ok {
		return Bound{}, false
	}
	if b.Statement, body, ok = cut(body); !ok {
		return Bound{}, false
	}
	formats, body, ok := count(body)
	if !ok || len(body) < 2*formats {
		return b, true
	}
	values, body, ok := count(body[2*formats:])
	if !ok {
		return b, true
	}
	// A value has at least four bytes: a false count costs no memory.
	b.Values = make([][]byte, 0, min(values, len(body)/4))
	for range values {
		if len(body) < 4 {
			return b, true
		}
		size := int(int32(binary.BigEndian.Uint32(body)))
		body = body[4:]
		switch {
		case size == -1:
			b.Values = append(b.Values, nil)
			continue
		case size < 0:
			return b, true
		case size > len(body):
			b.Values = append(b.Values, body)
			return b, true
		}
		b.Values = append(b.Values, body[:size:size])
		body = body[size:]
	}
	b.Whole = true
	return b, true
}

func count(b []byte) (n int, rest []byte, ok bool) {
	if len(b) < 2 {
		return 0, nil, false
	}
	return int(binary.BigEndian.Uint16(b)), b[2:], true
}

// ReadExecute returns the portal that an Execute names.
func ReadExecute(body []byte) []byte {
	portal, _, _ := cut(body)
	return portal
}

// ReadTarget returns what a Close or Describe names: 'S' for a statement, 'P'
// for a portal.
func ReadTarget(body []byte) (what byte, name []byte) {
	if len(body) == 0 {
		return 0, nil
	}
	name, _, _ = cut(body[1:])
	return body[0], name
}

// ReadTag returns the tag of a CommandComplete, such as INSERT 0 1.
func ReadTag(body []byte) string {
	tag, _, _ := cut(body)
	return string(tag)
}

// ReadState returns the SQLSTATE of an ErrorResponse, "" when it has none.
func ReadState(body []byte) string {
	for len(body) > 1 {
		field, rest, whole := cut(body[1:])
		if !whole {
			return ""
		}
		if body[0] == 'C' {
			return string(field)
		}
		body = rest
	}
	return ""
}

// ReadProcess returns the server process that a BackendKeyData names. The key
// beside it is nobody's business but client's and server's.
func ReadProcess(body []byte) (pid uint32, ok bool) {
	if len(body) < 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(body), true
}
