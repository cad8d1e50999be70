package backend

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// welcome is a welcome to one of 256 installations.
func welcome(installation byte, data string) *backendv1.ClientEnvelope {
	return &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_WelcomeMessage{WelcomeMessage: &backendv1.WelcomeMessage{
		Version: &backendv1.WelcomeMessage_V1_{V1: &backendv1.WelcomeMessage_V1{
			InstallationKey: bytes.Repeat([]byte{installation}, 32), Data: []byte(data)}}}}}
}

func testPublisher(change func(*config.Limits)) *Publisher {
	c := config.Default()
	if change != nil {
		change(&c.Limits)
	}
	parts := Standard(nil, c)
	return NewPublisher(&parts, c.Limits)
}

func TestPrepareKeepsTheFirstRefusalInOriginalNumbering(t *testing.T) {
	const malformed, tooLarge = backendv1.PublishError_REASON_MALFORMED_PAYLOAD, backendv1.PublishError_REASON_TOO_LARGE
	empty, short := &backendv1.ClientEnvelope{}, welcome(1, "")
	short.GetWelcomeMessage().GetV1().InstallationKey = make([]byte, 31)
	for _, test := range []struct {
		name      string
		envelopes []*backendv1.ClientEnvelope
		slots     []int
		index     int
		reason    backendv1.PublishError_Reason
	}{
		{"nothing", nil, []int{}, WholeRequest, 0},
		{"copies share a slot", []*backendv1.ClientEnvelope{welcome(1, "a"), welcome(1, "b"), welcome(1, "a")}, []int{0, 1, 0}, WholeRequest, 0},
		{"the same payload on another topic is no copy", []*backendv1.ClientEnvelope{welcome(1, "a"), welcome(2, "a")}, []int{0, 1}, WholeRequest, 0},
		{"an index counts the copies before it", []*backendv1.ClientEnvelope{welcome(1, "a"), welcome(1, "a"), empty, short}, []int{0, 0, -1, -1}, 2, malformed},
		{"a large envelope before a malformed one", []*backendv1.ClientEnvelope{welcome(1, string(make([]byte, 200))), empty}, []int{-1, -1}, 0, tooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, err := testPublisher(func(l *config.Limits) { l.MaxEnvelopeBytes = 100 }).Prepare(&backendv1.PublishRequest{Envelopes: test.envelopes})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(b.slots, test.slots) {
				t.Errorf("slots are %v, want %v", b.slots, test.slots)
			}
			if test.index == WholeRequest {
				if b.refused != nil {
					t.Errorf("refused: %v", b.refused)
				}
				return
			}
			if b.refused == nil || b.refused.Index != test.index || b.refused.Reason != test.reason {
				t.Errorf("refused: %v, want index %d and %v", b.refused, test.index, test.reason)
			}
		})
	}
}

func TestPrepareRefusesARequestAsAWhole(t *testing.T) {
	wide := &backendv1.PublishRequest{Envelopes: []*backendv1.ClientEnvelope{{}, welcome(1, ""), welcome(2, ""), welcome(3, "")}}
	for _, test := range []struct {
		name   string
		change func(*config.Limits)
		bad    bool
	}{
		{"topics at the limit", func(l *config.Limits) { l.MaxPublishTopics = 3 }, false},
		{"one topic too many beats an envelope that failed before", func(l *config.Limits) { l.MaxPublishTopics = 2 }, true},
		{"bytes at the limit", func(l *config.Limits) { l.MaxRequestBytes = uint64(proto.Size(wide)) }, false},
		{"one byte too many", func(l *config.Limits) { l.MaxRequestBytes = uint64(proto.Size(wide)) - 1 }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := testPublisher(test.change).Prepare(wide)
			refusal, ok := errors.AsType[*Refusal](err)
			if test.bad != ok || ok && (refusal.Index != WholeRequest || refusal.Reason != backendv1.PublishError_REASON_TOO_LARGE) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Whatever the request, every envelope that parses ends in the slot of its own
// key, in request order, and the locks are those of the topics.
func TestPrepareLaysOutAnyRequest(t *testing.T) {
	p := testPublisher(nil)
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.IntRange(0, 12), 0, 30).Draw(t, "envelopes")
		request := &backendv1.PublishRequest{}
		for _, kind := range kinds {
			e := welcome(byte(kind%4), fmt.Sprint(kind))
			if kind == 12 {
				e = &backendv1.ClientEnvelope{}
			}
			request.Envelopes = append(request.Envelopes, e)
		}
		b, err := p.Prepare(request)
		if err != nil {
			t.Fatal(err)
		}
		var order []int
		topics := make(map[Topic]bool)
		for i, kind := range kinds {
			if kind == 12 {
				if b.slots[i] != -1 || b.refused == nil || b.refused.Index > i {
					t.Fatalf("envelope %d is malformed: slot %d, refused %v", i, b.slots[i], b.refused)
				}
				continue
			}
			if first := slices.Index(kinds, kind); first != i {
				if b.slots[i] != b.slots[first] {
					t.Fatalf("envelopes %d and %d are copies in slots %d and %d", first, i, b.slots[first], b.slots[i])
				}
				continue
			}
			order = append(order, b.slots[i])
			topics[b.items[b.slots[i]].Topic] = true
			if b.items[b.slots[i]].index != i {
				t.Fatalf("envelope %d is remembered as %d", i, b.items[b.slots[i]].index)
			}
		}
		if !slices.IsSorted(order) || len(order) != len(b.items) {
			t.Fatalf("slots in request order are %v for %d items", order, len(b.items))
		}
		if !slices.IsSorted(b.locks) || len(b.locks) != len(topics) {
			t.Fatalf("%d locks for %d topics: %v", len(b.locks), len(topics), b.locks)
		}
	})
}

