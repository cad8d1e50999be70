package check

import "math"

// Order is the place of an event in a history, from 1. If one event happened
// before another in real time as the harness saw it, its order is lower. Every
// invocation, return and frame has an order of its own.
type Order uint32

// Never is the order of a return that did not come.
const Never Order = math.MaxUint32

// Log, Entry and Row are interned: small numbers that Facts hands out. The zero
// value names none.
type (
	// Log is one named log.
	Log uint32
	// Entry is one identity on one log: equal content on two logs is two entries.
	Entry uint32
	// Row is one claim that an entry has a position and metadata.
	Row uint32
)

// Outcome is what became of an append. The zero value is invalid.
type Outcome uint8

const (
	_ Outcome = iota
	// Stored means that the append succeeded: it names a row for every entry.
	Stored
	// Refused means an answer that promises that nothing was stored.
	Refused
	// Contended is Refused because another append won (a lost race).
	Contended
	// Unknown means that no answer tells; it may take effect at any later time.
	Unknown
)

// Append is one call that asks to store entries atomically.
type Append struct {
	// Call is the number of the call in its history.
	Call              int
	Invoked, Returned Order
	Outcome           Outcome
	Entries           []Entry
	// Rows says what the answer claims for each entry; nil unless Stored.
	Rows []Row
	// Conditions are what must hold for the append to be stored.
	Conditions []Condition
	// Partial is true when the request holds more than the entries, or breaks a
	// bound: then it may be refused although every entry is stored.
	Partial bool
}

// Condition makes an append depend on the state of one log.
type Condition struct {
	Log Log
	// Token, when not 0, is something that only one stored append of the log can
	// have consumed: two appends of different entries that carry the same token
	// exclude each other.
	Token uint32
}

// Span is what a page asks of one log: the entries above a cursor.
type Span struct {
	Log   Log
	After uint64
}

// Page is one read of the entries above cursors, from one snapshot.
type Page struct {
	Call              int
	Invoked, Returned Order
	// Lag is true when a replica may have answered: the page may then show an
	// earlier moment, but still a moment.
	Lag bool
	// Limit is the number of rows the page may hold in all; 0 is no limit.
	Limit uint32
	// More is true when the page says that it was cut at its limit.
	More bool
	// Spans names each log once.
	Spans []Span
	// Rows are the rows in the order of the page.
	Rows []Row
}

// Head is what a head read says of one log.
type Head struct {
	Log Log
	// Row names the entry, when the answer showed it; else it is 0.
	Row Row
	// Position is that of the newest entry, 0 for none.
	Position uint64
	// Meta is the digest of the metadata, when Row is 0 and the answer has any.
	Meta uint64
}

// Heads is one read of the newest entries of logs. Its logs need not come from
// one snapshot.
type Heads struct {
	Call              int
	Invoked, Returned Order
	Lag               bool
	Heads             []Head
}

// Facts holds what a history says of ordered logs, in columns. The zero value
// is empty and ready; its methods must not be called concurrently. Calls may be
// added in any order.
type Facts struct {
	// OneSequence is true when positions are unique over all logs.
	OneSequence bool

	logName   []string
	logSeries []uint32

	entryLog []Log
	entryRow []Row           // the entry's first row, 0 for none
	entryAll map[Entry][]Row // all rows of entries with more than one

	rowEntry []Entry
	rowPos   []uint64
	rowMeta  []uint64

	appends appendColumns
	pages   pageColumns
	heads   headColumns
	streams streamColumns
}

// appendColumns holds appends; the items of append i are from[i] to from[i+1].
type appendColumns struct {
	call      []uint32
	invoked   []Order
	returned  []Order
	outcome   []Outcome
	from      []uint32
	entry     []Entry
	row       []Row
	condition []condition
	partial   []uint32 // refused appends that hold more than their entries, ascending
}

type condition struct {
	append, token uint32
	log           Log
}

func (a *appendColumns) len() int { return len(a.call) }

// items returns the bounds of the items of append i.
func (a *appendColumns) items(i int) (from, to uint32) {
	if i+1 < len(a.from) {
		return a.from[i], a.from[i+1]
	}
	return a.from[i], uint32(len(a.entry))
}

