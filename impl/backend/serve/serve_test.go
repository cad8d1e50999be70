package serve_test

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"assay/harness/postgres/pgtest"
	"assay/impl/backend"
	. "assay/impl/backend/backendtest"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m, func() error { return goleak.Find() }))
}

// publish must succeed.
func publish(t *testing.T, b *Backend, envelopes ...*backendv1.ClientEnvelope) []*backendv1.EnvelopeMeta {
	t.Helper()
	r, err := b.Publish.Publish(t.Context(), &backendv1.PublishRequest{Envelopes: envelopes})
	if err != nil {
		t.Fatalf("publish: %v", err)
	}
	if len(r.EnvelopeMetas) != len(envelopes) {
		t.Fatalf("%d envelopes got %d metas", len(envelopes), len(r.EnvelopeMetas))
	}
	return r.EnvelopeMetas
}

func query(t *testing.T, b *Backend, limit uint32, entries ...*backendv1.TopicQuery) *backendv1.QueryResponse {
	t.Helper()
	r, err := b.Query.Query(t.Context(), &backendv1.QueryRequest{Queries: entries, Limit: limit})
	if err != nil {
		t.Fatalf("query: %v", err)
	}
	return r
}

func TestPublishedEnvelopesAreReadBackUnchanged(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	sent := []*backendv1.ClientEnvelope{
		GroupMessage(1, Application, "hello", ""),
		GroupMessage(1, Commit, "commit", "tail that is no MLS"),
		Welcome(2, "welcome"),
	}
	before := time.Now().Add(-time.Minute)
	metas := publish(t, b, sent...)
	for i, m := range metas {
		if len(m.GetMessageHash().GetSha256()) != 32 {
			t.Errorf("meta %d has a hash of %d bytes", i, len(m.GetMessageHash().GetSha256()))
		}
		if m.GetServerNs() != metas[0].GetServerNs() {
			t.Errorf("meta %d has server time %d, the first has %d", i, m.GetServerNs(), metas[0].GetServerNs())
		}
		if at := time.Unix(0, int64(m.GetServerNs())); at.Before(before) || at.After(time.Now().Add(time.Minute)) {
			t.Errorf("meta %d was stored at %v", i, at)
		}
	}
	const ninetyDays = 90 * 24 * time.Hour
	for i, want := range []time.Duration{ninetyDays, 0, ninetyDays} {
		if want != 0 {
			want += time.Duration(metas[i].GetServerNs())
		}
		if got := time.Duration(metas[i].GetExpiryNs()); got != want {
			t.Errorf("meta %d expires at %d, want %d", i, got, want)
		}
	}
	if got := []bool{metas[0].IsCommitOrProposal, metas[1].IsCommitOrProposal, metas[2].IsCommitOrProposal}; !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("commit or proposal: %v", got)
	}
	group, welcome := Topic(backend.KindGroupMessage, GroupID(1)), Topic(backend.KindWelcome, Key(2))
	page := query(t, b, 0, From(group, 0), From(welcome, 0))
	if page.GetContinuation().GetHasMore() || len(page.Envelopes) != 3 {
		t.Fatalf("query returned %d envelopes, more %v", len(page.Envelopes), page.GetContinuation().GetHasMore())
	}
	for i, e := range page.Envelopes {
		if d := cmp.Diff(sent[i], e.Envelope, protocmp.Transform()); d != "" {
			t.Errorf("envelope %d changed:\n%s", i, d)
		}
		if d := cmp.Diff(metas[i], e.Meta, protocmp.Transform()); d != "" {
			t.Errorf("meta %d differs between publish and query:\n%s", i, d)
		}
	}
	newest, err := b.Query.QueryNewest(t.Context(), &backendv1.QueryNewestRequest{
		Topics: []*backendv1.Topic{group, Topic(backend.KindWelcome, Key(9)), group, welcome}, IncludeFullEnvelope: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(newest.Results) != 2 {
		t.Fatalf("newest returned %d results", len(newest.Results))
	}
	for _, r := range newest.Results {
		i := 1
		if bytes.Equal(r.GetTopic().GetTopic(), welcome.Topic) {
			i = 2
		}
		if d := cmp.Diff(metas[i], r.Meta, protocmp.Transform()); d != "" {
			t.Errorf("meta %d differs between publish and newest:\n%s", i, d)
		}
		if d := cmp.Diff(sent[i], r.Envelope, protocmp.Transform()); d != "" {
			t.Errorf("envelope %d differs:\n%s", i, d)
		}
	}
}

func TestADuplicateReturnsWhatWasStoredFirst(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	first := publish(t, b, Welcome(1, "a"))[0]
	again := publish(t, b, Welcome(1, "b"), Welcome(1, "a"), Welcome(1, "b"))
	if d := cmp.Diff(first, again[1], protocmp.Transform()); d != "" {
		t.Errorf("the duplicate's meta changed:\n%s", d)
	}
	if d := cmp.Diff(again[0], again[2], protocmp.Transform()); d != "" {
		t.Errorf("two copies in one request differ:\n%s", d)
	}
	if page := query(t, b, 0, From(Topic(backend.KindWelcome, Key(1)), 0)); len(page.Envelopes) != 2 {
		t.Errorf("%d envelopes are stored, want 2", len(page.Envelopes))
	}
}

func TestARefusedPublishNamesTheEnvelopeAndStoresNothing(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	_, err := b.Publish.Publish(t.Context(), &backendv1.PublishRequest{Envelopes: []*backendv1.ClientEnvelope{
		Welcome(1, "a"), Welcome(1, "a"), {}, {},
	}})
	s := status.Convert(err)
	if s.Code() != codes.InvalidArgument || len(s.Details()) != 1 {
		t.Fatalf("got %v with details %v", s, s.Details())
	}
	want := &backendv1.PublishError{Index: proto.Uint32(2), Reason: backendv1.PublishError_REASON_MALFORMED_PAYLOAD, Message: s.Message()}
	if d := cmp.Diff(want, s.Details()[0], protocmp.Transform()); d != "" {
		t.Error(d)
	}
	if page := query(t, b, 0, From(Topic(backend.KindWelcome, Key(1)), 0)); len(page.Envelopes) != 0 {
		t.Errorf("%d envelopes are stored", len(page.Envelopes))
	}
}

func TestPagesDrainExactly(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	var envelopes []*backendv1.ClientEnvelope
	for i := range 7 {
		envelopes = append(envelopes, Welcome(byte(i%2), string(rune('a'+i))))
	}
	metas := publish(t, b, envelopes...)
	zero, one := Topic(backend.KindWelcome, Key(0)), Topic(backend.KindWelcome, Key(1))
	for _, test := range []struct {
		name  string
		limit uint32
		from  uint64
		rows  int
		more  bool
	}{
		{"more at one below the number of envelopes", 6, 0, 6, true},
		{"no more at exactly the number of envelopes", 7, 0, 7, false},
		{"no more above it", 8, 0, 7, false},
		{"nothing above the newest", 10, metas[6].GetCursor().GetSequenceId(), 0, false},
		{"nothing above the highest cursor", 10, 1<<63 - 1, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := query(t, b, test.limit, From(zero, test.from), From(one, test.from))
			if len(page.Envelopes) != test.rows || page.GetContinuation().GetHasMore() != test.more {
				t.Errorf("got %d rows, more %v", len(page.Envelopes), page.GetContinuation().GetHasMore())
			}
		})
	}
}

