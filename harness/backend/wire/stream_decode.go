package wire

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// frameKind tells the field numbers of the two forms of subscription apart.
type frameKind struct {
	started, applied, messages, ping, pong, keepalive protowire.Number
	// targets is the field of Started that holds targets, 0 for none.
	targets protowire.Number
}

var (
	bidirectional = frameKind{started: 1, applied: 2, messages: 3, ping: 4, pong: 5}
	static        = frameKind{started: 1, messages: 2, keepalive: 3, targets: 2}
)

// decodeFrame reads one response message of a subscription. A frame may hold one
// alternative; of several the last counts and one that repeats is merged, which
// is how protobuf reads them. n is what the frame costs of the budget.
func decodeFrame(message []byte, kind frameKind, seen *interner, budget int) (r *backend.Response, n int, err error) {
	var alternative protowire.Number
	var part []byte
	err = repeated(message, func(num protowire.Number, raw []byte) error {
		if !kind.has(num) {
			return nil
		}
		if num != alternative {
			part = nil
		}
		alternative, part = num, join(part, raw)
		return nil
	})
	if err != nil {
		return nil, 1, errors.New("a subscription frame that is no protobuf message")
	}
	r, n = &backend.Response{WireLen: len(message)}, 1
	switch alternative {
	case 0:
		r.Empty = true
	case kind.started:
		r.Started = &backend.Started{}
		var v uint64
		if v, err = number(part, 1); err == nil {
			r.Started.KeepaliveMS = uint32(v)
			if kind.targets != 0 {
				r.Started.Targets, err = decodeTargets(part, kind.targets, seen, budget)
				n += len(r.Started.Targets)
			}
		}
	case kind.applied:
		r.Applied = &backend.Applied{}
		if r.Applied.ID, err = number(part, 1); err == nil {
			r.Applied.Targets, err = decodeTargets(part, 2, seen, budget)
			n += len(r.Applied.Targets)
		}
	case kind.messages:
		r.Messages = &backend.Messages{}
		r.Messages.Rows, err = decodeRows(part, seen, budget)
		n += len(r.Messages.Rows)
	case kind.ping, kind.pong:
		var nonce uint64
		nonce, err = number(part, 1)
		if alternative == kind.ping {
			r.Ping = &nonce
		} else {
			r.Pong = &nonce
		}
	case kind.keepalive:
		r.Keepalive = true
	}
	return r, n, err
}

func (k frameKind) has(num protowire.Number) bool {
	return num != 0 && (num == k.started || num == k.applied || num == k.messages || num == k.ping || num == k.pong || num == k.keepalive)
}

// number reads a varint field, 0 when it is absent. The last of several counts.
func number(message []byte, want protowire.Number) (v uint64, err error) {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return 0, errors.New("a subscription frame that does not decode")
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(num, typ, message); n < 0 {
			return 0, errors.New("a subscription frame that does not decode")
		}
		if num == want && typ == protowire.VarintType {
			v, _ = protowire.ConsumeVarint(message)
		}
		message = message[n:]
	}
	return v, nil
}

// count counts the length-delimited fields of a number, so that what holds them
// is allocated once.
func count(message []byte, want protowire.Number) (n int) {
	_ = repeated(message, func(num protowire.Number, _ []byte) error {
		if num == want {
			n++
		}
		return nil
	})
	return n
}

func decodeRows(message []byte, seen *interner, budget int) ([]backend.Row, error) {
	n := count(message, 1)
	if n > budget {
		return nil, fmt.Errorf("more than %d frames, rows and targets on one subscription", mostOfStream)
	}
	if n == 0 {
		return nil, repeated(message, func(protowire.Number, []byte) error { return nil })
	}
	rows := make([]backend.Row, 0, n)
	var scratch backendv1.EnvelopeMeta
	err := repeated(message, func(num protowire.Number, raw []byte) error {
		if num != 1 {
			return nil
		}
		digest := sha256.Sum256(raw)
		if known, ok := seen.row(digest); ok {
			rows = append(rows, known)
			return nil
		}
		if err := addRow(&rows, raw, rowFields{meta: 1, envelope: 2}, &scratch); err != nil {
			return err
		}
		r := &rows[len(rows)-1]
		r.Meta.Topic = seen.of(r.Meta.Topic)
		seen.decoded(digest, *r)
		return nil
	})
	return rows, err
}

func decodeTargets(message []byte, field protowire.Number, seen *interner, budget int) ([]backend.Target, error) {
	n := count(message, field)
	if n > budget {
		return nil, fmt.Errorf("more than %d frames, rows and targets on one subscription", mostOfStream)
	}
	if n == 0 {
		return nil, nil
	}
	out := make([]backend.Target, 0, n)
	err := repeated(message, func(num protowire.Number, raw []byte) error {
		if num != field {
			return nil
		}
		var t backend.Target
		var topic []byte
		err := repeated(raw, func(num protowire.Number, part []byte) error {
			if num == 1 {
				t.HasTopic, topic = true, join(topic, part)
			}
			return nil
		})
		if err == nil {
			t.Through, err = number(raw, 2)
		}
		if err == nil && len(topic) > 0 {
			err = repeated(topic, func(num protowire.Number, part []byte) error {
				if num == 1 {
					t.Topic = kept(part)
				}
				return nil
			})
		}
		if err != nil {
			return fmt.Errorf("target %d of a subscription frame does not decode", len(out))
		}
		t.Topic = seen.of(t.Topic)
		out = append(out, t)
		return nil
	})
	return out, err
}
