package front

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ServeHTTP answers one call, or one CORS preflight.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["X-Request-Id"] = []string{requestID()}
	allowOrigin(header, r)
	if preflight(header, r) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if r.Method != http.MethodPost {
		header.Set("Allow", "POST, OPTIONS")
		http.Error(w, "this address speaks gRPC and gRPC-Web: send a POST", http.StatusMethodNotAllowed)
		return
	}
	dialect, codec := parseContentType(r.Header.Get("Content-Type"))
	if dialect == unknownDialect {
		http.Error(w, "this address speaks gRPC and gRPC-Web: send application/grpc or application/grpc-web", http.StatusUnsupportedMediaType)
		return
	}
	if dialect == native && r.ProtoMajor < 2 {
		http.Error(w, "gRPC needs HTTP/2; over HTTP/1.1 send application/grpc-web", http.StatusHTTPVersionNotSupported)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c := &call{w: w, r: r, ctx: ctx, dialect: dialect}
	c.begin()
	c.end(s.serve(c, codec))
}

// call is one gRPC call and how its bytes travel.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	ctx     context.Context
	dialect dialect
	m       method
	// in is the body, decoded from base64 if need be; limit bounds a message.
	in    reader
	limit uint64
	// sent says that bytes of the response are on their way.
	sent bool
}

// serve runs the call and returns its outcome.
func (s *Server) serve(c *call, codec string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.options.Log.ErrorContext(c.ctx, "a call made the server panic", "path", c.r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			err = status.Error(codes.Internal, "the backend failed")
		}
	}()
	if s.draining.Err() != nil {
		return status.Error(codes.Unavailable, errDraining.Error())
	}
	if codec != "" && codec != "proto" {
		return status.Errorf(codes.Unimplemented, "messages are protobuf, not %q", codec)
	}
	var ok bool
	if c.m, ok = s.methods[c.r.URL.Path]; !ok {
		return s.unknown(c.r.URL.Path)
	}
	if e := c.r.Header.Get("Grpc-Encoding"); e != "" && e != "identity" {
		return status.Errorf(codes.Unimplemented, "compression %q is not supported", e)
	}
	if err := c.deadline(); err != nil {
		return err
	}
	c.in, c.limit = newReader(c.dialect, c.r.Body), s.options.MaxRequestBytes
	if c.m.unary != nil {
		return c.unary()
	}
	return s.stream(c)
}

// unknown tells a service that is not there from a method that is not: both are
// UNIMPLEMENTED (API-152).
func (s *Server) unknown(path string) error {
	service, name, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if s.services[service] {
		return status.Errorf(codes.Unimplemented, "service %s has no method %q", service, short(name))
	}
	return status.Errorf(codes.Unimplemented, "there is no service %q", short(service))
}

func short(s string) string {
	const most = 100
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// unary reads the request, runs the method and sends what it returns.
func (c *call) unary() error {
	var failed error
	response, err := c.m.unary.Handler(c.m.service, c.ctx, func(into any) error {
		failed = c.receive(into)
		return failed
	}, nil)
	if failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	return c.send(response)
}

// stream runs a streaming method. It ends when the server drains.
func (s *Server) stream(c *call) error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.draining, func() { cancel(errDraining) })()
	c.ctx = ctx
	if err := c.flushHeader(); err != nil {
		return err
	}
	stream := &serverStream{c: c, lost: func() { cancel(context.Canceled) }}
	defer stream.finish()
	// What stops the stream uses the response, which is gone when this returns.
	defer afterwards(ctx, stream.stop)()
	err := c.m.stream.Handler(c.m.service, stream)
	if errors.Is(context.Cause(ctx), errDraining) {
		return status.Error(codes.Unavailable, errDraining.Error())
	}
	return err
}

// afterwards calls f when ctx ends, unless the function it returns was called
// before. That returns when f has ended, or never begins.
func afterwards(ctx context.Context, f func()) func() {
	ended := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(ended)
		f()
	})
	return func() {
		if !cancel() {
			<-ended
		}
	}
}

// deadline applies the caller's grpc-timeout. The call's context is cancelled
// with the call, so the timer goes with it.
func (c *call) deadline() error {
	text := c.r.Header.Get("Grpc-Timeout")
	if text == "" {
		return nil
	}
	d, err := parseTimeout(text)
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	ctx, cancel := context.WithTimeout(c.ctx, d)
	context.AfterFunc(c.ctx, cancel)
	c.ctx = ctx
	return nil
}

// parseTimeout reads at most eight digits and a unit.
func parseTimeout(text string) (time.Duration, error) {
	units := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second,
		'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond}
	bad := fmt.Errorf("grpc-timeout %q is not a number of at most 8 digits and one of H M S m u n", short(text))
	if len(text) < 2 || len(text) > 9 {
		return 0, bad
	}
	unit, ok := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if !ok || err != nil {
		return 0, bad
	}
	const longest = 1 << 62
	if n > uint64(longest/unit) {
		return longest, nil
	}
	return time.Duration(n) * unit, nil
}