// pageColumns holds pages; spans and rows of page i likewise.
type pageColumns struct {
	call     []uint32
	invoked  []Order
	returned []Order
	limit    []uint32
	flags    []uint8
	spanFrom []uint32
	rowFrom  []uint32
	spanLog  []Log
	spanPos  []uint64
	row      []Row
}

const (
	flagLag uint8 = 1 << iota
	flagMore
)

func (p *pageColumns) len() int { return len(p.call) }

func (p *pageColumns) spans(i int) (from, to uint32) {
	if i+1 < len(p.spanFrom) {
		return p.spanFrom[i], p.spanFrom[i+1]
	}
	return p.spanFrom[i], uint32(len(p.spanLog))
}

func (p *pageColumns) rows(i int) (from, to uint32) {
	if i+1 < len(p.rowFrom) {
		return p.rowFrom[i], p.rowFrom[i+1]
	}
	return p.rowFrom[i], uint32(len(p.row))
}

// headColumns holds head reads; the heads of read i likewise.
type headColumns struct {
	call     []uint32
	invoked  []Order
	returned []Order
	flags    []uint8
	from     []uint32
	head     []Head
}

func (h *headColumns) len() int { return len(h.call) }

func (h *headColumns) heads(i int) []Head {
	if i+1 < len(h.from) {
		return h.head[h.from[i]:h.from[i+1]]
	}
	return h.head[h.from[i]:]
}

// Sizes says how much room to make at once; it only saves copying.
type Sizes struct {
	Logs, Entries, Rows             int
	Appends, Items                  int
	Pages, Spans, PageRows          int
	HeadReads, Heads, StreamMoments int
}

// New returns empty facts with room for what sizes says.
func New(s Sizes) *Facts {
	f := &Facts{
		logName: make([]string, 1, s.Logs+1), logSeries: make([]uint32, 1, s.Logs+1),
		entryLog: make([]Log, 1, s.Entries+1), entryRow: make([]Row, 1, s.Entries+1),
		rowEntry: make([]Entry, 1, s.Rows+1), rowPos: make([]uint64, 1, s.Rows+1), rowMeta: make([]uint64, 1, s.Rows+1),
	}
	a := &f.appends
	a.call, a.invoked, a.returned = make([]uint32, 0, s.Appends), make([]Order, 0, s.Appends), make([]Order, 0, s.Appends)
	a.outcome, a.from = make([]Outcome, 0, s.Appends), make([]uint32, 0, s.Appends)
	a.entry, a.row = make([]Entry, 0, s.Items), make([]Row, 0, s.Items)
	p := &f.pages
	p.call, p.invoked, p.returned = make([]uint32, 0, s.Pages), make([]Order, 0, s.Pages), make([]Order, 0, s.Pages)
	p.limit, p.flags = make([]uint32, 0, s.Pages), make([]uint8, 0, s.Pages)
	p.spanFrom, p.rowFrom = make([]uint32, 0, s.Pages), make([]uint32, 0, s.Pages)
	p.spanLog, p.spanPos, p.row = make([]Log, 0, s.Spans), make([]uint64, 0, s.Spans), make([]Row, 0, s.PageRows)
	h := &f.heads
	h.call, h.invoked, h.returned = make([]uint32, 0, s.HeadReads), make([]Order, 0, s.HeadReads), make([]Order, 0, s.HeadReads)
	h.flags, h.from, h.head = make([]uint8, 0, s.HeadReads), make([]uint32, 0, s.HeadReads), make([]Head, 0, s.Heads)
	f.streams.moment = make([]moment, 0, s.StreamMoments)
	return f
}

// begin makes the zero value usable: index 0 of interned columns names none.
func (f *Facts) begin() {
	if len(f.logName) == 0 {
		f.logName, f.logSeries = []string{""}, []uint32{0}
		f.entryLog, f.entryRow = []Log{0}, []Row{0}
		f.rowEntry, f.rowPos, f.rowMeta = []Entry{0}, []uint64{0}, []uint64{0}
	}
}

// Log adds a log. name is for messages. Appends to logs of one series, when it
// is not 0, are serialized: their positions follow the order of their commits
// over all logs of the series.
func (f *Facts) Log(name string, series uint32) Log {
	f.begin()
	f.logName = append(f.logName, name)
	f.logSeries = append(f.logSeries, series)
	return Log(len(f.logName) - 1)
}

