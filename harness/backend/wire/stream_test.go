package wire

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"assay/harness/backend/craft"
	"assay/harness/subject"
	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// answerStream answers a native subscription at once, without waiting for what the
// client still sends.
func answerStream(body []byte, trailers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		_, _ = w.Write(body)
		for i := 0; i+1 < len(trailers); i += 2 {
			w.Header().Add(http.TrailerPrefix+trailers[i], trailers[i+1])
		}
	}
}

// drain reads a subscription to its end.
func drain(s *Stream) (frames []*backend.Response, end backend.Return) {
	for r := s.Next(); r != nil; r = s.Next() {
		frames = append(frames, r)
	}
	return frames, s.End()
}

// startedFrame is a Started of both kinds.
var startedFrame = frame(0, []byte{0x0a, 0x02, 0x08, 0x07})

// opened opens the kind of subscription that an endpoint's scheme has: a static
// one behind http.
func opened(t testing.TB, e subject.Endpoint, o Options) *Stream {
	c := dial(t, e, o)
	if c.web {
		return c.SubscribeStatic(within(t), nil)
	}
	return c.Subscribe(within(t))
}

func TestAHostilePeerGivesNoFrameAndNoStatusOfOurOwn(t *testing.T) {
	claim := binary.BigEndian.AppendUint32([]byte{0}, 1<<32-1)
	short := append(binary.BigEndian.AppendUint32([]byte{0}, 100), "too short"...)
	for name, c := range map[string]struct {
		body     []byte
		trailers []string
		page     int // an HTTP page in place of a subscription
		frames   int
		code     backend.Code
		garbled  string
		natively bool // says something about native calls only
	}{
		"a good end":                       {body: startedFrame, trailers: []string{statusHeader, "14"}, frames: 1, code: backend.Unavailable},
		"OK behind no frame":               {trailers: []string{statusHeader, "0"}},
		"no trailers":                      {body: startedFrame, frames: 1, garbled: "without a grpc-status", natively: true},
		"trailers without a status":        {body: startedFrame, trailers: []string{messageHeader, "x"}, frames: 1, garbled: "without a grpc-status"},
		"a status that is no number":       {body: startedFrame, trailers: []string{statusHeader, "many"}, frames: 1, garbled: `is "many"`},
		"two statuses":                     {body: startedFrame, trailers: []string{statusHeader, "0", statusHeader, "3"}, frames: 1, garbled: "not one number"},
		"a frame of four gigabytes":        {body: append(startedFrame[:len(startedFrame):len(startedFrame)], claim...), trailers: []string{statusHeader, "0"}, frames: 1, garbled: "4294967295 bytes"},
		"an end within a prefix":           {body: []byte{0, 0}, trailers: []string{statusHeader, "0"}, garbled: "first 5 bytes", natively: true},
		"an end within a frame":            {body: short, trailers: []string{statusHeader, "0"}, garbled: "claims 100 bytes", natively: true},
		"a compressed frame":               {body: frame(1, nil), trailers: []string{statusHeader, "0"}, garbled: "compressed"},
		"an unknown flag":                  {body: frame(64, nil), trailers: []string{statusHeader, "0"}, garbled: "0x40"},
		"a frame that is no protobuf":      {body: frame(0, []byte{0x0a, 0x09}), trailers: []string{statusHeader, "0"}, garbled: "no protobuf"},
		"a row that is no protobuf":        {body: frame(0, []byte{0x1a, 0x04, 0x0a, 0x02, 0x0a, 0x09}), trailers: []string{statusHeader, "0"}, garbled: "protobuf", natively: true},
		"a page":                           {page: 200, garbled: "text/html"},
		"a page that says it is not found": {page: 404, garbled: "status 404"},
	} {
		for _, scheme := range []string{"grpc", "http"} {
			handler := answerStream(c.body, c.trailers...)
			if scheme == "http" {
				var trailer strings.Builder
				for i := 0; i+1 < len(c.trailers); i += 2 {
					fmt.Fprintf(&trailer, "%s: %s\r\n", strings.ToLower(c.trailers[i]), c.trailers[i+1])
				}
				handler = web(c.body, trailer.String())
			}
			if c.page > 0 {
				handler = page(c.page)
			}
			if scheme == "http" && c.natively {
				continue
			}
			frames, end := drain(opened(t, serve(t, scheme, handler), Options{}))
			if c.garbled != "" && (end.Garbled == "" || !strings.Contains(end.Garbled, c.garbled)) || c.garbled == "" && (end.Garbled != "" || end.Code != c.code) || end.Lost != "" {
				t.Errorf("%s over %s: ended with %+v, want code %s and %q", name, scheme, end, c.code, c.garbled)
			}
			if len(frames) != c.frames {
				t.Errorf("%s over %s: %d frames, want %d", name, scheme, len(frames), c.frames)
			}
		}
	}
}

