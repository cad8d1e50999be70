// Package check judges concurrent histories of ordered logs. Start with Facts,
// which a suite's reader fills, and Run, which judges them.
//
// An ordered log is a named log whose entries have positions that the server
// hands out. A history of ordered logs carries its own witness order, so
// judging it needs sorting and not search: every rule here is a scan over
// columns sorted by position or by event.
//
// # What is legal
//
// An append stores all its entries at one moment between its invocation and its
// return, or none of them. An entry becomes visible at that moment, or later
// when the last append that holds a lower position on its log has ended: so a
// log's visible entries are always a prefix of its positions, less gaps. A page
// or a head shows what was visible at one moment, between the read's invocation
// and its return when the primary answered, and at any moment before its return
// when a replica did. A subscription delivers every entry above its cursor once,
// in order.
//
// An append of unknown outcome may store its entries at any later moment, or
// never. It is decided by later facts when one of its entries is seen; absence
// never decides it. An append that was refused, or whose entry has no known
// position, may have held a position while it was open: such an append hides
// what was not yet visible, and is never blamed for a gap. An append that
// succeeded holds the positions it was given, and hides only what is above them.
//
// # How sure it is
//
// A finding is a proof: the events it lists leave no legal order. The reverse
// does not always hold. Bounds on when entries were stored are carried from read
// to read as far as the size of the history allows, and what only a choice
// between several explanations would exclude (which of two appends stored a
// copy, which of two entries made a page be cut) is left open in favour of the
// subject. On random histories of a few calls a search that knows the same rules
// agrees on all but some 7 in 100,000, each time because it saw more; some of
// those are kept in testdata/disagreements.
//
// # What it costs
//
// Less than a microsecond and 100 bytes an operation up to ten million, facts
// included: see BenchmarkCheck, which states the load. Nothing is kept between
// runs.
//
// # What is not checked
//
// Whether an append should have been accepted, what an entry contains, how long
// a replica may lag, and that something arrives at all: elapsed time proves
// nothing here.
package check
