// Package gate stands between a backend and its Postgres and holds statements
// until told: what is a race by chance without it happens on demand. Start with
// [New] and [Gate.Serve]; put [Gate.URL] where the backend expects its database;
// then [Gate.Hold] stops a session before a statement reaches the server, or
// after the server has answered and before the client knows.
//
// What it promises:
//   - Bytes are passed on unchanged, both ways, as they come: rows and COPY data
//     are not collected. Logging in happens between client and server; the one
//     exception is in scram.go, where both ends do not see the same TLS.
//   - When one side goes away the other learns it at once.
//   - A statement is held only when it matches its rule; a rule for one call
//     stops no statement that is not known to be that call's, and what passed
//     unknown is counted ([Hold.Passed]).
//   - With no hold, call or recording it costs little: two reads and two writes
//     of whatever has come, and a look at each message's header.
//
// What is held is a unit: one simple query, or one extended cycle up to its
// Sync. A Parse or Describe that a driver sends ahead with a Flush or a Sync of
// its own is passed on. Rules, calls and recordings apply to units that begin
// after they were made; a rule for the answer, also to one whose request is held.
//
// Some races hide inside of one statement, where no proxy can hold it:
// [Gate.ParkInserts] and [Gate.ParkSequence] stop a session there, in a database
// that may be altered for it.
//
// What it does not do: it judges nothing, knows no suite, and does not speak
// GSSAPI encryption (clients are told so and go on without). Statements that a
// client prepared while a gate was not looking are known by their text; portals
// that were bound then are not, and are reported without one.
package gate
