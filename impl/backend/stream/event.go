package stream

import (
	"time"

	"assay/impl/backend"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Event is something that happens to a session.
type Event interface{ event() }

// The events.
type (
	// Opened is the first event of a session, and comes once.
	Opened struct {
		// Static are the topics of a static subscription; nil opens a
		// bidirectional one.
		Static *backendv1.SubscribeStaticRequest
	}
	// Received is a frame of the client.
	Received struct{ Frame *backendv1.SubscribeRequest }
	// HalfClosed says that the client will send no more (API-108).
	HalfClosed struct{}
	// HeadsRead answers ReadHeads, in the order of its topics.
	HeadsRead struct {
		Heads []int64
		Err   error
	}
	// PageRead answers ReadPage.
	PageRead struct {
		Page Page
		Err  error
	}
	// Moved is a wake-up: the topic has an envelope of this id. It carries none.
	Moved struct {
		Topic backend.Topic
		Head  int64
	}
	// Arrived carries what is new on topics, ascending by id in each of them
	// and without a gap since what the feed told of the topic before.
	Arrived struct{ Rows []Row }
	// Taken says that the transport took frames.
	Taken struct {
		Frames int
		Bytes  int
		// Ping says that a Ping was among them.
		Ping bool
	}
	// Due says that the deadline that the session asked for is over.
	Due struct{}
	// FeedLost says that nothing more will be told of topics that move.
	FeedLost struct{}
	// Closed says that the stream is over, for whatever reason. It is the last
	// event, and comes after End too.
	Closed struct{}
)

func (Opened) event()     {}
func (Received) event()   {}
func (HalfClosed) event() {}
func (HeadsRead) event()  {}
func (PageRead) event()   {}
func (Moved) event()      {}
func (Arrived) event()    {}
func (Taken) event()      {}
func (Due) event()        {}
func (FeedLost) event()   {}
func (Closed) event()     {}

// Effect is something that a session wants done. Effects of one step are carried
// out in their order.
type Effect interface{ effect() }

// The effects.
type (
	// Send queues a frame for the client, behind all before it.
	Send struct {
		Frame Frame
		// Size is the length of the encoded frame in bytes.
		Size int
	}
	// Register asks the feed to tell of topics from now on. It is done when the
	// next effect begins.
	Register struct{ Topics []backend.Topic }
	// Unregister ends that.
	Unregister struct{ Topics []backend.Topic }
	// ReadHeads asks for the visible heads of topics. One is in flight at a time.
	ReadHeads struct{ Topics []backend.Topic }
	// ReadPage asks for envelopes above positions: at most Rows of each topic,
	// and Bytes altogether. One is in flight at a time.
	ReadPage struct {
		From  []backend.Position
		Rows  int
		Bytes int64
	}
	// Wake asks for Due at a time, in place of any asked for before.
	Wake struct{ At time.Time }
	// End ends the stream; only Unregister comes after it. Err is nil or a
	// *backend.Refusal. What is queued and not taken is lost.
	End struct{ Err error }
)

func (Send) effect()       {}
func (Register) effect()   {}
func (Unregister) effect() {}
func (ReadHeads) effect()  {}
func (ReadPage) effect()   {}
func (Wake) effect()       {}
func (End) effect()        {}

// Row is one envelope on its way to clients.
type Row struct {
	Topic backend.Topic
	ID    int64
	// Wire is the encoded ServerEnvelope. It is shared and must not change.
	Wire []byte
}

// Page is what one page read found.
type Page struct {
	// Rows are those of the first topic asked for, then those of the second,
	// and so on; ascending by id within each.
	Rows []Row
	// Cut is the place, in the order asked, of the topic at which the budget of
	// bytes ended: its rows may be missing in part, and those of the topics
	// behind it altogether. Without a cut it is the number of topics.
	Cut int
}

// Frame is what a client receives.
type Frame interface{ frame() }

// The frames.
type (
	// Started is the first (API-090, API-111). Targets are for a static stream.
	Started struct {
		KeepaliveMS uint32
		Targets     []Target
	}
	// Applied acknowledges an update (API-094).
	Applied struct {
		ID      uint64
		Targets []Target
	}
	// Messages carries envelopes (API-095).
	Messages struct{ Rows []Row }
	// Ping asks for a Pong (API-099).
	Ping struct{ Nonce uint64 }
	// Pong answers a Ping.
	Pong struct{ Nonce uint64 }
	// Keepalive shows that a static stream lives (API-113).
	Keepalive struct{}
)

func (Started) frame()   {}
func (Applied) frame()   {}
func (Messages) frame()  {}
func (Ping) frame()      {}
func (Pong) frame()      {}
func (Keepalive) frame() {}

// Target is a catch-up target: the head of a topic when it was registered.
type Target struct {
	Topic   backend.Topic
	Through int64
}
