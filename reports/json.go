package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxFile bounds a results file that is read back. The largest honest one, a
// thousand requirements with a hundred violations each, stays below it.
const maxFile = 256 << 20

// WriteJSON writes the result as one indented assay.results/v1 object. It
// refuses a result that contradicts itself.
func WriteJSON(w io.Writer, r Result) error {
	if err := r.Validate(); err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the file is JSON, not HTML: "<" reads better than \u003c
	e.SetIndent("", "  ")
	if err := e.Encode(r.filled()); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// ReadJSON rebuilds a result from what WriteJSON wrote. name is the file's
// name, for errors. Unknown fields, a second value in the file and a result
// that contradicts itself are errors.
func ReadJSON(src io.Reader, name string) (Result, error) {
	data, err := io.ReadAll(io.LimitReader(src, maxFile+1))
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxFile {
		return Result{}, fmt.Errorf("%s: the file is larger than %d bytes, which no results file is", name, maxFile)
	}
	var version struct {
		Format string `json:"format"`
	}
	// The format comes first: a file of a later version should be called that,
	// and not be blamed for its first new field.
	if err := json.Unmarshal(data, &version); err != nil {
		return Result{}, located(name, data, err)
	}
	if version.Format != Format {
		return Result{}, fmt.Errorf("%s: format is %.60q, expected %s", name, version.Format, Format)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var r Result
	if err := d.Decode(&r); err != nil {
		return Result{}, located(name, data, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Result{}, fmt.Errorf("%s:%d: there is more after the result: expected one JSON object", name, line(data, d.InputOffset()))
	}
	if err := r.Validate(); err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	return r.filled(), nil
}

// located adds the line to an error of encoding/json, where it knows one.
func located(name string, data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%s:%d: expected a JSON object of format %s: %w", name, line(data, syntax.Offset), Format, err)
	case errors.As(err, &kind):
		return fmt.Errorf("%s:%d: field %q cannot hold a %s: expected %s", name, line(data, kind.Offset), kind.Field, kind.Value, kind.Type)
	default:
		return fmt.Errorf("%s: expected a JSON object of format %s: %w", name, Format, err)
	}
}

// line returns the line, from 1, that holds the byte before offset.
func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset-1, 0), int64(len(data)))], []byte{'\n'})
}
