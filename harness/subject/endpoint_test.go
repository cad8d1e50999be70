package subject

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestATargetIsReadOrRefusedWithAReason(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk.pem")
	if err := os.WriteFile(junk, []byte("not PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, target string
		tls          TLSOptions
		want, err    string
	}{
		{"gRPC", "grpc://localhost:5050", TLSOptions{}, "grpc://localhost:5050", ""},
		{"gRPC over TLS", "grpcs://api.example:443", TLSOptions{}, "grpcs://api.example:443", ""},
		{"HTTP has a default port", "http://h", TLSOptions{}, "http://h:80", ""},
		{"HTTPS has a default port and a slash is nothing", "https://h/", TLSOptions{}, "https://h:443", ""},
		{"an IPv6 host", "grpc://[::1]:7", TLSOptions{}, "grpc://[::1]:7", ""},
		{"the scheme's case does not matter", "GRPC://h:1", TLSOptions{}, "grpc://h:1", ""},
		{"a missing scheme", "localhost:5050", TLSOptions{}, "", "has no scheme; write grpc://host:port"},
		{"an unknown scheme", "ftp://h:1", TLSOptions{}, "", `scheme "ftp" is unknown`},
		{"gRPC without a port", "grpc://h", TLSOptions{}, "", "has no port; write grpc://host:port"},
		{"port 0", "grpc://h:0", TLSOptions{}, "", "no usable port"},
		{"a port too large", "grpc://h:65536", TLSOptions{}, "", "no usable port"},
		{"a port that is no number", "grpc://h:http", TLSOptions{}, "", "no address"},
		{"no host", "grpc://:5050", TLSOptions{}, "", "has no host"},
		{"a path", "https://h:1/api", TLSOptions{}, "", "more than host and port; write https://h:1"},
		{"a query", "https://h:1?x=hunter2", TLSOptions{}, "", "more than host and port"},
		{"a user and a password", "https://me:hunter2@h:1", TLSOptions{}, "", "names a user before @"},
		{"a user and no scheme", "me:hunter2@h:1", TLSOptions{}, "", "has no scheme"},
		{"control bytes are escaped", "grpc://h\x1b[2J:1", TLSOptions{}, "", `\\x1b[2J`},
		{"TLS files for a plain target", "grpc://h:1", TLSOptions{CAFile: junk}, "", "is plain, but TLS files or names were given; write grpcs://h:1"},
		{"a CA file that is missing", "grpcs://h:1", TLSOptions{CAFile: filepath.Join(dir, "none")}, "", "--ca"},
		{"a CA file without a certificate", "grpcs://h:1", TLSOptions{CAFile: junk}, "", "holds no PEM certificate"},
		{"a certificate without its key", "grpcs://h:1", TLSOptions{CertFile: junk}, "", "give --cert and --key together"},
		{"a certificate that is none", "grpcs://h:1", TLSOptions{CertFile: junk, KeyFile: junk}, "", "client certificate of --cert"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := ParseEndpoint(c.target, c.tls, nil)
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, expected %q", err, c.err)
				}
				if err != nil && strings.Contains(err.Error(), "hunter2") && strings.Contains(c.target, "@") {
					t.Errorf("the error repeats the password: %v", err)
				}
			case err != nil || e.String() != c.want || e.Secure() != (e.TLS != nil):
				t.Errorf("got %s, TLS %v (%v), expected %s", e, e.TLS != nil, err, c.want)
			}
		})
	}
}

