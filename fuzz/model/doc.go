// Package model holds native fuzz targets for the rules of a specification. Start with FuzzJudge and FuzzDecoded; `go
// test` replays their corpora, `go test -fuzz FuzzJudge` goes on from them.
//
// A history may come from a file that anybody wrote, so the judge promises to take every history: FuzzJudge builds one
// from bytes, event by event, with what no client would record among it (answers without calls, calls without content,
// lengths that differ, identities that repeat, indexes out of range), and FuzzDecoded reads one from JSON lines. In both
// the judge must not panic, must give the same twice, and must prove each breach by events of the history.
//
// What the targets do not check: that a judgement is right. The tests of model/backend do.
package model
