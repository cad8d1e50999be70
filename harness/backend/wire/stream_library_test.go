package wire

import (
	"errors"
	"net"
	"runtime"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"assay/harness/backend/craft"
	"assay/harness/subject"
	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// echo is a subscription service behind a gRPC library of somebody else. It
// answers pings and updates; an update of no topics ends the call.
type echo struct {
	backendv1.UnimplementedSubscriptionServiceServer
}

func (*echo) Subscribe(s grpc.BidiStreamingServer[backendv1.SubscribeRequest, backendv1.SubscribeResponse]) error {
	for {
		r, err := s.Recv()
		if err != nil {
			return nil // half-closed
		}
		out := &backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Pong{Pong: &backendv1.Pong{Nonce: r.GetPing().GetNonce()}}}
		if u := r.GetUpdate(); u != nil {
			if len(u.GetAdds()) == 0 {
				return status.Error(codes.InvalidArgument, "no topics")
			}
			applied := &backendv1.SubscribeResponse_Applied{Id: u.GetId()}
			for _, a := range u.GetAdds() {
				applied.AddedTargets = append(applied.AddedTargets, &backendv1.CatchupTarget{Topic: a.GetTopic(), ThroughSequenceId: a.GetCursor().GetSequenceId()})
			}
			out = &backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Applied_{Applied: applied}}
		}
		if err := s.Send(out); err != nil {
			return err
		}
	}
}

func (*echo) SubscribeStatic(r *backendv1.SubscribeStaticRequest, s grpc.ServerStreamingServer[backendv1.SubscribeStaticResponse]) error {
	started := &backendv1.SubscribeStaticResponse_Started{KeepaliveIntervalMs: 9}
	for _, q := range r.GetTopics() {
		started.Targets = append(started.Targets, &backendv1.CatchupTarget{Topic: q.GetTopic(), ThroughSequenceId: 4})
	}
	for _, out := range []*backendv1.SubscribeStaticResponse{
		{Response: &backendv1.SubscribeStaticResponse_Started_{Started: started}},
		{Response: &backendv1.SubscribeStaticResponse_Keepalive_{Keepalive: &backendv1.SubscribeStaticResponse_Keepalive{}}},
		{Response: &backendv1.SubscribeStaticResponse_Messages_{Messages: &backendv1.SubscribeStaticResponse_Messages{Envelopes: []*backendv1.ServerEnvelope{{Meta: fullMeta(), Envelope: groupEnvelope("d")}}}}},
		{},
	} {
		if err := s.Send(out); err != nil {
			return err
		}
	}
	return status.Error(codes.Unavailable, "that was all")
}

