package wire

import (
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"

	"golang.org/x/net/http2"
)

// cutter remembers whether a response was cut.
type cutter struct{ done atomic.Bool }

func (c *cutter) cut(conn net.Conn) error {
	c.done.Store(true)
	_ = conn.Close()
	return net.ErrClosed
}

// cutFrames reads an HTTP/2 connection frame by frame and cuts it where the
// answer to a call begins: at its first DATA frame, or at headers that end the
// stream. Frames of the connection itself pass, and so do headers that announce a
// message: some servers send those before they have decided anything.
type cutFrames struct {
	net.Conn
	cut *cutter
	// rest is what was read and not yet handed out.
	rest []byte
}

const frameHeader = 9

func (c *cutFrames) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *cutFrames) next() error {
	var head [frameHeader]byte
	if _, err := io.ReadFull(c.Conn, head[:]); err != nil {
		return err
	}
	kind, flags := http2.FrameType(head[3]), http2.Flags(head[4])
	if kind == http2.FrameData || kind == http2.FrameHeaders && flags.Has(http2.FlagHeadersEndStream) {
		return c.cut.cut(c.Conn)
	}
	size := int(binary.BigEndian.Uint32(head[:4]) >> 8)
	c.rest = append(head[:], make([]byte, size)...)
	_, err := io.ReadFull(c.Conn, c.rest[frameHeader:])
	return err
}

// cutBytes cuts an HTTP/1.1 connection at the first byte that comes back.
type cutBytes struct {
	net.Conn
	cut *cutter
}

func (c *cutBytes) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		return 0, c.cut.cut(c.Conn)
	}
	return n, err
}
