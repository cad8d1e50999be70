package front_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend/front"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

const streamTimeout = 20 * time.Second

// duplex receives on a goroutine of its own, as a service does whose streams
// must not wait for their clients.
type duplex struct {
	backendv1.UnimplementedSubscriptionServiceServer
	// leave, when closed, has Subscribe return while somebody receives.
	leave chan struct{}
	// received is what receiving ended with, and left why a static stream ended.
	received, left chan error
}

func newDuplex() *duplex {
	return &duplex{leave: make(chan struct{}), received: make(chan error, 1), left: make(chan error, 1)}
}

// ready is a frame that the service encodes itself.
type ready struct{}

func (ready) Size() int { return len(ready{}.AppendTo(nil)) }
func (ready) AppendTo(b []byte) []byte {
	b, err := proto.MarshalOptions{}.MarshalAppend(b, &backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Started_{
		Started: &backendv1.SubscribeResponse_Started{KeepaliveIntervalMs: 7}}})
	if err != nil {
		panic(err)
	}
	return b
}

func (d *duplex) Subscribe(stream grpc.BidiStreamingServer[backendv1.SubscribeRequest, backendv1.SubscribeResponse]) error {
	if err := stream.SendMsg(ready{}); err != nil {
		return err
	}
	go func() {
		for {
			if _, err := stream.Recv(); err != nil {
				d.received <- err
				return
			}
		}
	}()
	select {
	case <-d.leave:
		return status.Error(codes.ResourceExhausted, "enough")
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
}

func (d *duplex) SubscribeStatic(_ *backendv1.SubscribeStaticRequest, stream grpc.ServerStreamingServer[backendv1.SubscribeStaticResponse]) error {
	if err := stream.SendMsg(ready{}); err != nil {
		return err
	}
	<-stream.Context().Done()
	d.left <- context.Cause(stream.Context())
	return stream.Context().Err()
}

func startDuplex(t *testing.T, d *duplex) (string, *front.Server) {
	t.Helper()
	s := front.New(front.Options{MaxRequestBytes: maxRequest, MaxResponseBytes: maxResponse, MaxStreams: 7,
		MaxHeaderBytes: 8 << 10, Log: slog.New(slog.DiscardHandler)})
	backendv1.RegisterSubscriptionServiceServer(s, d)
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

// ended waits for what a goroutine of the service ended with.
func ended(t *testing.T, what string, c <-chan error) error {
	t.Helper()
	select {
	case err := <-c:
		return err
	case <-time.After(streamTimeout):
		t.Fatalf("%s did not end in %v", what, streamTimeout)
		return nil
	}
}

func TestWhoReceivesReturnsWhenTheHandlerDoes(t *testing.T) {
	d := newDuplex()
	address, _ := startDuplex(t, d)
	stream, err := backendv1.NewSubscriptionServiceClient(dial(t, address)).Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f, err := stream.Recv(); err != nil || f.GetStarted().GetKeepaliveIntervalMs() != 7 {
		t.Fatalf("the first frame is %v, %v", f, err)
	}
	close(d.leave)
	if _, err := stream.Recv(); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("the client was told %v", err)
	}
	if err := ended(t, "receiving", d.received); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("receiving ended with %v", err)
	}
}

func TestWhoReceivesReturnsWhenTheServerDrains(t *testing.T) {
	d := newDuplex()
	address, server := startDuplex(t, d)
	stream, err := backendv1.NewSubscriptionServiceClient(dial(t, address)).Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), streamTimeout)
	defer cancel()
	if err := server.Drain(ctx); err != nil {
		t.Error(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("the client was told %v", err)
	}
	if err := ended(t, "receiving", d.received); err == nil {
		t.Error("receiving ended without an error")
	}
}

// Over HTTP/1.1 a body can stay open for ever, and then the connection has to be
// read for anybody to hear that it is gone.
func TestAStaticStreamEndsWithItsClientOverHTTP1(t *testing.T) {
	for _, test := range []struct{ name, end string }{
		{"whose request has ended", "0\r\n\r\n"},
		{"whose request is still open", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDuplex()
			address, _ := startDuplex(t, d)
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			body := frame(t, &backendv1.SubscribeStaticRequest{})
			fmt.Fprintf(conn, "POST /xmtp.backend.v1.SubscriptionService/SubscribeStatic HTTP/1.1\r\nHost: x\r\n"+
				"Content-Type: application/grpc-web+proto\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%s", len(body), body, test.end)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			prefix := make([]byte, 5)
			if _, err := io.ReadFull(response.Body, prefix); err != nil || int(binary.BigEndian.Uint32(prefix[1:])) != (ready{}).Size() {
				t.Fatalf("the first frame begins with %x, %v", prefix, err)
			}
			conn.Close()
			if err := ended(t, "the stream", d.left); !errors.Is(err, context.Canceled) {
				t.Errorf("the stream ended with %v", err)
			}
		})
	}
}

func TestWhoReceivesOverHTTP1ReturnsWhenTheHandlerDoes(t *testing.T) {
	d := newDuplex()
	address, _ := startDuplex(t, d)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST /xmtp.backend.v1.SubscriptionService/Subscribe HTTP/1.1\r\nHost: x\r\n"+
		"Content-Type: application/grpc-web+proto\r\nTransfer-Encoding: chunked\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	close(d.leave)
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if messages, trailer := frames(t, body); len(messages) != 1 || trailer != "grpc-status: 8\r\ngrpc-message: enough\r\n" {
		t.Errorf("%d messages, trailer %q", len(messages), trailer)
	}
	if err := ended(t, "receiving", d.received); err == nil {
		t.Error("receiving ended without an error")
	}
}
