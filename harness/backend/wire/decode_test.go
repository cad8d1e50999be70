package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"assay/harness/backend/craft"
	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

func encode(t testing.TB, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func fullMeta() *backendv1.EnvelopeMeta {
	return &backendv1.EnvelopeMeta{
		Cursor:             &backendv1.Cursor{SequenceId: 41},
		ServerNs:           7,
		MessageHash:        &backendv1.MessageHash{Hash: &backendv1.MessageHash_Sha256{Sha256: []byte("hash")}},
		Topic:              &backendv1.Topic{Topic: []byte("topic")},
		ExpiryNs:           9,
		IsCommitOrProposal: true,
	}
}

var readMeta = backend.Meta{
	HasCursor: true, Sequence: 41, ServerNS: 7, HasHash: true, Hash: "hash", HasTopic: true, Topic: "topic", ExpiryNS: 9, CommitOrProposal: true,
}

func groupEnvelope(data string) *backendv1.ClientEnvelope {
	return &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_GroupMessage{GroupMessage: &backendv1.GroupMessage{Data: []byte(data)}}}
}

func check(t *testing.T, got, want backend.Return) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("want -, got +\n%s", d)
	}
}

func TestAPublishResponseKeepsWhatIsAbsentApartFromZeros(t *testing.T) {
	var got backend.Return
	err := decodePublish(&got, encode(t, &backendv1.PublishResponse{EnvelopeMetas: []*backendv1.EnvelopeMeta{
		fullMeta(), {}, {Cursor: &backendv1.Cursor{}, MessageHash: &backendv1.MessageHash{}, Topic: &backendv1.Topic{}}, {Cursor: &backendv1.Cursor{SequenceId: 1<<64 - 1}},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	check(t, got, backend.Return{Publish: &backend.Published{Metas: []backend.Meta{
		readMeta, {}, {HasCursor: true, HasHash: true, HasTopic: true}, {HasCursor: true, Sequence: 1<<64 - 1},
	}}})
}

func TestAQueryResponseKeepsRowsAndContinuationAsTheyCame(t *testing.T) {
	envelope := groupEnvelope("data")
	var got backend.Return
	if err := decodeQuery(&got, encode(t, &backendv1.QueryResponse{
		Envelopes:    []*backendv1.ServerEnvelope{{Meta: fullMeta(), Envelope: envelope}, {}, {Envelope: &backendv1.ClientEnvelope{}}, {Meta: &backendv1.EnvelopeMeta{}}},
		Continuation: &backendv1.Continuation{HasMore: true},
	})); err != nil {
		t.Fatal(err)
	}
	check(t, got, backend.Return{Query: &backend.Page{
		Rows: []backend.Row{
			{HasMeta: true, Meta: readMeta, HasEnvelope: true, Identity: craft.Identity(envelope)},
			{},
			{HasEnvelope: true, Identity: craft.Identity(nil)},
			{HasMeta: true},
		},
		HasContinuation: true, HasMore: true,
	}})
	for name, c := range map[string]struct {
		message []byte
		want    backend.Page
	}{
		"nothing at all":         {nil, backend.Page{}},
		"a continuation of no":   {encode(t, &backendv1.QueryResponse{Continuation: &backendv1.Continuation{}}), backend.Page{HasContinuation: true}},
		"two continuations":      {[]byte{0x12, 0x02, 0x08, 0x01, 0x12, 0x00}, backend.Page{HasContinuation: true, HasMore: true}},
		"a field nobody knows":   {[]byte{0xa2, 0x06, 0x01, 0xff}, backend.Page{}},
		"rows of no known field": {[]byte{0x08, 0x01, 0x0d, 1, 2, 3, 4}, backend.Page{}},
	} {
		var got backend.Return
		if err := decodeQuery(&got, c.message); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		check(t, got, backend.Return{Query: &c.want})
	}
}

func TestANewestResponseNamesTheTopicBesideEachRow(t *testing.T) {
	var got backend.Return
	if err := decodeNewest(&got, encode(t, &backendv1.QueryNewestResponse{Results: []*backendv1.QueryNewestResponse_Result{
		{Topic: &backendv1.Topic{Topic: []byte("topic")}, Meta: fullMeta()},
		{Meta: fullMeta(), Envelope: groupEnvelope("x")},
		{Topic: &backendv1.Topic{}},
	}})); err != nil {
		t.Fatal(err)
	}
	check(t, got, backend.Return{Newest: &backend.Heads{Rows: []backend.Row{
		{HasMeta: true, Meta: readMeta, Asked: "topic"},
		{HasMeta: true, Meta: readMeta, HasEnvelope: true, Identity: craft.Identity(groupEnvelope("x"))},
		{},
	}}})
}

// In protobuf a message field that comes twice is the two merged.
func TestPartsOfARowThatComeTwiceAreMergedAsADecoderWould(t *testing.T) {
	var raw []byte
	for _, part := range []struct {
		num protowire.Number
		m   proto.Message
	}{
		{1, &backendv1.EnvelopeMeta{ServerNs: 1}},
		{2, &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_GroupMessage{GroupMessage: &backendv1.GroupMessage{Data: []byte("a")}}}},
		{1, &backendv1.EnvelopeMeta{ExpiryNs: 2}},
		{2, &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_GroupMessage{GroupMessage: &backendv1.GroupMessage{ShouldPush: true}}}},
	} {
		raw = protowire.AppendBytes(protowire.AppendTag(raw, part.num, protowire.BytesType), encode(t, part.m))
	}
	var whole backendv1.ServerEnvelope
	if err := proto.Unmarshal(raw, &whole); err != nil {
		t.Fatal(err)
	}
	var got backend.Return
	if err := decodeQuery(&got, protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), raw)); err != nil {
		t.Fatal(err)
	}
	row := got.Query.Rows[0]
	if row.Meta.ServerNS != whole.GetMeta().GetServerNs() || row.Meta.ExpiryNS != whole.GetMeta().GetExpiryNs() || row.Identity != craft.Identity(whole.GetEnvelope()) {
		t.Errorf("got %+v, want %v", row, &whole)
	}
}