func TestAnOversizedPageIsRefusedAndNeverShortened(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	big := string(make([]byte, 1<<20-100))
	for range 2 {
		var envelopes []*backendv1.ClientEnvelope
		for i := range 13 {
			envelopes = append(envelopes, Welcome(byte(1+i), big))
		}
		for _, e := range envelopes {
			w := e.GetWelcomeMessage().GetV1()
			w.HpkePublicKey = []byte{byte(len(envelopes))}
		}
		publish(t, b, envelopes...)
		big = big[1:]
	}
	var entries []*backendv1.TopicQuery
	for i := range 13 {
		entries = append(entries, From(Topic(backend.KindWelcome, Key(byte(1+i))), 0))
	}
	if page := query(t, b, 24, entries...); len(page.Envelopes) != 24 {
		t.Fatalf("24 envelopes fit, but %d came", len(page.Envelopes))
	}
	_, err := b.Query.Query(t.Context(), &backendv1.QueryRequest{Queries: entries})
	if status.Code(err) != codes.OutOfRange {
		t.Fatalf("got %v, want OUT_OF_RANGE", err)
	}
}

func TestAnOversizedRequestIsOutOfRange(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	request := &backendv1.PublishRequest{}
	for i := range 26 {
		request.Envelopes = append(request.Envelopes, Welcome(byte(i), string(make([]byte, 1<<20-100))))
	}
	_, err := b.Publish.Publish(t.Context(), request)
	if status.Code(err) != codes.OutOfRange {
		t.Fatalf("got %v, want OUT_OF_RANGE", err)
	}
	request.Envelopes = request.Envelopes[:24]
	publish(t, b, request.Envelopes...)
}

