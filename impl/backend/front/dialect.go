package front

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
)

// dialect is how a call's frames travel in HTTP.
type dialect uint8

const (
	unknownDialect dialect = iota
	// native is gRPC: trailers are HTTP/2 trailers.
	native
	// web is gRPC-Web: trailers are the last frame of the body.
	web
	// webText is gRPC-Web in base64, for clients that only read text.
	webText
)

// parseContentType returns the dialect, and the codec behind the plus sign.
func parseContentType(text string) (dialect, string) {
	text, _, _ = strings.Cut(text, ";")
	kind, codec, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), "+")
	switch kind {
	case "application/grpc":
		return native, codec
	case "application/grpc-web":
		return web, codec
	case "application/grpc-web-text":
		return webText, codec
	}
	return unknownDialect, ""
}

// contentType is the content type of a response.
func (d dialect) contentType() string {
	switch d {
	case web:
		return "application/grpc-web+proto"
	case webText:
		return "application/grpc-web-text+proto"
	}
	return "application/grpc+proto"
}

// allowOrigin lets pages of any origin read responses: the backend keeps no
// cookies and trusts no origin.
func allowOrigin(header http.Header, r *http.Request) {
	if r.Header.Get("Origin") == "" {
		return
	}
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", "grpc-status, grpc-message, grpc-status-details-bin, x-request-id")
}

// preflight answers a CORS preflight: any method, and the headers it asks for.
func preflight(header http.Header, r *http.Request) bool {
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	if asked := r.Header.Values("Access-Control-Request-Headers"); len(asked) > 0 {
		header.Set("Access-Control-Allow-Headers", strings.Join(asked, ", "))
	}
	header.Set("Access-Control-Max-Age", "86400")
	header.Add("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
	return true
}

// reader is a body as the frames of its dialect.
type reader = io.Reader

func newReader(d dialect, body io.Reader) reader {
	if d == webText {
		return &textReader{from: body}
	}
	return body
}

// textReader decodes base64 in which every piece may end with its own padding:
// clients encode message by message and send the pieces one behind the other.
type textReader struct {
	from io.Reader
	// text is what was read and not decoded: fewer than four characters
	// between calls. ready is what was decoded and not returned.
	text  []byte
	ready []byte
	err   error
}

func (t *textReader) Read(p []byte) (int, error) {
	for len(t.ready) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		t.fill()
	}
	n := copy(p, t.ready)
	t.ready = t.ready[n:]
	return n, nil
}

func (t *textReader) fill() {
	const chunk = 32 << 10
	start := len(t.text)
	t.text = append(t.text, make([]byte, chunk)...)
	n, err := t.from.Read(t.text[start:])
	t.text = t.text[:start+n]
	t.err = err
	whole := len(t.text) / 4 * 4
	out := make([]byte, 0, whole/4*3)
	var quantum [3]byte
	for i := 0; i < whole; i += 4 {
		n, err := base64.StdEncoding.Decode(quantum[:], t.text[i:i+4])
		if err != nil {
			t.err = errNotBase64
			return
		}
		out = append(out, quantum[:n]...)
	}
	t.text = append(t.text[:0], t.text[whole:]...)
	t.ready = out
	if err == io.EOF && len(t.text) > 0 {
		t.err = io.ErrUnexpectedEOF
	}
}