// streaming starts echo under a gRPC library that allows four streams a connection.
func streaming(t testing.TB, scheme string) subject.Endpoint {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := subject.Endpoint{Scheme: scheme, Address: l.Addr().String()}
	options := []grpc.ServerOption{grpc.MaxConcurrentStreams(4), grpc.MaxRecvMsgSize(64 << 20)}
	if scheme == "grpcs" {
		cert, pool := certificate(t)
		options = append(options, grpc.Creds(credentials.NewServerTLSFromCert(&cert)))
		e.TLS = subjectTLS(pool)
	}
	server := grpc.NewServer(options...)
	backendv1.RegisterSubscriptionServiceServer(server, &echo{})
	backendv1.RegisterPublishServiceServer(server, &store{})
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

func post(t testing.TB, s *Stream, requests ...backend.Request) {
	t.Helper()
	var messages [][]byte
	for _, r := range requests {
		messages = append(messages, craft.SubscribeRequest(r))
	}
	if err := s.Post(nil, messages...); err != nil {
		t.Fatal(err)
	}
}

func TestFramesOfASubscriptionGoBackAndForthWithAnotherLibrary(t *testing.T) {
	for _, scheme := range []string{"grpc", "grpcs"} {
		s := dial(t, streaming(t, scheme), Options{}).Subscribe(within(t))
		var many []backend.Request
		for n := range uint64(500) {
			many = append(many, backend.Request{Ping: &n})
		}
		post(t, s, many...)
		for n := range uint64(500) {
			if r := s.Next(); r == nil || r.Pong == nil || *r.Pong != n {
				t.Fatalf("%s: answer %d is %+v, end %+v", scheme, n, r, s.End())
			}
		}
		if err := s.Left(within(t)); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
		cursor := uint64(1 << 40)
		topic := craft.New(1, "n", "s").Ask(backend.Read{Log: backend.Log{Kind: backend.Welcome, Name: "w"}, Cursor: &cursor})
		post(t, s, backend.Request{Update: &backend.Update{ID: 3, Adds: []backend.Asked{topic}}})
		r := s.Next()
		if r == nil || r.Applied == nil || r.Applied.ID != 3 || len(r.Applied.Targets) != 1 || r.Applied.Targets[0] != (backend.Target{HasTopic: true, Topic: topic.Topic, Through: cursor}) {
			t.Errorf("%s: %+v", scheme, r)
		}
		called := 0
		if err := s.CloseSend(func() { called++ }); err != nil || called != 1 {
			t.Errorf("%s: %v after %d calls", scheme, err, called)
		}
		if err := s.Post(nil, nil); err == nil {
			t.Errorf("%s: sent on a closed side", scheme)
		}
		if frames, end := drain(s); len(frames) > 0 || end.Code != backend.OK || end.Lost != "" || end.Garbled != "" {
			t.Errorf("%s: %d frames, %+v", scheme, len(frames), end)
		}
		if err := s.Post(func() { t.Error("a frame that cannot leave") }, nil); !errors.Is(err, ErrEnded) {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

func TestAStatusThatEndsASubscriptionUnderWayIsHeard(t *testing.T) {
	s := dial(t, streaming(t, "grpc"), Options{}).Subscribe(within(t))
	post(t, s, backend.Request{Update: &backend.Update{ID: 1}})
	if frames, end := drain(s); len(frames) > 0 || end.Code != backend.InvalidArgument || end.Text != "no topics" {
		t.Errorf("%d frames, %+v", len(frames), end)
	}
}

func TestAStaticSubscriptionOfAnotherLibraryIsRead(t *testing.T) {
	asked := craft.New(1, "n", "s").Ask(backend.Read{Log: backend.Log{Kind: backend.Group, Name: "g"}})
	s := dial(t, streaming(t, "grpc"), Options{}).SubscribeStatic(within(t), craft.StaticRequest(backend.StaticCall{Entries: []backend.Asked{asked}}))
	frames, end := drain(s)
	if len(frames) != 4 || end.Code != backend.Unavailable {
		t.Fatalf("%d frames, %+v", len(frames), end)
	}
	if got := frames[0].Started; got == nil || got.KeepaliveMS != 9 || len(got.Targets) != 1 || got.Targets[0].Topic != asked.Topic || got.Targets[0].Through != 4 {
		t.Errorf("started %+v", got)
	}
	if !frames[1].Keepalive || !frames[3].Empty {
		t.Errorf("%+v, %+v", frames[1], frames[3])
	}
	if got := frames[2].Messages; got == nil || len(got.Rows) != 1 || !got.Rows[0].HasEnvelope || got.Rows[0].Meta.Sequence != fullMeta().GetCursor().GetSequenceId() {
		t.Errorf("messages %+v", got)
	}
	if err := s.Post(nil, nil); err == nil {
		t.Error("a static subscription sent a frame")
	}
}

func TestSubscriptionsAboveThePeersStreamLimitGetFurtherConnections(t *testing.T) {
	c := dial(t, streaming(t, "grpc"), Options{})
	var all []*Stream
	for n := range uint64(50) {
		s := c.Subscribe(within(t))
		post(t, s, backend.Request{Ping: &n})
		if r := s.Next(); r == nil || r.Pong == nil || *r.Pong != n {
			t.Fatalf("subscription %d: %+v, %+v", n, r, s.End())
		}
		all = append(all, s)
	}
	// They leave the connection of the other calls alone.
	if got := c.Publish(within(t), nil); got.Code != backend.OK || got.Lost != "" {
		t.Errorf("a publish beside them: %+v", got)
	}
	for _, s := range all {
		s.Cancel()
		if _, end := drain(s); end.Lost != backend.LostCut {
			t.Errorf("cancelled: %+v", end)
		}
	}
	// Their places are free again.
	before := len(c.streams.open)
	s := c.Subscribe(within(t))
	post(t, s, backend.Request{Ping: new(uint64)})
	if r := s.Next(); r == nil || len(c.streams.open) > before {
		t.Errorf("%+v over %d connections, %d before", r, len(c.streams.open), before)
	}
	s.Cancel()
	drain(s)
}

func TestAnUpdateThatThePeerDoesNotTakeIsBounded(t *testing.T) {
	s := dial(t, streaming(t, "grpc"), Options{}).Subscribe(within(t))
	defer s.Cancel()
	// The call is not made before Next, so nothing leaves.
	piece := make([]byte, 8<<20)
	for range mostUnsent/len(piece) - 1 {
		if err := s.Post(nil, piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Post(func() { t.Error("said to leave") }, piece, piece); err == nil {
		t.Error("more was taken than is kept")
	}
}

func TestARowThatManySubscriptionsReceiveIsKeptOnce(t *testing.T) {
	meta := fullMeta()
	message := encode(t, &backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Messages_{Messages: &backendv1.SubscribeResponse_Messages{Envelopes: []*backendv1.ServerEnvelope{{Meta: meta, Envelope: groupEnvelope(string(make([]byte, 10_000)))}}}}})
	var seen interner
	const n = 10_000
	kept := make([]*backend.Response, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range kept {
		r, cost, err := decodeFrame(message, bidirectional, &seen, 10)
		if err != nil || cost != 2 {
			t.Fatal(cost, err)
		}
		kept[i] = r
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := int64(after.HeapAlloc-before.HeapAlloc) / n; each > 400 {
		t.Errorf("%d bytes are kept of a frame of one row", each)
	}
	runtime.KeepAlive(kept)
}

func TestTheInternerForgetsWhatWasNotSeenForLong(t *testing.T) {
	var i interner
	for n := range 5 * generation {
		v := backend.Bytes([]byte{byte(n), byte(n >> 8), byte(n >> 16)})
		if i.of(v) != v || i.of("kept") != "kept" {
			t.Fatal("another value")
		}
	}
	if n := len(i.young) + len(i.old); n > 2*generation {
		t.Errorf("%d values are held", n)
	}
}

func TestARowIsTheSameWhetherItIsRememberedOrDecoded(t *testing.T) {
	var seen interner
	decode := func(n uint64, data string, seen *interner) backend.Row {
		t.Helper()
		m := fullMeta()
		m.Cursor.SequenceId = n
		message := encode(t, &backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Messages_{Messages: &backendv1.SubscribeResponse_Messages{Envelopes: []*backendv1.ServerEnvelope{{Meta: m, Envelope: groupEnvelope(data)}}}}})
		r, _, err := decodeFrame(message, bidirectional, seen, 10)
		if err != nil {
			t.Fatal(err)
		}
		return r.Messages.Rows[0]
	}
	for n := range uint64(3 * rowGeneration) {
		for _, data := range []string{"a", "b"} {
			if first, again := decode(n, data, &seen), decode(n, data, &seen); first != again || first.Meta.Sequence != n {
				t.Fatalf("row %d is %+v and %+v", n, first, again)
			}
		}
		if n%1000 == 0 && decode(n, "a", &seen) != decode(n, "a", &interner{}) {
			t.Fatalf("row %d is remembered as another", n)
		}
	}
	if n := len(seen.rows) + len(seen.oldRows); n > 2*rowGeneration {
		t.Errorf("%d rows are held", n)
	}
}

func BenchmarkDecodeAMessagesFrameOf100Rows(b *testing.B) {
	var envelopes []*backendv1.ServerEnvelope
	for n := range uint64(100) {
		m := fullMeta()
		m.Cursor.SequenceId = n
		envelopes = append(envelopes, &backendv1.ServerEnvelope{Meta: m, Envelope: groupEnvelope(string(make([]byte, 200)))})
	}
	message := encode(b, &backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Messages_{Messages: &backendv1.SubscribeResponse_Messages{Envelopes: envelopes}}})
	var seen interner
	b.ReportAllocs()
	for b.Loop() {
		if _, n, err := decodeFrame(message, bidirectional, &seen, 1000); err != nil || n != 101 {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/row")
}
