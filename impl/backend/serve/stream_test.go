package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"assay/harness/postgres/pgtest"
	"assay/impl/backend"
	. "assay/impl/backend/backendtest"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// frameTimeout bounds the wait for a frame that has to come.
const frameTimeout = 30 * time.Second

// subscriber is a client of the bidirectional form that fails its test when a
// frame that must come does not.
type subscriber struct {
	t      *testing.T
	stream backendv1.SubscriptionService_SubscribeClient
	frames chan *backendv1.SubscribeResponse
	ended  chan error
	id     uint64
}

func subscribe(t *testing.T, b *Backend) *subscriber {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	stream, err := b.Subscription.Subscribe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s := &subscriber{t: t, stream: stream, frames: make(chan *backendv1.SubscribeResponse), ended: make(chan error, 1)}
	go func() {
		for {
			f, err := stream.Recv()
			if err != nil {
				s.ended <- err
				return
			}
			select {
			case s.frames <- f:
			case <-ctx.Done():
				s.ended <- ctx.Err()
				return
			}
		}
	}()
	if s.next("started").GetStarted() == nil {
		t.Fatal("the first frame is not Started")
	}
	return s
}

func (s *subscriber) next(what string) *backendv1.SubscribeResponse {
	s.t.Helper()
	select {
	case f := <-s.frames:
		return f
	case err := <-s.ended:
		s.t.Fatalf("waiting for %s: the stream ended: %v", what, err)
	case <-time.After(frameTimeout):
		s.t.Fatalf("waiting for %s: nothing came in %v", what, frameTimeout)
	}
	return nil
}

func (s *subscriber) send(r *backendv1.SubscribeRequest) {
	s.t.Helper()
	if err := s.stream.Send(r); err != nil && !errors.Is(err, io.EOF) {
		s.t.Fatal(err)
	}
}

// update sends an update under the next id.
func (s *subscriber) update(adds []*backendv1.TopicQuery, removes ...*backendv1.Topic) uint64 {
	s.t.Helper()
	s.id++
	s.send(&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Update_{
		Update: &backendv1.SubscribeRequest_Update{Id: s.id, Adds: adds, Removes: removes}}})
	return s.id
}

// applied waits for the Applied of an update and returns its targets.
func (s *subscriber) applied(id uint64) []uint64 {
	s.t.Helper()
	f := s.next("applied")
	if f.GetApplied().GetId() != id {
		s.t.Fatalf("waiting for applied %d: got %v", id, f)
	}
	targets := []uint64{}
	for _, t := range f.GetApplied().GetAddedTargets() {
		targets = append(targets, t.GetThroughSequenceId())
	}
	return targets
}

// ids waits for n envelopes and returns their ids.
func (s *subscriber) ids(n int) []uint64 {
	s.t.Helper()
	var ids []uint64
	for len(ids) < n {
		f := s.next(fmt.Sprintf("envelope %d of %d", len(ids)+1, n))
		if f.GetMessages() == nil {
			s.t.Fatalf("waiting for envelopes: got %v", f)
		}
		for _, e := range f.GetMessages().GetEnvelopes() {
			ids = append(ids, e.GetMeta().GetCursor().GetSequenceId())
		}
	}
	return ids
}

// end waits for the end of the stream and returns its code.
func (s *subscriber) end() codes.Code {
	s.t.Helper()
	for deadline := time.After(frameTimeout); ; {
		select {
		case <-s.frames:
		case err := <-s.ended:
			return codeOf(err)
		case <-deadline:
			s.t.Fatalf("the stream did not end in %v", frameTimeout)
		}
	}
}

func TestAStreamDeliversHistoryAndThenWhatIsNew(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	welcomes := Topic(backend.KindWelcome, Key(1))
	publish(t, b, Welcome(1, "one"), Welcome(1, "two"), Welcome(2, "other"))
	s := subscribe(t, b)
	if got := s.applied(s.update([]*backendv1.TopicQuery{From(welcomes, 1), From(Topic(backend.KindWelcome, Key(9)), 0)})); fmt.Sprint(got) != "[2 0]" {
		t.Errorf("the targets are %v", got)
	}
	if got := s.ids(1); got[0] != 2 {
		t.Errorf("history is %v", got)
	}
	publish(t, b, Welcome(9, "nine"), Welcome(1, "three"))
	if got := s.ids(2); fmt.Sprint(got) != "[4 5]" && fmt.Sprint(got) != "[5 4]" {
		t.Errorf("new envelopes are %v", got)
	}
	if got := s.applied(s.update(nil, welcomes)); len(got) != 0 {
		t.Errorf("a removal has targets: %v", got)
	}
	publish(t, b, Welcome(1, "four"), Welcome(9, "ten"))
	if got := s.ids(1); got[0] != 7 {
		t.Errorf("after the removal came %v", got)
	}
	if err := s.stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if code := s.end(); code != codes.OK {
		t.Errorf("after half-close the stream ended with %v", code)
	}
}

func TestAStaticStreamStartsWithItsTargets(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	publish(t, b, Welcome(1, "one"), Welcome(1, "two"))
	stream, err := b.Subscription.SubscribeStatic(t.Context(), &backendv1.SubscribeStaticRequest{Topics: []*backendv1.TopicQuery{
		From(Topic(backend.KindWelcome, Key(2)), 0), From(Topic(backend.KindWelcome, Key(1)), 0)}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := stream.Recv()
	if err != nil || len(f.GetStarted().GetTargets()) != 2 || f.GetStarted().GetTargets()[0].GetThroughSequenceId() != 0 ||
		f.GetStarted().GetTargets()[1].GetThroughSequenceId() != 2 || f.GetStarted().GetKeepaliveIntervalMs() != 30_000 {
		t.Fatalf("the first frame is %v, %v", f, err)
	}
	if f, err = stream.Recv(); err != nil || len(f.GetMessages().GetEnvelopes()) != 2 {
		t.Fatalf("the second frame is %v, %v", f, err)
	}
	publish(t, b, Welcome(2, "three"))
	if f, err = stream.Recv(); err != nil || f.GetMessages().GetEnvelopes()[0].GetEnvelope().GetWelcomeMessage() == nil {
		t.Fatalf("the third frame is %v, %v", f, err)
	}
}