func TestAResponseThatDoesNotDecodeIsGarbledAndKeepsNoPart(t *testing.T) {
	row := func(parts ...byte) []byte { return protowire.AppendBytes([]byte{0x0a}, parts) }
	for name, c := range map[string]struct {
		path    string
		message []byte
	}{
		"a publish response of noise":            {"publish", []byte{0xff, 0xff}},
		"a publish response cut":                 {"publish", []byte{0x0a, 0x05, 0x01}},
		"metadata of noise":                      {"publish", row(0xff)},
		"a query row cut":                        {"query", row(0x0a, 0x09)},
		"a row's metadata of noise":              {"query", row(0x0a, 0x01, 0xff)},
		"a row's envelope of noise":              {"query", row(0x12, 0x01, 0xff)},
		"an inbox id that is no UTF-8":           {"query", row(0x12, 0x05, 0x22, 0x03, 0x1a, 0x01, 0xff)},
		"an envelope above any limit":            {"query", row(protowire.AppendBytes([]byte{0x12}, make([]byte, mostEnvelope+1))...)},
		"more rows than can be":                  {"query", bytes.Repeat([]byte{0x0a, 0x00}, mostRows+1)},
		"more metadata than can be":              {"publish", bytes.Repeat([]byte{0x0a, 0x00}, mostRows+1)},
		"a continuation of noise":                {"query", []byte{0x12, 0x01, 0xff}},
		"a newest topic of noise":                {"newest", row(0x0a, 0x01, 0xff)},
		"a configuration of noise":               {"configuration", []byte{0xff}},
		"a configuration larger than any":        {"configuration", make([]byte, mostConfiguration+1)},
		"a health response of noise":             {"health", []byte{0xff}},
		"a health response whose value is noise": {"health", []byte{0x08, 0xff}},
		"a wire type that does not exist":        {"query", []byte{0x0f}},
		"a field number of zero":                 {"query", []byte{0x02, 0x00}},
	} {
		t.Run(name, func(t *testing.T) {
			c2 := dial(t, serve(t, "grpc", answerNative(frame(0, c.message), statusHeader, "0")), Options{})
			var got backend.Return
			switch c.path {
			case "publish":
				got = c2.Publish(within(t), nil)
			case "query":
				got = c2.Query(within(t), nil)
			case "newest":
				got = c2.Newest(within(t), nil)
			case "configuration":
				got = c2.Configuration(within(t))
			case "health":
				got = c2.Health(within(t), "")
			}
			why := got.Garbled
			if why == "" || len(why) > mostText {
				t.Errorf("garbled is %q", why)
			}
			check(t, got, backend.Return{Garbled: why, WireLen: len(c.message)})
		})
	}
}

func TestAHugeIdentifierIsKeptOnlyAsFarAsItIsWrong(t *testing.T) {
	m := fullMeta()
	m.Topic.Topic = bytes.Repeat([]byte{1}, 1<<20)
	var got backend.Return
	if err := decodePublish(&got, encode(t, &backendv1.PublishResponse{EnvelopeMetas: []*backendv1.EnvelopeMeta{m}})); err != nil {
		t.Fatal(err)
	}
	if n := len(got.Publish.Metas[0].Topic); n != mostIdentifier {
		t.Errorf("%d bytes kept", n)
	}
}

