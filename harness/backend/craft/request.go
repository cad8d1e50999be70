package craft

import (
	"google.golang.org/protobuf/encoding/protowire"

	"assay/model/backend"
)

// Ask makes the topic bytes of one entry of a read. With TopicAbsent there are
// none, and QueryRequest leaves the topic message out. Whatever the flaw, the
// identifier is that of the log, as far as it reaches.
func (c *Crafter) Ask(r backend.Read) backend.Asked {
	topic := c.Topic(r.Log)
	kind, id := topic, backend.Bytes("")
	if len(topic) > 0 {
		kind, id = topic[:1], topic[1:]
	}
	switch r.Flaw {
	case backend.TopicAbsent, backend.TopicEmpty:
		topic = ""
	case backend.TopicKindOnly:
		topic = kind
	case backend.TopicUnknownKind:
		topic = "\x05" + id
	case backend.TopicKind255:
		topic = "\xff" + id
	case backend.TopicShort:
		topic = topic[:max(0, len(topic)-1)]
	case backend.TopicLong:
		topic += "\x00"
	case backend.TopicOtherLength:
		root := c.root("topic", r.Log.Name)
		other := 16
		if len(id) == 16 {
			other = 32
		}
		topic = kind + backend.Bytes(root[:other])
	}
	return backend.Asked{Read: r, Topic: topic}
}

// QueryRequest makes the QueryRequest of a call: entries in order, a cursor
// exactly where one was meant, also when it is 0 or above INT64_MAX (API-004).
func QueryRequest(q backend.QueryCall) []byte {
	out := appendEntries(nil, 1, q.Entries)
	if q.Limit != 0 {
		out = protowire.AppendTag(out, 2, protowire.VarintType)
		out = protowire.AppendVarint(out, uint64(q.Limit))
	}
	return out
}

// appendEntries writes TopicQuery messages.
func appendEntries(out []byte, num protowire.Number, entries []backend.Asked) []byte {
	var entry []byte
	for _, a := range entries {
		entry = entry[:0]
		if !absent(a) {
			entry = appendTopic(entry, 1, a.Topic)
		}
		if a.Cursor != nil {
			entry = protowire.AppendTag(entry, 2, protowire.BytesType)
			if *a.Cursor == 0 {
				entry = protowire.AppendBytes(entry, nil)
			} else {
				entry = protowire.AppendVarint(entry, uint64(protowire.SizeTag(1)+protowire.SizeVarint(*a.Cursor)))
				entry = protowire.AppendTag(entry, 1, protowire.VarintType)
				entry = protowire.AppendVarint(entry, *a.Cursor)
			}
		}
		out = protowire.AppendTag(out, num, protowire.BytesType)
		out = protowire.AppendBytes(out, entry)
	}
	return out
}

// NewestRequest makes the QueryNewestRequest of a call. Its entries are topic
// messages, so an absent topic can only be written as one of no bytes.
func NewestRequest(n backend.NewestCall) []byte {
	var out []byte
	for _, a := range n.Entries {
		out = appendTopic(out, 1, a.Topic)
	}
	if n.Full {
		out = protowire.AppendTag(out, 2, protowire.VarintType)
		out = protowire.AppendVarint(out, 1)
	}
	return out
}

func absent(a backend.Asked) bool { return a.Flaw == backend.TopicAbsent && a.Topic == "" }

// appendTopic writes a Topic message, which is empty for a topic of no bytes.
func appendTopic(out []byte, num protowire.Number, topic backend.Bytes) []byte {
	out = protowire.AppendTag(out, num, protowire.BytesType)
	if topic == "" {
		return protowire.AppendBytes(out, nil)
	}
	out = protowire.AppendVarint(out, uint64(protowire.SizeTag(1)+protowire.SizeBytes(len(topic))))
	out = protowire.AppendTag(out, 1, protowire.BytesType)
	return protowire.AppendString(out, string(topic))
}
