package stream

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

func TestATopicIsRegisteredThenItsHeadReadThenAppliedThenDelivered(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0", "b5", "c9"))
	g.expect("register a b c", "heads a b c")
	g.step(heads(4, 5, 0))
	g.expect("applied 1 a=4 b=5 c=0", "page a>0")
	g.step(page(1, rows('a', 9, 2, 4)))
	g.expect("messages a2 a4")
	g.step(Arrived{slicesConcat(rows('a', 9, 6), rows('b', 9, 7), rows('c', 9, 8, 9, 10))})
	g.expect("messages a6 b7 c10") // 8 and 9 are not above c's cursor
}

func slicesConcat(groups ...[]Row) (out []Row) {
	for _, g := range groups {
		out = append(out, g...)
	}
	return out
}

func TestWhatArrivesBeforeATopicIsCurrentIsReadAsHistory(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0"))
	g.expect("register a", "heads a")
	g.step(Arrived{rows('a', 9, 3)})
	g.expect()
	g.step(heads(2))
	g.expect("applied 1 a=2", "page a>0")
	g.step(page(0, rows('a', 9, 1, 2)))
	g.expect("messages a1 a2", "page a>2")
	g.step(Moved{topic('a'), 4})
	g.step(page(1, rows('a', 9, 3)))
	g.expect("messages a3", "page a>3")
	g.step(page(1, rows('a', 9, 4, 5)))
	g.expect("messages a4 a5")
	g.step(Arrived{rows('a', 9, 5, 6)})
	g.expect("messages a6")
}

func TestAWakeUpSendsACurrentTopicBackToReading(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a7"))
	g.step(heads(7))
	g.expect("register a", "heads a", "applied 1 a=7")
	g.step(Moved{topic('a'), 9})
	g.expect("page a>7")
	g.step(Arrived{rows('a', 9, 10)})
	g.expect()
	g.step(page(1, rows('a', 9, 8, 9)))
	g.expect("messages a8 a9", "page a>9")
	g.step(page(1, rows('a', 9, 10)))
	g.expect("messages a10")
}

func TestAHeadThatIsGoneEndsHistory(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0"))
	g.step(heads(5))
	g.expect("register a", "heads a", "applied 1 a=5", "page a>0")
	g.step(page(1, nil))
	g.expect()
	g.step(Arrived{rows('a', 9, 6)})
	g.expect("messages a6")
}

func TestNothingOfARemovedTopicFollowsItsApplied(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0", "b0"))
	g.step(heads(4, 4))
	g.expect("register a b", "heads a b", "applied 1 a=4 b=4", "page a>0 b>0")
	g.step(update(2, "-a"))
	g.expect("unregister a", "applied 2")
	g.step(page(1, rows('a', 9, 1, 4), rows('b', 9, 2, 3)))
	g.expect("messages b2 b3", "page b>3")
	g.step(Arrived{rows('a', 9, 9)})
	g.expect()
	g.step(update(3, "a2"))
	g.expect("register a", "heads a")
	g.step(page(1))
	g.expect()
	g.step(heads(9))
	g.expect("applied 3 a=9", "page a>2")
	g.step(page(1, rows('a', 9, 4, 9)))
	g.expect("messages a4 a9")
}

func TestAPageOfAnEarlierRegistrationBringsNothingToALaterOne(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0"))
	g.step(heads(4))
	g.step(update(2, "-a"))
	g.step(update(3, "a0"))
	g.step(heads(4))
	g.expect("register a", "heads a", "applied 1 a=4", "page a>0", "unregister a", "applied 2", "register a", "heads a", "applied 3 a=4")
	g.step(page(1, rows('a', 9, 1, 4)))
	g.expect("page a>0")
	g.step(page(1, rows('a', 9, 1, 4)))
	g.expect("messages a1 a4")
}

