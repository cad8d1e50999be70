package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Framing of gRPC messages: a flag byte and a length of four bytes, big-endian.
const (
	prefixLength   = 5
	flagCompressed = 0x01
	// flagTrailer marks gRPC-Web's last frame, which holds the trailers.
	flagTrailer = 0x80
	// mostTrailer bounds that frame.
	mostTrailer = 1 << 20
)

func putPrefix(p []byte, n int) {
	p[0] = 0
	binary.BigEndian.PutUint32(p[1:], uint32(n))
}

// oddity is something in an answer that the protocol has no room for.
type oddity struct{ what string }

func (o *oddity) Error() string { return o.what }

func odd(format string, args ...any) error { return &oddity{fmt.Sprintf(format, args...)} }

// body reads the messages of one response.
type body struct {
	from io.Reader
	max  int
	web  bool

	any      bool // at least one byte came
	messages int
	message  []byte // the first
	declared int    // the length the last message frame claimed
	trailer  http.Header
}

// read reads to the end of a unary response. An error that is no *oddity is the
// transport's.
func (b *body) read() error {
	for {
		size, err := b.next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if b.messages > 1 {
			// What a unary call answers twice cannot be used; the rest is not read.
			return odd("more than one response message to a unary call")
		}
		if b.message, err = b.take(size); err != nil {
			return err
		}
	}
}

// next reads up to the next message and returns the length it claims; io.EOF at
// the end of the response in good order.
func (b *body) next() (size int64, err error) {
	for {
		var prefix [prefixLength]byte
		n, err := full(b.from, prefix[:])
		b.any = b.any || n > 0
		switch {
		case err == io.EOF && n == 0:
			return 0, io.EOF
		case err == io.EOF:
			return 0, odd("the response ends within a frame's first %d bytes", prefixLength)
		case err != nil:
			return 0, err
		case b.trailer != nil:
			return 0, odd("the response goes on behind its trailer frame")
		}
		size := int64(binary.BigEndian.Uint32(prefix[1:]))
		switch flag := prefix[0]; {
		case flag == flagTrailer && b.web:
			if err := b.readTrailer(size); err != nil {
				return 0, err
			}
			continue
		case flag&flagCompressed != 0:
			return 0, odd("a compressed response, though the request offered no compression")
		case flag != 0:
			return 0, odd("a response frame with flag byte %#02x", flag)
		}
		b.messages++
		b.declared = int(size)
		return size, nil
	}
}

// take reads a message of the length that next returned.
func (b *body) take(size int64) ([]byte, error) {
	if size > int64(b.max) {
		return nil, odd("a response message of %d bytes, above the %d bytes this client takes", size, b.max)
	}
	message, err := take(b.from, int(size))
	if err == io.EOF {
		return nil, odd("the response ends within a message that claims %d bytes", size)
	}
	return message, err
}

func (b *body) readTrailer(size int64) error {
	if size > mostTrailer {
		return odd("a trailer frame of %d bytes", size)
	}
	block, err := take(b.from, int(size))
	if err == io.EOF {
		return odd("the response ends within its trailer frame")
	} else if err != nil {
		return err
	}
	b.trailer = make(http.Header)
	for line := range strings.SplitSeq(string(block), "\n") {
		name, value, found := strings.Cut(strings.TrimSuffix(line, "\r"), ":")
		if found {
			b.trailer.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return nil
}

// full fills p. Unlike io.ReadFull it returns io.EOF only when the peer ended
// the response in good order, and leaves io.ErrUnexpectedEOF to the transport,
// which means a lost connection by it.
func full(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) {
		m, err := r.Read(p[n:])
		n += m
		if err != nil && n < len(p) {
			return n, err
		}
	}
	return n, nil
}

// take reads n bytes. It allocates as they come: a length is a claim.
func take(r io.Reader, n int) ([]byte, error) {
	const step = 1 << 20
	out := make([]byte, 0, min(n, step))
	for len(out) < n {
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(n, 2*cap(out)))
			copy(grown, out)
			out = grown
		}
		at := len(out)
		out = out[:cap(out)]
		if m, err := full(r, out[at:]); err != nil {
			return out[:at+m], err
		}
	}
	return out, nil
}
