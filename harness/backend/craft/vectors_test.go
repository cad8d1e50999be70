package craft

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"
)

// vector is a group message that somebody else made.
type vector struct {
	Name        string `json:"name"`
	Hex         string `json:"hex"`
	WireFormat  string `json:"wire_format"`
	GroupID     string `json:"group_id"`
	ContentType string `json:"content_type"`
	Accept      bool   `json:"accept"`
	Trailing    int    `json:"trailing_bytes"`
}

func vectors(t *testing.T) []vector {
	t.Helper()
	raw, err := os.ReadFile("testdata/messages.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The reader that judges the builder is itself judged by messages of other
// authors, the official ones among them.
func TestTheReaderOfTheseTestsAgreesWithTheVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			data, err := hex.DecodeString(v.Hex)
			if err != nil {
				t.Fatal(err)
			}
			m, err := readMessage(data)
			if (err == nil) != v.Accept {
				t.Fatalf("accepted %v, want %v: %v", err == nil, v.Accept, err)
			}
			if !v.Accept {
				return
			}
			if got := hex.EncodeToString(m.groupID); got != v.GroupID {
				t.Errorf("group id %s, want %s", got, v.GroupID)
			}
			if names := []string{"", "application", "proposal", "commit"}; names[m.content] != v.ContentType {
				t.Errorf("content type %d, want %s", m.content, v.ContentType)
			}
			if m.rest != v.Trailing {
				t.Errorf("%d bytes left, want %d", m.rest, v.Trailing)
			}
		})
	}
}

// A message read into its fields and written again by the builder's own
// primitives must be the same bytes: so its vectors and numbers are laid out as
// other authors lay them out.
func TestWritingAVectorAgainGivesItsBytes(t *testing.T) {
	again := 0
	for _, v := range vectors(t) {
		data, err := hex.DecodeString(v.Hex)
		if err != nil || !v.Accept {
			continue
		}
		m, err := readMessage(data)
		if err != nil {
			t.Fatal(err)
		}
		var out tls
		for _, f := range m.fields {
			switch {
			case f.vector:
				out = out.vector(f.data)
			case len(f.data) == 1:
				out = out.u8(f.data[0])
			case len(f.data) == 2:
				out = out.u16(binary.BigEndian.Uint16(f.data))
			case len(f.data) == 4:
				out = out.u32(binary.BigEndian.Uint32(f.data))
			default:
				out = out.u64(binary.BigEndian.Uint64(f.data))
			}
		}
		if got, want := hex.EncodeToString(out), v.Hex[:2*(len(data)-m.rest)]; got != want {
			t.Errorf("%s\n got %s\nwant %s", v.Name, got, want)
		}
		again++
	}
	if again < 15 {
		t.Fatalf("only %d vectors were written again", again)
	}
}

// mlsField is one field of a message as read.
type mlsField struct {
	data   []byte
	vector bool
}

type mlsMessage struct {
	format  uint16
	groupID []byte
	content byte
	fields  []mlsField
	rest    int
}

type mlsReader struct {
	b      []byte
	fields []mlsField
	err    error
}

func (r *mlsReader) take(n int) []byte {
	if r.err != nil || n > len(r.b) {
		r.err = errors.Join(r.err, errors.New("cut"))
		return make([]byte, min(n, 16))
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *mlsReader) fixed(n int) []byte {
	out := r.take(n)
	r.fields = append(r.fields, mlsField{data: out})
	return out
}

func (r *mlsReader) vector() []byte {
	first := r.take(1)[0]
	size, shortest := int(first&0x3f), 0
	switch first >> 6 {
	case 1:
		size, shortest = size<<8|int(r.take(1)[0]), 1<<6
	case 2:
		more := r.take(3)
		size, shortest = size<<24|int(more[0])<<16|int(more[1])<<8|int(more[2]), 1<<14
	case 3:
		r.err = errors.New("length prefix 11")
		return nil
	}
	if r.err == nil && size < shortest {
		r.err = errors.New("length not in its shortest form")
	}
	out := r.take(size)
	r.fields = append(r.fields, mlsField{data: out, vector: true})
	return out
}

func (r *mlsReader) remove() {
	if binary.BigEndian.Uint16(r.fixed(2)) != proposalRemove && r.err == nil {
		r.err = errors.New("proposal this reader does not know")
	}
	r.fixed(4)
}

// readMessage reads the shapes of group message that craft builds.
func readMessage(data []byte) (mlsMessage, error) {
	r := &mlsReader{b: data}
	if binary.BigEndian.Uint16(r.fixed(2)) != 1 && r.err == nil {
		r.err = errors.New("version")
	}
	m := mlsMessage{format: binary.BigEndian.Uint16(r.fixed(2))}
	if m.format != 1 && m.format != 2 && r.err == nil {
		r.err = errors.New("wire format")
	}
	m.groupID = r.vector()
	if len(m.groupID) != 16 && r.err == nil {
		r.err = errors.New("group id")
	}
	r.fixed(8)
	if m.format == publicMessage {
		if r.fixed(1)[0] != senderMember && r.err == nil {
			r.err = errors.New("sender this reader does not know")
		}
		r.fixed(4)
		r.vector()
	}
	m.content = r.fixed(1)[0]
	if (m.content < 1 || m.content > 3) && r.err == nil {
		r.err = errors.New("content type")
	}
	switch {
	case m.format == privateMessage:
		r.vector()
		r.vector()
		r.vector()
	case m.content == contentApplication:
		r.vector()
	case m.content == contentProposal:
		r.remove()
	default:
		inner := &mlsReader{b: r.vector()}
		for len(inner.b) > 0 && inner.err == nil {
			if inner.fixed(1)[0] == inlineProposal {
				inner.remove()
			} else {
				inner.vector()
			}
		}
		r.err = errors.Join(r.err, inner.err)
		if r.fixed(1)[0] != noPath && r.err == nil {
			r.err = errors.New("path this reader does not know")
		}
	}
	if m.format == publicMessage {
		r.vector()
		if m.content == contentCommit {
			r.vector()
		}
		r.vector()
	}
	m.fields, m.rest = r.fields, len(r.b)
	return m, r.err
}
