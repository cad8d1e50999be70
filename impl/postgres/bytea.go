package postgres

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// byteaArrays encodes [][]byte in one piece. Envelopes travel to the database
// as arrays, and the driver's general way of writing one, element by element
// into a growing buffer, was half of everything a publish allocated.
type byteaArrays struct{ pgtype.Codec }

// useByteaArrays puts byteaArrays in front of a connection's own codec.
func useByteaArrays(conn *pgx.Conn) {
	m := conn.TypeMap()
	if own, ok := m.TypeForOID(pgtype.ByteaArrayOID); ok {
		m.RegisterType(&pgtype.Type{Name: own.Name, OID: own.OID, Codec: byteaArrays{own.Codec}})
	}
}

// PlanEncode implements pgtype.Codec.
func (c byteaArrays) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.([][]byte); ok && format == pgtype.BinaryFormatCode {
		return byteaArrayPlan{}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

type byteaArrayPlan struct{}

// The binary form of an array: the number of dimensions, whether it has NULLs,
// the type of its elements, the length and lower bound of its one dimension, then
// the elements, each behind its length.
const (
	arrayHeaderLen = 5 * 4
	noLength       = math.MaxUint32 // -1, a NULL
)

var errArrayTooLarge = errors.New("the array is larger than the database takes")

// Encode implements pgtype.EncodePlan.
func (byteaArrayPlan) Encode(value any, buf []byte) ([]byte, error) {
	array, ok := value.([][]byte)
	if !ok || array == nil {
		return nil, nil
	}
	size, nulls := arrayHeaderLen, uint32(0)
	for _, element := range array {
		size += 4 + len(element)
		if element == nil {
			nulls = 1
		}
	}
	if size > math.MaxInt32 {
		return nil, errArrayTooLarge
	}
	buf = slices.Grow(buf, size)
	for _, n := range []uint32{1, nulls, pgtype.ByteaOID, uint32(len(array)), 1} {
		buf = binary.BigEndian.AppendUint32(buf, n)
	}
	for _, element := range array {
		if element == nil {
			buf = binary.BigEndian.AppendUint32(buf, noLength)
			continue
		}
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(element)))
		buf = append(buf, element...)
	}
	return buf, nil
}