func TestAddingAnActiveTopicAndRemovingAnAbsentOneDoNothing(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a3"))
	g.step(heads(3))
	g.expect("register a", "heads a", "applied 1 a=3")
	g.step(update(2, "a0", "-b"))
	g.expect("applied 2")
	g.step(update(3, "a0", "c0"))
	g.expect("register c", "heads c")
	g.step(heads(0))
	g.expect("applied 3 c=0")
}

func TestUpdatesWaitForTheOneBeforeThemAndPingsDoNot(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0"))
	g.step(update(2, "-a"))
	g.step(update(3, "b0"))
	g.step(clientPing(77))
	g.expect("register a", "heads a", "pong 77")
	g.step(heads(0))
	g.expect("applied 1 a=0", "unregister a", "applied 2", "register b", "heads b")
	g.step(heads(1))
	g.expect("applied 3 b=1", "page b>0")
}

func TestAWaitingUpdateIsCheckedWhenItsTurnComes(t *testing.T) {
	g := open(t, nil)
	g.step(update(2, "a0"))
	g.step(update(2))
	g.expect("register a", "heads a")
	g.step(heads(0))
	g.expect("applied 2 a=0", "end InvalidArgument")
}

func TestUpdatesThatWaitAreBounded(t *testing.T) {
	g := open(t, func(s *Settings) { s.Limits.MaxRequestBytes = 100 })
	g.step(update(1, "a0"))
	g.step(update(2, "b0"))
	g.step(update(3, "c0"))
	g.expect("register a", "heads a")
	g.step(update(4, "d0"))
	g.expect("end ResourceExhausted")
}

func TestAnUpdateThatIsNotValidEndsTheStreamAndAppliesNothing(t *testing.T) {
	bad := func(u *backendv1.SubscribeRequest_Update) Received {
		return Received{&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Update_{Update: u}}}
	}
	named := func(b ...byte) *backendv1.Topic { return &backendv1.Topic{Topic: b} }
	a := &backendv1.TopicQuery{Topic: named([]byte(topic('a'))...)}
	for _, test := range []struct {
		name  string
		frame Received
		text  string
	}{
		{"its id is 0", update(0, "a0"), "must not be 0"},
		{"its id repeats", update(5, "a0"), "above 5"},
		{"its id is lower", update(4), "above 5"},
		{"it adds too many topics", update(6, "a0", "b0", "c0", "d0"), "4 topics are added"},
		{"it removes too many topics", update(6, "-a", "-b", "-c"), "3 topics are removed"},
		{"the stream would have too many topics", update(6, "a0", "b0", "c0"), "would have 4 topics"},
		{"it adds a topic twice", update(6, "a0", "a7"), "named twice"},
		{"it removes a topic twice", update(6, "-a", "-a"), "twice"},
		{"it adds and removes a topic", update(6, "a0", "-a"), "twice"},
		{"it adds and removes the topic of the stream", update(6, "z0", "-z"), "twice"},
		{"an add has no topic", bad(&backendv1.SubscribeRequest_Update{Id: 6, Adds: []*backendv1.TopicQuery{a, {}}}), "topic 1"},
		{"an add has a topic of an unknown kind", bad(&backendv1.SubscribeRequest_Update{Id: 6, Adds: []*backendv1.TopicQuery{{Topic: named(9, 1)}}}), "not a topic kind"},
		{"an add has a cursor that is too large", bad(&backendv1.SubscribeRequest_Update{Id: 6, Adds: []*backendv1.TopicQuery{{Topic: a.Topic, Cursor: &backendv1.Cursor{SequenceId: 1 << 63}}}}), "cursor"},
		{"a remove has an identifier of the wrong length", bad(&backendv1.SubscribeRequest_Update{Id: 6, Removes: []*backendv1.Topic{named(1, 2)}}), "remove 0"},
		{"the frame is empty", Received{&backendv1.SubscribeRequest{}}, "none of"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := open(t, func(s *Settings) {
				s.Limits.MaxUpdateAdds, s.Limits.MaxUpdateRemoves, s.Limits.MaxStreamTopics = 3, 2, 3
			})
			g.step(update(5, "z0"))
			g.step(heads(0))
			g.expect("register z", "heads z", "applied 5 z=0")
			g.step(test.frame)
			g.expect("end InvalidArgument")
			if !strings.Contains(g.end.Error(), test.text) {
				t.Errorf("the text is %q", g.end)
			}
			g.step(Arrived{rows('z', 9, 1)})
			g.expect()
		})
	}
}

