package craft

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

func TestEqualIntentsOfEqualRunsGiveEqualBytesAndOtherRunsOtherTopics(t *testing.T) {
	e := backend.Envelope{Log: backend.Log{Kind: backend.Group, Name: "g"}, Content: "one"}
	at := func(c *Crafter, e backend.Envelope) ([]byte, backend.Artefact) {
		wire, a, err := c.Envelope(e)
		if err != nil {
			t.Fatal(err)
		}
		return wire, a
	}
	first, a := at(New(1, "nonce", "scope"), e)
	again, b := at(New(1, "nonce", "scope"), e)
	if !bytes.Equal(first, again) || a != b {
		t.Error("the same run made other bytes")
	}
	for name, c := range map[string]*Crafter{
		"seed": New(2, "nonce", "scope"), "nonce": New(1, "other", "scope"), "scope": New(1, "nonce", "other"),
		"border": New(1, "noncesc", "ope"),
	} {
		if c.Topic(e.Log) == a.Topic {
			t.Errorf("another %s keeps the topic", name)
		}
	}
	other := e
	other.Content = "two"
	if _, c := at(New(1, "nonce", "scope"), other); c.Identity == a.Identity || c.Topic != a.Topic {
		t.Error("another content on the same log must differ in identity alone")
	}
}

func TestALogNameGivesItsIdentifierWhateverTheKind(t *testing.T) {
	c := New(1, "n", "s")
	group, log := c.Topic(backend.Log{Kind: backend.Group, Name: "g"}), c.Topic(backend.Log{Kind: backend.CommitLog, Name: "g"})
	if len(group) != 17 || group[0] != 0 || log[0] != 4 || group[1:] != log[1:] {
		t.Errorf("group %s, commit log %s", group, log)
	}
	for k, first := range map[backend.Kind]byte{backend.Welcome: 1, backend.Identity: 2, backend.KeyPackage: 3} {
		if got := c.Topic(backend.Log{Kind: k, Name: "g"}); len(got) != 33 || got[0] != first {
			t.Errorf("%s: topic %s", k, got)
		}
	}
	if got := c.Topic(backend.Log{Name: "g"}); got != "" {
		t.Errorf("a log without a kind has topic %s", got)
	}
}

func TestEveryTopicFlawIsMadeInItsOwnWay(t *testing.T) {
	c := New(1, "n", "s")
	for _, kind := range []backend.Kind{backend.Group, backend.Welcome, backend.CommitLog} {
		sound := c.Topic(backend.Log{Kind: kind, Name: "g"})
		n := len(sound)
		for flaw, want := range map[backend.TopicFlaw]struct {
			length int
			first  byte
		}{
			backend.SoundTopic: {n, sound[0]}, backend.TopicAbsent: {0, 0}, backend.TopicEmpty: {0, 0}, backend.TopicKindOnly: {1, sound[0]},
			backend.TopicUnknownKind: {n, 5}, backend.TopicKind255: {n, 255}, backend.TopicShort: {n - 1, sound[0]},
			backend.TopicLong: {n + 1, sound[0]}, backend.TopicOtherLength: {50 - n, sound[0]},
		} {
			a := c.Ask(backend.Read{Log: backend.Log{Kind: kind, Name: "g"}, Flaw: flaw})
			if len(a.Topic) != want.length || want.length > 0 && a.Topic[0] != want.first || a.Flaw != flaw {
				t.Errorf("%s %q: topic %s", kind, flaw, a.Topic)
			}
			shared := min(len(a.Topic), n)
			if shared > 1 && a.Topic[1:shared] != sound[1:shared] {
				t.Errorf("%s %q: identifier %s, not that of the log", kind, flaw, a.Topic)
			}
		}
	}
}

func TestAQueryRequestKeepsWhatIsAbsentAbsentAndWhatIsHugeHuge(t *testing.T) {
	c := New(1, "n", "s")
	cursors := []*uint64{nil, new(uint64), ptr(1), ptr(1<<63 - 1), ptr(1 << 63), ptr(1<<64 - 1)}
	var call backend.QueryCall
	for _, cursor := range cursors {
		call.Entries = append(call.Entries, c.Ask(backend.Read{Log: backend.Log{Kind: backend.Group, Name: "g"}, Cursor: cursor}))
	}
	call.Entries = append(call.Entries,
		c.Ask(backend.Read{Log: backend.Log{Kind: backend.Group, Name: "g"}, Flaw: backend.TopicAbsent}),
		c.Ask(backend.Read{Log: backend.Log{Kind: backend.Group, Name: "g"}, Flaw: backend.TopicEmpty}))
	call.Limit = 1<<32 - 1
	var got backendv1.QueryRequest
	if err := proto.Unmarshal(QueryRequest(call), &got); err != nil {
		t.Fatal(err)
	}
	for i, cursor := range cursors {
		q := got.GetQueries()[i]
		if (q.Cursor == nil) != (cursor == nil) || cursor != nil && q.GetCursor().GetSequenceId() != *cursor {
			t.Errorf("cursor %d is %v", i, q.Cursor)
		}
		if string(q.GetTopic().GetTopic()) != string(call.Entries[i].Topic) {
			t.Errorf("topic %d is %x", i, q.GetTopic().GetTopic())
		}
	}
	if q := got.GetQueries()[len(cursors)]; q.Topic != nil {
		t.Error("an absent topic is there")
	}
	if q := got.GetQueries()[len(cursors)+1]; q.Topic == nil || len(q.Topic.Topic) != 0 {
		t.Error("an empty topic is absent or has bytes")
	}
	if got.GetLimit() != call.Limit || len(got.GetQueries()) != len(call.Entries) {
		t.Errorf("limit %d, %d entries", got.GetLimit(), len(got.GetQueries()))
	}
	if b := QueryRequest(backend.QueryCall{}); len(b) != 0 {
		t.Errorf("an empty call is %x", b)
	}
}

