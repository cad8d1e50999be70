package craft

import (
	"google.golang.org/protobuf/encoding/protowire"

	"assay/model/backend"
)

// SubscribeRequest makes one frame of a bidirectional subscription; one without
// an alternative is empty (API-106). Close and Cancel are no frames.
func SubscribeRequest(r backend.Request) []byte {
	switch {
	case r.Update != nil:
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), update(r.Update))
	case r.Ping != nil:
		return nonce(2, *r.Ping)
	case r.Pong != nil:
		return nonce(3, *r.Pong)
	default:
		return []byte{}
	}
}

func update(u *backend.Update) []byte {
	var out []byte
	if u.ID != 0 {
		out = protowire.AppendVarint(protowire.AppendTag(out, 1, protowire.VarintType), u.ID)
	}
	out = appendEntries(out, 2, u.Adds)
	for _, a := range u.Removes {
		out = appendTopic(out, 3, a.Topic)
	}
	return out
}

func nonce(field protowire.Number, n uint64) []byte {
	var inner []byte
	if n != 0 {
		inner = protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), n)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), inner)
}

// StaticRequest makes the SubscribeStaticRequest of a call.
func StaticRequest(s backend.StaticCall) []byte { return appendEntries(nil, 1, s.Entries) }