func TestAnUpdateAtTheLimitsIsValid(t *testing.T) {
	g := open(t, func(s *Settings) {
		s.Limits.MaxUpdateAdds, s.Limits.MaxUpdateRemoves, s.Limits.MaxStreamTopics = 3, 3, 3
	})
	g.step(update(1, "a0", "b0", "c0"))
	g.step(heads(0, 0, 0))
	g.expect("register a b c", "heads a b c", "applied 1 a=0 b=0 c=0")
	g.step(update(2, "d0", "e0", "f0", "-a", "-b", "-c"))
	g.expect("unregister a b c", "register d e f", "heads d e f")
}

func TestBucketsAreApartAndRefill(t *testing.T) {
	g := open(t, func(s *Settings) {
		s.Limits.MaxUpdateBurst, s.Limits.MaxUpdateFramesPerSecond = 2, 10
		s.Limits.MaxPingBurst, s.Limits.MaxPingFramesPerSecond = 3, 1
	})
	g.step(update(1))
	g.step(update(2))
	for nonce := range uint64(3) {
		g.step(clientPing(nonce))
	}
	g.expect("applied 1", "applied 2", "pong 0", "pong 1", "pong 2")
	for range 100 {
		g.step(clientPong(9))
	}
	g.expect()
	g.now = g.now.Add(99 * time.Millisecond)
	refused := *g.s.(*Session)
	refused.active = nil
	if last := refused.Step(g.now, update(3)); len(last) != 1 || codeOf(last[0].(End).Err) != codes.ResourceExhausted {
		t.Errorf("a frame before its token: %v", last)
	}
	g.now = g.now.Add(time.Millisecond)
	g.step(update(3))
	g.expect("applied 3")
	g.step(update(4))
	g.expect("end ResourceExhausted")
}

func TestAFrameWithoutATokenIsRefusedBeforeItIsChecked(t *testing.T) {
	g := open(t, func(s *Settings) { s.Limits.MaxUpdateBurst = 1 })
	g.step(update(1))
	g.step(update(0))
	g.expect("applied 1", "end ResourceExhausted")
}

func TestTheServerPingsWhenItIsIdleAndWaitsForOnePong(t *testing.T) {
	g := open(t, nil)
	g.now = g.now.Add(29 * time.Second)
	g.step(Due{})
	g.expect()
	g.now = g.now.Add(time.Second)
	g.step(Due{})
	g.expect("ping 1")
	g.takeAll()
	g.step(clientPong(2)) // of nobody
	g.now = g.now.Add(30 * time.Second)
	g.step(Due{})
	g.expect()
	g.step(clientPong(1))
	g.now = g.now.Add(30 * time.Second)
	g.step(Due{})
	g.expect("ping 2")
	g.now = g.now.Add(time.Hour) // the transport does not take it
	g.step(Due{})
	g.expect()
	g.takeAll()
	g.now = g.now.Add(90*time.Second - 1)
	g.step(Due{})
	g.expect()
	g.now = g.now.Add(1)
	g.step(Due{})
	g.expect("end DeadlineExceeded")
}

func TestAnyFrameOfTheServerPutsThePingOff(t *testing.T) {
	g := open(t, nil)
	for range 10 {
		g.now = g.now.Add(20 * time.Second)
		g.step(clientPing(1))
		g.takeAll()
		g.step(Due{})
	}
	for _, said := range g.said {
		if said != "pong 1" {
			t.Errorf("the session did %q", said)
		}
	}
}

