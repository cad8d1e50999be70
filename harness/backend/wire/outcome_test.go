package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

func details(t testing.TB, messages ...proto.Message) string {
	t.Helper()
	s := &rpcstatus.Status{Code: 3, Message: "no"}
	for _, m := range messages {
		a, err := anypb.New(m)
		if err != nil {
			t.Fatal(err)
		}
		s.Details = append(s.Details, a)
	}
	raw, err := proto.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawStdEncoding.EncodeToString(raw)
}

func TestAStatusThatThePeerSentIsItsCodeWhateverItIs(t *testing.T) {
	for _, code := range []backend.Code{
		backend.Canceled, backend.Unknown, backend.InvalidArgument, backend.DeadlineExceeded, backend.ResourceExhausted,
		backend.Aborted, backend.OutOfRange, backend.Unimplemented, backend.Internal, backend.Unavailable, 17, 1<<32 - 1,
	} {
		number := fmt.Sprint(uint32(code))
		for name, c := range map[string]struct {
			scheme  string
			handler http.HandlerFunc
		}{
			"in native trailers":            {"grpc", answerNative(nil, statusHeader, number, messageHeader, "not%20today%")},
			"in native trailers after data": {"grpc", answerNative(frame(0, []byte{}), statusHeader, number, messageHeader, "not%20today%")},
			"in native headers alone":       {"grpc", statusOnly("application/grpc+proto", statusHeader, number, messageHeader, "not today%")},
			"over TLS":                      {"grpcs", answerNative(nil, statusHeader, number, messageHeader, "not today%")},
			"in a gRPC-Web trailer frame":   {"http", web(nil, "grpc-status: "+number+"\r\ngrpc-message: not today%\r\n")},
			"in gRPC-Web headers alone":     {"http", statusOnly("application/grpc-web+proto", statusHeader, number, messageHeader, "not today%")},
			"in headers called plain gRPC":  {"http", statusOnly("application/grpc", statusHeader, number, messageHeader, "not today%")},
			"by gRPC-Web over TLS":          {"https", web(nil, "grpc-status:"+number+"\ngrpc-message:not today%")},
		} {
			t.Run(fmt.Sprintf("%s %s", code, name), func(t *testing.T) {
				e := serve(t, c.scheme, c.handler)
				got := dial(t, e, Options{}).Publish(within(t), []byte("request"))
				if got.Code != code || got.Lost != "" || got.Garbled != "" || got.Text != "not today%" {
					t.Errorf("got %+v", got)
				}
				if err := Probe(within(t), e); err != nil {
					t.Errorf("probe: %v", err)
				}
			})
		}
	}
}

func TestPublishErrorsAreFoundAmongTheDetails(t *testing.T) {
	raw := details(t,
		&errdetails.RetryInfo{},
		&backendv1.PublishError{Index: proto.Uint32(0), Reason: backendv1.PublishError_REASON_TOO_LARGE, Message: "x"},
		&backendv1.PublishError{Reason: 99})
	for name, value := range map[string]string{"unpadded": raw, "padded": raw + strings.Repeat("=", -len(raw)&3)} {
		e := serve(t, "grpc", answerNative(nil, statusHeader, "3", detailsHeader, value))
		got := dial(t, e, Options{}).Publish(within(t), nil)
		if got.Code != backend.InvalidArgument || len(got.Details) != 2 {
			t.Fatalf("%s: got %+v", name, got)
		}
		first, second := got.Details[0], got.Details[1]
		if first.Index == nil || *first.Index != 0 || first.Reason != backend.ReasonTooLarge {
			t.Errorf("%s: first detail %+v", name, first)
		}
		if second.Index != nil || second.Reason != 99 {
			t.Errorf("%s: second detail %+v", name, second)
		}
	}
}

