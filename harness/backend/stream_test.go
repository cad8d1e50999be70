package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"assay/harness/backend/craft"
	"assay/harness/backend/wire"
	"assay/harness/history"
	"assay/harness/subject"
	"assay/model"
	rules "assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// subscriptions is a subscription service that a test scripts.
type subscriptions struct {
	backendv1.UnimplementedSubscriptionServiceServer
	subscribe func(grpc.BidiStreamingServer[backendv1.SubscribeRequest, backendv1.SubscribeResponse]) error
	static    func(*backendv1.SubscribeStaticRequest, grpc.ServerStreamingServer[backendv1.SubscribeStaticResponse]) error
}

func (s *subscriptions) Subscribe(t grpc.BidiStreamingServer[backendv1.SubscribeRequest, backendv1.SubscribeResponse]) error {
	return s.subscribe(t)
}

func (s *subscriptions) SubscribeStatic(r *backendv1.SubscribeStaticRequest, t grpc.ServerStreamingServer[backendv1.SubscribeStaticResponse]) error {
	return s.static(r, t)
}

// streamSession is a session of a subject that serves s, and its history so far.
func streamSession(t *testing.T, s *subscriptions) (*Session, func() *history.History) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	backendv1.RegisterSubscriptionServiceServer(server, s)
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Errorf("server: %v", err)
		}
	})
	e := subject.Endpoint{Scheme: "grpc", Address: l.Addr().String()}
	w, err := wire.Dial(e, wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	recorder := history.NewRecorder(history.Header{Suite: "backend", Seed: 1, Nonce: "n"}, func() time.Duration { return time.Since(begun) })
	c := &Client{wire: w, endpoint: e}
	session := &Session{client: c, craft: craft.New(1, "n", "s"), recorder: recorder, names: newNames(), streams: &streams{}}
	t.Cleanup(func() {
		if err := errors.Join(session.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	})
	return session, func() *history.History {
		t.Helper()
		h := recorder.History()
		if err := h.Validate(); err != nil {
			t.Error(err)
		}
		return h
	}
}

// phases writes a history as one line a frame.
func phases(h *history.History) []string {
	var out []string
	for _, e := range h.Events {
		text := e.Actor + " " + e.Phase.String()
		switch v := e.Value.(type) {
		case *rules.Request:
			switch {
			case v.Update != nil:
				text += fmt.Sprintf(" update %d +%d -%d", v.Update.ID, len(v.Update.Adds), len(v.Update.Removes))
			case v.Ping != nil:
				text += fmt.Sprint(" ping ", *v.Ping)
			case v.Pong != nil:
				text += fmt.Sprint(" pong ", *v.Pong)
			case v.Close:
				text += " close"
			case v.Cancel:
				text += " cancel"
			default:
				text += " empty"
			}
		case *rules.Response:
			switch {
			case v.Started != nil:
				text += fmt.Sprint(" started ", v.Started.KeepaliveMS)
			case v.Applied != nil:
				text += fmt.Sprint(" applied ", v.Applied.ID)
			case v.Messages != nil:
				text += fmt.Sprint(" rows ", len(v.Messages.Rows))
			case v.Ping != nil:
				text += fmt.Sprint(" ping ", *v.Ping)
			case v.Pong != nil:
				text += fmt.Sprint(" pong ", *v.Pong)
			}
		case *rules.Return:
			if text += " " + v.Code.String(); v.Lost != "" {
				text = e.Actor + " return lost"
			}
		}
		out = append(out, text)
	}
	return out
}

func started(ms uint32) *backendv1.SubscribeResponse {
	return &backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Started_{Started: &backendv1.SubscribeResponse_Started{KeepaliveIntervalMs: ms}}}
}