func TestAPongInTheLastMomentCounts(t *testing.T) {
	g := open(t, nil)
	g.now = g.now.Add(30 * time.Second)
	g.step(Due{})
	g.takeAll()
	g.now = g.now.Add(90 * time.Second)
	g.step(clientPong(1))
	g.step(Due{})
	g.expect("ping 1", "ping 2")
}

func TestAStaticStreamStartsWithTargetsAndShowsLifeOneWay(t *testing.T) {
	g := newStage(t, nil)
	g.step(Opened{Static: &backendv1.SubscribeStaticRequest{Topics: update(1, "b0", "a1").Frame.GetUpdate().GetAdds()}})
	g.expect("register b a", "heads b a")
	g.now = g.now.Add(time.Hour)
	g.step(Due{})
	g.expect()
	g.step(heads(0, 3))
	g.expect("started 30000 b=0 a=3", "page a>1")
	g.step(page(1, rows('a', 9, 3)))
	g.step(Arrived{rows('b', 9, 4)})
	g.expect("messages a3", "messages b4")
	g.takeAll()
	for range 10 {
		g.now = g.now.Add(30 * time.Second)
		g.step(Due{})
		g.expect("keepalive")
		g.takeAll()
	}
	g.now = g.now.Add(30 * time.Second)
	g.step(Due{})
	g.now = g.now.Add(30 * time.Second)
	g.step(Due{})
	g.expect("keepalive") // the second would only queue behind the first
}

func TestAStaticStreamChecksItsTopics(t *testing.T) {
	for _, test := range []struct {
		name   string
		topics []string
		want   string
	}{
		{"none", nil, "end InvalidArgument"},
		{"as many as allowed", []string{"a0", "b0", "c0"}, "register a b c"},
		{"one too many", []string{"a0", "b0", "c0", "d0"}, "end InvalidArgument"},
		{"one twice", []string{"a0", "b0", "a1"}, "end InvalidArgument"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newStage(t, func(s *Settings) {
				s.Limits.MaxStaticTopics, s.Limits.MaxUpdateAdds, s.Limits.MaxStreamTopics = 3, 1, 1
			})
			g.step(Opened{Static: &backendv1.SubscribeStaticRequest{Topics: update(1, test.topics...).Frame.GetUpdate().GetAdds()}})
			if g.said[0] != test.want {
				t.Errorf("the session did %q", g.said)
			}
		})
	}
}

func TestTurnsAreFairAndKeepToTheirBudget(t *testing.T) {
	const large = 900_000
	g := open(t, nil)
	g.step(update(1, "a0", "b0"))
	g.step(heads(7, 8))
	g.expect("register a b", "heads a b", "applied 1 a=7 b=8", "page a>0 b>0")
	g.step(page(0, rows('a', large, 1, 3)))
	g.expect("messages a1 a3", "page b>0 a>3")
	g.step(page(0, rows('b', large, 2, 4)))
	g.expect("messages b2 b4", "page a>3 b>4")
	g.step(page(0, rows('a', large, 5, 7)))
	g.expect("messages a5 a7", "page b>4")
}

func TestOneTurnReadsBoundedTopics(t *testing.T) {
	g := open(t, nil)
	u := &backendv1.SubscribeRequest_Update{Id: 1}
	var h []int64
	for i := range turnTopics + 10 {
		key := fmt.Sprintf("\x01%032d", i)
		u.Adds = append(u.Adds, &backendv1.TopicQuery{Topic: &backendv1.Topic{Topic: []byte(key)}})
		h = append(h, 5)
	}
	g.step(Received{&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Update_{Update: u}}})
	for _, e := range g.s.Step(g.now, HeadsRead{Heads: h}) {
		if r, ok := e.(ReadPage); ok && (len(r.From) != turnTopics || r.Rows != turnRows || r.Bytes != frameTarget-frameHeader) {
			t.Errorf("the turn reads %d topics, %d rows of each, %d bytes", len(r.From), r.Rows, r.Bytes)
		}
	}
}

