package file

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"assay/harness/history"
	"assay/harness/schedule"
	"assay/spec"
)

// maxRequest bounds the offending request in a bundle, in bytes before hex.
const maxRequest = 4 << 20

// Bundle is one violation with everything that shows it again: to a person who
// reads it, and to assay replay.
type Bundle struct {
	// Tool is the program and version that found it.
	Tool        string
	Suite       string
	Scenario    string
	Session     string
	Requirement spec.ID
	Assertion   string
	Expected    string
	Got         string
	// Call is the number of the breached call and Events the indices of the
	// events that prove the breach, in History.
	Call   int
	Events []int
	Seed   uint64
	Nonce  string
	// Profile and Access are those of the run that found it.
	Profile string
	Access  spec.AccessSet
	// Subject describes the system under test. User names and passwords in URLs
	// are masked when the bundle is written.
	Subject string
	// Choices is the recorded source of choice of a generated scenario; nil for
	// a scenario that is an example.
	Choices []byte
	// Schedule are the holds that stopped somebody, in order; nil where nothing
	// was held.
	Schedule []schedule.Stop
	// Request is the offending request as it was sent, nil when it is not
	// known; Line is the grpcurl or curl command that sends it without Assay.
	Request []byte
	Line    string
	// History is the smallest one that shows the breach.
	History *history.History
}

// bundle is the file's form.
type bundle struct {
	Format      string          `json:"format"`
	Tool        string          `json:"tool,omitempty"`
	Suite       string          `json:"suite"`
	Scenario    string          `json:"scenario"`
	Session     string          `json:"session,omitempty"`
	Requirement spec.ID         `json:"requirement"`
	Assertion   string          `json:"assertion"`
	Expected    string          `json:"expected"`
	Got         string          `json:"got"`
	Call        int             `json:"call"`
	Events      []int           `json:"events"`
	Seed        uint64          `json:"seed"`
	Nonce       string          `json:"nonce"`
	Profile     string          `json:"profile,omitempty"`
	Access      spec.AccessSet  `json:"access"`
	Subject     string          `json:"subject,omitempty"`
	Choices     []byte          `json:"choices,omitempty"`
	Schedule    []schedule.Stop `json:"schedule,omitempty"`
	RequestHex  string          `json:"request_hex,omitempty"`
	// RequestBytes is the length of the request; when it is more than
	// RequestHex holds, the hex is only the request's beginning.
	RequestBytes int    `json:"request_bytes,omitempty"`
	RequestLine  string `json:"request_line,omitempty"`
	// History holds what a history file has: the header, then the events.
	// Invariant: it is the last field, because WriteBundle replaces its null.
	History []json.RawMessage `json:"history"`
}

// WriteBundle writes a violation as one assay.bundle/v1 object.
func WriteBundle(w io.Writer, b Bundle, c Codec) error {
	if err := b.validate(); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	sent := b.Request[:min(len(b.Request), maxRequest)]
	out := bundle{Format: BundleFormat, Tool: b.Tool, Suite: b.Suite, Scenario: b.Scenario, Session: b.Session, Requirement: b.Requirement,
		Assertion: b.Assertion, Expected: b.Expected, Got: b.Got, Call: b.Call, Events: append([]int{}, b.Events...), Seed: b.Seed, Nonce: b.Nonce,
		Profile: b.Profile, Access: b.Access, Subject: withoutSecrets(b.Subject), Choices: b.Choices, Schedule: b.Schedule,
		RequestHex: hex.EncodeToString(sent), RequestBytes: len(b.Request), RequestLine: withoutSecrets(b.Line)}
	head := b.History.Header
	head.Subject = withoutSecrets(head.Subject)
	line, err := encodeHeader(head)
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	// The history is written by hand, because a person compares events best
	// when each stands on one line.
	text.Truncate(text.Len() - len("null\n}\n"))
	text.WriteString("[\n    ")
	text.Write(line)
	for _, e := range b.History.Events {
		if line, err = encodeEvent(e, c); err != nil {
			return fmt.Errorf("write bundle: %w", err)
		}
		text.WriteString(",\n    ")
		text.Write(line)
	}
	text.WriteString("\n  ]\n}\n")
	if text.Len() > maxBundle {
		return fmt.Errorf("write bundle: it takes %d bytes, more than the %d that a reader accepts: reduce the history first", text.Len(), maxBundle)
	}
	_, err = w.Write(text.Bytes())
	return err
}