// obedient answers updates and pings in order, pings once itself, and ends when
// the client half-closes.
func obedient(t grpc.BidiStreamingServer[backendv1.SubscribeRequest, backendv1.SubscribeResponse]) error {
	if err := t.Send(started(7)); err != nil {
		return err
	}
	if err := t.Send(&backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Ping{Ping: &backendv1.Ping{Nonce: 5}}}); err != nil {
		return err
	}
	for {
		r, err := t.Recv()
		if err != nil {
			return nil // half-closed
		}
		out := &backendv1.SubscribeResponse{}
		switch {
		case r.GetUpdate() != nil:
			out.Response = &backendv1.SubscribeResponse_Applied_{Applied: &backendv1.SubscribeResponse_Applied{Id: r.GetUpdate().GetId()}}
		case r.GetPing() != nil:
			out.Response = &backendv1.SubscribeResponse_Pong{Pong: &backendv1.Pong{Nonce: r.GetPing().GetNonce()}}
		case r.GetPong() != nil:
			continue
		default:
			return status.Error(codes.InvalidArgument, "a frame without an alternative")
		}
		if err := t.Send(out); err != nil {
			return err
		}
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func group(name string) []rules.Read {
	return []rules.Read{{Log: rules.Log{Kind: rules.Group, Name: name}}}
}

func TestEveryFrameOfASubscriptionIsInTheHistory(t *testing.T) {
	s, recorded := streamSession(t, &subscriptions{subscribe: obedient})
	ctx := within(t)
	st, err := s.Subscribe(ctx, "S")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := st.AwaitStarted(ctx); err != nil || got.KeepaliveMS != 7 {
		t.Fatalf("started %+v, %v", got, err)
	}
	if err := st.Await(ctx, "Ping 5 and its answer", func(s *Seen) bool { return len(s.Pings) == 1 }); err != nil {
		t.Fatal(err)
	}
	if err := st.Update(ctx, 1, group("g"), group("h")); err != nil {
		t.Fatal(err)
	}
	if got, err := st.AwaitApplied(ctx, 1); err != nil || got.ID != 1 {
		t.Fatalf("applied %+v, %v", got, err)
	}
	if err := st.Ping(9); err != nil {
		t.Fatal(err)
	}
	if err := st.AwaitPong(ctx, 9); err != nil {
		t.Fatal(err)
	}
	if err := st.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if end, err := st.AwaitEnd(ctx); err != nil || end.Lost != "" || end.Code != rules.OK {
		t.Fatalf("end %+v, %v", end, err)
	}
	want := []string{"S invoke", "S receive started 7", "S receive ping 5", "S send pong 5", "S send update 1 +1 -1", "S receive applied 1",
		"S send ping 9", "S receive pong 9", "S send close", "S return OK"}
	if got := phases(recorded()); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if err := st.Update(ctx, 2, nil, nil); !errors.As(err, new(*Ended)) {
		t.Errorf("an update after the end: %v", err)
	}
}

func TestABurstLeavesInOrderAndIsRecordedBeforeItsAnswers(t *testing.T) {
	s, recorded := streamSession(t, &subscriptions{subscribe: obedient})
	ctx := within(t)
	st, err := s.Subscribe(ctx, "S", WithoutPong())
	if err != nil {
		t.Fatal(err)
	}
	var frames []*rules.Request
	for id := range uint64(100) {
		frames = append(frames, st.NewUpdate(id+1, group(fmt.Sprint("g", id)), nil))
	}
	if err := st.Burst(ctx, frames...); err != nil {
		t.Fatal(err)
	}
	if _, err := st.AwaitApplied(ctx, 100); err != nil {
		t.Fatal(err)
	}
	st.Cancel()
	sent, applied := uint64(0), uint64(0)
	for _, e := range recorded().Events {
		switch v := e.Value.(type) {
		case *rules.Request:
			if v.Pong != nil {
				t.Error("a Pong was sent though the subscription is told not to")
			}
			if v.Update != nil {
				if sent++; v.Update.ID != sent || e.Phase != model.Send || v.WireLen == 0 {
					t.Errorf("sent %+v as number %d", v.Update, sent)
				}
			}
		case *rules.Response:
			if v.Applied != nil {
				if applied++; v.Applied.ID != applied || sent < applied {
					t.Errorf("applied %d as number %d with %d sent", v.Applied.ID, applied, sent)
				}
			}
		}
	}
	if sent != 100 || applied != 100 {
		t.Errorf("%d sent, %d applied", sent, applied)
	}
}

func TestWaitingSaysWhetherTheSubscriptionEndedOrTheTimeWasUp(t *testing.T) {
	s, _ := streamSession(t, &subscriptions{subscribe: obedient})
	ctx := within(t)
	st, err := s.WithTimeout(50*time.Millisecond).Subscribe(ctx, "S")
	if err != nil {
		t.Fatal(err)
	}
	var overdue *Overdue
	if _, err := st.AwaitApplied(ctx, 1); !errors.As(err, &overdue) || overdue.What != "Applied 1" {
		t.Errorf("nothing came: %v", err)
	}
	gone, cancel := context.WithCancelCause(ctx)
	cancel(errors.New("enough"))
	if err := st.AwaitPong(gone, 1); err == nil || errors.As(err, new(*Overdue)) || errors.As(err, new(*Ended)) {
		t.Errorf("the context ended: %v", err)
	}
	st.session = s
	if err := st.Empty(); err != nil {
		t.Fatal(err)
	}
	var ended *Ended
	if err := st.AwaitRows(ctx, 1); !errors.As(err, &ended) || ended.Return.Code != rules.InvalidArgument {
		t.Errorf("the subscription ended: %v", err)
	}
}

func TestASessionThatClosesRecordsTheEndOfItsSubscriptions(t *testing.T) {
	hold := func(_ *backendv1.SubscribeStaticRequest, t grpc.ServerStreamingServer[backendv1.SubscribeStaticResponse]) error {
		<-t.Context().Done()
		return nil
	}
	s, recorded := streamSession(t, &subscriptions{subscribe: obedient, static: hold})
	ctx := within(t)
	st, err := s.Subscribe(ctx, "S", WithoutPong())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Subscribe(ctx, "S"); err == nil {
		t.Error("a second subscription of one actor was opened")
	}
	if _, err := s.Query(ctx, "S", 0, group("g")...); !errors.Is(err, errSubscribed) {
		t.Errorf("a call beside the subscription of its actor: %v", err)
	}
	if err := st.Await(ctx, "Ping", func(s *Seen) bool { return len(s.Pings) > 0 }); err != nil {
		t.Fatal(err)
	}
	// A server that answers nothing at all is left as well.
	if _, err := s.SubscribeStatic(ctx, "T", group("g")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, p := range phases(recorded()) {
		got[p]++
	}
	for _, want := range []string{"S send cancel", "S return lost", "T invoke", "T send cancel", "T return lost"} {
		if got[want] != 1 {
			t.Errorf("%d times %q in %v", got[want], want, got)
		}
	}
}

// heldBack is how long a peer that cannot send is watched before it counts as held
// back.
const heldBack = 300 * time.Millisecond

func TestAPausedSubscriptionIsHeldBackUntilItIsResumed(t *testing.T) {
	sent := make(chan int, 1)
	row := &backendv1.ServerEnvelope{Envelope: &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_KeyPackage{KeyPackage: &backendv1.KeyPackage{KeyPackageTlsSerialized: make([]byte, 1<<20)}}}}
	frame := &backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Messages_{Messages: &backendv1.SubscribeResponse_Messages{Envelopes: []*backendv1.ServerEnvelope{row}}}}
	const all = 32
	s, _ := streamSession(t, &subscriptions{subscribe: func(t grpc.BidiStreamingServer[backendv1.SubscribeRequest, backendv1.SubscribeResponse]) error {
		progress, done := make(chan struct{}, all), make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; ; n++ {
				select {
				case <-progress:
				case <-time.After(heldBack):
					sent <- n
					return
				}
			}
		}()
		for range all {
			if err := t.Send(frame); err != nil {
				return err
			}
			progress <- struct{}{}
		}
		<-done
		return nil
	}})
	ctx := within(t)
	st, err := s.Subscribe(ctx, "S", Paused())
	if err != nil {
		t.Fatal(err)
	}
	select {
	case n := <-sent:
		if n > all/2 {
			t.Errorf("the peer could send %d MiB to a client that does not read", n)
		}
	case <-ctx.Done():
		t.Fatal("the peer was never held back")
	}
	st.Look(func(s *Seen) {
		if s.Rows > 0 {
			t.Errorf("%d rows were read while paused", s.Rows)
		}
	})
	st.Resume()
	if err := st.AwaitRows(ctx, all); err != nil {
		t.Error(err)
	}
}
