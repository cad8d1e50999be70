package front

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"
)

// Options are the limits of a front.
type Options struct {
	// MaxRequestBytes and MaxResponseBytes bound one message.
	MaxRequestBytes  uint64
	MaxResponseBytes uint64
	// ResponseBytes bounds the responses of single methods instead, by path.
	ResponseBytes map[string]uint64
	// MaxStreams is the number of concurrent HTTP/2 streams that is advertised.
	MaxStreams uint32
	// MaxHeaderBytes bounds the header of one request.
	MaxHeaderBytes int
	// Around may put something around the whole; nil leaves it alone.
	Around func(http.Handler) http.Handler
	Log    *slog.Logger
}

// Server answers calls on one listener.
type Server struct {
	options  Options
	methods  map[string]method
	services map[string]bool
	http     *http.Server
	// draining ends when Drain begins.
	draining context.Context
	drain    context.CancelCauseFunc
}

// method is one registered method.
type method struct {
	service any
	unary   *grpc.MethodDesc
	stream  *grpc.StreamDesc
	// response bounds its response messages in bytes.
	response uint64
}

// headerTimeout is how long a connection may take over the header of a request.
const headerTimeout = 20 * time.Second

// pingAfter is how long a silent connection is trusted.
const pingAfter = 30 * time.Second

var errDraining = errors.New("the server is shutting down")

// New returns a server without services.
func New(o Options) *Server {
	s := &Server{options: o, methods: make(map[string]method), services: make(map[string]bool)}
	s.draining, s.drain = context.WithCancelCause(context.Background())
	var handler http.Handler = s
	if o.Around != nil {
		handler = o.Around(s)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s.http = &http.Server{
		Handler:           handler,
		Protocols:         &protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: int(o.MaxStreams), SendPingTimeout: pingAfter},
		ReadHeaderTimeout: headerTimeout,
		MaxHeaderBytes:    o.MaxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return s
}

// RegisterService adds a service, as grpc.ServiceRegistrar asks. It must not be
// called once the server serves.
func (s *Server) RegisterService(d *grpc.ServiceDesc, service any) {
	s.services[d.ServiceName] = true
	add := func(name string, m method) {
		path := "/" + d.ServiceName + "/" + name
		m.service, m.response = service, s.options.MaxResponseBytes
		if n, ok := s.options.ResponseBytes[path]; ok {
			m.response = n
		}
		s.methods[path] = m
	}
	for i := range d.Methods {
		add(d.Methods[i].MethodName, method{unary: &d.Methods[i]})
	}
	for i := range d.Streams {
		add(d.Streams[i].StreamName, method{stream: &d.Streams[i]})
	}
}

// Serve answers on l until Drain, and then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Drain stops the server: new calls and open streams fail with UNAVAILABLE,
// calls in progress may end until ctx does, and then every connection is cut,
// whether its peer reads or not.
func (s *Server) Drain(ctx context.Context) error {
	s.drain(errDraining)
	err := s.http.Shutdown(ctx)
	if cut := s.http.Close(); err != nil {
		return errors.Join(fmt.Errorf("calls did not end in time and were cut: %w", err), cut)
	}
	return nil
}

// requestID makes the id that every response carries. It is random and has the
// form of a version 4 UUID.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
