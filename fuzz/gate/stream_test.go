package gate_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"assay/harness/gate/wire"
)

// limit is what the targets keep of a body; small, so that inputs pass it.
const limit = 64

var wanted = wire.Want(wire.Parse, wire.Bind, wire.Execute, wire.Query, wire.Close, wire.ErrorResponse, wire.ReadyForQuery)

// message is one message as the target's own splitter reads it.
type message struct {
	kind  byte
	body  []byte // as far as a reader may see it
	short bool
}

// split reads a stream that is all there; whole is false when it is not this
// protocol from some message on.
func split(data []byte) (out []message, whole bool) {
	for len(data) >= 5 {
		size := int64(binary.BigEndian.Uint32(data[1:])) - 4
		if size < 0 || size+4 > wire.MaxMessage {
			return out, false
		}
		m := message{kind: data[0]}
		rest := data[5:]
		if wanted[m.kind] {
			most := min(size, limit)
			if int64(len(rest)) < most {
				return out, true // it never comes
			}
			m.body, m.short = rest[:most], most < size
		}
		out = append(out, m)
		data = rest[min(size, int64(len(rest))):]
	}
	return out, true
}

// FuzzStream hands the bytes to a Buffer in pieces that the second argument
// cuts, and passes on what it has looked at when that argument says so.
func FuzzStream(f *testing.F) {
	for _, s := range streams(f) {
		for _, cuts := range [][]byte{{1}, {255}, {3, 0, 17}, {0, 128, 5, 6}} {
			f.Add(s, cuts)
		}
	}
	f.Fuzz(func(t *testing.T, data, cuts []byte) {
		if len(data) > 1<<16 || len(cuts) == 0 {
			return
		}
		want, sound := split(data)
		b := wire.NewBuffer(make([]byte, 32), limit)
		var passed []byte
		at, broken := 0, false
		look := func() {
			for {
				m, ok, err := b.Next(wanted)
				if err != nil {
					broken = true
				}
				if !ok {
					return
				}
				if at == len(want) {
					t.Fatalf("message %q more than there are", m.Kind)
				}
				if w := want[at]; byte(m.Kind) != w.kind || !bytes.Equal(m.Body, w.body) || m.Short != w.short {
					t.Fatalf("message %d is %+v, want %+v", at, m, w)
				}
				at++
			}
		}
		rest := data
		for i := 0; len(rest) > 0 && !broken; i++ {
			cut := cuts[i%len(cuts)]
			n := copy(b.Room(), rest[:min(len(rest), int(cut>>1)+1)])
			b.Filled(n)
			rest = rest[n:]
			look()
			if cut&1 == 1 {
				passed = append(passed, b.Waiting()...)
				b.Passed()
			}
		}
		passed = append(passed, b.Waiting()...)
		if at != len(want) || broken == sound {
			t.Fatalf("%d messages and an error %v, want %d and %v", at, broken, len(want), !sound)
		}
		if !bytes.HasPrefix(data, passed) {
			t.Fatal("other bytes were passed on than came")
		}
		if !broken && len(passed)+b.Unread() != len(data) {
			t.Fatalf("%d bytes passed on and %d unread of %d", len(passed), b.Unread(), len(data))
		}
		if space := len(b.Data()); space > 4*(len(data)+limit+32) {
			t.Fatalf("a space of %d bytes for %d", space, len(data))
		}
	})
}

// streams are what real clients and servers say.
func streams(f *testing.F) (out [][]byte) {
	front := func(messages ...pgproto3.FrontendMessage) {
		var b []byte
		for _, m := range messages {
			var err error
			if b, err = m.Encode(b); err != nil {
				f.Fatal(err)
			}
		}
		out = append(out, b)
	}
	back := func(messages ...pgproto3.BackendMessage) {
		var b []byte
		for _, m := range messages {
			var err error
			if b, err = m.Encode(b); err != nil {
				f.Fatal(err)
			}
		}
		out = append(out, b)
	}
	front(&pgproto3.Query{String: "SELECT 1"}, &pgproto3.Query{String: "INSERT INTO log VALUES ('" + string(bytes.Repeat([]byte("x"), 2*limit)) + "')"}, &pgproto3.Terminate{})
	front(&pgproto3.Parse{Name: "s", Query: "SELECT $1"}, &pgproto3.Describe{ObjectType: 'S', Name: "s"}, &pgproto3.Flush{},
		&pgproto3.Bind{DestinationPortal: "p", PreparedStatement: "s", Parameters: [][]byte{[]byte("v"), nil}}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Close{ObjectType: 'S', Name: "s"}, &pgproto3.Sync{})
	front(&pgproto3.CopyData{Data: bytes.Repeat([]byte("y"), 3*limit)}, &pgproto3.CopyDone{}, &pgproto3.Sync{})
	back(&pgproto3.ParseComplete{}, &pgproto3.BindComplete{}, &pgproto3.DataRow{Values: [][]byte{bytes.Repeat([]byte("z"), 3*limit)}},
		&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")}, &pgproto3.ReadyForQuery{TxStatus: 'T'})
	back(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "23505", Message: "twice"}, &pgproto3.ReadyForQuery{TxStatus: 'E'})
	out = append(out, []byte{'Q', 0, 0, 0, 3}, []byte{'Q', 255, 255, 255, 255, 1}, []byte{'D', 63, 255, 255, 255, 1, 2, 3})
	return out
}
