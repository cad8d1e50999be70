package gate_test

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"assay/harness/gate/wire"
)

// FuzzBodies reads the bytes as the body of every message that is looked at, and
// lets a Memory collect them.
func FuzzBodies(f *testing.F) {
	for _, s := range streams(f) {
		messages, _ := split(s)
		for _, m := range messages {
			f.Add(m.body)
		}
	}
	f.Add([]byte("p\x00s\x00\x00\x00\xff\xff\x00\x00\x00\x01a"))
	f.Add([]byte("p\x00s\x00\x00\x00\x00\x01\xff\xff\xff\xfe"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		pristine := slices.Clone(body)
		var parse pgproto3.Parse
		if parse.Decode(body) == nil {
			if name, text, ok := wire.ReadParse(body); !ok || string(name) != parse.Name || string(text) != parse.Query {
				t.Errorf("Parse: %q %q %v, want %+v", name, text, ok, parse)
			}
		}
		var bind pgproto3.Bind
		if bind.Decode(body) == nil {
			b, ok := wire.ReadBind(body)
			same := ok && b.Whole && string(b.Portal) == bind.DestinationPortal && string(b.Statement) == bind.PreparedStatement &&
				slices.EqualFunc(b.Values, bind.Parameters, func(x, y []byte) bool { return bytes.Equal(x, y) && (x == nil) == (y == nil) })
			if !same {
				t.Errorf("Bind: %+v %v, want %+v", b, ok, bind)
			}
		}
		var failed pgproto3.ErrorResponse
		if failed.Decode(body) == nil && bytes.Count(body, []byte{0, 'C'}) == 0 && len(body) > 0 && body[0] == 'C' {
			if got := wire.ReadState(body); got != failed.Code {
				t.Errorf("ErrorResponse: %q, want %q", got, failed.Code)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var m wire.Memory
		for _, kind := range []wire.Kind{wire.Parse, wire.Bind, wire.Execute, wire.Query, wire.FunctionCall, wire.Close, wire.Bind, wire.Execute} {
			m.Collect(kind, body, false)
			m.Note(kind, body)
			m.Passed()
		}
		m.Ended()
		wire.ReadTag(body)
		wire.ReadProcess(body)
		wire.ReadTarget(body)
		runtime.ReadMemStats(&after)
		// A value that claims nothing but its length still costs a slice.
		if most := uint64(1<<16 + 100*len(body)); after.TotalAlloc-before.TotalAlloc > most {
			t.Errorf("%d bytes were allocated for %d", after.TotalAlloc-before.TotalAlloc, len(body))
		}
		if !bytes.Equal(body, pristine) {
			t.Error("the body was written to")
		}
	})
}
