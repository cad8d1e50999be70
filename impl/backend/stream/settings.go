package stream

import (
	"time"

	"assay/impl/backend/config"
)

// Settings are what an operator may choose about streams.
type Settings struct {
	Limits  config.Limits
	Streams config.Streams
}

// The engine's own measures. They bound what one stream can hold and how long
// one turn takes; none of them is a limit that a client could meet by itself.
const (
	// frameTarget is the length of a Messages frame with its five bytes of
	// header. A frame may be longer only for a single envelope.
	frameTarget = 2 << 20
	// frameHeader is what gRPC puts in front of a message.
	frameHeader = 5
	// queueFrames and queueBytes bound what a client has not taken.
	queueFrames = 64
	queueBytes  = 16 << 20
	// History leaves the rest of the queue to envelopes that arrive, so that a
	// stream that only catches up is never failed for slowness.
	historyFrames = queueFrames / 2
	historyBytes  = queueBytes / 2
	// A turn reads so many topics, and so many rows of each.
	turnTopics = 256
	turnRows   = 64
	// defaultKeepalive stands in for an interval of 0, which leaves the choice
	// to the client (API-090).
	defaultKeepalive = 30 * time.Second
)

func (s Settings) keepalive() time.Duration {
	if s.Streams.KeepaliveIntervalMS == 0 {
		return defaultKeepalive
	}
	return time.Duration(s.Streams.KeepaliveIntervalMS) * time.Millisecond
}

func (s Settings) pongWait() time.Duration {
	return time.Duration(s.Streams.MaxPongWaitMS) * time.Millisecond
}

func (s Settings) pollInterval() time.Duration {
	return time.Duration(s.Streams.PollIntervalMS) * time.Millisecond
}

// messageBytes is the budget of a Messages frame.
func (s Settings) messageBytes() int64 {
	return min(frameTarget, int64(s.Limits.MaxResponseBytes)+frameHeader) - frameHeader
}
