package backend

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"assay/harness/backend/craft"
	"assay/harness/backend/wire"
	"assay/harness/history"
	"assay/model"
	rules "assay/model/backend"
)

// requestMost bounds the requests that are written out, in bytes.
const requestMost = 256 << 10

// Request returns the message that a call of a history sent, made again from
// its intent, and a command by which the subject's owner sends it without this
// program. Both are empty for a call whose bytes cannot be made again: key
// packages of that moment, contract signatures, very large requests.
func (s *Suite) Request(h *history.History, call int) (request []byte, line string) {
	var c *rules.Call
	for _, e := range h.Events {
		if e.Call == call && e.Phase == model.Invoke {
			c, _ = e.Value.(*rules.Call)
		}
	}
	if c == nil {
		return nil, ""
	}
	path := wire.Path(c.Method)
	switch {
	case c.Method == rules.MethodPublish && c.Publish != nil:
		request = published(h.Header, c.Publish)
	case c.Method == rules.MethodQuery && c.Query != nil:
		request = craft.QueryRequest(*c.Query)
	case c.Method == rules.MethodNewest && c.Newest != nil:
		request = craft.NewestRequest(*c.Newest)
	case c.Method == rules.MethodStatic && c.Static != nil:
		request = craft.StaticRequest(*c.Static)
	case c.Method == rules.MethodConfiguration:
		request = []byte{}
	case c.Method == rules.MethodOther:
		request, path = []byte{}, c.Path
	default:
		return nil, ""
	}
	if request == nil || len(request) != c.WireLen || len(request) > requestMost {
		return nil, ""
	}
	frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request)))
	frame = append(frame, request...)
	return request, fmt.Sprintf("echo %s | xxd -r -p | curl -s --http2-prior-knowledge -H 'content-type: application/grpc' -H 'te: trailers' --data-binary @- -D - -o - \"http://$HOST_AND_PORT%s\"",
		hex.EncodeToString(frame), path)
}

// published crafts a publish again; nil when that gives other bytes.
func published(h history.Header, c *rules.PublishCall) []byte {
	intents := make([]rules.Envelope, len(c.Envelopes))
	for i, s := range c.Envelopes {
		intents[i] = s.Intent
	}
	scope := h.Scenario
	if h.Session != "" {
		scope += "#" + h.Session
	}
	request, again, _, err := craft.New(h.Seed, h.Nonce, scope).PublishRequest(intents)
	if err != nil {
		return nil
	}
	for i := range again.Envelopes {
		if again.Envelopes[i].Artefact != c.Envelopes[i].Artefact {
			return nil
		}
	}
	return request
}
