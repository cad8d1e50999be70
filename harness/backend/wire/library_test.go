package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"assay/harness/backend/craft"
	"assay/harness/subject"
	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// store is a toy backend behind a gRPC library of somebody else.
type store struct {
	backendv1.UnimplementedPublishServiceServer
	backendv1.UnimplementedQueryServiceServer
	published atomic.Int64
	fail      error
}

func (s *store) Publish(_ context.Context, r *backendv1.PublishRequest) (*backendv1.PublishResponse, error) {
	s.published.Add(1)
	if s.fail != nil {
		return nil, s.fail
	}
	out := &backendv1.PublishResponse{}
	for i := range r.GetEnvelopes() {
		out.EnvelopeMetas = append(out.EnvelopeMetas, &backendv1.EnvelopeMeta{Cursor: &backendv1.Cursor{SequenceId: uint64(i) + 1}})
	}
	return out, nil
}

// library starts s under a gRPC library.
func library(t testing.TB, scheme string, s *store) subject.Endpoint {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := subject.Endpoint{Scheme: scheme, Address: l.Addr().String()}
	options := []grpc.ServerOption{grpc.MaxRecvMsgSize(4 << 20), grpc.MaxConcurrentStreams(4)}
	if scheme == "grpcs" {
		cert, pool := certificate(t)
		options = append(options, grpc.Creds(credentials.NewServerTLSFromCert(&cert)))
		e.TLS = subjectTLS(pool)
	}
	server := grpc.NewServer(options...)
	backendv1.RegisterPublishServiceServer(server, s)
	backendv1.RegisterQueryServiceServer(server, s)
	healthpb.RegisterHealthServer(server, health.NewServer())
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Errorf("server: %v", err)
		}
	})
	return e
}

func TestAServerOfAnotherLibraryIsUnderstood(t *testing.T) {
	for _, scheme := range []string{"grpc", "grpcs"} {
		e := library(t, scheme, &store{})
		c := dial(t, e, Options{})
		request, _, _, err := craft.New(1, "n", "s").PublishRequest([]backend.Envelope{
			{Log: backend.Log{Kind: backend.Group, Name: "g"}}, {Log: backend.Log{Kind: backend.Welcome, Name: "w"}, Size: 1 << 20},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Publish(within(t), request); got.Publish == nil || len(got.Publish.Metas) != 2 || got.Publish.Metas[1].Sequence != 2 {
			t.Errorf("%s: publish: %+v", scheme, got)
		}
		if got := c.Query(within(t), nil); got.Code != backend.Unimplemented || got.Query != nil {
			t.Errorf("%s: query: %+v", scheme, got)
		}
		if got := c.Configuration(within(t)); got.Code != backend.Unimplemented {
			t.Errorf("%s: configuration: %+v", scheme, got)
		}
		if got := c.Health(within(t), ""); got.Serving != 1 {
			t.Errorf("%s: health: %+v", scheme, got)
		}
		if got := c.Health(within(t), "nobody"); got.Code != backend.NotFound {
			t.Errorf("%s: health of nobody: %+v", scheme, got)
		}
		if err := Probe(within(t), e); err != nil {
			t.Errorf("%s: probe: %v", scheme, err)
		}
	}
}

func TestCallsAboveThePeersStreamLimitWaitOnOneConnection(t *testing.T) {
	s := &store{}
	c := dial(t, library(t, "grpc", s), Options{})
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if got := c.Publish(within(t), nil); got.Code != backend.OK || got.Lost != "" {
				t.Errorf("got %+v", got)
			}
		})
	}
	wg.Wait()
	if n := s.published.Load(); n != 100 {
		t.Errorf("%d calls arrived", n)
	}
	c.conns.mu.Lock()
	defer c.conns.mu.Unlock()
	if n := len(c.conns.open); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestARequestOf25MiBArrivesWhole(t *testing.T) {
	const size = 25 << 20
	for _, scheme := range []string{"grpc", "http", "https"} {
		arrived := make(chan int, 1)
		e := serve(t, scheme, func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			if (scheme == "grpc") != (r.ProtoMajor == 2) {
				t.Errorf("%s was spoken over %s", scheme, r.Proto)
			}
			arrived <- len(b) - prefixLength
			if scheme == "grpc" {
				answerNative(frame(0, nil), statusHeader, "0")(w, r)
			} else {
				web(frame(0, nil), "grpc-status: 0\r\n")(w, r)
			}
		})
		got := dial(t, e, Options{}).Publish(within(t), make([]byte, size))
		if n := <-arrived; n != size || got.Code != backend.OK || got.Lost != "" {
			t.Errorf("%s: %d bytes arrived, got %+v", scheme, n, got)
		}
	}
}

