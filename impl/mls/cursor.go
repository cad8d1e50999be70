package mls

import "encoding/binary"

// cursor reads one input from front to back. The first failure sticks: later reads return zero values and move
// nothing, so a decoder reads straight through its fields and the caller looks at err once, at the end.
type cursor struct {
	in  []byte       // the whole input, so that offsets in errors count from its first byte
	pos int          // next byte to read. Invariant: 0 <= pos <= end
	end int          // first byte that may not be read: the end of the input, or of the vector entered last
	err *DecodeError // why reading stopped
}

func newCursor(in []byte) cursor { return cursor{in: in, end: len(in)} }

// reject records that the field whose value starts at offset start is not acceptable.
func (c *cursor) reject(start int, field string, problem Problem) {
	if c.err == nil {
		c.err = &DecodeError{Offset: start, Field: field, Problem: problem}
	}
}

// take returns the next n bytes without copying them. Comparing with what is left comes first, so that a header
// that claims a gibibyte costs nothing.
func (c *cursor) take(n int, field string) []byte {
	if c.err != nil {
		return nil
	}
	if n > c.end-c.pos {
		c.reject(c.pos, field, Truncated)
		return nil
	}
	taken := c.in[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return taken
}

func (c *cursor) uint8(field string) uint8 {
	if b := c.take(1, field); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint16(field string) uint16 {
	if b := c.take(2, field); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint32(field string) uint32 {
	if b := c.take(4, field); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64(field string) uint64 {
	if b := c.take(8, field); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// present reads the flag of an optional value.
func (c *cursor) present(field string) bool {
	start := c.pos
	flag := c.uint8(field)
	if flag > 1 {
		c.reject(start, field, UnknownValue)
	}
	return c.err == nil && flag == 1
}

// length reads a vector length header (RFC 9420 section 2.1.2). The top two bits of the first byte say how many
// bytes the header has, and only the shortest header for a value is one. The result is at most 2^30-1.
func (c *cursor) length(field string) int {
	start := c.pos
	first := c.uint8(field)
	var n, floor int
	switch first >> 6 {
	case 0:
		return int(first)
	case 1:
		rest := c.uint8(field)
		n, floor = int(first&0x3f)<<8|int(rest), 1<<6
	case 2:
		high := c.uint8(field)
		low := c.uint16(field)
		n, floor = int(first&0x3f)<<24|int(high)<<16|int(low), 1<<14
	default:
		c.reject(start, field, LengthForm)
	}
	if n < floor {
		c.reject(start, field, LengthForm)
	}
	if c.err != nil {
		return 0
	}
	return n
}

// opaque reads an opaque<V>: a length header and as many bytes.
func (c *cursor) opaque(field string) []byte {
	n := c.length(field)
	return c.take(n, field)
}

// enter reads a vector's length header and narrows the cursor to the vector. The result goes to leave.
func (c *cursor) enter(field string) (outer int) {
	outer = c.end
	n := c.length(field)
	if c.err != nil {
		return outer
	}
	if n > c.end-c.pos {
		c.reject(c.pos, field, Truncated)
		return outer
	}
	c.end = c.pos + n
	return outer
}

// leave ends a vector: it must have been read to its last byte.
func (c *cursor) leave(outer int, field string) {
	if c.pos != c.end {
		c.reject(c.pos, field, LeftOver)
	}
	c.end = outer
}

// more reports whether the vector entered last has another element.
func (c *cursor) more() bool { return c.err == nil && c.pos < c.end }

// vector reads a vector of structures. An element that runs past the declared length is Truncated.
func (c *cursor) vector(field string, element func(*cursor)) {
	outer := c.enter(field)
	for c.more() {
		element(c)
	}
	c.leave(outer, field)
}
