package stream

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"assay/impl/backend"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// The hand-made encoding is what generated code reads and would have written.
func TestFramesEncodeAsGeneratedCodeDoes(t *testing.T) {
	envelope := &backendv1.ServerEnvelope{Meta: &backendv1.EnvelopeMeta{ServerNs: 1 << 60}, Envelope: &backendv1.ClientEnvelope{}}
	wire, err := proto.Marshal(envelope)
	if err != nil {
		t.Fatal(err)
	}
	long := Row{Wire: append(wire, make([]byte, 0)...)}
	targets := []Target{{topic('a'), 0}, {topic('b'), 1 << 40}}
	wireTargets := []*backendv1.CatchupTarget{
		{Topic: &backendv1.Topic{Topic: []byte(topic('a'))}},
		{Topic: &backendv1.Topic{Topic: []byte(topic('b'))}, ThroughSequenceId: 1 << 40},
	}
	bidi := func(r *backendv1.SubscribeResponse) proto.Message { return r }
	for _, test := range []struct {
		frame  Frame
		static bool
		want   proto.Message
	}{
		{Started{KeepaliveMS: 30_000}, false, bidi(&backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Started_{
			Started: &backendv1.SubscribeResponse_Started{KeepaliveIntervalMs: 30_000}}})},
		{Started{}, false, bidi(&backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Started_{Started: &backendv1.SubscribeResponse_Started{}}})},
		{Applied{ID: 300, Targets: targets}, false, bidi(&backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Applied_{
			Applied: &backendv1.SubscribeResponse_Applied{Id: 300, AddedTargets: wireTargets}}})},
		{Messages{Rows: []Row{long, long}}, false, bidi(&backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Messages_{
			Messages: &backendv1.SubscribeResponse_Messages{Envelopes: []*backendv1.ServerEnvelope{envelope, envelope}}}})},
		{Ping{Nonce: 1}, false, bidi(&backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Ping{Ping: &backendv1.Ping{Nonce: 1}}})},
		{Pong{}, false, bidi(&backendv1.SubscribeResponse{Response: &backendv1.SubscribeResponse_Pong{Pong: &backendv1.Pong{}}})},
		{Started{KeepaliveMS: 7, Targets: targets}, true, &backendv1.SubscribeStaticResponse{Response: &backendv1.SubscribeStaticResponse_Started_{
			Started: &backendv1.SubscribeStaticResponse_Started{KeepaliveIntervalMs: 7, Targets: wireTargets}}}},
		{Messages{Rows: []Row{long}}, true, &backendv1.SubscribeStaticResponse{Response: &backendv1.SubscribeStaticResponse_Messages_{
			Messages: &backendv1.SubscribeStaticResponse_Messages{Envelopes: []*backendv1.ServerEnvelope{envelope}}}}},
		{Keepalive{}, true, &backendv1.SubscribeStaticResponse{Response: &backendv1.SubscribeStaticResponse_Keepalive_{
			Keepalive: &backendv1.SubscribeStaticResponse_Keepalive{}}}},
	} {
		t.Run(fmt.Sprintf("%T static %v", test.frame, test.static), func(t *testing.T) {
			e := Encode(test.frame, test.static)
			got := e.AppendTo([]byte("before"))[len("before"):]
			want, err := proto.MarshalOptions{Deterministic: true}.Marshal(test.want)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) || e.Size() != len(want) {
				t.Errorf("%d bytes, said %d:\n%x\nwant\n%x", len(got), e.Size(), got, want)
			}
		})
	}
}

func TestAStoredEnvelopeIsSentAsItIs(t *testing.T) {
	payload, err := proto.Marshal(&backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_WelcomeMessage{WelcomeMessage: &backendv1.WelcomeMessage{}}})
	if err != nil {
		t.Fatal(err)
	}
	entry := backend.Entry{Key: backend.Key{Topic: topic('a'), Hash: backend.Hash{1, 2}}, Payload: payload,
		Stored: backend.Stored{SequenceID: 7, ServerNS: 8, ExpiryNS: 9, CommitOrProposal: true}}
	wire, err := backend.EncodeEntry(entry)
	if err != nil {
		t.Fatal(err)
	}
	var got backendv1.ServerEnvelope
	if err := proto.Unmarshal(wire, &got); err != nil {
		t.Fatal(err)
	}
	want := &backendv1.ServerEnvelope{
		Meta: &backendv1.EnvelopeMeta{Cursor: &backendv1.Cursor{SequenceId: 7}, ServerNs: 8, ExpiryNs: 9, IsCommitOrProposal: true,
			MessageHash: &backendv1.MessageHash{Hash: &backendv1.MessageHash_Sha256{Sha256: entry.Hash[:]}},
			Topic:       &backendv1.Topic{Topic: []byte(topic('a'))}},
		Envelope: &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_WelcomeMessage{WelcomeMessage: &backendv1.WelcomeMessage{}}},
	}
	if d := cmp.Diff(want, &got, protocmp.Transform()); d != "" {
		t.Error(d)
	}
}
