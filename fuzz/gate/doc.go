// Package gate holds native fuzz targets for what the gate reads of the Postgres
// protocol. Start with FuzzStream, which cuts any bytes anywhere and reads them
// as a stream, and FuzzBodies, which reads them as the body of each message;
// `go test` replays their corpora, `go test -fuzz FuzzStream` goes on from them.
//
// FuzzStream reads the bytes a second time with a splitter of its own, and the
// two must agree on every message and every byte that is passed on. FuzzBodies
// holds the readers against pgproto3: what that accepts they read in the same
// way. What is checked besides is that memory stays within what a client was
// promised to cost, whatever it claims.
package gate