// API-020: the order of fields on the wire makes no difference.
func TestTheKeyOfAnEnvelopeDoesNotDependOnFieldOrder(t *testing.T) {
	p := testPublisher(nil)
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		key := bytes.Repeat([]byte{rapid.Byte().Draw(t, "key")}, 32)
		hpke := rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "hpke")
		fields := [][]byte{
			protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), key),
			protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), data),
			protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), hpke),
			protowire.AppendVarint(protowire.AppendTag(nil, 4, protowire.VarintType), 0), // a default, spelled out
			protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7),
		}
		keyOf := func(order []int) Key {
			var v1 []byte
			for _, i := range order {
				v1 = append(v1, fields[i]...)
			}
			raw := v1
			for _, number := range []protowire.Number{1, 2, 1} { // v1, welcome_message, envelopes
				raw = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), raw)
			}
			var request backendv1.PublishRequest
			if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, &request); err != nil {
				t.Fatal(err)
			}
			b, err := p.Prepare(&request)
			if err != nil || len(b.keys) != 1 {
				t.Fatalf("%v, %d keys", err, len(b.keys))
			}
			return b.keys[0]
		}
		order := rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(t, "order")
		if keyOf(order) != keyOf([]int{0, 1, 2}) {
			t.Fatalf("order %v makes another envelope", order)
		}
	})
}

func TestTopicsHaveOneLengthForEachKind(t *testing.T) {
	for kind := range 256 {
		for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 33, 64} {
			wire := append([]byte{byte(kind)}, make([]byte, n)...)
			want := kind <= 4 && n == idLength[min(kind, 4)]
			topic, err := ParseTopic(wire)
			if want != (err == nil) {
				t.Errorf("kind %d with %d bytes: %v", kind, n, err)
			}
			if err == nil && (topic.Kind() != Kind(kind) || string(topic) != string(wire)) {
				t.Errorf("kind %d with %d bytes became %v", kind, n, topic)
			}
		}
	}
	if _, err := ParseTopic(nil); err == nil {
		t.Error("an empty topic was accepted")
	}
}

