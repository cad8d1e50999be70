// Package backend is the catalogue of the XMTP backend API: what a server of
// the package xmtp.backend.v1 owes its clients, by numbered requirement, with
// its limits and vocabulary.
//
// Start at [Catalogue]. The data is requirements.yaml and limits.yaml beside
// this file, in the project's own words; their numbers and codes are the
// specification's. Typed constants for the ids are generated into
// spec/gen/backendreq. [Proto] has the wire definition as its sources say it.
//
// The package does not judge anything, and does not prove that a statement
// says what the specification says.
package backend

import (
	"embed"
	"io/fs"

	"assay/spec"
)

//go:generate go run assay/spec/gen/cmd/genreq -catalogue . -package backendreq -out ../gen/backendreq/ids.go

//go:embed requirements.yaml
var requirementsYAML []byte

//go:embed limits.yaml
var limitsYAML []byte

// Catalogue reads the embedded catalogue. Each call returns a value of its own.
// The error is for the engineer who edits the data: a test of this package
// keeps a program that was built from returning it.
func Catalogue() (*spec.Catalogue, error) {
	return spec.LoadCatalogue(requirementsYAML, limitsYAML)
}

// The pattern names the sources, and not the folder, because tests live beside
// them; a test of this package finds a source that it misses.
//
//go:embed proto/*/*.proto proto/*/*/*.proto
var protoSources embed.FS

// Proto returns the protobuf sources of the API as a tree whose paths are those
// of their import statements, as in "backend/v1/backend.proto".
func Proto() (fs.FS, error) { return fs.Sub(protoSources, "proto") }
