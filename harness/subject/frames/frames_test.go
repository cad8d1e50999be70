package frames_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/http2"

	"assay/harness/subject/frames"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inspect lets a scripted peer answer and gives what Inspect makes of it.
func inspect(t *testing.T, ctx context.Context, answer []byte, closes bool) (frames.Settings, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer theirs.Close()
		preface := make([]byte, len(http2.ClientPreface)+9)
		if _, err := io.ReadFull(theirs, preface); err != nil {
			return
		}
		theirs.Write(answer)
		if !closes {
			io.Copy(io.Discard, theirs)
		}
	}()
	s, err := frames.Inspect(ctx, ours)
	ours.Close()
	<-done
	return s, err
}

func settingsFrame(t *testing.T, settings ...http2.Setting) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := http2.NewFramer(&b, nil).WriteSettings(settings...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestThePeersSettingsAreReturnedAsTheyCame(t *testing.T) {
	announced := []http2.Setting{
		{ID: http2.SettingMaxConcurrentStreams, Val: 100}, {ID: 0xf00d, Val: 7}, {ID: http2.SettingMaxConcurrentStreams, Val: 250},
	}
	s, err := inspect(t, t.Context(), settingsFrame(t, announced...), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Announced) != 3 || s.Announced[1] != announced[1] {
		t.Errorf("announced %v", s.Announced)
	}
	if got, ok := s.MaxConcurrentStreams(); !ok || got != 250 {
		t.Errorf("of a repeated parameter %d counts (%v), expected the last, 250", got, ok)
	}
	if _, ok := s.Value(http2.SettingInitialWindowSize); ok {
		t.Error("a parameter that was not announced has a value")
	}
	if s, err = inspect(t, t.Context(), settingsFrame(t), false); err != nil || len(s.Announced) != 0 {
		t.Errorf("empty SETTINGS: %v, %v", s, err)
	}
	if _, ok := s.MaxConcurrentStreams(); ok {
		t.Error("no announcement is taken for a limit")
	}
}

func TestWhatIsNoSettingsFrameIsRefused(t *testing.T) {
	oversized := append([]byte{0xff, 0xff, 0xff, 4, 0, 0, 0, 0, 0}, make([]byte, 100)...)
	for _, c := range []struct {
		name   string
		answer []byte
		closes bool
		is     error
		says   string
	}{
		{"an HTTP/1 answer", []byte("HTTP/1.1 400 Bad Request\r\n\r\nno\x1b[2J"), false, frames.ErrNotHTTP2, `it began "HTTP/1.1 400 Bad Request"`},
		{"control bytes", []byte("\x1b[2Jabcdefghijkl"), false, frames.ErrNotHTTP2, `"\x1b[2Jabcdefghijkl"`},
		{"the end", nil, true, io.EOF, "no SETTINGS before the end"},
		{"a few bytes and the end", []byte("abc"), true, frames.ErrNotHTTP2, `"abc"`},
		{"an acknowledgement first", []byte{0, 0, 0, 4, 1, 0, 0, 0, 0}, false, frames.ErrNotHTTP2, ""},
		{"a ping first", append([]byte{0, 0, 8, 6, 0, 0, 0, 0, 0}, make([]byte, 8)...), false, frames.ErrNotHTTP2, ""},
		{"a frame larger than allowed", oversized, false, http2.ErrFrameTooLarge, ""},
		{"SETTINGS on a stream", []byte{0, 0, 0, 4, 0, 0, 0, 0, 3}, false, nil, "PROTOCOL_ERROR"},
		{"SETTINGS of a broken length", []byte{0, 0, 5, 4, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5}, false, nil, "FRAME_SIZE_ERROR"},
		{"half a frame and the end", settingsFrame(t, http2.Setting{ID: 3, Val: 1})[:12], true, io.ErrUnexpectedEOF, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := inspect(t, t.Context(), c.answer, c.closes)
			if err == nil {
				t.Fatal("it is taken for SETTINGS")
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v is not %v", err, c.is)
			}
			if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("error %q, expected %q", err, c.says)
			}
		})
	}
}

func TestASilentPeerIsLeftAtTheDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := inspect(t, ctx, nil, false); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "in time") {
		t.Error(err)
	}
}

func TestARealServersLimitIsSeen(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.EnableHTTP2 = true
	server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 37}
	server.StartTLS()
	defer server.Close()
	config := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = []string{"h2"}
	conn, err := dialTLS(t.Context(), server.Listener.Addr().String(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s, err := frames.Inspect(t.Context(), conn)
	if got, ok := s.MaxConcurrentStreams(); err != nil || !ok || got != 37 {
		t.Errorf("%d streams (%v, %v), expected 37", got, ok, err)
	}
	server.Client().CloseIdleConnections()
}

func dialTLS(ctx context.Context, address string, config *tls.Config) (net.Conn, error) {
	return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
}
