package mls_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"strings"
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

// corpus returns the first argument of every file in a target's corpus.
func corpus(t testing.TB, target string) [][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "fuzz", target, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus for %s: %v", target, err)
	}
	var all [][]byte
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitN(string(content), "\n", 3) // the format's name, then an argument a line
		quoted, isBytes := strings.CutPrefix(lines[1], "[]byte(")
		text, err := strconv.Unquote(strings.TrimSuffix(quoted, ")"))
		if !isBytes || err != nil {
			t.Fatalf("%s: the first argument is not a []byte: %v", file, err)
		}
		all = append(all, []byte(text))
	}
	return all
}

// neighbours changes one byte of each seed at a time, in the ways that turn one length header, flag or number into
// the next one. Long seeds are changed at their beginning, where their structure is.
func neighbours(t *testing.T, seeds [][]byte, visit func(data []byte)) {
	t.Helper()
	for _, seed := range seeds {
		visit(seed)
		if len(seed) > 4<<10 {
			continue
		}
		for i := range min(len(seed), 600) {
			original := seed[i]
			for _, changed := range []byte{original + 1, original - 1, original ^ 0x40, original ^ 0x80, original | 0xc0} {
				seed[i] = changed
				visit(seed)
			}
			seed[i] = original
		}
	}
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
