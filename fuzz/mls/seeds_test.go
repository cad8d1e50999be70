package mls_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"runtime/metrics"
	"testing"
)

// vectors returns the bytes of every case in one of the reader's vector files.
func vectors(t testing.TB, file string) [][]byte {
	t.Helper()
	data, err := os.ReadFile("../../impl/mls/testdata/vectors/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var content struct {
		Cases []struct{ Hex string }
	}
	if err := json.Unmarshal(data, &content); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var all [][]byte
	for _, c := range content.Cases {
		bytes, err := hex.DecodeString(c.Hex)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, bytes)
	}
	if len(all) < 100 {
		t.Fatalf("%s has only %d cases", file, len(all))
	}
	return all
}

// maxInput is a little more than the largest envelope there may be (API-031). Longer inputs show nothing new.
const maxInput = 1<<20 + 1<<10

// boundedMemory fails when a call allocates more than a mebibyte beyond a few times its input: some header was then
// believed before it was compared with the input.
func boundedMemory(t *testing.T, input []byte, call func()) {
	t.Helper()
	before := allocated()
	call()
	if grown := allocated() - before; grown > 1<<20+4*uint64(len(input)) {
		t.Errorf("allocated %d bytes for an input of %d", grown, len(input))
	}
}

// allocated returns how many bytes the program has allocated so far, exact for large objects.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
