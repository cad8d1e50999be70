package mutants_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"assay/harness/postgres/pgtest"
	"assay/impl/backend"
	. "assay/impl/backend/backendtest"
	"assay/spec/gen/xmtp/identity/associations"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// observe plays a fixed conversation with a fresh backend and writes down what a
// client sees of it, one line a step, with times and hashes as symbols. It ends
// with the first step that is not as expected, if anything is.
func observe(t *testing.T, o Options, expected []string) []string {
	t.Helper()
	v := &viewer{ctx: t.Context(), b: Start(t, pgtest.ForTest(t).URL(), o), symbols: make(map[string]string), expected: expected}
	for _, part := range []func(*viewer){(*viewer).kinds, (*viewer).duplicates, (*viewer).reads, (*viewer).refusals, (*viewer).transport, (*viewer).limits} {
		part(v)
	}
	return v.lines
}

// difference names the first step in which two conversations differ, "" for none.
func difference(a, b []string) string {
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			step, _, _ := strings.Cut(a[i], ": ")
			return step
		}
	}
	return ""
}

type viewer struct {
	ctx      context.Context
	b        *Backend
	symbols  map[string]string
	expected []string
	lines    []string
	// over says that a step was not as expected.
	over bool
}

func (v *viewer) note(step string, seen ...string) {
	v.lines = append(v.lines, step+": "+strings.Join(seen, " | "))
	if i := len(v.lines) - 1; v.expected != nil && v.lines[i] != v.expected[i] {
		v.over = true
	}
}

// symbol names a value by the order in which values of its sort were first seen.
func (v *viewer) symbol(sort, value string) string {
	key := sort + value
	if v.symbols[key] == "" {
		v.symbols[key] = fmt.Sprintf("%s%d", sort, len(v.symbols))
	}
	return v.symbols[key]
}

func (v *viewer) meta(m *backendv1.EnvelopeMeta) string {
	if m == nil {
		return "no meta"
	}
	expiry := "never"
	if m.GetExpiryNs() != 0 {
		expiry = fmt.Sprint(int64(m.GetExpiryNs() - m.GetServerNs()))
	}
	hash := "no hash"
	if m.GetMessageHash() != nil {
		hash = v.symbol("hash", string(m.GetMessageHash().GetSha256()))
	}
	return fmt.Sprintf("%d on %x.%d at %s, expires %s, %s, commit or proposal %v", m.GetCursor().GetSequenceId(),
		m.GetTopic().GetTopic()[:2], len(m.GetTopic().GetTopic()), v.symbol("time", fmt.Sprint(m.GetServerNs())), expiry, hash, m.GetIsCommitOrProposal())
}

func failure(err error) string {
	s := status.Convert(err)
	text := "with text"
	if s.Message() == "" {
		text = "without text"
	}
	detail := "no detail"
	for _, d := range s.Details() {
		if e, ok := d.(*backendv1.PublishError); ok {
			detail = fmt.Sprintf("%v at %v", e.GetReason(), index(e))
		}
	}
	return fmt.Sprintf("%v %s, %s", s.Code(), text, detail)
}

func index(e *backendv1.PublishError) string {
	if e.Index == nil {
		return "the request"
	}
	return fmt.Sprint(e.GetIndex())
}

func (v *viewer) publish(step string, envelopes ...*backendv1.ClientEnvelope) []*backendv1.EnvelopeMeta {
	if v.over {
		return nil
	}
	r, err := v.b.Publish.Publish(v.ctx, &backendv1.PublishRequest{Envelopes: envelopes})
	if err != nil {
		v.note(step, failure(err))
		return nil
	}
	var seen []string
	for _, m := range r.EnvelopeMetas {
		seen = append(seen, v.meta(m))
	}
	v.note(step, seen...)
	return r.EnvelopeMetas
}