func TestHistoryWaitsForASlowReaderAndWhatArrivesDoesNot(t *testing.T) {
	const large = 1 << 20
	g := open(t, nil)
	g.step(update(1, "a0", "b9"))
	g.step(heads(100, 9))
	g.said = nil
	turns := 0
	for id := int64(1); !g.ended && turns < 100; id++ {
		turns++
		g.step(page(0, rows('a', large, id)))
		if g.said[len(g.said)-1] != fmt.Sprintf("page a>%d", id) {
			break
		}
	}
	if turns < 4 || turns > 9 {
		t.Fatalf("history stopped after %d frames of 1 MiB", turns)
	}
	arrived := 0
	for id := int64(200); !g.ended && arrived < 100; id++ {
		arrived++
		g.step(Arrived{rows('b', large, id)})
	}
	if !g.ended || codeOf(g.end) != codes.ResourceExhausted || arrived < 5 {
		t.Fatalf("after %d envelopes nobody took: ended %v, %v", arrived, g.ended, g.end)
	}
}

func TestHistoryGoesOnWhenThereIsRoom(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0"))
	g.step(heads(100))
	for id := int64(1); id <= historyFrames; id++ {
		g.step(page(0, rows('a', 10, id)))
	}
	if last := g.said[len(g.said)-1]; last != fmt.Sprintf("messages a%d", historyFrames-1) && !strings.HasPrefix(last, "messages") {
		t.Fatalf("with %d frames queued the session did %q", len(g.frames), last)
	}
	g.said = nil
	g.takeAll()
	if len(g.said) != 1 || !strings.HasPrefix(g.said[0], "page a>") {
		t.Errorf("with room again the session did %q", g.said)
	}
}

func TestAnswersToAFullBurstFindRoomBehindAFullQueue(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0"))
	g.step(heads(0))
	for id := range int64(queueFrames - 1) {
		g.step(Arrived{rows('a', 9, id+1)})
	}
	for n := range uint64(99) {
		g.step(update(n + 2))
		g.step(clientPing(n))
	}
	if g.ended || len(g.frames) != queueFrames+2*99 {
		t.Fatalf("%d frames are queued, ended %v: %v", len(g.frames), g.ended, g.end)
	}
	g.step(Arrived{rows('a', 9, 1000)})
	if codeOf(g.end) != codes.ResourceExhausted {
		t.Errorf("one envelope more: %v", g.end)
	}
}

func TestAFloodOfPingsThatNobodyReadsTheAnswersOfFails(t *testing.T) {
	g := open(t, nil)
	sent := 0
	for ; !g.ended && sent < 1000; sent++ {
		g.now = g.now.Add(100 * time.Millisecond)
		g.step(clientPing(1))
	}
	if codeOf(g.end) != codes.ResourceExhausted || len(g.frames) != queueFrames+200 {
		t.Errorf("after %d pings with %d pongs queued: %v", sent, len(g.frames), g.end)
	}
}

func TestUpdatesWaitUntilTheirAnswersAreRead(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0"))
	g.step(heads(0))
	g.said = nil
	for id := range int64(9) {
		g.step(Arrived{rows('a', 1<<20, id+1)})
	}
	g.said = nil
	g.step(update(2))
	g.step(update(3))
	g.expect()
	g.takeAll()
	g.expect("applied 2", "applied 3")
}

