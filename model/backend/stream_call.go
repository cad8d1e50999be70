package backend

// subscribes reports whether the call is a subscription.
func (c *Call) subscribes() bool { return c.Method == MethodSubscribe || c.Method == MethodStatic }

// StaticCall asks for a static subscription (section 9).
type StaticCall struct {
	Entries []Asked `json:"entries"`
}

// Request is one frame that the harness sends on a bidirectional subscription,
// or what it does to its connection. At most one field is set; none is a frame
// without an alternative (API-106).
type Request struct {
	Update *Update `json:"update,omitempty"`
	// Ping and Pong hold the nonce.
	Ping *uint64 `json:"ping,omitempty"`
	Pong *uint64 `json:"pong,omitempty"`
	// Close ends the sending side; Cancel ends the call. A static subscription
	// knows Cancel alone.
	Close  bool `json:"close,omitempty"`
	Cancel bool `json:"cancel,omitempty"`
	// Pause and Resume say that the client stopped reading, and reads again: while
	// it does not, neither the times of frames nor a failure for slowness tell
	// anything.
	Pause  bool `json:"pause,omitempty"`
	Resume bool `json:"resume,omitempty"`
	// WireLen is the encoded length of the frame in bytes.
	WireLen int `json:"wire_len,omitempty"`
}

// Update changes what a subscription delivers (API-091).
type Update struct {
	ID      uint64  `json:"id"`
	Adds    []Asked `json:"adds,omitempty"`
	Removes []Asked `json:"removes,omitempty"`
}

// Response is one frame that a subscription received. Exactly one field besides
// WireLen is set.
type Response struct {
	Started  *Started  `json:"started,omitempty"`
	Applied  *Applied  `json:"applied,omitempty"`
	Messages *Messages `json:"messages,omitempty"`
	// Ping and Pong hold the nonce.
	Ping *uint64 `json:"ping,omitempty"`
	Pong *uint64 `json:"pong,omitempty"`
	// Keepalive is a frame of a static subscription.
	Keepalive bool `json:"keepalive,omitempty"`
	// Empty is a frame that sets no alternative this client knows.
	Empty bool `json:"empty,omitempty"`
	// WireLen is the encoded length of the frame in bytes.
	WireLen int `json:"wire_len,omitempty"`
}

// Started is the first frame of a subscription (API-090, 111).
type Started struct {
	KeepaliveMS uint32 `json:"keepalive_ms"`
	// Targets is what a static subscription catches up to, in request order.
	Targets []Target `json:"targets,omitempty"`
}

// Applied acknowledges an update (API-094).
type Applied struct {
	ID      uint64   `json:"id"`
	Targets []Target `json:"targets,omitempty"`
}

// Target is the catch-up target of one registration.
type Target struct {
	HasTopic bool `json:"has_topic"`
	// Topic holds the raw bytes of the topic.
	Topic Bytes `json:"topic"`
	// Through is the sequence id to catch up to, 0 for an empty topic.
	Through uint64 `json:"through"`
}

// Messages carries envelopes, history and live alike (API-095).
type Messages struct {
	Rows []Row `json:"rows"`
}

// Awaited is a mark: the harness read a subscription and waited for something that
// did not come. Elapsed time proves nothing by itself; what it does prove beside a
// sign of life, awaited in stream_wait.go says. One of the fields behind Stream and
// WaitedMS is set.
type Awaited struct {
	// Stream is the number of the call.
	Stream int `json:"awaited_stream"`
	// WaitedMS is how long, in milliseconds.
	WaitedMS uint64 `json:"waited_ms"`
	// Row is a row of a topic at or above a sequence id.
	Row *Target `json:"row,omitempty"`
	// Applied is the id of an update, Pong a nonce.
	Applied *uint64 `json:"applied,omitempty"`
	Pong    *uint64 `json:"pong,omitempty"`
	// Started is the first frame, Frame any frame, End the end of the call.
	Started bool `json:"started,omitempty"`
	Frame   bool `json:"frame,omitempty"`
	End     bool `json:"end,omitempty"`
}