func TestAConfigurationIsReadByTheNamesOfTheCatalogue(t *testing.T) {
	limits := &backendv1.LimitsConfiguration{}
	fields := limits.ProtoReflect().Descriptor().Fields()
	want := map[string]uint64{}
	for i := range fields.Len() {
		f := fields.Get(i)
		raw := protowire.AppendVarint(protowire.AppendTag(nil, f.Number(), protowire.VarintType), uint64(100+i))
		if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(raw, limits); err != nil {
			t.Fatal(err)
		}
		want[string(f.Name())] = uint64(100 + i)
	}
	if len(want) != 20 || want["max_query_topics"] == 0 || want["max_ping_burst"] == 0 {
		t.Fatalf("the schema has limits %v", want)
	}
	for name, v := range map[string]uint64{
		"group_message_seconds": 1, "welcome_seconds": 2, "key_package_seconds": 0,
		"max_group_members": 3, "max_installations_per_inbox": 4, "commit_log_enabled": 1,
	} {
		want[name] = v
	}
	var got backend.Return
	if err := decodeConfiguration(&got, encode(t, &backendv1.GetConfigurationResponse{
		Identifier: "id\x1b", ServerVersion: strings.Repeat("v", 400),
		Limits:                    limits,
		Retention:                 &backendv1.RetentionConfiguration{GroupMessageSeconds: 1, WelcomeSeconds: 2},
		Mls:                       &backendv1.MlsConfiguration{MaxGroupMembers: 3, MaxInstallationsPerInbox: 4, CommitLogEnabled: proto.Bool(true)},
		Auth:                      &backendv1.AuthConfiguration{Enabled: true},
		SmartContractWalletChains: []string{"eip155:1"},
	})); err != nil {
		t.Fatal(err)
	}
	check(t, got, backend.Return{Configuration: &backend.Configuration{
		Identifier: `id\x1b`, Version: strings.Repeat("v", 297) + "…", Limits: want,
		Published: []string{"limits", "retention", "mls", "auth"}, Chains: []string{"eip155:1"},
	}})

	got = backend.Return{}
	if err := decodeConfiguration(&got, encode(t, &backendv1.GetConfigurationResponse{Mls: &backendv1.MlsConfiguration{}})); err != nil {
		t.Fatal(err)
	}
	check(t, got, backend.Return{Configuration: &backend.Configuration{
		Limits: map[string]uint64{"max_group_members": 0, "max_installations_per_inbox": 0}, Published: []string{"mls"},
	}})
}

func TestHealthIsAskedForAServiceAndReadByNumber(t *testing.T) {
	var asked healthpb.HealthCheckRequest
	if err := proto.Unmarshal(healthRequest("a.b"), &asked); err != nil || asked.GetService() != "a.b" {
		t.Errorf("asked for %q, %v", asked.GetService(), err)
	}
	var got backend.Return
	if err := decodeHealth(&got, encode(t, &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_NOT_SERVING})); err != nil || got.Serving != 2 {
		t.Errorf("serving %d, %v", got.Serving, err)
	}
}

func TestAnotherPathIsCalledAndItsAnswerNotRead(t *testing.T) {
	e := serve(t, "grpc", answerNative(frame(0, []byte{0xff}), statusHeader, "0"))
	got := dial(t, e, Options{}).Other(within(t), "xmtp.backend.v1.QueryService/Get", []byte{8, 1})
	check(t, got, backend.Return{WireLen: 1})
}

// FuzzDecode holds the decoders to what they promise of hostile bytes: no panic,
// bounded text, and nothing kept of what does not decode.
func FuzzDecode(f *testing.F) {
	f.Add(encode(f, &backendv1.QueryResponse{Envelopes: []*backendv1.ServerEnvelope{{Meta: fullMeta(), Envelope: groupEnvelope("d")}}}))
	f.Add(encode(f, &backendv1.PublishResponse{EnvelopeMetas: []*backendv1.EnvelopeMeta{fullMeta()}}))
	f.Add(encode(f, &backendv1.GetConfigurationResponse{Limits: &backendv1.LimitsConfiguration{MaxStreamTopics: 1}}))
	f.Add([]byte{0x0a, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, decode := range []func(*backend.Return, []byte) error{decodePublish, decodeQuery, decodeNewest, decodeConfiguration, decodeHealth} {
			var r backend.Return
			if err := decode(&r, raw); err != nil && len(bounded(err.Error())) > mostText {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		}
		b := body{from: bytes.NewReader(raw), max: 1 << 10, web: true}
		_ = b.read()
		_, _ = readDetails(string(raw))
	})
}