func TestAFrameThatIsTooLargeIsRefusedAndNotCut(t *testing.T) {
	small := func(s *Settings) { s.Limits.MaxResponseBytes = 100 }
	g := open(t, small)
	g.step(update(1, "a0", "b0"))
	g.step(heads(1, 1))
	g.expect("register a b", "heads a b", "applied 1 a=1 b=1", "page a>0 b>0")
	g.step(page(0, rows('a', 200, 1)))
	g.expect("end ResourceExhausted")
	g = open(t, small)
	g.step(update(1, "a0", "b0", "c0"))
	g.step(heads(1, 1, 1))
	g.expect("register a b c", "heads a b c", "end ResourceExhausted")
	g = newStage(t, small)
	g.step(Opened{Static: &backendv1.SubscribeStaticRequest{Topics: update(1, "a0", "b0", "c0").Frame.GetUpdate().GetAdds()}})
	g.step(heads(1, 1, 1))
	g.expect("register a b c", "heads a b c", "end ResourceExhausted")
}

func TestMessagesKeepToTheirTarget(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0"))
	g.step(heads(0))
	g.said, g.frames = nil, nil
	g.step(Arrived{rows('a', 900_000, 1, 2, 3, 4, 5)})
	g.expect("messages a1 a2", "messages a3 a4", "messages a5")
	for _, f := range g.frames {
		if f.Size > frameTarget-frameHeader {
			t.Errorf("a frame has %d bytes", f.Size)
		}
	}
}

func TestHalfCloseAnswersWhatWasAcceptedAndDeliversNothingMore(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0"))
	g.step(update(2, "b0"))
	g.step(HalfClosed{})
	g.expect("register a", "heads a", "unregister a")
	g.step(heads(5))
	g.expect("applied 1 a=5", "register b", "heads b")
	g.step(heads(5))
	g.expect("applied 2 b=5")
	g.step(Arrived{rows('b', 9, 9)})
	g.step(Due{})
	g.expect()
	g.takeAll()
	g.expect("end OK")
}

func TestHalfCloseOfAnIdleStreamEndsIt(t *testing.T) {
	g := open(t, nil)
	g.step(HalfClosed{})
	g.expect("end OK")
}

func TestAReadThatFailsEndsTheStream(t *testing.T) {
	lost := errors.New("connection lost")
	g := open(t, nil)
	g.step(update(1, "a0"))
	g.step(HeadsRead{Err: lost})
	g.expect("register a", "heads a", "end Unavailable")
	if strings.Contains(g.end.Error(), "connection") {
		t.Errorf("the client is told %q", g.end)
	}
	g = open(t, nil)
	g.step(update(1, "a0"))
	g.step(heads(1))
	g.step(PageRead{Err: lost})
	g.expect("register a", "heads a", "applied 1 a=1", "page a>0", "end Unavailable")
	g = open(t, nil)
	g.step(FeedLost{})
	g.expect("end Unavailable")
}

func TestAClosedStreamLeavesTheFeedHoweverItEnded(t *testing.T) {
	g := open(t, nil)
	g.step(update(1, "a0", "b0"))
	g.step(update(0))
	g.step(heads(0, 0))
	g.expect("register a b", "heads a b", "applied 1 a=0 b=0", "end InvalidArgument")
	g.step(Closed{})
	g.expect("unregister a b")
	g.step(Closed{})
	g.expect()
}

// A client that adds and removes for ever must not cost more memory than it has
// topics.
func TestTopicsThatWereRemovedLeaveTheQueue(t *testing.T) {
	g := open(t, func(s *Settings) { s.Limits.MaxUpdateBurst = 1 << 30 })
	g.step(update(1, "z0"))
	g.step(heads(1))
	s := g.s.(*Session)
	id := uint64(1)
	for range 2000 {
		id++
		g.step(update(id, "a0"))
		g.step(heads(1))
		id++
		g.step(update(id, "-a"))
		g.takeAll()
	}
	if n := len(s.history.waiting); n > 2*turnTopics {
		t.Errorf("%d registrations wait", n)
	}
	if len(s.active) != 1 || s.active[topic('z')] == nil {
		t.Errorf("%d topics are active", len(s.active))
	}
}