// Entry adds an identity on a log. The caller interns: one Entry for each
// distinct identity that is appended to or read from the log.
func (f *Facts) Entry(l Log) Entry {
	f.begin()
	f.entryLog = append(f.entryLog, l)
	f.entryRow = append(f.entryRow, 0)
	return Entry(len(f.entryLog) - 1)
}

// Row returns the row that says that an entry has a position, from 1, and
// metadata with the given digest. Equal arguments give the same row.
func (f *Facts) Row(e Entry, position, meta uint64) Row {
	first := f.entryRow[e]
	if first != 0 && f.rowPos[first] == position && f.rowMeta[first] == meta {
		return first
	}
	for _, r := range f.entryAll[e] {
		if f.rowPos[r] == position && f.rowMeta[r] == meta {
			return r
		}
	}
	f.rowEntry = append(f.rowEntry, e)
	f.rowPos = append(f.rowPos, position)
	f.rowMeta = append(f.rowMeta, meta)
	r := Row(len(f.rowEntry) - 1)
	if first == 0 {
		f.entryRow[e] = r
		return r
	}
	if f.entryAll == nil {
		f.entryAll = make(map[Entry][]Row)
	}
	if f.entryAll[e] == nil {
		f.entryAll[e] = []Row{first}
	}
	f.entryAll[e] = append(f.entryAll[e], r)
	return r
}

// Append adds an append. One that claims to be stored without a row for every
// entry is taken as unknown: its answer does not tell.
func (f *Facts) Append(a Append) {
	f.begin()
	c := &f.appends
	if a.Outcome == Stored && len(a.Rows) != len(a.Entries) {
		a.Outcome = Unknown
	}
	c.call = append(c.call, uint32(a.Call))
	c.invoked = append(c.invoked, a.Invoked)
	c.returned = append(c.returned, a.Returned)
	c.outcome = append(c.outcome, a.Outcome)
	c.from = append(c.from, uint32(len(c.entry)))
	c.entry = append(c.entry, a.Entries...)
	if a.Outcome == Stored {
		c.row = append(c.row, a.Rows...)
	} else {
		for range a.Entries {
			c.row = append(c.row, 0)
		}
	}
	if a.Partial && (a.Outcome == Refused || a.Outcome == Contended) {
		c.partial = append(c.partial, uint32(len(c.call)-1))
	}
	for _, x := range a.Conditions {
		c.condition = append(c.condition, condition{append: uint32(len(c.call) - 1), log: x.Log, token: x.Token})
	}
}

// Page adds a page that was answered.
func (f *Facts) Page(p Page) {
	f.begin()
	c := &f.pages
	c.call = append(c.call, uint32(p.Call))
	c.invoked = append(c.invoked, p.Invoked)
	c.returned = append(c.returned, p.Returned)
	c.limit = append(c.limit, p.Limit)
	c.flags = append(c.flags, flags(p.Lag, p.More))
	c.spanFrom = append(c.spanFrom, uint32(len(c.spanLog)))
	c.rowFrom = append(c.rowFrom, uint32(len(c.row)))
	for _, s := range p.Spans {
		c.spanLog = append(c.spanLog, s.Log)
		c.spanPos = append(c.spanPos, s.After)
	}
	c.row = append(c.row, p.Rows...)
}

// Heads adds a head read that was answered.
func (f *Facts) Heads(h Heads) {
	f.begin()
	c := &f.heads
	c.call = append(c.call, uint32(h.Call))
	c.invoked = append(c.invoked, h.Invoked)
	c.returned = append(c.returned, h.Returned)
	c.flags = append(c.flags, flags(h.Lag, false))
	c.from = append(c.from, uint32(len(c.head)))
	c.head = append(c.head, h.Heads...)
}

func flags(lag, more bool) (out uint8) {
	if lag {
		out |= flagLag
	}
	if more {
		out |= flagMore
	}
	return out
}

// Operations returns the number of calls added.
func (f *Facts) Operations() int {
	return f.appends.len() + f.pages.len() + f.heads.len() + len(f.streams.registration)
}
