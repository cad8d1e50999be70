package mls_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"assay/impl/mls"
)

// FuzzGroupMessage reads any bytes as a group message, and any other bytes as its tail.
func FuzzGroupMessage(f *testing.F) {
	tails := [][]byte{nil, {0}, {0, 1, 0, 2}, bytes.Repeat([]byte{0xff}, 70)}
	for i, data := range vectors(f, "messages.json") {
		f.Add(data, tails[i%len(tails)])
	}
	f.Fuzz(func(t *testing.T, data, tail []byte) {
		if len(data)+len(tail) > maxInput {
			return
		}
		want, accepted := agreeOnMessage(t, data)
		if !accepted {
			return
		}

		// What is behind the message changes nothing, and neither does its absence.
		for _, other := range [][]byte{data[:want.length:want.length], append(data[:want.length:want.length], tail...)} {
			again, err := mls.ParseGroupMessage(other)
			if err != nil {
				t.Fatalf("refused with another tail: %v", err)
			}
			sayTheSame(t, again, want)
		}
		if short, err := mls.ParseGroupMessage(data[:want.length-1]); err == nil {
			t.Fatalf("without its last byte still read as %+v", short)
		}
	})
}

// agreeOnMessage reads the bytes twice and fails unless both readings come to the same.
func agreeOnMessage(t *testing.T, data []byte) (want reading, accepted bool) {
	t.Helper()
	pristine := slices.Clone(data)
	var m mls.GroupMessage
	var err error
	boundedMemory(t, data, func() { m, err = mls.ParseGroupMessage(data) })
	if !bytes.Equal(data, pristine) {
		t.Fatal("the input was written to")
	}
	want, accepted = groupMessage(data)
	if !accepted {
		var decode *mls.DecodeError
		if !errors.As(err, &decode) {
			t.Fatalf("%x: read as %+v, %v; the grammar refuses it", data, m, err)
		}
		if decode.Offset < 0 || decode.Offset > len(data) || decode.Field == "" || decode.Problem == 0 {
			t.Fatalf("%x: the error explains nothing: %+v", data, decode)
		}
		return want, false
	}
	if err != nil {
		t.Fatalf("%x: refused: %v; the grammar accepts it", data, err)
	}
	sayTheSame(t, m, want)
	return want, true
}

// TestReaderAndGrammarAgreeOnEveryMessageWithOneByteChanged is the fuzz target's question for the nearest neighbours
// of the vectors and of the corpus, in every test run.
func TestReaderAndGrammarAgreeOnEveryMessageWithOneByteChanged(t *testing.T) {
	neighbours(t, append(vectors(t, "messages.json"), corpus(t, "FuzzGroupMessage")...), func(data []byte) {
		agreeOnMessage(t, data)
	})
}

// sayTheSame compares everything that is taken from a message. The topic of a message is made of nothing else than
// its group id (API-002), so equal readings mean equal topics.
func sayTheSame(t *testing.T, m mls.GroupMessage, want reading) {
	t.Helper()
	if !bytes.Equal(m.GroupID, want.groupID) || m.Epoch != binary.BigEndian.Uint64(want.epoch) ||
		m.ContentType != mls.ContentType(want.content) || m.Len != want.length {
		t.Fatalf("read as %+v; the grammar reads %+v", m, want)
	}
	if m.CommitOrProposal() != (want.content == 2 || want.content == 3) {
		t.Fatalf("commit or proposal is %t for content type %d", m.CommitOrProposal(), want.content)
	}
}