// ReadBundle reads what WriteBundle wrote. name is the file's name, for errors.
func ReadBundle(r io.Reader, name string, find Codecs) (Bundle, error) {
	b, err := readBundle(r, find)
	if err != nil {
		return Bundle{}, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// ReadBundleFile reads the bundle at a path.
func ReadBundleFile(path string, find Codecs) (Bundle, error) {
	f, err := os.Open(path)
	if err != nil {
		return Bundle{}, err
	}
	defer f.Close()
	return ReadBundle(f, path, find)
}

func readBundle(r io.Reader, find Codecs) (Bundle, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBundle+1))
	if err != nil {
		return Bundle{}, err
	}
	if len(data) > maxBundle {
		return Bundle{}, fmt.Errorf("the file is larger than %d bytes, which no bundle is", maxBundle)
	}
	var version struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return Bundle{}, fmt.Errorf("expected a JSON object of format %s: %w", BundleFormat, place(data, err))
	}
	if version.Format != BundleFormat {
		return Bundle{}, fmt.Errorf("format is %.60q, expected %s", version.Format, BundleFormat)
	}
	var in bundle
	if err := strict(data, &in); err != nil {
		return Bundle{}, fmt.Errorf("expected a bundle of format %s: %w", BundleFormat, place(data, err))
	}
	request, err := hex.DecodeString(in.RequestHex)
	if err != nil || in.RequestBytes < len(request) {
		return Bundle{}, errors.New("request_hex and request_bytes do not fit: expected hex of at most request_bytes bytes")
	}
	if len(request) == 0 || len(request) < in.RequestBytes {
		request = nil // a beginning is not the request
	}
	codec, err := find(in.Suite)
	if err != nil {
		return Bundle{}, err
	}
	h, err := decodeLines(in.History, codec)
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{Tool: in.Tool, Suite: in.Suite, Scenario: in.Scenario, Session: in.Session, Requirement: in.Requirement, Assertion: in.Assertion,
		Expected: in.Expected, Got: in.Got, Call: in.Call, Events: in.Events, Seed: in.Seed, Nonce: in.Nonce, Profile: in.Profile, Access: in.Access,
		Subject: in.Subject, Choices: in.Choices, Schedule: in.Schedule, Request: request, Line: in.RequestLine, History: h}
	return b, b.validate()
}

func decodeLines(lines []json.RawMessage, c Codec) (*history.History, error) {
	if len(lines) == 0 {
		return nil, errors.New("history is empty: expected a header and events")
	}
	head, err := decodeHeader(lines[0])
	if err != nil {
		return nil, fmt.Errorf("history[0]: %w", err)
	}
	h := &history.History{Header: head}
	for i, l := range lines[1:] {
		e, err := decodeEvent(l, i, c)
		if err != nil {
			return nil, fmt.Errorf("history[%d]: %w", i+1, err)
		}
		h.Events = append(h.Events, e)
	}
	return h, h.Validate()
}

// validate reports what a bundle lacks to show its violation.
func (b Bundle) validate() error {
	switch {
	case b.Suite == "" || b.Scenario == "":
		return errors.New("a bundle names its suite and scenario")
	case b.Assertion == "":
		return errors.New("a bundle names the assertion that was breached")
	case b.History == nil:
		return errors.New("a bundle has a history")
	case b.History.Header.Suite != b.Suite:
		return fmt.Errorf("the bundle is of suite %.60q and its history of %.60q: expected the same", b.Suite, b.History.Header.Suite)
	}
	if _, err := spec.ParseID(string(b.Requirement)); err != nil {
		return fmt.Errorf("requirement: %w", err)
	}
	for _, i := range b.Events {
		if i < 0 || i >= len(b.History.Events) {
			return fmt.Errorf("event %d is named as proof: expected an index below %d, the length of the history", i, len(b.History.Events))
		}
	}
	return nil
}

// userinfo and password match the places of a connection string that can hold
// a password; a password may hold "/" and "@" itself, so the last "@" counts.
var (
	userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s'"]+@`)
	password = regexp.MustCompile(`(?i)(password=)('[^']*'|[^\s&'"]+)`)
)

// withoutSecrets masks user names and passwords in URLs and connection
// strings. It is the last line of defence: descriptions should not carry them
// this far.
func withoutSecrets(s string) string {
	return password.ReplaceAllString(userinfo.ReplaceAllString(s, "${1}…@"), "${1}…")
}

// place adds the line to an error of encoding/json, where it knows one.
func place(data []byte, err error) error {
	var offset int64
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	default:
		return err
	}
	before := data[:min(max(offset-1, 0), int64(len(data)))]
	return fmt.Errorf("line %d: %w", 1+bytes.Count(before, []byte{'\n'}), err)
}
