package front

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// A frame is one byte of flags, four of length, and the message.
const (
	prefixLen   = 5
	compressed  = 0x01
	trailerFlag = 0x80
)

var errNotBase64 = errors.New("the body is not base64")

// buffers are reused between calls: a request is copied out of its buffer when
// it is decoded. One above keepBuffer goes back to the garbage collector.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const keepBuffer = 1 << 20

func recycle(b *bytes.Buffer) {
	if b.Cap() <= keepBuffer {
		b.Reset()
		buffers.Put(b)
	}
}

// receive reads one message into a protobuf value. Unknown fields are dropped
// here, so that nothing of them is stored or counted. At the end of the body it
// returns io.EOF.
func (c *call) receive(into any) error {
	var prefix [prefixLen]byte
	if _, err := io.ReadFull(c.in, prefix[:]); err == io.EOF {
		if c.m.stream != nil {
			return io.EOF
		}
		return status.Error(codes.Internal, "the call carries no request message")
	} else if err != nil {
		return c.broken(err)
	}
	length := uint64(binary.BigEndian.Uint32(prefix[1:]))
	switch {
	case prefix[0] == compressed:
		return status.Error(codes.Unimplemented, "compressed messages are not supported")
	case prefix[0] != 0:
		return status.Errorf(codes.Internal, "frame flags 0x%02x are unknown", prefix[0])
	case length > c.limit:
		c.discard(length)
		return status.Errorf(codes.OutOfRange, "the message is %d bytes, more than the %d allowed", length, c.limit)
	}
	message, ok := into.(proto.Message)
	if !ok {
		return status.Error(codes.Internal, "the backend failed")
	}
	b := buffers.Get().(*bytes.Buffer)
	defer recycle(b)
	// The buffer grows with what arrives, not with what the prefix claims.
	if n, err := io.CopyN(b, c.in, int64(length)); uint64(n) < length {
		return c.broken(err)
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b.Bytes(), message); err != nil {
		return status.Error(codes.Internal, "the message does not decode as protobuf")
	}
	return nil
}

// discard reads a message that is too large and forgets it. A client over
// HTTP/1.1 sends its whole request before it looks for the answer; were the
// connection closed before, it would see a broken pipe instead. What is read is
// bounded: a client that keeps sending is cut off.
func (c *call) discard(length uint64) {
	if c.r.ProtoMajor > 1 {
		return
	}
	// What cannot be read need not be discarded.
	_, _ = io.CopyN(io.Discard, c.in, int64(min(length, 4*c.limit)))
}

// broken says why a body ended inside a frame.
func (c *call) broken(err error) error {
	switch {
	case errors.Is(c.ctx.Err(), context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, "the deadline passed while the request was read")
	case c.ctx.Err() != nil:
		return status.Error(codes.Canceled, "the caller went away")
	case errors.Is(err, errNotBase64):
		return status.Error(codes.Internal, err.Error())
	}
	return status.Error(codes.Internal, "the body ends inside a message")
}

// begin sets the headers of the response.
func (c *call) begin() {
	h := c.w.Header()
	h["Content-Type"] = []string{c.dialect.contentType()}
	h["Grpc-Accept-Encoding"] = []string{"identity"}
}

// Encoded is a message that a stream sends without the generated code: one that
// goes to many streams is encoded once.
type Encoded interface {
	// Size is the length of the message in bytes.
	Size() int
	// AppendTo appends exactly that many bytes.
	AppendTo([]byte) []byte
}