func TestANewestRequestNamesItsTopicsAndMode(t *testing.T) {
	c := New(1, "n", "s")
	for _, full := range []bool{false, true} {
		call := backend.NewestCall{Full: full}
		for _, flaw := range []backend.TopicFlaw{backend.SoundTopic, backend.TopicEmpty, backend.TopicAbsent, backend.TopicLong} {
			call.Entries = append(call.Entries, c.Ask(backend.Read{Log: backend.Log{Kind: backend.KeyPackage, Name: "k"}, Flaw: flaw}))
		}
		var got backendv1.QueryNewestRequest
		if err := proto.Unmarshal(NewestRequest(call), &got); err != nil {
			t.Fatal(err)
		}
		if got.GetIncludeFullEnvelope() != full || len(got.GetTopics()) != len(call.Entries) {
			t.Errorf("full %v, %d topics", got.GetIncludeFullEnvelope(), len(got.GetTopics()))
		}
		for i, topic := range got.GetTopics() {
			if string(topic.GetTopic()) != string(call.Entries[i].Topic) {
				t.Errorf("topic %d is %x", i, topic.GetTopic())
			}
		}
	}
}

func TestAPublishRequestHoldsItsEnvelopesInOrderAndSaysItsLengths(t *testing.T) {
	c := New(1, "n", "s")
	es := samples()
	for i := range es {
		es[i].Encoding = backend.Encoding(i % 4)
	}
	request, call, canonical, err := c.PublishRequest(es)
	if err != nil {
		t.Fatal(err)
	}
	var got backendv1.PublishRequest
	if err := proto.Unmarshal(request, &got); err != nil {
		t.Fatal(err)
	}
	if n := proto.Size(&got); n != canonical {
		t.Errorf("canonical length %d, said to be %d", n, canonical)
	}
	if len(got.GetEnvelopes()) != len(es) || len(call.Envelopes) != len(es) {
		t.Fatalf("%d envelopes, %d sent, want %d", len(got.GetEnvelopes()), len(call.Envelopes), len(es))
	}
	for i, env := range got.GetEnvelopes() {
		if sent := call.Envelopes[i]; Identity(env) != sent.Artefact.Identity || sent.Intent != es[i] {
			t.Fatalf("envelope %d is not the one that was meant", i)
		}
	}
	if _, _, _, err := c.PublishRequest([]backend.Envelope{es[0], {}}); err == nil {
		t.Error("an intent without bytes gives no error")
	}
	if request, _, n, err := c.PublishRequest(nil); len(request) != 0 || n != 0 || err != nil {
		t.Errorf("no envelopes give %x, %d, %v", request, n, err)
	}
}

func TestACrafterServesManyActorsAtOnce(t *testing.T) {
	c := New(1, "n", "s")
	want, _, _, err := c.PublishRequest(samples())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, _, _, err := c.PublishRequest(samples())
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("other bytes, or %v", err)
			}
		})
	}
	wg.Wait()
}

func ptr(v uint64) *uint64 { return &v }

func ExampleCrafter_PublishRequest() {
	c := New(42, "nonce", "example")
	g := backend.Log{Kind: backend.Group, Name: "g"}
	request, call, canonical, err := c.PublishRequest([]backend.Envelope{
		{Log: g, Content: "hello"},
		{Log: g, Content: "hello", Encoding: backend.Padded},
	})
	same := call.Envelopes[0].Artefact.Identity == call.Envelopes[1].Artefact.Identity
	fmt.Println(len(request) > canonical, same, err)
	// Output: true true <nil>
}

func BenchmarkPublishOneEnvelope(b *testing.B) {
	c := New(1, "n", "s")
	es := []backend.Envelope{{Log: backend.Log{Kind: backend.Group, Name: "g"}}}
	names := make([]string, 1024)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		es[0].Content = names[i%len(names)]
		if _, _, _, err := c.PublishRequest(es); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPublish25MiB(b *testing.B) {
	c := New(1, "n", "s")
	es := make([]backend.Envelope, 24)
	for i := range es {
		es[i] = backend.Envelope{Log: backend.Log{Kind: backend.Group, Name: "g"}, Content: fmt.Sprint(i), Size: 1 << 20}
	}
	for b.Loop() {
		if _, _, _, err := c.PublishRequest(es); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPublish300000DistinctWelcomes(b *testing.B) {
	c := New(1, "n", "s")
	es := make([]backend.Envelope, 300_000)
	for i := range es {
		es[i] = backend.Envelope{Log: backend.Log{Kind: backend.Welcome, Name: "w"}, Content: fmt.Sprint(i), Size: 60}
	}
	for b.Loop() {
		if _, _, _, err := c.PublishRequest(es); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPublish300000EqualWelcomes(b *testing.B) {
	c := New(1, "n", "s")
	es := make([]backend.Envelope, 300_000)
	for i := range es {
		es[i] = backend.Envelope{Log: backend.Log{Kind: backend.Welcome, Name: "w"}, Size: 38}
	}
	for b.Loop() {
		if _, _, _, err := c.PublishRequest(es); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkQueryRequest(b *testing.B) {
	c := New(1, "n", "s")
	var q backend.QueryCall
	for i := range 10 {
		q.Entries = append(q.Entries, c.Ask(backend.Read{Log: backend.Log{Kind: backend.Group, Name: fmt.Sprint(i)}, Cursor: ptr(1000)}))
	}
	for b.Loop() {
		QueryRequest(q)
	}
}