func (v *viewer) query(step string, limit uint32, entries ...*backendv1.TopicQuery) {
	if v.over {
		return
	}
	r, err := v.b.Query.Query(v.ctx, &backendv1.QueryRequest{Queries: entries, Limit: limit})
	if err != nil {
		v.note(step, failure(err))
		return
	}
	seen := []string{fmt.Sprintf("%d rows, more %v", len(r.Envelopes), r.GetContinuation().GetHasMore())}
	for _, e := range r.Envelopes {
		seen = append(seen, v.meta(e.Meta)+" "+content(e.Envelope))
	}
	v.note(step, seen...)
}

func (v *viewer) newest(step string, full bool, topics ...*backendv1.Topic) {
	if v.over {
		return
	}
	r, err := v.b.Query.QueryNewest(v.ctx, &backendv1.QueryNewestRequest{Topics: topics, IncludeFullEnvelope: full})
	if err != nil {
		v.note(step, failure(err))
		return
	}
	// Results come in no particular order; one topic a step keeps that out.
	seen := []string{fmt.Sprintf("%d results", len(r.Results))}
	for _, result := range r.Results {
		seen = append(seen, v.meta(result.Meta)+" "+content(result.Envelope))
	}
	v.note(step, seen...)
}

// content is an envelope's bytes, shortened.
func content(e *backendv1.ClientEnvelope) string {
	if e == nil {
		return "no envelope"
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(e)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d bytes %x", len(raw), raw[max(0, len(raw)-24):])
}

var signature = &associations.RecoverableEd25519Signature{Bytes: []byte("not a signature"), PublicKey: []byte("nor a key")}

// kinds publishes one of each kind and reads it back.
func (v *viewer) kinds() {
	group, log := Topic(backend.KindGroupMessage, GroupID(1)), Topic(backend.KindCommitLogEntry, GroupID(1))
	v.publish("publish an application message with a tail", GroupMessage(1, Application, "a", "tail"))
	v.publish("publish a commit and a proposal", GroupMessage(1, Commit, "c", ""), GroupMessage(1, Proposal, "p", ""))
	v.publish("publish both forms of a welcome", Welcome(3, "w"), Pointer(2, "p"))
	v.publish("publish three commit-log entries", CommitLog(1, 1, signature), CommitLog(1, 2, nil), CommitLog(1, 3, signature))
	v.query("query the group", 0, From(group, 0))
	v.query("query the welcomes", 0, From(Topic(backend.KindWelcome, Key(3)), 0), From(Topic(backend.KindWelcome, Key(2)), 0))
	v.query("query the commit log", 0, From(log, 0))
	v.query("query without a cursor", 0, &backendv1.TopicQuery{Topic: group})
	v.newest("newest of the group, metadata", false, group)
	v.newest("newest of the group, full", true, group)
	v.newest("newest of a topic named twice", false, group, group)
	v.newest("newest of an empty topic", false, Topic(backend.KindWelcome, Key(99)))
}

// duplicates sends envelopes again.
func (v *viewer) duplicates() {
	v.publish("publish a message again", GroupMessage(1, Application, "a", "tail"))
	v.publish("publish a welcome again between new ones", Welcome(5, "x"), Welcome(3, "w"), Welcome(4, "y"))
	v.publish("publish two copies at once", Welcome(6, "z"), Welcome(6, "z"))
	other := GroupMessage(1, Application, "a", "tail")
	other.GetGroupMessage().SenderHmac = []byte("hmac")
	v.publish("publish the same data with another hmac", other)
	if v.over {
		return
	}
	// Field 3 before field 1.
	data := GroupMessage(7, Application, "r", "").GetGroupMessage().GetData()
	inner := protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 1)
	inner = protowire.AppendBytes(protowire.AppendTag(inner, 1, protowire.BytesType), data)
	envelope := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
	request := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), envelope)
	var r backendv1.PublishResponse
	err := v.b.Conn.Invoke(v.ctx, backendv1.PublishService_Publish_FullMethodName, request, &r, grpc.ForceCodec(rawRequest{encoding.GetCodecV2("proto")}))
	v.note("publish with fields in another order", failure(err))
	plain := GroupMessage(7, Application, "r", "")
	plain.GetGroupMessage().ShouldPush = true
	v.publish("publish the same in canonical order", plain)
	v.query("query what was published in two orders", 0, From(Topic(backend.KindGroupMessage, GroupID(7)), 0))
}

