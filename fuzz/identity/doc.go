// Package identity holds native fuzz targets for identity updates. Start with
// FuzzUpdate (bytes through decoding, verification and state) and FuzzRules
// (verified steps through the state machine); `go test` replays their corpora,
// `go test -fuzz FuzzRules` goes on from them.
//
// FuzzUpdate asks that nothing panics, that a refusal is one of the known
// classes with a bounded, printable text, that remembering verified updates
// changes no verdict, and that what was accepted is not accepted a second time.
// FuzzRules judges the same steps with a second state machine, which keeps no
// state: it answers each question from the log of what happened.
//
// Neither can make a signature by chance, so FuzzUpdate starts from good
// updates, and which signatures a chain accepts is the fuzzer's choice.
package identity
