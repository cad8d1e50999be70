package backend

import (
	"bytes"
	"encoding/json"
	"fmt"

	"assay/model"
	rules "assay/model/backend"
)

// codec writes the suite's values into history files.
type codec struct{}

// Encode writes a call, a return or the terms.
func (codec) Encode(e model.Event) (json.RawMessage, error) {
	switch e.Value.(type) {
	case *rules.Call, *rules.Return, *rules.Request, *rules.Response, *rules.Terms, *rules.Node, *rules.Awaited:
		return json.Marshal(e.Value)
	default:
		return nil, fmt.Errorf("event %d holds a %T, which this suite has no form for", e.Index, e.Value)
	}
}

// Decode reads what Encode wrote. Unknown fields are an error: a misspelt one
// would otherwise be judged as absent.
func (codec) Decode(p model.Phase, data json.RawMessage) (any, error) {
	var v any
	switch p {
	case model.Invoke:
		v = new(rules.Call)
	case model.Return:
		v = new(rules.Return)
	case model.Send:
		v = new(rules.Request)
	case model.Receive:
		v = new(rules.Response)
	case model.Mark:
		v = new(rules.Terms)
		switch {
		case bytes.Contains(data, []byte(`"chain_routed"`)):
			v = new(rules.Node)
		case bytes.Contains(data, []byte(`"awaited_stream"`)):
			v = new(rules.Awaited)
		}
	default:
		return nil, fmt.Errorf("phase %v has no value", p)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return nil, fmt.Errorf("read the value of an event of phase %v: %w", p, err)
	}
	return v, nil
}
