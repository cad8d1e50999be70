package front_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend/front"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers a query with as many empty envelopes as the limit says, and a
// static subscription with as many frames as topics. It fails on demand.
type echo struct {
	backendv1.UnimplementedQueryServiceServer
	backendv1.UnimplementedSubscriptionServiceServer
	// wait, if not nil, makes a stream wait for it after its first frame.
	wait <-chan struct{}
}

func (echo) Query(_ context.Context, r *backendv1.QueryRequest) (*backendv1.QueryResponse, error) {
	switch r.Limit {
	case 666:
		panic("asked to")
	case 667:
		s, err := status.New(codes.InvalidArgument, "50 % is\nnot ümlaut").WithDetails(&backendv1.PublishError{Index: proto.Uint32(3)})
		if err != nil {
			return nil, err
		}
		return nil, s.Err()
	}
	return &backendv1.QueryResponse{Envelopes: make([]*backendv1.ServerEnvelope, r.Limit)}, nil
}

func (e echo) SubscribeStatic(r *backendv1.SubscribeStaticRequest, stream grpc.ServerStreamingServer[backendv1.SubscribeStaticResponse]) error {
	for range r.Topics {
		if err := stream.Send(&backendv1.SubscribeStaticResponse{}); err != nil {
			return err
		}
	}
	if e.wait != nil {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	return nil
}

func (echo) Subscribe(stream grpc.BidiStreamingServer[backendv1.SubscribeRequest, backendv1.SubscribeResponse]) error {
	for {
		r, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		pong := &backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Pong{Pong: &backendv1.Pong{Nonce: r.GetPing().GetNonce()}}}
		if err := stream.Send(pong); err != nil {
			return err
		}
	}
}

const (
	maxRequest  = 1000
	maxResponse = 500
)

// start serves e and returns the address and the server.
func start(t *testing.T, e echo) (string, *front.Server) {
	t.Helper()
	s := front.New(front.Options{MaxRequestBytes: maxRequest, MaxResponseBytes: maxResponse, MaxStreams: 7,
		MaxHeaderBytes: 8 << 10, Log: slog.New(slog.DiscardHandler)})
	backendv1.RegisterQueryServiceServer(s, e)
	backendv1.RegisterSubscriptionServiceServer(s, e)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Drain(ctx) // open connections of clients are cut
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), s
}

