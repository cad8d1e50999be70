// Package frames looks at an HTTP/2 peer below any client library: it sends the
// connection preface and SETTINGS, and returns the SETTINGS the peer announces,
// in the order and with the repetitions in which they came. Start from Inspect.
//
// It opens no stream, sends no request, and does not judge the values; what a
// specification asks of them is for a suite to say.
package frames

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"golang.org/x/net/http2"
)

// ErrNotHTTP2: the peer's first bytes are no SETTINGS frame.
var ErrNotHTTP2 = errors.New("the peer does not speak HTTP/2")

// Settings are a peer's SETTINGS, RFC 9113 section 6.5.
type Settings struct {
	// Announced holds every parameter as it came, unknown ones included.
	Announced []http2.Setting
}

// Value gives a parameter's value and whether it was announced. Of a repeated
// one the last counts, as RFC 9113 section 6.5.3 has it.
func (s Settings) Value(id http2.SettingID) (uint32, bool) {
	for i := len(s.Announced) - 1; i >= 0; i-- {
		if s.Announced[i].ID == id {
			return s.Announced[i].Val, true
		}
	}
	return 0, false
}

// MaxConcurrentStreams is the number of streams the peer lets us open; false
// when it announces none, which means no limit.
func (s Settings) MaxConcurrentStreams() (uint32, bool) {
	return s.Value(http2.SettingMaxConcurrentStreams)
}

// Defaults, should the context set no deadline.
const timeout = 5 * time.Second

// The largest frame before we announce another size, RFC 9113 section 4.2.
const maxFrame = 16384

// Inspect speaks the preface over a connection that is open (and, with TLS, has
// agreed on h2), returns the peer's SETTINGS and says goodbye. The connection
// stays the caller's to close and is of no further use. The context's deadline
// bounds it, 5 s without one.
func Inspect(ctx context.Context, conn net.Conn) (Settings, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	s, err := inspect(conn)
	if err != nil && ctx.Err() != nil {
		return Settings{}, fmt.Errorf("SETTINGS of %s: no complete answer in time: %w", conn.RemoteAddr(), context.Cause(ctx))
	}
	if err != nil {
		return Settings{}, fmt.Errorf("SETTINGS of %s: %w", conn.RemoteAddr(), err)
	}
	return s, nil
}

func inspect(conn net.Conn) (Settings, error) {
	reader := bufio.NewReader(conn)
	framer := http2.NewFramer(conn, reader)
	framer.SetMaxReadFrameSize(maxFrame)
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		return Settings{}, err
	}
	if err := framer.WriteSettings(); err != nil {
		return Settings{}, err
	}
	// Looked at before the framer reads it: to a framer an HTTP/1 answer is an
	// oversized frame, which would send its owner looking in the wrong place.
	head, err := reader.Peek(9)
	if err != nil && len(head) == 0 {
		return Settings{}, fmt.Errorf("no SETTINGS before the end: %w", err)
	}
	if len(head) < 9 || http2.FrameType(head[3]) != http2.FrameSettings || head[4]&byte(http2.FlagSettingsAck) != 0 {
		if more, _ := reader.Peek(min(reader.Buffered(), 100)); len(more) > len(head) {
			head = more
		}
		line, _, _ := bytes.Cut(head, []byte("\r\n"))
		return Settings{}, fmt.Errorf("%w: it began %s", ErrNotHTTP2, strconv.QuoteToASCII(string(line)))
	}
	frame, err := framer.ReadFrame()
	if err != nil {
		return Settings{}, fmt.Errorf("SETTINGS frame: %w", err)
	}
	announced, ok := frame.(*http2.SettingsFrame)
	if !ok {
		return Settings{}, fmt.Errorf("%w: its first frame is %s", ErrNotHTTP2, frame.Header().Type)
	}
	var s Settings
	for i := range announced.NumSettings() {
		s.Announced = append(s.Announced, announced.Setting(i))
	}
	// The answer is here; whether the peer still hears our goodbye changes nothing.
	_ = framer.WriteSettingsAck()
	_ = framer.WriteGoAway(0, http2.ErrCodeNo, nil)
	return s, nil
}
