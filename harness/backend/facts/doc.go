// Package facts reads the calls of a backend history as facts about ordered logs,
// and says which requirement each rule of package check decides. Start with
// Judge; Read alone gives the facts.
//
// A topic is a log, a sequence id a position, an envelope's identity an entry. A
// publish is an append, a query a page, each topic of a newest-envelope read a
// head. Identity topics are one series (API-014), and all topics share one
// sequence (API-010). A subscription is a set of registrations, one for each time
// that a topic is added; which of them a row belongs to, its acknowledgements say.
// Both forms are read alike.
//
// It promises that a call whose answer tells nothing of ordered logs, or tells
// it incompletely, makes no fact but that it was open: package model/backend
// judges what is wrong with such an answer. It does not judge what a single call
// may answer, and no payload.
package facts