func dial(t *testing.T, address string, o ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(address, append(o, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestNativeCallsGetTheCodeOfTheirFault(t *testing.T) {
	address, _ := start(t, echo{})
	c := dial(t, address)
	big := &backendv1.QueryRequest{Queries: []*backendv1.TopicQuery{{Topic: &backendv1.Topic{Topic: make([]byte, 2*maxRequest)}}}}
	for _, test := range []struct {
		name   string
		method string
		in     proto.Message
		option []grpc.CallOption
		want   codes.Code
	}{
		{"a call that succeeds", "QueryService/Query", &backendv1.QueryRequest{Limit: 3}, nil, codes.OK},
		{"a request over the limit", "QueryService/Query", big, nil, codes.OutOfRange},
		{"a response over the limit", "QueryService/Query", &backendv1.QueryRequest{Limit: 400}, nil, codes.OutOfRange},
		{"a message that is not protobuf", "QueryService/Query", &backendv1.QueryRequest{}, []grpc.CallOption{grpc.ForceCodec(garbled{})}, codes.Internal},
		{"a compressed message", "QueryService/Query", &backendv1.QueryRequest{}, []grpc.CallOption{grpc.UseCompressor(gzip.Name)}, codes.Unimplemented},
		{"a method that is gone", "QueryService/Get", &backendv1.QueryRequest{}, nil, codes.Unimplemented},
		{"a method of the schema that is not served", "QueryService/QueryNewest", &backendv1.QueryNewestRequest{}, nil, codes.Unimplemented},
		{"an unknown service", "NobodyService/Query", &backendv1.QueryRequest{}, nil, codes.Unimplemented},
		{"a handler that panics", "QueryService/Query", &backendv1.QueryRequest{Limit: 666}, nil, codes.Internal},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := c.Invoke(t.Context(), "/xmtp.backend.v1."+test.method, test.in, new(backendv1.QueryResponse), test.option...)
			if status.Code(err) != test.want {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if err != nil && status.Convert(err).Message() == "" {
				t.Error("the status has no text")
			}
		})
	}
}

func TestTextAndDetailsOfAStatusArrive(t *testing.T) {
	address, _ := start(t, echo{})
	_, err := backendv1.NewQueryServiceClient(dial(t, address)).Query(t.Context(), &backendv1.QueryRequest{Limit: 667})
	s := status.Convert(err)
	if s.Code() != codes.InvalidArgument || s.Message() != "50 % is\nnot ümlaut" || len(s.Details()) != 1 {
		t.Fatalf("got %v with %v", s, s.Details())
	}
	if d, ok := s.Details()[0].(*backendv1.PublishError); !ok || d.GetIndex() != 3 {
		t.Errorf("got detail %v", s.Details()[0])
	}
}

func TestStreamsCarryFramesBothWaysAndEndWithTheClient(t *testing.T) {
	address, _ := start(t, echo{})
	stream, err := backendv1.NewSubscriptionServiceClient(dial(t, address)).Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for nonce := range uint64(3) {
		ping := &backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Ping{Ping: &backendv1.Ping{Nonce: nonce}}}
		if err := stream.Send(ping); err != nil {
			t.Fatal(err)
		}
		if r, err := stream.Recv(); err != nil || r.GetPong().GetNonce() != nonce {
			t.Fatalf("ping %d: %v, %v", nonce, r, err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != io.EOF {
		t.Fatalf("the stream ended with %v", err)
	}
}

func TestADrainFailsOpenStreamsAsUnavailable(t *testing.T) {
	address, s := start(t, echo{wait: make(chan struct{})})
	stream, err := backendv1.NewSubscriptionServiceClient(dial(t, address)).SubscribeStatic(t.Context(),
		&backendv1.SubscribeStaticRequest{Topics: make([]*backendv1.TopicQuery, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	if err := s.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v, want UNAVAILABLE", err)
	}
}

// garbled is a codec that writes what is not protobuf.
type garbled struct{}

func (garbled) Marshal(any) ([]byte, error) { return []byte{0xff}, nil }
func (garbled) Unmarshal([]byte, any) error { return nil }
func (garbled) Name() string                { return "proto" }

// web sends a gRPC-Web call over the given protocol and returns the response
// with its body.
func web(t *testing.T, http2 bool, request *http.Request) (*http.Response, []byte) {
	t.Helper()
	var protocols http.Protocols
	protocols.SetHTTP1(!http2)
	protocols.SetUnencryptedHTTP2(http2)
	transport := &http.Transport{Protocols: &protocols}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

func newRequest(t *testing.T, address, path, contentType string, body []byte) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	return r
}

func frame(t *testing.T, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(raw))), raw...)
}

// frames splits a gRPC-Web body into messages and the trailer.
func frames(t *testing.T, body []byte) (messages [][]byte, trailer string) {
	t.Helper()
	for len(body) >= 5 {
		n := binary.BigEndian.Uint32(body[1:])
		if uint64(len(body)) < 5+uint64(n) {
			t.Fatalf("a frame of %d bytes in a body of %d", n, len(body))
		}
		content := body[5 : 5+n]
		if body[0] == 0x80 {
			trailer = string(content)
		} else {
			messages = append(messages, content)
		}
		body = body[5+n:]
	}
	if len(body) > 0 || trailer == "" {
		t.Fatalf("the body ends with %q, trailer %q", body, trailer)
	}
	return messages, trailer
}

const queryPath = "/xmtp.backend.v1.QueryService/Query"

func TestWebCallsWorkOverBothVersionsOfHTTP(t *testing.T) {
	address, _ := start(t, echo{})
	plain := frame(t, &backendv1.QueryRequest{Limit: 2})
	// A text client encodes piece by piece: here the prefix on its own.
	text := []byte(base64.StdEncoding.EncodeToString(plain[:5]) + base64.StdEncoding.EncodeToString(plain[5:]))
	for _, test := range []struct {
		name, contentType, wantType string
		http2, text                 bool
		body                        []byte
	}{
		{"binary over HTTP/1.1", "application/grpc-web+proto", "application/grpc-web+proto", false, false, plain},
		{"binary over HTTP/2", "application/grpc-web", "application/grpc-web+proto", true, false, plain},
		{"text over HTTP/1.1", "application/grpc-web-text+proto", "application/grpc-web-text+proto", false, true, text},
		{"text over HTTP/2", "application/grpc-web-text", "application/grpc-web-text+proto", true, true, text},
	} {
		t.Run(test.name, func(t *testing.T) {
			response, body := web(t, test.http2, newRequest(t, address, queryPath, test.contentType, test.body))
			if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != test.wantType {
				t.Errorf("got status %d and type %q", response.StatusCode, response.Header.Get("Content-Type"))
			}
			if len(response.Header.Get("X-Request-Id")) != 36 {
				t.Errorf("request id %q", response.Header.Get("X-Request-Id"))
			}
			if test.text {
				body = decodePieces(t, string(body))
			}
			messages, trailer := frames(t, body)
			var answer backendv1.QueryResponse
			if len(messages) != 1 || proto.Unmarshal(messages[0], &answer) != nil || len(answer.Envelopes) != 2 {
				t.Errorf("got %d messages: %v", len(messages), &answer)
			}
			if trailer != "grpc-status: 0\r\n" {
				t.Errorf("got trailer %q", trailer)
			}
		})
	}
}

// decodePieces decodes base64 that may have padding in its middle.
func decodePieces(t *testing.T, text string) []byte {
	t.Helper()
	var out []byte
	for len(text) > 0 {
		if len(text) < 4 {
			t.Fatalf("%q is not whole base64", text)
		}
		b, err := base64.StdEncoding.DecodeString(text[:4])
		if err != nil {
			t.Fatal(err)
		}
		out, text = append(out, b...), text[4:]
	}
	return out
}

func TestWebFaultsAreInTheTrailerFrame(t *testing.T) {
	address, _ := start(t, echo{})
	for _, test := range []struct {
		name, path string
		body       []byte
		want       string
	}{
		{"details of a refusal", queryPath, frame(t, &backendv1.QueryRequest{Limit: 667}), "grpc-status: 3\r\ngrpc-message: 50 %25 is%0Anot %C3%BCmlaut\r\ngrpc-status-details-bin: "},
		{"a method that is gone", "/xmtp.backend.v1.QueryService/Get", frame(t, &backendv1.QueryRequest{}), "grpc-status: 12\r\n"},
		{"a request over the limit, sent whole", queryPath, append([]byte{0, 0, 1, 0, 0}, make([]byte, 1<<16)...), "grpc-status: 11\r\n"},
		{"a request that ends inside its message", queryPath, []byte{0, 0, 0, 0, 9, 1}, "grpc-status: 13\r\n"},
		{"a request that ends inside its prefix", queryPath, []byte{0, 0}, "grpc-status: 13\r\n"},
		{"no request at all", queryPath, nil, "grpc-status: 13\r\n"},
		{"unknown flags", queryPath, []byte{2, 0, 0, 0, 0}, "grpc-status: 13\r\n"},
		{"a compressed message", queryPath, []byte{1, 0, 0, 0, 0}, "grpc-status: 12\r\n"},
	} {
		for _, http2 := range []bool{false, true} {
			t.Run(test.name, func(t *testing.T) {
				response, body := web(t, http2, newRequest(t, address, test.path, "application/grpc-web+proto", test.body))
				messages, trailer := frames(t, body)
				if response.StatusCode != http.StatusOK || len(messages) > 0 || !strings.HasPrefix(trailer, test.want) {
					t.Errorf("got status %d, %d messages, trailer %q", response.StatusCode, len(messages), trailer)
				}
			})
		}
	}
}

func TestWebStreamsArriveFrameByFrame(t *testing.T) {
	address, _ := start(t, echo{})
	request := frame(t, &backendv1.SubscribeStaticRequest{Topics: make([]*backendv1.TopicQuery, 3)})
	_, body := web(t, false, newRequest(t, address, "/xmtp.backend.v1.SubscriptionService/SubscribeStatic", "application/grpc-web+proto", request))
	if messages, trailer := frames(t, body); len(messages) != 3 || trailer != "grpc-status: 0\r\n" {
		t.Errorf("got %d messages, trailer %q", len(messages), trailer)
	}
}

func TestBrowsersMayCallFromAnywhere(t *testing.T) {
	address, _ := start(t, echo{})
	r := newRequest(t, address, queryPath, "", nil)
	r.Method = http.MethodOptions
	r.Header.Set("Origin", "https://example.org")
	r.Header.Set("Access-Control-Request-Method", "POST")
	r.Header.Set("Access-Control-Request-Headers", "content-type,x-grpc-web,authorization,x-app-version")
	response, _ := web(t, false, r)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":  "*",
		"Access-Control-Allow-Methods": "POST, OPTIONS",
		"Access-Control-Allow-Headers": "content-type,x-grpc-web,authorization,x-app-version",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("preflight: %s is %q, want %q", name, got, want)
		}
	}
	r = newRequest(t, address, queryPath, "application/grpc-web+proto", frame(t, &backendv1.QueryRequest{}))
	r.Header.Set("Origin", "https://example.org")
	response, _ = web(t, false, r)
	if got := response.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(got, "grpc-status-details-bin") {
		t.Errorf("exposed headers: %q", got)
	}
}

func TestWhatIsNotACallIsToldSo(t *testing.T) {
	address, _ := start(t, echo{})
	get := newRequest(t, address, "/", "", nil)
	get.Method = http.MethodGet
	for _, test := range []struct {
		name    string
		request *http.Request
		want    int
	}{
		{"a browser that looks", get, http.StatusMethodNotAllowed},
		{"JSON", newRequest(t, address, queryPath, "application/json", []byte("{}")), http.StatusUnsupportedMediaType},
		{"gRPC over HTTP/1.1", newRequest(t, address, queryPath, "application/grpc", nil), http.StatusHTTPVersionNotSupported},
	} {
		t.Run(test.name, func(t *testing.T) {
			if response, _ := web(t, false, test.request); response.StatusCode != test.want {
				t.Errorf("got status %d, want %d", response.StatusCode, test.want)
			}
		})
	}
}
