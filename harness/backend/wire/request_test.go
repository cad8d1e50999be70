package wire

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestHeadersOfEndpointOptionsAndCallAreSentAndNoSecretIsInAnError(t *testing.T) {
	got := make(chan http.Header, 4)
	e := serve(t, "grpc", func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Clone()
		answerNative(frame(0, nil), statusHeader, "0")(w, r)
	})
	e.Header = map[string][]string{"authorization": {"Bearer secret"}}
	c := dial(t, e, Options{Header: map[string][]string{"x-app-version": {"a"}}})
	c.Publish(within(t), nil, Header{"x-libxmtp-version", "b"})
	h := <-got
	if h.Get("Authorization") != "Bearer secret" || h.Get("X-App-Version") != "a" || h.Get("X-Libxmtp-Version") != "b" ||
		h.Get("Te") != "trailers" || h.Get("Content-Type") != "application/grpc" || h.Get("Grpc-Timeout") != "" {
		t.Errorf("headers %v", h)
	}
	e.Address = "127.0.0.1:1"
	if err := Probe(within(t), e); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("probe: %v", err)
	}
}

func TestAnEndpointThatCannotBeCalledIsRefusedAtOnce(t *testing.T) {
	e := serve(t, "grpc", page(200))
	for _, c := range []struct{ scheme, address string }{{"ftp", e.Address}, {"grpc", "nowhere"}} {
		bad := e
		bad.Scheme, bad.Address = c.scheme, c.address
		if _, err := Dial(bad, Options{}); err == nil {
			t.Errorf("%v: no error", c)
		}
		if Probe(t.Context(), bad) == nil {
			t.Errorf("%v: ready", c)
		}
	}
}

func TestTextOfAPeerIsEscapedAndBounded(t *testing.T) {
	for in, want := range map[string]string{
		"plain – text":            "plain – text",
		"a\x1b[31mb\nc\x00":       `a\x1b[31mb\nc\x00`,
		"\xff\xfe":                `\xff\xfe`,
		"\u202eevil":              `\u202eevil`,
		strings.Repeat("x", 300):  strings.Repeat("x", 300),
		strings.Repeat("x", 301):  strings.Repeat("x", 297) + "…",
		strings.Repeat("é", 1000): strings.Repeat("é", 148) + "…",
	} {
		if got := bounded(in); got != want || len(got) > mostText {
			t.Errorf("%q is %q (%d bytes), want %q", in, got, len(got), want)
		}
	}
	if got := unpercent("a%20b%zz%4"); got != "a b%zz%4" {
		t.Errorf("got %q", got)
	}
}

func TestABodyThatFailsIsTheTransportsError(t *testing.T) {
	broken := errors.New("broken")
	b := body{from: io.MultiReader(bytes.NewReader([]byte{0, 0, 0}), failing{broken}), max: 10}
	if err := b.read(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