func TestAWebSubscriptionThatEndsWithoutATrailerFrameIsGarbled(t *testing.T) {
	for _, two := range []bool{false, true} {
		e := serve(t, "http", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if got := r.ProtoMajor; (got == 2) != two {
				t.Errorf("HTTP/%d", got)
			}
			w.Header().Set("Content-Type", "application/grpc-web+proto")
			_, _ = w.Write(startedFrame)
		})
		frames, end := drain(opened(t, e, Options{WebHTTP2: two}))
		if len(frames) != 1 || frames[0].Started == nil || frames[0].Started.KeepaliveMS != 7 || !strings.Contains(end.Garbled, "without a grpc-status") {
			t.Errorf("%v, then %+v", frames, end)
		}
	}
}

func TestEndlessDataEndsTheSubscriptionAndNotThisProcess(t *testing.T) {
	rows := func(n int) []byte {
		var inner []byte
		for range n {
			inner = append(inner, 0x0a, 0x00)
		}
		return append(binary.AppendUvarint([]byte{0x1a}, uint64(len(inner))), inner...)
	}
	for name, piece := range map[string][]byte{
		"empty frames":        frame(0, nil),
		"rows":                frame(0, rows(500)),
		"more rows at a time": frame(0, rows(5000)),
		"targets":             frame(0, append([]byte{0x12, 0xf4, 0x03}, strings.Repeat("\x12\x00", 250)...)),
	} {
		e := serve(t, "grpc", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			for r.Context().Err() == nil {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		})
		s := opened(t, e, Options{})
		s.budget = 2000
		frames, end := drain(s)
		if len(frames) > 2000 || !strings.Contains(end.Garbled, "on one subscription") {
			t.Errorf("%s: %d frames, then %+v", name, len(frames), end)
		}
	}
}

func TestNoEndIsLostInTheWayItWasLost(t *testing.T) {
	e := serve(t, "grpc", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		_, _ = w.Write(startedFrame)
		_ = http.NewResponseController(w).Flush()
		if r.Header.Get("cut") != "" {
			_ = connOf(r).Close()
			return
		}
		<-r.Context().Done()
	})
	c := dial(t, e, Options{})
	if frames, end := drain(c.Subscribe(within(t), Header{"cut", "1"})); len(frames) > 1 || !isLost(end, backend.LostCut) {
		t.Errorf("cut: %d frames, %+v", len(frames), end)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, end := drain(c.Subscribe(short)); !isLost(end, backend.LostTimeout) {
		t.Errorf("deadline: %+v", end)
	}
	s := c.SubscribeStatic(within(t), nil)
	if r := s.Next(); r == nil || r.Started == nil {
		t.Fatalf("first frame %+v", r)
	}
	s.Cancel()
	s.Pause() // too late: a call that is over is read to its end
	if frames, end := drain(s); len(frames) > 0 || !isLost(end, backend.LostCut) {
		t.Errorf("cancelled: %d frames, %+v", len(frames), end)
	}
	nobody := dial(t, subject.Endpoint{Scheme: "grpc", Address: "127.0.0.1:1"}, Options{})
	if _, end := drain(nobody.Subscribe(within(t))); !isLost(end, backend.LostRefused) {
		t.Errorf("nobody there: %+v", end)
	}
}

