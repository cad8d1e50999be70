// Package mls holds native fuzz targets for the MLS reader. Start with FuzzGroupMessage, FuzzKeyPackage and
// FuzzSignedKeyPackage; `go test` replays their corpora, `go test -fuzz FuzzGroupMessage` goes on from them.
//
// Each target asks more than "no panic": it reads the same bytes a second time, with a grammar written from RFC 9420
// in another shape than the reader, and the two must agree on the verdict and on everything that is taken from the
// bytes. The seeds are the reader's official and synthetic vectors together with the files in testdata/fuzz.
//
// What the targets do not check: signatures as such. FuzzSignedKeyPackage signs every mutated package again, so that
// the rules behind the signatures are reached.
package mls