// A peer may end a connection by GOAWAY while calls on it still run. New calls
// must neither fail nor wait for those.
func TestACallAfterGoAwayGoesOverANewConnectionWhileOldCallsRun(t *testing.T) {
	held, release := make(chan struct{}), make(chan struct{})
	var ports sync.Map
	e := serve(t, "grpc", func(w http.ResponseWriter, r *http.Request) {
		ports.Store(r.RemoteAddr, true)
		switch r.URL.Path {
		case "/hold/it":
			close(held)
			<-release
		case "/go/away":
			w.Header().Set("Connection", "close")
		}
		answerNative(frame(0, nil), statusHeader, "0")(w, r)
	})
	c := dial(t, e, Options{})
	first := make(chan backend.Return, 1)
	go func() { first <- c.Other(within(t), "/hold/it", nil) }()
	<-held
	if got := c.Other(within(t), "/go/away", nil); got.Code != backend.OK || got.Lost != "" {
		t.Fatalf("got %+v", got)
	}
	// The GOAWAY may arrive a little later than the answer beside it.
	ctx := within(t)
	for connections := 0; connections < 2; {
		if got := c.Other(ctx, "/come/back", nil); got.Code != backend.OK || got.Lost != "" {
			t.Fatalf("got %+v", got)
		}
		connections = 0
		ports.Range(func(any, any) bool { connections++; return true })
	}
	close(release)
	if got := <-first; got.Code != backend.OK || got.Lost != "" {
		t.Errorf("the held call: %+v", got)
	}
}

// A server that refuses a request by its size answers while the request is still
// being sent, and then resets the stream. Its answer must not be lost by that.
func TestAServerThatRefusesBeforeTheRequestIsReadIsHeard(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set(statusHeader, "11")
	}
	late := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		_ = http.NewResponseController(w).Flush()
		w.Header().Set(http.TrailerPrefix+statusHeader, "11")
	}
	for name, c := range map[string]struct {
		endpoint subject.Endpoint
		want     backend.Code
	}{
		"in headers alone":          {serve(t, "grpc", refuse), backend.OutOfRange},
		"in trailers":               {serve(t, "grpc", late), backend.OutOfRange},
		"over TLS":                  {serve(t, "grpcs", late), backend.OutOfRange},
		"in gRPC-Web headers":       {serve(t, "http", refuse), backend.OutOfRange},
		"in gRPC-Web over TLS":      {serve(t, "https", refuse), backend.OutOfRange},
		"as another library does":   {library(t, "grpc", &store{}), backend.ResourceExhausted},
		"as it does so through TLS": {library(t, "grpcs", &store{}), backend.ResourceExhausted},
	} {
		client := dial(t, c.endpoint, Options{})
		for range 10 {
			if got := client.Publish(within(t), make([]byte, 20<<20)); got.Code != c.want || got.Lost != "" {
				t.Errorf("%s: got %+v", name, got)
			}
		}
	}
}