// rawRequest sends bytes as they are.
type rawRequest struct{ encoding.CodecV2 }

func (rawRequest) Marshal(m any) ([]byte, error) { return m.([]byte), nil }
func (rawRequest) Unmarshal(raw []byte, m any) error {
	return proto.Unmarshal(raw, m.(proto.Message))
}
func (rawRequest) Name() string { return "proto" }

// reads pages and repeats.
func (v *viewer) reads() {
	var envelopes []*backendv1.ClientEnvelope
	for i := range byte(8) {
		envelopes = append(envelopes, Welcome(10+i%2, string('a'+rune(i))))
	}
	metas := v.publish("publish eight welcomes to two topics", envelopes...)
	if v.over || len(metas) != len(envelopes) {
		return
	}
	a, b := Topic(backend.KindWelcome, Key(10)), Topic(backend.KindWelcome, Key(11))
	at := func(i int) uint64 { return metas[i].GetCursor().GetSequenceId() }
	v.query("query a page", 3, From(a, 0), From(b, 0))
	v.query("query from a row", 0, From(a, at(2)))
	v.query("query exactly as many as there are", 8, From(a, 0), From(b, 0))
	v.query("query a page whose last topic is drained", 7, From(a, 0), From(b, 0))
	v.query("query one less than there are, ending on the other topic", 7, From(b, 0), From(a, at(2)))
	v.query("query a drained topic beside an undrained one", 2, From(a, at(4)), From(b, at(5)))
	v.query("query from above the end", 0, From(a, at(7)))
	v.query("query one topic twice", 0, From(a, at(4)), From(a, at(0)))
	v.query("query a bad cursor behind a good one", 0, From(a, 1<<63), From(a, 0))
	v.query("query without a limit", 0, From(a, 0), From(b, 0))
	many := make([]*backendv1.ClientEnvelope, 12)
	for i := range many {
		many[i] = Welcome(12, fmt.Sprint(i))
	}
	v.publish("publish twelve welcomes", many...)
	v.query("query twelve without a limit", 0, From(Topic(backend.KindWelcome, Key(12)), 0))
	v.query("query with a limit above the maximum", 5000, From(a, 0))
	v.query("query a key-package topic", 0, From(Topic(backend.KindKeyPackage, Key(1)), 0))
	v.query("query an unknown kind", 0, From(&backendv1.Topic{Topic: append([]byte{9}, Key(1)...)}, 0))
	v.newest("newest of an identifier that is too long", false, &backendv1.Topic{Topic: append([]byte{1}, make([]byte, 33)...)})
	v.newest("newest of the welcomes", true, a)
}

// refusals publishes what must not be stored.
func (v *viewer) refusals() {
	v.publish("publish an empty envelope behind a good one", Welcome(20, "a"), &backendv1.ClientEnvelope{})
	v.query("query what came with the empty envelope", 0, From(Topic(backend.KindWelcome, Key(20)), 0))
	v.publish("publish an empty envelope behind two copies", Welcome(20, "b"), Welcome(20, "b"), &backendv1.ClientEnvelope{})
	v.publish("publish a commit-log entry that does not parse", RawCommitLog([]byte{0xff}, nil))
	cut := GroupMessage(1, Application, "ciphertext", "")
	cut.GetGroupMessage().Data = cut.GetGroupMessage().Data[:30]
	v.publish("publish a message that is cut off", cut)
}

