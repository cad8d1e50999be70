package backend

import (
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"assay/harness/run"
	"assay/harness/schedule"
	rules "assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// perform runs a line of a scenario file as the engine does.
func performed(t *testing.T, s *Session, line string) error {
	t.Helper()
	script, err := schedule.Parse("test", "# A test.\ndecides API-094\n"+line, Language{})
	if err != nil {
		t.Fatal(err)
	}
	step := script.Steps[0]
	outcome, err := s.Perform(within(t), step.Actor, step.Operation)
	if err != nil || step.Expect == nil {
		return err
	}
	return s.Meets(step.Expect, outcome)
}

// teller answers every update by Applied with a target for each add and by one
// frame for the adds; it ends on an update with id 9.
func teller(t grpc.BidiStreamingServer[backendv1.SubscribeRequest, backendv1.SubscribeResponse]) error {
	if err := t.Send(started(0)); err != nil {
		return err
	}
	for {
		r, err := t.Recv()
		if err != nil {
			return nil
		}
		u := r.GetUpdate()
		if u == nil {
			if err := t.Send(&backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Pong{Pong: &backendv1.Pong{Nonce: r.GetPing().GetNonce()}}}); err != nil {
				return err
			}
			continue
		}
		if u.GetId() == 9 {
			return status.Error(codes.OutOfRange, "nine")
		}
		applied, messages := &backendv1.SubscribeResponse_Applied{Id: u.GetId()}, &backendv1.SubscribeResponse_Messages{}
		for _, a := range u.GetAdds() {
			applied.AddedTargets = append(applied.AddedTargets, &backendv1.CatchupTarget{Topic: a.GetTopic()})
			messages.Envelopes = append(messages.Envelopes, &backendv1.ServerEnvelope{Meta: &backendv1.EnvelopeMeta{Topic: a.GetTopic(), Cursor: &backendv1.Cursor{SequenceId: 1}}})
		}
		for _, out := range []*backendv1.SubscribeResponse{
			{Response: &backendv1.SubscribeResponse_Applied_{Applied: applied}}, {Response: &backendv1.SubscribeResponse_Messages_{Messages: messages}},
		} {
			if err := t.Send(out); err != nil {
				return err
			}
		}
	}
}

func TestALineOfASubscriptionWaitsForWhatItExpects(t *testing.T) {
	s, recorded := streamSession(t, &subscriptions{subscribe: teller})
	for _, line := range []string{
		"S: subscribe expect started",
		"S: update 1 add group g, welcome w remove group h expect applied 2 targets 2 rows",
		"S: update 2 add group a then 3 remove group a",
		"S: listen expect applied 2 1 targets and applied 3",
		"S: listen expect \"?\" applied 1 2 targets",
		"S: listen expect nothing",
		"S: ping 0 expect pong",
		"S: ping 7 expect pong 7 pong 0",
		"S: pong 3",
		"S: idle 10ms",
		"S: update 9 expect end INVALID_ARGUMENT or OUT_OF_RANGE",
		"S: ping 8 expect end", // what an ended subscription does not take is no error
		"S: subscribe paused without pong",
		"S: resume expect started",
		"S: half-close expect end OK",
		"T: subscribe",
		"T: cancel expect end",
	} {
		if err := performed(t, s, line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The end was reached three times, each once.
	ends := 0
	for _, p := range phases(recorded()) {
		if strings.Contains(p, " return ") {
			ends++
		}
	}
	if ends != 3 {
		t.Errorf("%d ends", ends)
	}
}

func TestALineThatIsNotMetSaysWhatCameInstead(t *testing.T) {
	s, _ := streamSession(t, &subscriptions{subscribe: teller})
	for _, c := range []struct{ line, want string }{
		{"S: listen", "S has no subscription"},
		{"S: subscribe expect started", ""},
		{"S: update 1 add group g expect applied 2 targets", "expected 2 targets, got 1"},
		{"S: ping 4 expect pong", ""}, // by now the row has come
		{"S: listen expect nothing", "expected nothing, got [\"?\"]"},
		{"S: listen expect OK", ""},
		{"S: listen expect UNAVAILABLE", "write \"end CODE\""},
		{"S: update 9 expect end OK", "expected OK, got the end"},
		{"S: listen expect started", ""},
		{"S: listen expect applied 5", "has ended: OUT_OF_RANGE"},
		{"S: listen expect 3 rows", "expected 3 rows, got [\"?\"]"},
		{"S: listen expect \"a\"", "expected [\"a\"], got [\"?\"]"},
		{"S: subscribe-static over web group g after 3", "0 known envelopes, not 3"},
	} {
		err := performed(t, s, c.line)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.line, err, c.want)
		}
	}
	if err := s.Meets(&expectation{stream: &streamExpectation{}}, &rules.Return{}); err == nil {
		t.Error("a call met what only a subscription can")
	}
}

func TestALineOfASubscriptionIsReadBeforeAnythingRuns(t *testing.T) {
	for line, want := range map[string]string{
		"subscribe group g":                       "topics in updates",
		"subscribe without end":                   "takes no \"without\"",
		"subscribe-static over tcp group g":       "over \"tcp\"",
		"update":                                  "an id first",
		"update add group g":                      "write the id first",
		"update 1 group g":                        "no part of an update",
		"update 1 add group g then":               "an id first",
		"update 1 add group":                      "KIND NAME",
		"update 1 remove group g after 1":         "no cursor",
		"ping":                                    "one nonce",
		"pong x":                                  "write a number",
		"idle":                                    "one duration",
		"idle -1s":                                "write a duration",
		"half-close now":                          "takes no \"now\"",
		"unsubscribe":                             "is unknown",
		"listen expect many rows":                 "write a number",
		"listen expect x targets":                 "write a number",
		"listen expect 2 targets":                 "write started or applied before",
		"listen expect finished":                  "no expectation",
		"publish key-package i1 of":               "write the inbox",
		"publish key-package k of w1":             "is of an installation",
		"publish key-package i1 of w1 number x":   "write a number",
		"publish key-package i1 of w1 \"number\"": "no part of a key package",
	} {
		if _, err := schedule.Parse("f", "# A test.\ndecides API-094\nS: "+line, Language{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func TestOperationsOfASubscriptionGoOnBehindTheirActor(t *testing.T) {
	op, err := Language{}.Operation("update", "1 add group g")
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := op.(run.Asynchronous); !ok || !a.Asynchronous() {
		t.Errorf("%T is over only with its effects", op)
	}
}