func isLost(r backend.Return, how backend.Lost) bool {
	return r.Lost == how && r.Code == 0 && r.Garbled == "" && r.Text == ""
}

func FuzzFrame(f *testing.F) {
	f.Add(encode(f, &backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Ping{Ping: &backendv1.Ping{Nonce: 300}}}), true)
	f.Add([]byte{0x1a, 0x02, 0x0a, 0x00}, true)
	f.Add([]byte{0x12, 0x06, 0x08, 0x01, 0x12, 0x02, 0x0a, 0x00}, false)
	f.Fuzz(func(t *testing.T, message []byte, two bool) {
		kind := static
		if two {
			kind = bidirectional
		}
		r, n, err := decodeFrame(message, kind, &interner{}, 100)
		if n < 1 {
			t.Fatalf("a frame that costs %d", n)
		}
		if err != nil {
			return
		}
		set := 0
		for _, is := range []bool{r.Started != nil, r.Applied != nil, r.Messages != nil, r.Ping != nil, r.Pong != nil, r.Keepalive, r.Empty} {
			if is {
				set++
			}
		}
		if set != 1 || r.WireLen != len(message) {
			t.Fatalf("%d alternatives and length %d in %+v", set, r.WireLen, r)
		}
	})
}

func TestWhatGoesOutIsWhatAnotherLibraryReads(t *testing.T) {
	one, big := uint64(1), uint64(1<<63)
	c := craft.New(1, "n", "s")
	ask := func(cursor *uint64) backend.Asked {
		return c.Ask(backend.Read{Log: backend.Log{Kind: backend.Group, Name: "g"}, Cursor: cursor})
	}
	for _, r := range []backend.Request{
		{Ping: new(uint64)}, {Ping: &one}, {Pong: &big}, {Pong: new(uint64)}, {},
		{Update: &backend.Update{}},
		{Update: &backend.Update{ID: 1<<64 - 1, Adds: []backend.Asked{ask(nil), ask(&one), ask(&big), ask(new(uint64))}, Removes: []backend.Asked{ask(&one)}}},
	} {
		var got backendv1.SubscribeRequest
		if err := proto.Unmarshal(craft.SubscribeRequest(r), &got); err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Ping != nil:
			if got.GetPing() == nil || got.GetPing().GetNonce() != *r.Ping {
				t.Errorf("%v for a ping of %d", &got, *r.Ping)
			}
		case r.Pong != nil:
			if got.GetPong() == nil || got.GetPong().GetNonce() != *r.Pong {
				t.Errorf("%v for a pong of %d", &got, *r.Pong)
			}
		case r.Update == nil:
			if got.Request != nil {
				t.Errorf("%v for no alternative", &got)
			}
		default:
			u := got.GetUpdate()
			if u == nil || u.GetId() != r.Update.ID || len(u.GetAdds()) != len(r.Update.Adds) || len(u.GetRemoves()) != len(r.Update.Removes) {
				t.Fatalf("%v for %+v", &got, r.Update)
			}
			for i, a := range u.GetAdds() {
				want := r.Update.Adds[i]
				if string(a.GetTopic().GetTopic()) != string(want.Topic) || (a.Cursor != nil) != (want.Cursor != nil) || want.Cursor != nil && a.GetCursor().GetSequenceId() != *want.Cursor {
					t.Errorf("add %d is %v, not %+v", i, a, want)
				}
			}
			for i, topic := range u.GetRemoves() {
				if string(topic.GetTopic()) != string(r.Update.Removes[i].Topic) {
					t.Errorf("remove %d is %v", i, topic)
				}
			}
		}
	}
}
