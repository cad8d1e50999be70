package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"assay/model/backend"
)

// answer is what came back for one call, before its message is decoded.
type answer struct {
	lost backend.Lost
	// why describes a lost answer for people; it is bounded and escaped.
	why string
	// garbled is set when an answer came that is not one of the protocol. code is
	// then Unknown unless the peer sent a status nevertheless.
	garbled string
	// hasStatus is true when the peer itself sent a gRPC status.
	hasStatus bool
	code      backend.Code
	text      string
	details   []backend.Detail
	message   []byte
	wireLen   int
}

func lost(ctx context.Context, err error) answer {
	a := answer{lost: backend.LostCut, why: bounded(err.Error())}
	var refused *refusal
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		a.lost = backend.LostTimeout
	case errors.As(err, &refused):
		a.lost = backend.LostRefused
	}
	return a
}

func garbled(format string, args ...any) answer {
	return answer{code: backend.Unknown, garbled: bounded(fmt.Sprintf(format, args...))}
}

// exchange sends one request and reads what comes back. The deadline of ctx is
// not told to the peer: a status DEADLINE_EXCEEDED is then the peer's own.
func (c *Client) exchange(ctx context.Context, path string, request []byte, header []Header) answer {
	req := c.request(path, request, header).WithContext(ctx)
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return lost(ctx, err)
	}
	defer resp.Body.Close()
	if !c.speaks(resp) {
		return garbled("an HTTP response with status %d and content type %q, which is not gRPC", resp.StatusCode, bounded(resp.Header.Get("Content-Type")))
	}
	b := body{from: resp.Body, max: c.maxReceive, web: c.web}
	if err := b.read(); err != nil {
		var odd *oddity
		if errors.As(err, &odd) {
			a := garbled("%s", odd.what)
			a.wireLen = b.declared
			return a
		}
		return lost(ctx, err)
	}
	return conclude(resp, b)
}

// conclude puts message and status together.
func conclude(resp *http.Response, b body) answer {
	a, err := statusOf(resp, &b)
	a.wireLen = len(b.message)
	switch {
	case err != nil:
		a.code, a.garbled = backend.Unknown, bounded(err.Error())
	case a.code == backend.OK && b.messages == 0:
		a.garbled = "status OK without a response message"
	case b.messages > 1:
		a.garbled = "more than one response message to a unary call"
	}
	a.message = b.message
	return a
}

// statusOf reads the status of a response that was read to its end.
func statusOf(resp *http.Response, b *body) (answer, error) {
	trailer := resp.Trailer
	if b.web {
		trailer = b.trailer
	}
	// A status without a message may come in the headers alone.
	if len(trailer[statusHeader]) == 0 && !b.any {
		trailer = resp.Header
	}
	return readStatus(trailer)
}

func (c *Client) request(path string, message []byte, header []Header) *http.Request {
	scheme := "http"
	if c.secure() {
		scheme = "https"
	}
	h := make(http.Header, 8)
	for name, values := range c.header {
		for _, v := range values {
			h.Add(name, v)
		}
	}
	for _, one := range header {
		h.Add(one.Name, one.Value)
	}
	h.Set("User-Agent", "assay")
	req := &http.Request{
		Method:        http.MethodPost,
		URL:           &url.URL{Scheme: scheme, Host: c.endpoint.Address, Path: path},
		Host:          c.endpoint.Address,
		Header:        h,
		Body:          newFramed(message),
		ContentLength: -1,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
	}
	if c.web {
		h.Set("Content-Type", "application/grpc-web+proto")
		h.Set("Accept", "application/grpc-web+proto")
		h.Set("X-Grpc-Web", "1")
		req.ContentLength = int64(prefixLength + len(message))
	} else {
		h.Set("Content-Type", "application/grpc")
		h.Set("Te", "trailers")
	}
	return req
}

// speaks reports whether a response is one of the protocol by its content type.
// A status that comes in the headers alone is sometimes called plain gRPC also
// behind gRPC-Web.
func (c *Client) speaks(resp *http.Response) bool {
	kind, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Type"))), ";")
	kind, _, _ = strings.Cut(strings.TrimSpace(kind), "+")
	if !c.web {
		return kind == "application/grpc"
	}
	return kind == "application/grpc-web" || kind == "application/grpc" && resp.Header.Get(statusHeader) != ""
}

// framed is a request body: the message behind its five bytes of gRPC framing.
// It has no type that net/http could rewind, so nothing is ever sent twice.
type framed struct {
	prefix  [prefixLength]byte
	message []byte
	at      int
}

func newFramed(message []byte) *framed {
	f := &framed{message: message}
	putPrefix(f.prefix[:], len(message))
	return f
}

func (f *framed) Read(p []byte) (n int, err error) {
	if f.at < prefixLength {
		n = copy(p, f.prefix[f.at:])
		f.at += n
	}
	if f.at >= prefixLength {
		m := copy(p[n:], f.message[f.at-prefixLength:])
		f.at += m
		n += m
	}
	if f.at == prefixLength+len(f.message) {
		return n, io.EOF
	}
	return n, nil
}

func (f *framed) Close() error { return nil }