// send frames and writes one message. A message above the method's bound is
// not sent, not even in part (API-134).
func (c *call) send(value any) error {
	message, isMessage := value.(proto.Message)
	encoded, isEncoded := value.(Encoded)
	size := 0
	switch {
	case isMessage:
		size = proto.Size(message)
	case isEncoded:
		size = encoded.Size()
	default:
		return status.Error(codes.Internal, "the backend failed")
	}
	if uint64(size) > c.m.response {
		return status.Errorf(codes.OutOfRange, "the response is %d bytes, more than the %d allowed", size, c.m.response)
	}
	b := buffers.Get().(*bytes.Buffer)
	defer recycle(b)
	b.Grow(prefixLen + size)
	frame := append(b.AvailableBuffer(), make([]byte, prefixLen)...)
	if isEncoded {
		frame = encoded.AppendTo(frame)
	} else {
		var err error
		if frame, err = (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend(frame, message); err != nil {
			return status.Error(codes.Internal, "the response does not encode")
		}
	}
	binary.BigEndian.PutUint32(frame[1:], uint32(len(frame)-prefixLen))
	return c.write(frame)
}

// write writes a frame in the call's dialect.
func (c *call) write(frame []byte) error {
	if c.dialect == webText {
		frame = base64.StdEncoding.AppendEncode(nil, frame)
	}
	c.sent = true
	if _, err := c.w.Write(frame); err != nil {
		return status.Error(codes.Canceled, "the caller went away")
	}
	return nil
}

// flushHeader sends the header on its own, and opens the way for reading and
// writing at once over HTTP/1.1.
func (c *call) flushHeader() error {
	control := http.NewResponseController(c.w)
	if c.r.ProtoMajor < 2 {
		if err := control.EnableFullDuplex(); err != nil {
			return status.Error(codes.Internal, "the backend failed")
		}
	}
	c.sent = true
	if err := control.Flush(); err != nil {
		return status.Error(codes.Canceled, "the caller went away")
	}
	return nil
}

// end sends the outcome of the call.
func (c *call) end(err error) {
	if err != nil && errors.Is(c.ctx.Err(), context.DeadlineExceeded) {
		err = status.Error(codes.DeadlineExceeded, "the deadline passed")
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = status.Error(codes.Internal, "the body ends inside a message")
	}
	outcome := outcomeOf(status.Convert(err))
	if c.dialect != native {
		// What cannot be written any more nobody waits for.
		_ = c.write(trailerFrame(outcome))
		return
	}
	if !c.sent {
		// A response without a message still has a header of its own: some
		// clients do not look for the outcome in a first header.
		if c.flushHeader() != nil {
			return
		}
	}
	for _, pair := range outcome {
		c.w.Header()[http.TrailerPrefix+pair[0]] = []string{pair[1]}
	}
}

// outcomeOf is a status as trailers: name and value.
func outcomeOf(s *status.Status) [][2]string {
	pairs := [][2]string{{"Grpc-Status", strconv.Itoa(int(s.Code()))}}
	if s.Message() != "" {
		pairs = append(pairs, [2]string{"Grpc-Message", percentEncode(s.Message())})
	}
	if len(s.Proto().GetDetails()) > 0 {
		if raw, err := proto.Marshal(s.Proto()); err == nil {
			pairs = append(pairs, [2]string{"Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(raw)})
		}
	}
	return pairs
}

// trailerFrame is the last frame of a gRPC-Web body.
func trailerFrame(outcome [][2]string) []byte {
	frame := make([]byte, prefixLen, 256)
	frame[0] = trailerFlag
	for _, pair := range outcome {
		frame = fmt.Appendf(frame, "%s: %s\r\n", strings.ToLower(pair[0]), pair[1])
	}
	binary.BigEndian.PutUint32(frame[1:], uint32(len(frame)-prefixLen))
	return frame
}

// percentEncode writes a status text so that it fits a header.
func percentEncode(text string) string {
	const hexDigits = "0123456789ABCDEF"
	plain := true
	for i := 0; i < len(text) && plain; i++ {
		plain = text[i] >= ' ' && text[i] <= '~' && text[i] != '%'
	}
	if plain {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c >= ' ' && c <= '~' && c != '%' {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&0xf])
		}
	}
	return b.String()
}

// serverStream is a streaming call as generated code knows it. As with grpc-go,
// one goroutine may receive while another sends, and who still receives when the
// handler returns or the context ends gets an error.
type serverStream struct {
	c *call
	// receiving is held while the body is read.
	receiving sync.Mutex
	stopped   atomic.Bool
	// lost ends the stream of a client that went away.
	lost func()
}

func (s *serverStream) Context() context.Context { return s.c.ctx }

func (s *serverStream) RecvMsg(into any) error {
	s.receiving.Lock()
	defer s.receiving.Unlock()
	if s.stopped.Load() {
		return status.Error(codes.Canceled, "the stream is over")
	}
	if err := s.c.receive(into); err != nil {
		return err
	}
	if !s.c.m.stream.ClientStreams {
		go s.readOn()
	}
	return nil
}

// readOn reads what follows the one request of a server stream, which should be
// nothing: over HTTP/1.1 only who reads a body to its end hears that the client
// went away.
func (s *serverStream) readOn() {
	s.receiving.Lock()
	defer s.receiving.Unlock()
	if s.stopped.Load() {
		return
	}
	if _, err := io.Copy(io.Discard, s.c.in); err != nil && !s.stopped.Load() {
		s.lost()
	}
}

// stop makes whoever receives return.
func (s *serverStream) stop() {
	s.stopped.Store(true)
	if s.receiving.TryLock() {
		s.receiving.Unlock()
		return
	}
	// The body cannot be closed under its reader; a deadline in the past can
	// be set. A connection that knows no deadlines ends with the handler.
	_ = http.NewResponseController(s.c.w).SetReadDeadline(time.Unix(1, 0))
}

// finish stops the stream and waits until nobody reads its body.
func (s *serverStream) finish() {
	s.stop()
	s.receiving.Lock() // whoever reads lets go of it first
	defer s.receiving.Unlock()
}

func (s *serverStream) SendMsg(value any) error {
	if err := s.c.send(value); err != nil {
		return err
	}
	if err := http.NewResponseController(s.c.w).Flush(); err != nil {
		return status.Error(codes.Canceled, "the caller went away")
	}
	return nil
}

// Metadata beside the messages is not part of this protocol.

func (s *serverStream) SetHeader(metadata.MD) error  { return nil }
func (s *serverStream) SendHeader(metadata.MD) error { return nil }
func (s *serverStream) SetTrailer(metadata.MD)       {}
