package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"assay/impl/backend/config"
)

// load reads a configuration from a file, an environment and flags.
func load(t *testing.T, file string, environment map[string]string, args ...string) (config.Config, error) {
	t.Helper()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags := config.Bind(set)
	if file != "" {
		path := filepath.Join(t.TempDir(), "backend.toml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return flags.Load(func(name string) (string, bool) {
		value, ok := environment[name]
		return value, ok
	})
}

const database = "--database-url=postgres://localhost/x"

func TestLaterLayersWin(t *testing.T) {
	const file = "[limits]\nmax_query_topics = 10\nmax_static_topics = 11\nmax_lookup_identifiers = 12\nmax_scw_signatures = 13\n"
	c, err := load(t, file, map[string]string{
		"ASSAY_LIMITS_MAX_STATIC_TOPICS": "21", "ASSAY_LIMITS_MAX_LOOKUP_IDENTIFIERS": "22", "ASSAY_LIMITS_MAX_SCW_SIGNATURES": "23",
	}, database, "--limits", `{"max_lookup_identifiers": 32, "max_scw_signatures": 33}`, "--limits.max_scw_signatures=43", "--keepalive-ms=200")
	if err != nil {
		t.Fatal(err)
	}
	got := []uint32{c.Limits.MaxQueryTopics, c.Limits.MaxStaticTopics, c.Limits.MaxLookupIdentifiers, c.Limits.MaxSCWSignatures, c.Streams.KeepaliveIntervalMS}
	if want := []uint32{10, 21, 32, 43, 200}; !cmp.Equal(got, want) {
		t.Errorf("file, environment, limits, flag, short flag: got %v, want %v", got, want)
	}
}