func TestHeadersAreReadAndNeverRepeatedInErrors(t *testing.T) {
	e, err := ParseEndpoint("grpc://h:1", TLSOptions{}, []string{"Authorization: Bearer a:b ", "x-k:1", "X-K: 2"})
	if err != nil || e.Header["authorization"][0] != "Bearer a:b" || strings.Join(e.Header["x-k"], "") != "12" {
		t.Errorf("headers %v (%v)", e.Header, err)
	}
	for _, bad := range []string{"hunter2", ":path: hunter2", "a b: hunter2", "hunter2 x: y", "x: hunter2\r\ny: z", "x: hunter2\x00", ": hunter2"} {
		if _, err := ParseEndpoint("grpc://h:1", TLSOptions{}, []string{"a: b", bad}); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "header 2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestEqualConfigurationsHaveEqualKeys(t *testing.T) {
	for _, c := range []struct {
		configuration       Configuration
		key, json, describe string
	}{
		{Configuration{}, "", "{}", "the default configuration"},
		{Configuration{Limits: map[string]uint64{}}, "", "{}", "the default configuration"},
		{Configuration{Limits: map[string]uint64{"b": 2, "a": 18446744073709551615}}, `limits={"a":18446744073709551615,"b":2}`, `{"a":18446744073709551615,"b":2}`, "a 18446744073709551615, b 2"},
		{Configuration{Limits: map[string]uint64{"a": 1}, KeepaliveMS: 200, Chain: true}, `limits={"a":1} keepalive_ms=200 chain`, `{"a":1}`, "a 1, keepalive 200 ms, a chain of ours"},
		{Configuration{Limits: map[string]uint64{`a":1} chain`: 1}}, `limits={"a\":1} chain":1}`, `{"a\":1} chain":1}`, `a":1} chain 1`},
	} {
		if c.configuration.Key() != c.key || c.configuration.LimitsJSON() != c.json || c.configuration.Describe() != c.describe {
			t.Errorf("%#v: key %s, limits %s, described as %s", c.configuration, c.configuration.Key(), c.configuration.LimitsJSON(), c.configuration.Describe())
		}
	}
}

func TestACommandSupportsWhatItsPlaceholdersAllow(t *testing.T) {
	limits, keepalive, chain := Configuration{Limits: map[string]uint64{"a": 1}}, Configuration{KeepaliveMS: 1}, Configuration{Chain: true}
	for _, c := range []struct {
		name, shell   string
		configuration Configuration
		err           string
	}{
		{"the default needs nothing", "x {listen}", Configuration{}, ""},
		{"limits need {limits}", "x {listen}", limits, "{limits}"},
		{"keepalive needs {keepalive_ms}", "x {listen} {limits} {chain}", keepalive, "{keepalive_ms}"},
		{"a chain needs {chain}", "x {listen} {chain_id}", chain, "{chain}"},
		{"each has its placeholder", "x {listen} {limits} {keepalive_ms} {chain}", Configuration{Limits: limits.Limits, KeepaliveMS: 1, Chain: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			command, err := ParseCommand(c.shell)
			if err != nil {
				t.Fatal(err)
			}
			err = command.Supports(c.configuration)
			if (err == nil) != (c.err == "") || (err != nil && !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, expected %q", err, c.err)
			}
		})
	}
	if _, err := ParseCommand("x {database}"); err == nil || !strings.Contains(err.Error(), "no placeholder {listen}") {
		t.Errorf("without {listen}: %v", err)
	}
}

func TestPlaceholdersStandForTheirValues(t *testing.T) {
	url := "postgres://us%20er:p%40ss@db.example:6543/na%20me?sslmode=disable"
	v := Values{
		DatabaseURL: url, Listen: "127.0.0.1:9", Chain: "http://c", ChainID: 31337, KeepaliveMS: 25000,
		Configuration: Configuration{Limits: map[string]uint64{"a": 1}},
	}
	fast := v
	fast.Configuration.KeepaliveMS = 200
	for _, c := range []struct {
		values     Values
		name, want string
	}{
		{v, "listen", "127.0.0.1:9"}, {v, "database", url}, {v, "db_host", "db.example"}, {v, "db_port", "6543"}, {v, "db_user", "us er"},
		{v, "db_password", "p@ss"}, {v, "db_name", "na me"}, {v, "chain", "http://c"}, {v, "chain_id", "31337"}, {v, "limits", `{"a":1}`},
		{v, "keepalive_ms", "25000"}, {fast, "keepalive_ms", "200"}, {Values{}, "limits", "{}"},
		{Values{DatabaseURL: "postgres:///d?host=/run/pg&port=7&user=u"}, "db_host", "/run/pg"},
		{Values{DatabaseURL: "postgres:///d?host=/run/pg&port=7&user=u"}, "db_user", "u"},
		{Values{DatabaseURL: "postgres://u@/"}, "db_port", "5432"},
		{Values{DatabaseURL: "postgres://u@/"}, "db_name", "u"},
	} {
		if got, err := c.values.value(c.name); err != nil || got != c.want {
			t.Errorf("{%s} is %q (%v), expected %q", c.name, got, err, c.want)
		}
	}
	for _, c := range []struct {
		values Values
		name   string
	}{
		{Values{}, "database"}, {Values{}, "db_host"}, {Values{DatabaseURL: "postgres://u:hunter2@h:x/%"}, "db_host"},
		{Values{DatabaseURL: "host=h password=hunter2"}, "db_port"}, {Values{Configuration: Configuration{Chain: true}}, "chain"},
	} {
		if _, err := c.values.value(c.name); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("{%s} without a value: %v", c.name, err)
		}
	}
}
