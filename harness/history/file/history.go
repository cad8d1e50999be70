package file

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"assay/harness/history"
	"assay/model"
)

// Write writes a history as JSON lines: the header, then one event a line.
func Write(w io.Writer, h *history.History, c Codec) error {
	b := bufio.NewWriterSize(w, 64<<10)
	line, err := encodeHeader(h.Header)
	if err != nil {
		return fmt.Errorf("write history: header: %w", err)
	}
	for i := -1; ; {
		if _, err := b.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write history: %w", err)
		}
		if i++; i == len(h.Events) {
			break
		}
		if line, err = encodeEvent(h.Events[i], c); err != nil {
			return fmt.Errorf("write history: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

// Read reads a history that Write, or a client in another language, wrote.
// name is the file's name, for errors, which all have the form file:line.
func Read(r io.Reader, name string, find Codecs) (*history.History, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	h := &history.History{}
	var codec Codec
	n := 0
	for lines.Scan() {
		n++
		var err error
		switch {
		case n > 1:
			var e model.Event
			if e, err = decodeEvent(lines.Bytes(), n-2, codec); err == nil {
				h.Events = append(h.Events, e)
			}
		default:
			if h.Header, err = decodeHeader(lines.Bytes()); err == nil {
				codec, err = find(h.Header.Suite)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: the line is longer than %d bytes: payloads belong into a history as digests", name, n+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
	case n == 0:
		return nil, fmt.Errorf("%s:1: the file is empty: expected a header of format %s", name, HistoryFormat)
	}
	if err := h.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w (event n stands on line n+2)", name, err)
	}
	return h, nil
}

// ReadFile reads the history file at a path.
func ReadFile(path string, find Codecs) (*history.History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path, find)
}
