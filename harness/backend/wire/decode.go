package wire

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"assay/harness/backend/craft"
	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Bounds on what one response can make this process hold. Each is far above
// anything a conforming subject sends.
const (
	// mostRows is more entries than a request of 25 MiB has envelopes: the
	// smallest envelope that can be stored takes 39 bytes of one.
	mostRows = 1 << 20
	// mostEnvelope is four times the largest envelope of API-031.
	mostEnvelope = 4 << 20
	// mostIdentifier is the most bytes kept of a hash or topic; a longer one is
	// wrong by its length whatever follows.
	mostIdentifier = 4096
	// mostConfiguration is the largest configuration response that is decoded.
	mostConfiguration = 1 << 20
	// mostChains is the most chains kept of one.
	mostChains = 1000
)

// decodePublish reads a PublishResponse.
func decodePublish(r *backend.Return, message []byte) error {
	p := &backend.Published{}
	var scratch backendv1.EnvelopeMeta
	err := repeated(message, func(num protowire.Number, raw []byte) error {
		if num != 1 {
			return nil
		}
		if len(p.Metas) == mostRows {
			return fmt.Errorf("a publish response of more than %d entries", mostRows)
		}
		m, err := decodeMeta(raw, &scratch)
		p.Metas = append(p.Metas, m)
		return err
	})
	r.Publish = p
	return err
}

// decodeQuery reads a QueryResponse.
func decodeQuery(r *backend.Return, message []byte) error {
	p := &backend.Page{}
	var scratch backendv1.EnvelopeMeta
	var continuation backendv1.Continuation
	err := repeated(message, func(num protowire.Number, raw []byte) error {
		switch num {
		case 1:
			return addRow(&p.Rows, raw, rowFields{meta: 1, envelope: 2}, &scratch)
		case 2:
			p.HasContinuation = true
			if err := (proto.UnmarshalOptions{DiscardUnknown: true, Merge: true}).Unmarshal(raw, &continuation); err != nil {
				return errors.New("the continuation of a query response does not decode")
			}
		}
		return nil
	})
	p.HasMore = continuation.GetHasMore()
	r.Query = p
	return err
}

// decodeNewest reads a QueryNewestResponse.
func decodeNewest(r *backend.Return, message []byte) error {
	p := &backend.Heads{}
	var scratch backendv1.EnvelopeMeta
	err := repeated(message, func(num protowire.Number, raw []byte) error {
		if num != 1 {
			return nil
		}
		return addRow(&p.Rows, raw, rowFields{topic: 1, meta: 2, envelope: 3}, &scratch)
	})
	r.Newest = p
	return err
}

// rowFields are the field numbers of one kind of row; 0 for a part it has not.
type rowFields struct{ topic, meta, envelope protowire.Number }

