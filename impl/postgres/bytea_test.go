package postgres

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
	"pgregory.net/rapid"
)

// The driver's own codec is the judge: it writes the same bytes.
func TestByteaArraysAreWrittenAsTheDriverWritesThem(t *testing.T) {
	m := pgtype.NewMap()
	rapid.Check(t, func(t *rapid.T) {
		element := rapid.Custom(func(t *rapid.T) []byte {
			if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
				return nil
			}
			return append([]byte{}, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")...)
		})
		array := rapid.SliceOf(element).Draw(t, "array")
		prefix := []byte("prefix")
		want, err := m.Encode(pgtype.ByteaArrayOID, pgtype.BinaryFormatCode, array, bytes.Clone(prefix))
		if err != nil {
			t.Fatal(err)
		}
		got, err := byteaArrayPlan{}.Encode(array, bytes.Clone(prefix))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v: got %x, want %x", err, got, want)
		}
	})
	if got, err := (byteaArrayPlan{}).Encode([][]byte(nil), nil); got != nil || err != nil {
		t.Errorf("no array at all: got %x, %v; want NULL", got, err)
	}
}
