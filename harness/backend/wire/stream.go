package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"assay/model/backend"
)

// mostOfStream bounds the frames, rows and targets that one subscription may
// bring, so that a peer that never stops cannot fill this process. A minute of
// ten thousand rows a second is less than a third of it.
const mostOfStream = 2 << 20

// Stream is one open subscription. One goroutine calls Next until it returns nil
// and then End; the other methods may be called from any goroutine. The call is
// made when Next is first called, because its answer may wait for the first frame
// that is sent.
type Stream struct {
	client   *Client
	carrier  http.RoundTripper
	request  *http.Request
	stop     context.CancelFunc
	out      *outgoing // nil for a static subscription
	kind     frameKind
	gate     *gate
	response *http.Response
	body     body
	budget   int
	end      *backend.Return
}

// Subscribe opens a bidirectional subscription. It is native gRPC whatever the
// endpoint's scheme, because gRPC-Web has no such calls and one port carries both
// (API-160). Cancel or the end of ctx ends it.
func (c *Client) Subscribe(ctx context.Context, header ...Header) *Stream {
	native := *c
	native.web = false
	return native.stream(ctx, &Stream{carrier: c.streams, kind: bidirectional, out: newOutgoing()}, native.request(subscribePath, nil, header))
}

// SubscribeStatic opens a static subscription with an encoded
// SubscribeStaticRequest. Cancel or the end of ctx ends it.
func (c *Client) SubscribeStatic(ctx context.Context, request []byte, header ...Header) *Stream {
	s := &Stream{carrier: c.streams, kind: static}
	if c.web && !c.webHTTP2 {
		s.carrier = c.transport
	}
	return c.stream(ctx, s, c.request(staticPath, request, header))
}

func (c *Client) stream(ctx context.Context, s *Stream, request *http.Request) *Stream {
	ctx, stop := context.WithCancel(ctx)
	s.client, s.stop, s.gate, s.budget = c, stop, newGate(), mostOfStream
	if s.out != nil {
		request.Body = s.out
	}
	s.request = request.WithContext(ctx)
	// The transport looks at the context only while it does not wait for a frame
	// to send, so an end of the context ends that wait as well.
	context.AfterFunc(ctx, s.Cancel)
	return s
}

// Post hands encoded SubscribeRequests to the connection, which writes them in
// one breath where it can. It does not wait for them to leave: Left tells. before,
// when not nil, is called once it is certain that they will be handed over and
// while none of them can have left. Frames leave in the order of the posts.
func (s *Stream) Post(before func(), messages ...[]byte) error {
	size := 0
	for _, m := range messages {
		size += prefixLength + len(m)
	}
	framed := make([]byte, 0, size)
	for _, m := range messages {
		at := len(framed)
		framed = framed[:at+prefixLength]
		putPrefix(framed[at:], len(m))
		framed = append(framed, m...)
	}
	return s.PostRaw(before, framed)
}

// PostRaw is Post for bytes that need not be frames.
func (s *Stream) PostRaw(before func(), raw []byte) error {
	if s.out == nil {
		return errStatic
	}
	return s.out.put(before, raw)
}

var errStatic = errors.New("a static subscription sends no frames")

// Left waits until everything posted so far has been written to the connection.
// Its error says that it may not have been: the call is over (ErrEnded), or ctx
// ended first.
func (s *Stream) Left(ctx context.Context) error {
	if s.out == nil {
		return errStatic
	}
	return s.out.left(ctx)
}

// CloseSend ends the sending side behind the frames that were posted (API-108).
// before is as in Post.
func (s *Stream) CloseSend(before func()) error {
	if s.out == nil {
		return errStatic
	}
	return s.out.end(before)
}

// Cancel ends the call: over HTTP/2 with RST_STREAM, over HTTP/1.1 with the
// connection. Frames that have not left stay.
func (s *Stream) Cancel() {
	if s.out != nil {
		_ = s.out.Close()
	}
	s.stop()
	s.gate.remove()
}

// Pause stops reading: what the peer sends stays in its connection until flow
// control holds the peer back. The read under way may still return.
func (s *Stream) Pause() { s.gate.shut() }

// Resume reads on.
func (s *Stream) Resume() { s.gate.open() }

// Next waits for the next frame; nil means that the call is over, and End says
// how.
func (s *Stream) Next() *backend.Response {
	if s.end != nil {
		return nil
	}
	r, end := s.next()
	if end != nil {
		s.end = end
		s.Cancel()
		if s.response != nil {
			_ = s.response.Body.Close()
		}
		return nil
	}
	return r
}

// End is what came of the call once Next has returned nil.
func (s *Stream) End() backend.Return {
	if s.end == nil {
		return backend.Return{Lost: backend.LostCut}
	}
	return *s.end
}

func (s *Stream) next() (*backend.Response, *backend.Return) {
	if s.response == nil {
		resp, err := s.carrier.RoundTrip(s.request)
		if err != nil {
			return nil, s.ended(err)
		}
		s.response = resp
		if !s.client.speaks(resp) {
			return nil, s.ended(odd("an HTTP response with status %d and content type %q, which is not gRPC", resp.StatusCode, bounded(resp.Header.Get("Content-Type"))))
		}
		s.body = body{from: &gated{s.gate, resp.Body}, max: s.client.maxReceive, web: s.client.web}
	}
	size, err := s.body.next()
	if err == io.EOF {
		a, err := statusOf(s.response, &s.body)
		if err != nil {
			return nil, s.ended(odd("%s", err))
		}
		return nil, &backend.Return{Code: a.code, Text: a.text, Details: a.details}
	}
	var message []byte
	if err == nil {
		message, err = s.body.take(size)
	}
	if err != nil {
		return nil, s.ended(err)
	}
	r, err := s.decode(message)
	if err != nil {
		return nil, s.ended(odd("%s", err))
	}
	return r, nil
}

// ended turns an error into the return of the call.
func (s *Stream) ended(err error) *backend.Return {
	var o *oddity
	if errors.As(err, &o) {
		return &backend.Return{Code: backend.Unknown, Garbled: bounded(o.what)}
	}
	a := lost(s.request.Context(), err)
	return &backend.Return{Lost: a.lost}
}

// decode reads one frame and charges what it brings to the stream's budget.
func (s *Stream) decode(message []byte) (*backend.Response, error) {
	r, n, err := decodeFrame(message, s.kind, s.client.seen, s.budget)
	if s.budget -= n; err == nil && s.budget < 0 {
		err = fmt.Errorf("more than %d frames, rows and targets on one subscription", mostOfStream)
	}
	return r, err
}
