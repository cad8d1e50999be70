// Package stream serves subscriptions: sections 8 and 9 of the specification.
//
// Start with [Session]. A session is one stream as a pure step machine: frames
// of the client, results of reads, wake-ups and timers go in as events; frames
// to the client, reads to make and deadlines come out as effects. It knows no
// socket, goroutine, lock or clock, and both forms of subscription are it.
//
// Around it stand three small things. [Feed] is the one reader that all streams
// of a server share: it learns which topics moved and reads what is new on them
// once for everybody. drive.go carries a session's effects out and brings its
// events in. [Service] is what gRPC calls.
//
// Why nothing is lost. A topic is registered at the feed before its head is
// read, so every envelope is at or below that head, or is told of by the feed
// afterwards. What the feed tells before a topic has caught up raises the mark
// that history is read up to, and only a topic that has passed its mark takes
// envelopes from the feed. The feed itself never scans ids: two transactions
// can commit in the other order than their ids, and the lower would be passed.
// It asks which transactions became visible since its last snapshot, and then
// reads each topic from where it stood. A notification only makes it look
// sooner.
//
// The package does not check what envelopes hold; publishing has. It does not
// know SQL: package store has the statements.
package stream