func TestDetailsThatDoNotDecodeAreNoneAndTheTextSaysSo(t *testing.T) {
	broken := &anypb.Any{TypeUrl: "type.googleapis.com/xmtp.backend.v1.PublishError", Value: []byte{0xff}}
	status, err := proto.Marshal(&rpcstatus.Status{Code: 3, Details: []*anypb.Any{broken}})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"not base64":          "***",
		"no status":           base64.StdEncoding.EncodeToString([]byte{0xff}),
		"a publish error cut": base64.StdEncoding.EncodeToString(status),
	} {
		t.Run(name, func(t *testing.T) {
			got := dial(t, serve(t, "grpc", answerNative(nil, statusHeader, "3", messageHeader, "no", detailsHeader, value)), Options{}).Publish(within(t), nil)
			if got.Code != backend.InvalidArgument || len(got.Details) != 0 || got.Garbled != "" || !strings.Contains(got.Text, "grpc-status-details-bin") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestAnAnswerThatIsNotOneOfTheProtocolIsGarbled(t *testing.T) {
	ok := frame(0, []byte{})
	for name, c := range map[string]struct {
		scheme  string
		handler http.HandlerFunc
		why     string
		ready   bool // a status came all the same
	}{
		"a page that says 404":             {"grpc", page(404), "404", false},
		"a page that says 502":             {"grpc", page(502), "502", false},
		"a page that says 200":             {"grpc", page(200), "text/html", false},
		"a page instead of gRPC-Web":       {"http", page(502), "502", false},
		"gRPC-Web to a native call":        {"grpc", web(ok, "grpc-status: 0\r\n"), "content type", false},
		"plain gRPC to a gRPC-Web call":    {"http", answerNative(ok, statusHeader, "0"), "content type", false},
		"no status":                        {"grpc", answerNative(ok), "without a grpc-status", false},
		"no status in gRPC-Web":            {"http", web(ok, "x: y\r\n"), "without a grpc-status", false},
		"no trailer frame in gRPC-Web":     {"http", statusOnly("application/grpc-web"), "without a grpc-status", false},
		"a status that is no number":       {"grpc", answerNative(ok, statusHeader, "fine"), "not one number", false},
		"a negative status":                {"grpc", answerNative(ok, statusHeader, "-1"), "not one number", false},
		"two statuses":                     {"grpc", answerNative(ok, statusHeader, "0", statusHeader, "5"), "not one number", false},
		"OK without a message":             {"grpc", answerNative(nil, statusHeader, "0"), "without a response message", true},
		"two messages":                     {"grpc", answerNative(append(ok, ok...), statusHeader, "0"), "more than one", false},
		"a compressed message":             {"grpc", answerNative(frame(1, []byte("zip")), statusHeader, "0"), "compressed", false},
		"a frame with an odd flag":         {"grpc", answerNative(frame(0x42, []byte("?")), statusHeader, "0"), "flag byte 0x42", false},
		"a trailer frame in native gRPC":   {"grpc", answerNative(frame(flagTrailer, []byte("grpc-status: 0\r\n"))), "flag byte 0x80", false},
		"a frame cut in its length":        {"grpc", answerNative([]byte{0, 0}, statusHeader, "0"), "first 5 bytes", false},
		"a message shorter than it claims": {"grpc", answerNative(frame(0, []byte("four"))[:7], statusHeader, "0"), "claims 4 bytes", false},
		"more behind the trailer frame":    {"http", web(append(ok, frame(flagTrailer, []byte("grpc-status: 0\r\n"))...), "grpc-status: 0\r\n"), "behind its trailer", false},
		"a huge trailer frame":             {"http", web([]byte{flagTrailer, 0xff, 0xff, 0xff, 0xff}, ""), "trailer frame of", false},
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, c.scheme, c.handler)
			got := dial(t, e, Options{}).Publish(within(t), []byte("request"))
			if got.Lost != "" || !strings.Contains(got.Garbled, c.why) || got.Publish != nil {
				t.Errorf("got %+v, want it garbled with %q", got, c.why)
			}
			if !c.ready && got.Code != backend.Unknown {
				t.Errorf("code %s without a status of the peer", got.Code)
			}
			if err := Probe(within(t), e); (err == nil) != c.ready {
				t.Errorf("probe: %v", err)
			}
		})
	}
}