func TestAPublishIsCutAfterTheSubjectDecidedAndBeforeItsAnswerIsRead(t *testing.T) {
	for _, scheme := range []string{"grpc", "grpcs"} {
		for _, fail := range []error{nil, status.Error(codes.Aborted, "no")} {
			for range 20 {
				s := &store{fail: fail}
				c := dial(t, library(t, scheme, s), Options{})
				got := c.PublishAndCut(within(t), nil)
				check(t, got, backend.Return{Lost: backend.LostCut})
				if n := s.published.Load(); n != 1 {
					t.Fatalf("%s: the subject saw %d publishes", scheme, n)
				}
			}
		}
	}
}

func TestHeadersSentBeforeTheDecisionDoNotCutThePublish(t *testing.T) {
	for _, c := range []struct {
		name, scheme string
		answer       http.HandlerFunc
	}{
		{"native", "grpc", answerNative(frame(0, []byte{}), statusHeader, "0")},
		{"native over TLS", "grpcs", answerNative(frame(0, []byte{}), statusHeader, "0")},
		{"native with an error behind early headers", "grpc", answerNative(nil, statusHeader, "3")},
		{"web", "http", web(frame(0, []byte{}), "grpc-status: 0\r\n")},
		{"web over TLS", "https", web(frame(0, []byte{}), "grpc-status: 0\r\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			var decided atomic.Bool
			e := serve(t, c.scheme, func(w http.ResponseWriter, r *http.Request) {
				if r.ProtoMajor == 2 {
					w.Header().Set("Content-Type", "application/grpc")
					w.WriteHeader(http.StatusOK)
					if err := http.NewResponseController(w).Flush(); err != nil {
						t.Error(err)
					}
				}
				decided.Store(true)
				c.answer(w, r)
			})
			client := dial(t, e, Options{})
			check(t, client.PublishAndCut(within(t), []byte("request")), backend.Return{Lost: backend.LostCut})
			if !decided.Load() {
				t.Error("cut before the subject decided")
			}
			if got := client.Publish(within(t), nil); got.Lost != "" {
				t.Errorf("the client's own connection is cut as well: %+v", got)
			}
		})
	}
}

func TestAPublishThatCannotBeCutIsLostAsAnyOther(t *testing.T) {
	e := serve(t, "grpc", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	check(t, dial(t, e, Options{}).PublishAndCut(ctx, nil), backend.Return{Lost: backend.LostTimeout})
	e.Address = "127.0.0.1:1"
	check(t, dial(t, e, Options{}).PublishAndCut(within(t), nil), backend.Return{Lost: backend.LostRefused})
}

func ExampleProbe() {
	err := Probe(context.Background(), subject.Endpoint{Scheme: "grpc", Address: "127.0.0.1:1"})
	fmt.Println(err)
	// Output: grpc://127.0.0.1:1 gives no answer: connection refused: dial tcp 127.0.0.1:1: connect: connection refused
}

func BenchmarkPublish(b *testing.B) {
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			e := serve(b, "grpc", answerNative(frame(0, encode(b, &backendv1.PublishResponse{EnvelopeMetas: []*backendv1.EnvelopeMeta{fullMeta()}})), statusHeader, "0"))
			c := dial(b, e, Options{})
			request, _, _, err := craft.New(1, "n", "s").PublishRequest([]backend.Envelope{{Log: backend.Log{Kind: backend.Group, Name: "g"}}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() {
					for range b.N/clients + 1 {
						if got := c.Publish(context.Background(), request); got.Publish == nil {
							b.Errorf("got %+v", got)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

func BenchmarkDecodeQueryOf100Rows(b *testing.B) {
	c := craft.New(1, "n", "s")
	var message []byte
	for i := range 100 {
		wire, _, err := c.Envelope(backend.Envelope{Log: backend.Log{Kind: backend.Group, Name: "g"}, Content: fmt.Sprint(i)})
		if err != nil {
			b.Fatal(err)
		}
		message = append(message, row(encode(b, fullMeta()), wire)...)
	}
	b.ReportAllocs()
	for b.Loop() {
		var r backend.Return
		if err := decodeQuery(&r, message); err != nil {
			b.Fatal(err)
		}
	}
}