func TestAPublishResponseThatIsTooLargeFailsAfterTheCommit(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	request := &backendv1.PublishRequest{}
	for range 300_000 {
		request.Envelopes = append(request.Envelopes, Welcome(1, ""))
	}
	_, err := b.Publish.Publish(t.Context(), request)
	if status.Code(err) != codes.OutOfRange {
		t.Fatalf("got %v, want OUT_OF_RANGE", err)
	}
	page := query(t, b, 0, From(Topic(backend.KindWelcome, Key(1)), 0))
	if len(page.Envelopes) != 1 {
		t.Fatalf("%d envelopes are stored, want 1", len(page.Envelopes))
	}
	again := publish(t, b, Welcome(1, ""))
	if d := cmp.Diff(page.Envelopes[0].Meta, again[0], protocmp.Transform()); d != "" {
		t.Errorf("the retry is not the stored envelope:\n%s", d)
	}
}

func TestHealthAnswersForEachServiceAndKnowsNoOther(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	health := healthpb.NewHealthClient(b.Conn)
	for _, service := range []string{"", "xmtp.backend.v1.PublishService", "xmtp.backend.v1.ConfigurationService"} {
		r, err := health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: service})
		if err != nil || r.Status != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v", service, r, err)
		}
	}
	if _, err := health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: "nobody"}); status.Code(err) != codes.NotFound {
		t.Errorf("an unknown service: %v", err)
	}
	list, err := health.List(t.Context(), &healthpb.HealthListRequest{})
	if err != nil || len(list.Statuses) != 6 {
		t.Errorf("list: %v, %v", list, err)
	}
}

func TestADrainEndsAWatchAndRefusesWhatComesAfter(t *testing.T) {
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	watch, err := healthpb.NewHealthClient(b.Conn).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := watch.Recv(); err != nil || r.Status != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("%v, %v", r, err)
	}
	if err := b.Stop(); err != nil {
		t.Fatalf("drain: %v", err)
	}
	for err == nil {
		_, err = watch.Recv()
	}
	if status.Code(err) != codes.Unavailable {
		t.Errorf("the watch ended with %v, want UNAVAILABLE", err)
	}
	if _, err := b.Query.Query(t.Context(), &backendv1.QueryRequest{}); status.Code(err) != codes.Unavailable {
		t.Errorf("a call after the drain: %v", err)
	}
}

func TestTwoBackendsStartOnOneDatabaseAtTheSameTime(t *testing.T) {
	first := Start(t, pgtest.ForTest(t).URL(), Options{})
	second := Start(t, first.DatabaseURL, Options{})
	meta := publish(t, first, Welcome(1, "a"))[0]
	again := publish(t, second, Welcome(1, "a"))[0]
	if d := cmp.Diff(meta, again, protocmp.Transform()); d != "" {
		t.Error(d)
	}
}