// addRow decodes one row. A message field that comes twice is the two merged, and
// in protobuf that is what their bytes behind one another decode to.
func addRow(rows *[]backend.Row, raw []byte, f rowFields, scratch *backendv1.EnvelopeMeta) error {
	if len(*rows) == mostRows {
		return fmt.Errorf("a response of more than %d rows", mostRows)
	}
	var row backend.Row
	var topic, meta, envelope []byte
	err := repeated(raw, func(num protowire.Number, part []byte) error {
		switch num {
		case f.topic:
			topic = join(topic, part)
		case f.meta:
			row.HasMeta, meta = true, join(meta, part)
		case f.envelope:
			row.HasEnvelope, envelope = true, join(envelope, part)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("row %d: %w", len(*rows), err)
	}
	if len(envelope) > mostEnvelope {
		return fmt.Errorf("row %d has an envelope of %d bytes, above the %d bytes this client reads", len(*rows), len(envelope), mostEnvelope)
	}
	if row.Meta, err = decodeMeta(meta, scratch); err != nil {
		return fmt.Errorf("row %d: %w", len(*rows), err)
	}
	options := proto.UnmarshalOptions{DiscardUnknown: true}
	if row.HasEnvelope {
		var e backendv1.ClientEnvelope
		if err := options.Unmarshal(envelope, &e); err != nil {
			return fmt.Errorf("row %d has an envelope that does not decode", len(*rows))
		}
		row.Identity = craft.Identity(&e)
	}
	if topic != nil {
		var t backendv1.Topic
		if err := options.Unmarshal(topic, &t); err != nil {
			return fmt.Errorf("row %d names a topic that does not decode", len(*rows))
		}
		row.Asked = kept(t.GetTopic())
	}
	*rows = append(*rows, row)
	return nil
}

// join appends part to what came before of the same field.
func join(before, part []byte) []byte {
	if before == nil {
		return part[:len(part):len(part)]
	}
	return append(before, part...)
}

// decodeMeta reads an EnvelopeMeta. scratch spares an allocation for each.
func decodeMeta(raw []byte, scratch *backendv1.EnvelopeMeta) (backend.Meta, error) {
	if len(raw) == 0 {
		return backend.Meta{}, nil
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, scratch); err != nil {
		return backend.Meta{}, errors.New("envelope metadata that does not decode")
	}
	return backend.Meta{
		HasCursor:        scratch.Cursor != nil,
		Sequence:         scratch.GetCursor().GetSequenceId(),
		ServerNS:         scratch.GetServerNs(),
		HasHash:          scratch.MessageHash != nil,
		Hash:             kept(scratch.GetMessageHash().GetSha256()),
		HasTopic:         scratch.Topic != nil,
		Topic:            kept(scratch.GetTopic().GetTopic()),
		ExpiryNS:         scratch.GetExpiryNs(),
		CommitOrProposal: scratch.GetIsCommitOrProposal(),
	}, nil
}

func kept(b []byte) backend.Bytes { return backend.Bytes(b[:min(len(b), mostIdentifier)]) }

// decodeConfiguration reads a GetConfigurationResponse.
func decodeConfiguration(r *backend.Return, message []byte) error {
	if len(message) > mostConfiguration {
		return fmt.Errorf("a configuration response of %d bytes, above the %d bytes this client reads", len(message), mostConfiguration)
	}
	var got backendv1.GetConfigurationResponse
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(message, &got); err != nil {
		return errors.New("a configuration response that does not decode")
	}
	c := &backend.Configuration{
		Identifier: bounded(got.GetIdentifier()),
		Version:    bounded(got.GetServerVersion()),
		Limits:     make(map[string]uint64),
	}
	for _, part := range []struct {
		name    string
		message protoreflect.Message
		limits  bool
	}{
		{"limits", got.GetLimits().ProtoReflect(), true},
		{"retention", got.GetRetention().ProtoReflect(), true},
		{"mls", got.GetMls().ProtoReflect(), true},
		{"auth", got.GetAuth().ProtoReflect(), false},
	} {
		if !part.message.IsValid() {
			continue
		}
		c.Published = append(c.Published, part.name)
		if part.limits {
			addLimits(c.Limits, part.message)
		}
	}
	for _, chain := range got.GetSmartContractWalletChains() {
		if len(c.Chains) == mostChains {
			break
		}
		c.Chains = append(c.Chains, bounded(chain))
	}
	r.Configuration = c
	return nil
}

// addLimits adds every number of a message by its field's name, which is the
// limit's name in the catalogue. A number that is 0 or absent is there as 0, so
// that a rule can see it; only a switch that the peer left out is left out.
func addLimits(limits map[string]uint64, m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.HasPresence() && !m.Has(f) {
			continue
		}
		switch name := string(f.Name()); f.Kind() {
		case protoreflect.BoolKind:
			limits[name] = protowire.EncodeBool(m.Get(f).Bool())
		case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
			limits[name] = m.Get(f).Uint()
		}
	}
}

// decodeHealth reads a HealthCheckResponse of the standard health service.
func decodeHealth(r *backend.Return, message []byte) error {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errors.New("a health response that does not decode")
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(num, typ, message); n < 0 {
			return errors.New("a health response that does not decode")
		}
		if num == 1 && typ == protowire.VarintType {
			v, _ := protowire.ConsumeVarint(message)
			r.Serving = uint32(v)
		}
		message = message[n:]
	}
	return nil
}

// repeated walks the length-delimited fields of a message. Fields of another wire
// type are unknown to the schema and passed over, as a protobuf decoder does.
func repeated(message []byte, field func(protowire.Number, []byte) error) error {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errors.New("a response that is no protobuf message")
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(num, typ, message); n < 0 {
			return errors.New("a response that is no protobuf message")
		}
		if typ == protowire.BytesType {
			raw, _ := protowire.ConsumeBytes(message)
			if err := field(num, raw); err != nil {
				return err
			}
		}
		message = message[n:]
	}
	return nil
}