func TestAResponseAboveTheCapIsGarbledWithItsLengthAndOneAtTheCapIsRead(t *testing.T) {
	message := bytes.Repeat([]byte{0xa2, 0x06, 0x00}, 1000) // a field nobody knows, 1000 times
	for _, scheme := range []string{"grpc", "http"} {
		handler := answerNative(frame(0, message), statusHeader, "0")
		if scheme == "http" {
			handler = web(frame(0, message), "grpc-status: 0\r\n")
		}
		e := serve(t, scheme, handler)
		if got := dial(t, e, Options{MaxReceive: len(message)}).Query(within(t), nil); got.Garbled != "" || got.WireLen != len(message) || got.Query == nil {
			t.Errorf("%s at the cap: got %+v", scheme, got)
		}
		if got := dial(t, e, Options{MaxReceive: len(message) - 1}).Query(within(t), nil); got.Garbled == "" || got.WireLen != len(message) || got.Query != nil {
			t.Errorf("%s above the cap: got %+v", scheme, got)
		}
	}
	// The claim alone must not make the client allocate.
	e := serve(t, "grpc", answerNative([]byte{0, 0xff, 0xff, 0xff, 0xff}, statusHeader, "0"))
	if got := dial(t, e, Options{}).Query(within(t), nil); !strings.Contains(got.Garbled, "4294967295") {
		t.Errorf("a message of 4 GiB: got %+v", got)
	}
}

func TestNoAnswerIsLostInTheWayItWasLost(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	cutAfter := func(body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			if r.ProtoMajor == 1 {
				w.Header().Set("Content-Type", "application/grpc-web+proto")
			}
			if body != nil {
				_, _ = w.Write(body)
				_ = http.NewResponseController(w).Flush()
			}
			_ = connOf(r).Close()
		}
	}
	reset := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		_, _ = w.Write(frame(0, []byte{}))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	for name, c := range map[string]struct {
		scheme  string
		handler http.HandlerFunc
		want    backend.Lost
	}{
		"a handler that hangs":                 {"grpc", hang, backend.LostTimeout},
		"a handler that hangs behind web":      {"http", hang, backend.LostTimeout},
		"a connection cut before the answer":   {"grpc", cutAfter(nil), backend.LostCut},
		"a connection cut within a message":    {"grpc", cutAfter(frame(0, make([]byte, 100))[:20]), backend.LostCut},
		"a connection cut within a prefix":     {"grpc", cutAfter([]byte{0, 0}), backend.LostCut},
		"a connection cut behind the message":  {"grpc", cutAfter(frame(0, []byte{})), backend.LostCut},
		"a web connection cut":                 {"http", cutAfter(nil), backend.LostCut},
		"a web connection cut in a message":    {"http", cutAfter(frame(0, make([]byte, 100))[:20]), backend.LostCut},
		"a stream reset in the middle":         {"grpc", reset, backend.LostCut},
		"a stream reset before headers":        {"grpc", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, backend.LostCut},
		"a TLS connection cut before it comes": {"grpcs", func(_ http.ResponseWriter, r *http.Request) { _ = connOf(r).Close() }, backend.LostCut},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := within(t)
			if c.want == backend.LostTimeout {
				short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
				ctx = short
			}
			got := dial(t, serve(t, c.scheme, c.handler), Options{}).Publish(ctx, []byte("request"))
			if got.Lost != c.want || got.Code != 0 || got.Garbled != "" {
				t.Errorf("got %+v, want lost by %q", got, c.want)
			}
		})
	}
}

func TestAConnectionThatNeverWasIsRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	_ = l.Close()
	plain := serve(t, "grpc", answerNative(nil, statusHeader, "0"))
	secure := serve(t, "grpcs", answerNative(nil, statusHeader, "0"))
	untrusted := secure
	untrusted.TLS = nil
	nobodyThere := plain
	nobodyThere.Address = nobody
	tlsToPlain := secure
	tlsToPlain.Address = plain.Address
	for name, e := range map[string]struct {
		endpoint string
		got      backend.Return
		probe    error
	}{
		"nothing listens":         {nobody, dial(t, nobodyThere, Options{}).Publish(within(t), nil), Probe(within(t), nobodyThere)},
		"a certificate unknown":   {untrusted.Address, dial(t, untrusted, Options{}).Publish(within(t), nil), Probe(within(t), untrusted)},
		"TLS to a plain port":     {tlsToPlain.Address, dial(t, tlsToPlain, Options{}).Publish(within(t), nil), Probe(within(t), tlsToPlain)},
		"web where nobody is":     webTo(t, "http", nobody),
		"web TLS to a plain port": webTo(t, "https", plain.Address),
	} {
		if e.got.Lost != backend.LostRefused {
			t.Errorf("%s: got %+v", name, e.got)
		}
		if e.probe == nil || !strings.Contains(e.probe.Error(), e.endpoint) {
			t.Errorf("%s: probe: %v", name, e.probe)
		}
	}
}