// limits goes to the bounds and one past them.
func (v *viewer) limits() {
	if v.over {
		return
	}
	r, err := v.b.Configuration.GetConfiguration(v.ctx, &backendv1.GetConfigurationRequest{})
	v.note("configuration", fmt.Sprint(r.GetLimits() != nil), fmt.Sprint(r.GetLimits().GetMaxQueryTopics()),
		fmt.Sprint(r.GetRetention().GetWelcomeSeconds()), failure(err))
	repeated := make([]*backendv1.TopicQuery, 1001)
	for i := range repeated {
		repeated[i] = From(Topic(backend.KindWelcome, Key(byte(i%7))), 1<<62)
	}
	v.query("query 1001 entries that repeat", 0, repeated...)
	topics := make([]*backendv1.Topic, 101)
	for i := range topics {
		topics[i] = Topic(backend.KindWelcome, Key(byte(100+i)))
	}
	v.newest("newest of 101 topics, full", true, topics...)
	var wide []*backendv1.ClientEnvelope
	for i := range 1001 {
		wide = append(wide, WelcomeTo(append(Key(30)[:30], byte(i>>8), byte(i)), "w"))
	}
	v.publish("publish to 1001 topics", wide...)
	size := func(n int) *backendv1.ClientEnvelope {
		e := Welcome(40, "")
		for pad := n - 60; ; pad++ {
			e.GetWelcomeMessage().GetV1().Data = make([]byte, pad)
			if got := proto.Size(e); got == n {
				return e
			} else if got > n {
				panic(fmt.Sprintf("no envelope has %d bytes", n))
			}
		}
	}
	v.publish("publish an envelope of exactly 1 MiB", size(1<<20))
	v.publish("publish an envelope of one byte more", size(1<<20+1))
	var heavy []*backendv1.ClientEnvelope
	for i := range 26 {
		heavy = append(heavy, Welcome(byte(50+i%3), string(byte('a'+i))+string(make([]byte, 1<<20-100))))
	}
	v.publish("publish 26 MiB", heavy...)
	if v.over {
		return
	}
	v.note("publish 13 MiB twice", failure(v.quietly(heavy[:13])), failure(v.quietly(heavy[13:])))
	var entries []*backendv1.TopicQuery
	for i := range byte(3) {
		entries = append(entries, From(Topic(backend.KindWelcome, Key(50+i)), 0))
	}
	page, err := v.b.Query.Query(v.ctx, &backendv1.QueryRequest{Queries: entries})
	v.note("query 26 MiB", failure(err), fmt.Sprint(len(page.GetEnvelopes()), page.GetContinuation().GetHasMore()))
}

func (v *viewer) quietly(envelopes []*backendv1.ClientEnvelope) error {
	_, err := v.b.Publish.Publish(v.ctx, &backendv1.PublishRequest{Envelopes: envelopes})
	return err
}

// transport looks at what surrounds the messages.
func (v *viewer) transport() {
	if v.over {
		return
	}
	v.note("retired get", failure(v.b.Conn.Invoke(v.ctx, "/xmtp.backend.v1.QueryService/Get", &backendv1.QueryRequest{}, &backendv1.ServerEnvelope{})))
	ctx := metadata.AppendToOutgoingContext(v.ctx, "x-app-version", "1", "x-libxmtp-version", "2", "authorization", "Bearer x")
	_, err := v.b.Query.Query(ctx, &backendv1.QueryRequest{})
	v.note("query with headers", failure(err))
	_, err = healthpb.NewHealthClient(v.b.Conn).Check(v.ctx, &healthpb.HealthCheckRequest{})
	v.note("health", failure(err))
	v.note("streams", streams(v.b.Address))
}

// streams reads the advertised number of concurrent streams.
func streams(address string) string {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	framer := http2.NewFramer(conn, conn)
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		return err.Error()
	}
	if err := framer.WriteSettings(); err != nil {
		return err.Error()
	}
	f, err := framer.ReadFrame()
	if err != nil {
		return err.Error()
	}
	n, ok := f.(*http2.SettingsFrame).Value(http2.SettingMaxConcurrentStreams)
	return fmt.Sprint(n, ok)
}
