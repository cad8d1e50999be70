package serve_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"testing"

	"google.golang.org/protobuf/proto"

	"assay/harness/postgres/pgtest"
	"assay/impl/backend"
	. "assay/impl/backend/backendtest"
	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// API-160: a browser gets static streams frame by frame, over either version of
// HTTP, and for as long as it likes.
func TestAStaticStreamReachesBrowsersAsItHappens(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{Configure: func(c *config.Config) {
		c.Streams.KeepaliveIntervalMS, c.Streams.MaxPongWaitMS = 200, 60_000
	}})
	for _, http2 := range []bool{false, true} {
		t.Run(map[bool]string{false: "HTTP/1.1", true: "HTTP/2"}[http2], func(t *testing.T) {
			topic := Topic(backend.KindWelcome, key(map[bool]int{false: 1, true: 2}[http2]))
			before := publish(t, b, WelcomeTo(topic.GetTopic()[1:], "before"))[0].GetCursor().GetSequenceId()
			message, err := proto.Marshal(&backendv1.SubscribeStaticRequest{Topics: []*backendv1.TopicQuery{From(topic, 0)}})
			if err != nil {
				t.Fatal(err)
			}
			body := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+b.Address+backendv1.SubscriptionService_SubscribeStatic_FullMethodName, bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/grpc-web+proto")
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
			next := func() *backendv1.SubscribeStaticResponse {
				t.Helper()
				prefix := make([]byte, 5)
				if _, err := io.ReadFull(response.Body, prefix); err != nil {
					t.Fatal(err)
				}
				message := make([]byte, binary.BigEndian.Uint32(prefix[1:]))
				if _, err := io.ReadFull(response.Body, message); err != nil {
					t.Fatal(err)
				}
				f := new(backendv1.SubscribeStaticResponse)
				if err := proto.Unmarshal(message, f); prefix[0] != 0 || err != nil {
					t.Fatalf("a frame of flags %d: %v: %q", prefix[0], err, message)
				}
				return f
			}
			row := func() uint64 {
				t.Helper()
				for {
					if f := next(); f.GetKeepalive() == nil {
						return f.GetMessages().GetEnvelopes()[0].GetMeta().GetCursor().GetSequenceId()
					}
				}
			}
			if f := next(); f.GetStarted().GetTargets()[0].GetThroughSequenceId() != before {
				t.Errorf("the first frame is %v", f)
			}
			if got := row(); got != before {
				t.Errorf("history is %d, not %d", got, before)
			}
			for range 3 {
				if f := next(); f.GetKeepalive() == nil {
					t.Errorf("an idle stream got %v", f)
				}
			}
			after := publish(t, b, WelcomeTo(topic.GetTopic()[1:], "after"))[0].GetCursor().GetSequenceId()
			if got := row(); got != after {
				t.Errorf("%d arrived, not %d", got, after)
			}
		})
	}
}
