package front_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// patience bounds every wait of these tests.
const patience = 30 * time.Second

func TestACallEndsAtItsDeadline(t *testing.T) {
	address, _ := start(t, echo{wait: make(chan struct{})})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	stream, err := backendv1.NewSubscriptionServiceClient(dial(t, address)).SubscribeStatic(ctx, &backendv1.SubscribeStaticRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("got %v, want DEADLINE_EXCEEDED", err)
	}
	// The server counts too: a client that cannot cancel is told.
	request := newRequest(t, address, "/xmtp.backend.v1.SubscriptionService/SubscribeStatic", "application/grpc-web+proto",
		frame(t, &backendv1.SubscribeStaticRequest{Topics: make([]*backendv1.TopicQuery, 1)}))
	request.Header.Set("Grpc-Timeout", "50m")
	_, body := web(t, false, request)
	if messages, trailer := frames(t, body); len(messages) != 1 || trailer[:15] != "grpc-status: 4\r" {
		t.Errorf("got %d messages, trailer %q", len(messages), trailer)
	}
}

// API-132: a client with more calls than streams queues them itself.
func TestMoreCallsThanStreamsAllSucceed(t *testing.T) {
	address, _ := start(t, echo{})
	client := backendv1.NewQueryServiceClient(dial(t, address))
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() {
			if _, err := client.Query(t.Context(), &backendv1.QueryRequest{Limit: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// A peer that opens a stream and then never reads cannot hold up a drain: when
// its time is over the connection is cut.
func TestAPeerThatNeverReadsIsCut(t *testing.T) {
	address, s := start(t, echo{wait: make(chan struct{})})
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	framer := http2.NewFramer(conn, conn)
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	// No window at all: not one byte of a response may be sent.
	if err := framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		t.Fatal(err)
	}
	var header headerBlock
	for _, f := range [][2]string{{":method", http.MethodPost}, {":scheme", "http"}, {":authority", address},
		{":path", "/xmtp.backend.v1.SubscriptionService/SubscribeStatic"}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
		header.write(t, f[0], f[1])
	}
	if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header.buffer, EndHeaders: true}); err != nil {
		t.Fatal(err)
	}
	if err := framer.WriteData(1, true, frame(t, &backendv1.SubscribeStaticRequest{Topics: make([]*backendv1.TopicQuery, 3)})); err != nil {
		t.Fatal(err)
	}
	// The header of the response is not flow controlled; its arrival says that
	// the handler runs.
	for {
		f, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := f.(*http2.HeadersFrame); ok {
			break
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.Drain(ctx) }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("the drain says that every call ended")
		}
	case <-time.After(patience):
		t.Fatal("the drain waits for a peer that never reads")
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = framer.ReadFrame()
	}
	if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Error("the connection is still open")
	}
}

// headerBlock is a header in the form that HTTP/2 sends.
type headerBlock struct{ buffer []byte }

func (h *headerBlock) Write(p []byte) (int, error) {
	h.buffer = append(h.buffer, p...)
	return len(p), nil
}

func (h *headerBlock) write(t *testing.T, name, value string) {
	t.Helper()
	if err := hpack.NewEncoder(h).WriteField(hpack.HeaderField{Name: name, Value: value}); err != nil {
		t.Fatal(err)
	}
}
