package craft

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Identity is the identity of an envelope's decoded value: two envelopes have
// the same identity exactly when every field of them is the same, fields that
// the schema does not know left aside. It has no relation to a subject's message
// hash (API-025). A nil envelope has the identity of an empty one.
func Identity(env *backendv1.ClientEnvelope) backend.Digest {
	d := digester{h: sha256.New()}
	d.message(env.ProtoReflect())
	var out backend.Digest
	d.h.Sum(out[:0])
	return out
}

// digester hashes a decoded message in a form of its own: fields by ascending
// number, each value behind its kind and length, messages closed by a zero. What
// it hashes is the value, so no encoder's habits can enter.
type digester struct {
	h   hash.Hash
	buf [16]byte
}

func (d *digester) uint(v uint64) { d.h.Write(binary.AppendUvarint(d.buf[:0], v)) }

func (d *digester) bytes(b []byte) {
	d.uint(uint64(len(b)))
	d.h.Write(b)
}

// message hashes the fields that m has. The schema has no maps and no floating
// point numbers; a test holds it to that.
func (d *digester) message(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	order := ascending(fields)
	for i := range fields.Len() {
		f := fields.Get(i)
		if order != nil {
			f = fields.Get(order[i])
		}
		if !m.Has(f) {
			continue
		}
		d.uint(uint64(f.Number()))
		v := m.Get(f)
		if !f.IsList() {
			d.value(f, v)
			continue
		}
		l := v.List()
		d.uint(uint64(l.Len()))
		for i := range l.Len() {
			d.value(f, l.Get(i))
		}
	}
	d.uint(0)
}

func (d *digester) value(f protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		d.message(v.Message())
	case protoreflect.BytesKind:
		d.bytes(v.Bytes())
	case protoreflect.StringKind:
		d.bytes([]byte(v.String()))
	case protoreflect.BoolKind:
		if v.Bool() {
			d.uint(1)
		} else {
			d.uint(0)
		}
	case protoreflect.EnumKind:
		d.uint(uint64(v.Enum()))
	case protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Sint32Kind, protoreflect.Sint64Kind,
		protoreflect.Sfixed32Kind, protoreflect.Sfixed64Kind:
		d.uint(uint64(v.Int()))
	default:
		d.uint(v.Uint())
	}
}

// ascending returns the indices of fields by ascending number, or nil when they
// are declared in that order, as nearly all are.
func ascending(fields protoreflect.FieldDescriptors) []int {
	byNumber := func(a, b int) int { return int(fields.Get(a).Number()) - int(fields.Get(b).Number()) }
	order := make([]int, 0, 16)
	for i := range fields.Len() {
		order = append(order, i)
	}
	if slices.IsSortedFunc(order, byNumber) {
		return nil
	}
	slices.SortFunc(order, byNumber)
	return order
}
