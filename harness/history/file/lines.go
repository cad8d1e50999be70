package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"assay/harness/history"
	"assay/model"
)

// header is the first line of a history file.
type header struct {
	Format string `json:"format"`
	history.Header
}

// event is every other line. Pointers tell a field that is missing from one
// that is zero.
type event struct {
	Index *int            `json:"index"`
	Phase string          `json:"phase"`
	AtNS  *int64          `json:"at_ns"`
	Actor string          `json:"actor,omitempty"`
	Call  int             `json:"call,omitempty"`
	Value json.RawMessage `json:"value"`
}

// encodeHeader returns the first line, without its newline.
func encodeHeader(h history.Header) ([]byte, error) {
	return json.Marshal(header{HistoryFormat, h})
}

// encodeEvent returns the line of an event, without its newline.
func encodeEvent(e model.Event, c Codec) ([]byte, error) {
	value, err := c.Encode(e)
	if err != nil {
		return nil, fmt.Errorf("event %d: encode its value: %w", e.Index, err)
	}
	at := e.At.Nanoseconds()
	line, err := json.Marshal(event{Index: &e.Index, Phase: e.Phase.String(), AtNS: &at, Actor: e.Actor, Call: e.Call, Value: value})
	if err != nil {
		return nil, fmt.Errorf("event %d: %w", e.Index, err)
	}
	if len(line) > maxLine {
		return nil, fmt.Errorf("event %d takes %d bytes: a line has at most %d", e.Index, len(line), maxLine)
	}
	return line, nil
}

// decodeHeader reads the first line.
func decodeHeader(line []byte) (history.Header, error) {
	var version struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(line, &version); err != nil {
		return history.Header{}, fmt.Errorf(`expected a header such as {"format":%q,"suite":"backend"}: %w`, HistoryFormat, err)
	}
	if version.Format != HistoryFormat {
		return history.Header{}, fmt.Errorf("format is %.60q, expected %s", version.Format, HistoryFormat)
	}
	var h header
	if err := strict(line, &h); err != nil {
		return history.Header{}, fmt.Errorf("header: %w", err)
	}
	if h.Suite == "" {
		return history.Header{}, errors.New("the header names no suite: expected a field suite, such as \"backend\"")
	}
	return h.Header, nil
}

// decodeEvent reads the line of event number want.
func decodeEvent(line []byte, want int, c Codec) (model.Event, error) {
	var in event
	if err := strict(line, &in); err != nil {
		return model.Event{}, fmt.Errorf("expected an event with index, phase, at_ns, actor, call and value: %w", err)
	}
	phase, err := model.ParsePhase(in.Phase)
	switch {
	case err != nil:
		return model.Event{}, err
	case in.Index == nil || *in.Index != want:
		return model.Event{}, fmt.Errorf("index is %s: expected %d, because indices count up from 0", number(in.Index), want)
	case in.AtNS == nil || *in.AtNS < 0:
		return model.Event{}, fmt.Errorf("at_ns is %s: expected nanoseconds since the history began, from 0", number(in.AtNS))
	case phase == model.Mark && in.Call != 0:
		return model.Event{}, fmt.Errorf("a mark has call %d: expected none, because a mark belongs to no call", in.Call)
	case phase != model.Mark && in.Call <= 0:
		return model.Event{}, fmt.Errorf("call is %d: expected the call's number, from 1", in.Call)
	case phase != model.Mark && in.Actor == "":
		return model.Event{}, errors.New("actor is empty: expected the name of the client that makes the call")
	case in.Value == nil:
		return model.Event{}, errors.New("the event has no value: expected the call, return or mark itself")
	}
	value, err := c.Decode(phase, in.Value)
	if err != nil {
		return model.Event{}, fmt.Errorf("value of the %s: %w", phase, err)
	}
	return model.Event{Index: want, Phase: phase, At: time.Duration(*in.AtNS), Actor: in.Actor, Call: in.Call, Value: value}, nil
}

func number[T any](n *T) string {
	if n == nil {
		return "missing"
	}
	return fmt.Sprint(*n)
}

// strict decodes exactly one JSON value and refuses fields it does not know: a
// misspelt field would otherwise be an observation silently lost.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the JSON object: expected one object a line")
	}
	return nil
}