func webTo(t *testing.T, scheme, address string) (out struct {
	endpoint string
	got      backend.Return
	probe    error
}) {
	e := serve(t, scheme, page(200))
	e.Address = address
	out.endpoint, out.got, out.probe = address, dial(t, e, Options{}).Publish(within(t), nil), Probe(within(t), e)
	return out
}

func TestAPlainCallToATLSPortGetsNoStatus(t *testing.T) {
	for _, schemes := range [][2]string{{"grpcs", "grpc"}, {"https", "http"}} {
		e := serve(t, schemes[0], answerNative(nil, statusHeader, "0"))
		e.Scheme, e.TLS = schemes[1], nil
		got := dial(t, e, Options{}).Publish(within(t), nil)
		if got.Lost == "" && got.Garbled == "" {
			t.Errorf("%s to a %s port: got %+v", schemes[1], schemes[0], got)
		}
		if err := Probe(within(t), e); err == nil {
			t.Errorf("%s to a %s port counts as ready", schemes[1], schemes[0])
		}
	}
}

func TestASilentPeerIsNotReady(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, scheme := range []string{"grpc", "grpcs", "http", "https"} {
		e := serve(t, scheme, page(200))
		e.Address = l.Addr().String()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := Probe(ctx, e); err == nil || !strings.Contains(err.Error(), string(backend.LostTimeout)) {
			t.Errorf("%s: %v", scheme, err)
		}
		cancel()
	}
}

func TestACancelledCallIsLostAsCutByUs(t *testing.T) {
	entered := make(chan struct{})
	e := serve(t, "grpc", func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	if got := dial(t, e, Options{}).Publish(ctx, nil); got.Lost != backend.LostCut {
		t.Errorf("got %+v", got)
	}
}

func TestCloseEndsCallsThatRun(t *testing.T) {
	for _, scheme := range []string{"grpc", "http"} {
		entered := make(chan struct{})
		e := serve(t, scheme, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			close(entered)
			<-r.Context().Done()
		})
		c := dial(t, e, Options{})
		result := make(chan backend.Return, 1)
		go func() { result <- c.Publish(within(t), nil) }()
		<-entered
		_ = c.Close()
		if got := <-result; got.Lost != backend.LostCut {
			t.Errorf("%s: got %+v", scheme, got)
		}
		if got := c.Publish(within(t), nil); got.Lost != backend.LostRefused {
			t.Errorf("%s after Close: got %+v", scheme, got)
		}
	}
}

func TestALostConnectionIsReplacedByTheNextCallAndNothingIsSentTwice(t *testing.T) {
	for _, scheme := range []string{"grpc", "http"} {
		var mu sync.Mutex
		var seen []string
		e := serve(t, scheme, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			mu.Lock()
			seen = append(seen, string(b[prefixLength:]))
			first := len(seen) == 1
			mu.Unlock()
			if first {
				_ = connOf(r).Close()
				return
			}
			if scheme == "http" {
				web(frame(0, nil), "grpc-status: 0\r\n")(w, r)
			} else {
				answerNative(frame(0, nil), statusHeader, "0")(w, r)
			}
		})
		c := dial(t, e, Options{})
		if got := c.Publish(within(t), []byte("first")); got.Lost != backend.LostCut {
			t.Errorf("%s: first: %+v", scheme, got)
		}
		if got := c.Publish(within(t), []byte("second")); got.Code != backend.OK || got.Publish == nil {
			t.Errorf("%s: second: %+v", scheme, got)
		}
		mu.Lock()
		defer mu.Unlock()
		if strings.Join(seen, " ") != "first second" {
			t.Errorf("%s: the server saw %q", scheme, seen)
		}
	}
}