func TestQueriesArePlannedBeforeTheyAreRead(t *testing.T) {
	limits := config.Default().Limits
	limits.MaxQueryTopics, limits.DefaultQueryLimit, limits.MaxQueryLimit = 3, 5, 7
	plan := QueryPlanner(limits)
	topic := func(kind Kind, b byte) []byte {
		return append([]byte{byte(kind)}, bytes.Repeat([]byte{b}, idLength[kind])...)
	}
	entry := func(wire []byte, after uint64) *backendv1.TopicQuery {
		return &backendv1.TopicQuery{Topic: &backendv1.Topic{Topic: wire}, Cursor: &backendv1.Cursor{SequenceId: after}}
	}
	a, b := topic(KindWelcome, 1), topic(KindGroupMessage, 2)
	for _, test := range []struct {
		name    string
		limit   uint32
		entries []*backendv1.TopicQuery
		want    *QueryPlan
	}{
		{"repeated topics meet at the lowest cursor", 6, []*backendv1.TopicQuery{entry(a, 9), entry(b, 4), entry(a, 3)}, &QueryPlan{[]Position{{Topic(a), 3}, {Topic(b), 4}}, 6}},
		{"no limit is the default", 0, []*backendv1.TopicQuery{entry(a, 0)}, &QueryPlan{[]Position{{Topic(a), 0}}, 5}},
		{"a large limit is clamped", 8, []*backendv1.TopicQuery{entry(a, 0)}, &QueryPlan{[]Position{{Topic(a), 0}}, 7}},
		{"no cursor is the beginning", 1, []*backendv1.TopicQuery{{Topic: &backendv1.Topic{Topic: a}}}, &QueryPlan{[]Position{{Topic(a), 0}}, 1}},
		{"the highest cursor", 1, []*backendv1.TopicQuery{entry(a, math.MaxInt64)}, &QueryPlan{[]Position{{Topic(a), math.MaxInt64}}, 1}},
		{"a cursor beyond it, behind a lower one", 1, []*backendv1.TopicQuery{entry(a, 0), entry(a, math.MaxInt64+1)}, nil},
		{"too many entries, though they name one topic", 1, []*backendv1.TopicQuery{entry(a, 0), entry(a, 0), entry(a, 0), entry(a, 0)}, nil},
		{"a key-package topic", 1, []*backendv1.TopicQuery{entry(topic(KindKeyPackage, 1), 0)}, nil},
		{"no topic", 1, []*backendv1.TopicQuery{{}}, nil},
		{"a topic that is none", 1, []*backendv1.TopicQuery{entry(a[:5], 0)}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := plan(&backendv1.QueryRequest{Queries: test.entries, Limit: test.limit})
			if (test.want == nil) != (err != nil) {
				t.Fatalf("got %v, %v", got, err)
			}
			if test.want != nil && !cmp.Equal(got, *test.want) {
				t.Errorf("got %v, want %v", got, *test.want)
			}
		})
	}
}

// FuzzPrepare sends any bytes as a publish request through the stages that look
// at it alone. None may make them panic or contradict themselves.
func FuzzPrepare(f *testing.F) {
	seed := func(envelopes ...*backendv1.ClientEnvelope) {
		raw, err := proto.Marshal(&backendv1.PublishRequest{Envelopes: envelopes})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	seed()
	seed(&backendv1.ClientEnvelope{}, welcome(1, "a"), welcome(1, "a"))
	group := []byte{0, 1, 0, 2, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 1, 9}
	seed(&backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_GroupMessage{GroupMessage: &backendv1.GroupMessage{Data: group}}})
	seed(&backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_CommitLogEntry{CommitLogEntry: &backendv1.CommitLogEntry{
		SerializedCommitLogEntry: append([]byte{10, 16}, group[5:21]...)}}})
	seed(&backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_KeyPackage{KeyPackage: &backendv1.KeyPackage{KeyPackageTlsSerialized: group}}})
	f.Add([]byte{0x0a, 0x0f, 0x0a, 0x0b, 0x18, 0x01, 0x12, 0x02, 0x01, 0x02, 0x0a, 0x03, 0x00, 0xff, 0x42, 0x80, 0x01, 0x00})
	p := testPublisher(func(l *config.Limits) { l.MaxPublishTopics, l.MaxEnvelopeBytes = 5, 4096 })
	f.Fuzz(func(t *testing.T, raw []byte) {
		var request backendv1.PublishRequest
		if (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, &request) != nil {
			return
		}
		b, err := p.Prepare(&request)
		if err != nil {
			return
		}
		var again backendv1.PublishRequest
		for i, slot := range b.slots {
			if slot < 0 {
				if b.refused == nil || b.refused.Index > i {
					t.Fatalf("envelope %d has no slot, refused is %v", i, b.refused)
				}
				continue
			}
			it := b.items[slot]
			if _, err := ParseTopic([]byte(it.Topic)); err != nil {
				t.Fatalf("envelope %d got the topic %v: %v", i, it.Topic, err)
			}
			var e backendv1.ClientEnvelope
			if err := proto.Unmarshal(it.canonical, &e); err != nil {
				t.Fatalf("the canonical bytes of envelope %d do not decode: %v", i, err)
			}
			again.Envelopes = append(again.Envelopes, &e)
		}
		if b.refused != nil {
			return
		}
		c, err := p.Prepare(&again)
		if err != nil || !slices.Equal(b.slots, c.slots) || !slices.Equal(b.keys, c.keys) {
			t.Fatalf("prepared again, the same request is another: %v", err)
		}
	})
}
