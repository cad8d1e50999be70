// Package wire is the client of the backend suite. Start with Dial, then
// Client.Publish, Query and the others; Probe tells whether a subject answers at
// all. A call sends the bytes it is given and returns what came back as a value
// of the model.
//
// It promises three things. A request is sent at most once: nothing here retries,
// follows or resends. A status in a Return is one that the peer sent: where no
// answer came Lost says so, and where an answer came that is not one of the
// protocol Garbled says so; the client makes no code of its own. And whatever the
// peer sends is data: bounded, escaped, decoded without trust.
//
// For this the client reads HTTP/2 responses itself instead of going through a
// gRPC library, which answers with codes of its own (UNAVAILABLE for a lost
// connection, RESOURCE_EXHAUSTED for a large message) that nobody could tell from
// a subject's. grpc:// and grpcs:// speak native gRPC over HTTP/2; http:// and
// https:// speak gRPC-Web.
//
// It judges nothing: whether a status or a row is legal is for the model.
package wire