func TestBadConfigurationsAreRefusedByTheirKey(t *testing.T) {
	for _, test := range []struct {
		name        string
		file        string
		environment map[string]string
		args        []string
		want        string
	}{
		{"no database", "", nil, nil, "database.url is empty"},
		{"an unknown key in the file", "[limits]\nmax_query_topic = 5\n", nil, nil, "backend.toml:2: limits.max_query_topic is not a key"},
		{"an unknown section", "[limit]\nmax_query_topics = 5\n", nil, nil, "limit"},
		{"a text where a number belongs", "[limits]\nmax_query_topics = \"many\"\n", nil, nil, "limits.max_query_topics"},
		{"a file that is no TOML", "limits = = 5\n", nil, nil, "backend.toml:1:"},
		{"a negative number in the environment", "", map[string]string{"ASSAY_LIMITS_MAX_QUERY_TOPICS": "-1"}, nil, "ASSAY_LIMITS_MAX_QUERY_TOPICS: limits.max_query_topics"},
		{"a number that does not fit", "", nil, []string{"--limits.max_query_topics=4294967296"}, "from 0 to 4294967295"},
		{"an unknown limit", "", nil, []string{`--limits={"max_query_topic": 1}`}, `"max_query_topic" is not the name`},
		{"a limit that is no number", "", nil, []string{`--limits={"max_query_topics": 1.5}`}, "limits.max_query_topics"},
		{"limits that are no JSON", "", nil, []string{"--limits=[]"}, "want a JSON object"},
		{"text behind the limits", "", nil, []string{"--limits={} {}"}, "text follows"},
		{"a variable that is not set", "", nil, []string{"--database.url=env:NOT_SET"}, "database.url: environment variable \"NOT_SET\" is not set"},
		{"a limit of zero", "", nil, []string{database, "--limits.max_query_topics=0"}, "limits.max_query_topics must not be 0"},
		{"a request limit above the ceiling", "", nil, []string{database, "--limits.max_request_bytes=26214401"}, "limits.max_request_bytes cannot be raised"},
		{"a response limit above the ceiling", "", nil, []string{database, "--limits.max_response_bytes=26214401"}, "limits.max_response_bytes cannot be raised"},
		{"more streams than may be advertised", "", nil, []string{database, "--limits.max_http2_streams=101"}, "limits.max_http2_streams"},
		{"a default above the maximum", "", nil, []string{database, "--limits.default_query_limit=1001"}, "limits.default_query_limit"},
		{"more adds than a stream holds", "", nil, []string{database, "--limits.max_stream_topics=99999"}, "limits.max_update_adds"},
		{"an envelope that fits no response", "", nil, []string{database, "--limits.max_response_bytes=1048576"}, "limits.max_envelope_bytes"},
		{"an envelope that fits no request", "", nil, []string{database, "--limits.max_request_bytes=1048577"}, "limits.max_envelope_bytes"},
		{"an envelope that fits no frame", "", nil, []string{database, "--limits.max_envelope_bytes=2097000"}, "limits.max_envelope_bytes"},
		{"a publish no longer than a statement", "", nil, []string{database, "--publishing.max_publish_duration_ms=20000"}, "publishing.max_publish_duration_ms"},
		{"a pong deadline within the interval", "", nil, []string{database, "--streams.max_pong_wait_ms=30000"}, "streams.max_pong_wait_ms"},
		{"an endless retention", "", nil, []string{database, "--retention.welcome_seconds=1892160001"}, "retention.welcome_seconds"},
		{"an identifier with a space", "", nil, []string{database, "--server.identifier=a b"}, "server.identifier"},
		{"a version that is none", "", nil, []string{database, "--server.min_libxmtp_version=new"}, "server.min_libxmtp_version"},
		{"an unknown level", "", nil, []string{database, "--server.log_level=loud"}, "server.log_level"},
		{"an unknown format", "", nil, []string{database, "--server.log_format=xml"}, "server.log_format"},
		{"a chain that is none", "[chains]\nmainnet = \"http://localhost\"\n", nil, []string{database}, `chains: "mainnet"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := load(t, test.file, test.environment, test.args...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error that says %q", err, test.want)
			}
		})
	}
}

func TestASecretComesFromTheEnvironmentAndStaysOutOfHelp(t *testing.T) {
	c, err := load(t, "[database]\nurl = \"env:SECRET\"\n[chains]\n\"eip155:1\" = \"env:NODE\"\n",
		map[string]string{"SECRET": "env:verbatim", "NODE": "http://node"})
	if err != nil {
		t.Fatal(err)
	}
	// What a variable holds is not looked up again.
	if c.Database.URL != "env:verbatim" || c.Chains["eip155:1"] != "http://node" {
		t.Errorf("got %q and %q", c.Database.URL, c.Chains["eip155:1"])
	}
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.Bind(set)
	if flag := set.Lookup("database.url"); flag == nil || flag.DefValue != "" {
		t.Errorf("the flag of a secret shows %+v", flag)
	}
}

func TestLimitsByNameLeaveTheRestAlone(t *testing.T) {
	c, err := config.ConfigFromLimitsJSON(`{"max_query_topics": 50, "group_message_seconds": 5, "keepalive_interval_ms": 0}`)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Limits.MaxQueryTopics, want.Retention.GroupMessageSeconds, want.Streams.KeepaliveIntervalMS = 50, 5, 0
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
	before := config.Default()
	if err := before.ApplyLimitsJSON(`{"max_query_topics": 50, "nobody": 5}`); err == nil || !cmp.Equal(before, config.Default()) {
		t.Errorf("a bad name: %v, and the configuration changed to %v", err, before)
	}
	c.Database.URL = "postgres://localhost/x"
	if err := c.Validate(); err != nil {
		t.Errorf("an interval of 0 leaves it to the client, but: %v", err)
	}
}

// Every key says what it is for: docs and --help are made of these.
func TestEveryKeyHasAMeaning(t *testing.T) {
	keys := config.Keys()
	if len(keys) < 40 {
		t.Errorf("only %d keys", len(keys))
	}
	for _, k := range keys {
		if k[1] == "" || strings.Count(k[0], ".") != 1 {
			t.Errorf("key %q means %q", k[0], k[1])
		}
	}
}
