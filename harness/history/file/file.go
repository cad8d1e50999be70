// Package file reads and writes what package history holds: a history as JSON
// lines (*.history.jsonl, format assay.history/v1), and a violation with all
// that shows it again (*.assay.json, format assay.bundle/v1). Start with
// [Write] and [Read], or [WriteBundle] and [ReadBundle]; [Save] puts either on
// disk so that a reader never meets half a file.
//
// It promises that what it reads is a history that can have happened (indices
// count up, a return has its call, the calls of one actor do not overlap), that
// every error names file, line and what was expected, and that no file makes it
// use more memory than the bounds below allow. What a call or return means is
// the suite's: its [Codec] reads and writes the values. Whether the history
// breaks a requirement is not asked here.
//
// Both formats are documented in docs/history-format.md, well enough to write
// one from another language.
package file

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"assay/model"
)

// The formats, as they stand in a file. A change that a reader could trip over
// takes a new number.
const (
	HistoryFormat = "assay.history/v1"
	BundleFormat  = "assay.bundle/v1"
)

// The name endings of the two formats.
const (
	HistorySuffix = ".history.jsonl"
	BundleSuffix  = ".assay.json"
)

// Bounds on what is read. A payload is in a history as a digest, so the longest
// honest line, a publish of a thousand envelopes, is below a megabyte.
const (
	maxLine   = 16 << 20
	maxBundle = 256 << 20
)

// Codec is the suite's half of a file: it turns the value of an event into JSON
// and back. A decoded value of the wrong phase is an error.
type Codec interface {
	Encode(e model.Event) (json.RawMessage, error)
	Decode(p model.Phase, data json.RawMessage) (any, error)
}

// Codecs finds the codec of a suite by name; its error says which names exist.
type Codecs func(suite string) (Codec, error)

// Save writes a file whole or not at all: under a temporary name beside it,
// flushed, then renamed. Folders on the way are made.
func Save(path string, write func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	f, err := os.CreateTemp(dir, ".assay-*.tmp")
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()           // closed already or not: the first error is the one that says why
			os.Remove(f.Name()) // what stays behind is a hidden .tmp file
			err = fmt.Errorf("save %s: %w", path, err)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
