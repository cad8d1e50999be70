package check

// Stream is one registration of a log with a subscription, from the call that
// adds it to its removal or the end of its connection.
type Stream uint32

// Registration is what a subscriber asks for.
type Registration struct {
	// Call is the number of the call that carries the registration.
	Call int
	// Invoked is the moment before the request to register left.
	Invoked Order
	Log     Log
	// After is the exclusive cursor the registration starts from.
	After uint64
	// Lag is true when the subscription may be served by a replica.
	Lag bool
}

// streamColumns holds registrations and what happened to them.
type streamColumns struct {
	registration []Registration
	moment       []moment
}

type momentKind uint8

const (
	_        momentKind = iota
	answered            // the registration was acknowledged with a target
	framed              // a row was delivered
	removed             // its removal was acknowledged
)

type moment struct {
	stream   Stream
	at       Order
	row      Row
	kind     momentKind
	position uint64
}

// Register adds a registration that the subject accepted, or may have.
func (f *Facts) Register(r Registration) Stream {
	f.begin()
	f.streams.registration = append(f.streams.registration, r)
	return Stream(len(f.streams.registration) - 1)
}

// Answered says that the registration was acknowledged, with the position of
// the head it will catch up to, 0 for an empty log.
func (f *Facts) Answered(s Stream, at Order, target uint64) {
	f.streams.moment = append(f.streams.moment, moment{stream: s, at: at, kind: answered, position: target})
}

// Framed says that a frame delivered a row. Rows of one frame have one order
// and are added as they stand in it.
func (f *Facts) Framed(s Stream, at Order, r Row) {
	f.streams.moment = append(f.streams.moment, moment{stream: s, at: at, kind: framed, row: r})
}

// Removed says that the removal of the registration was acknowledged: what
// arrives later must not belong to it.
func (f *Facts) Removed(s Stream, at Order) {
	f.streams.moment = append(f.streams.moment, moment{stream: s, at: at, kind: removed})
}
