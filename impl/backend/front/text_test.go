package front

import (
	"bytes"
	"encoding/base64"
	"io"
	"testing"
	"testing/iotest"
)

// FuzzTextReader cuts bytes into pieces, encodes each on its own, and expects
// them back, however the network cuts the text.
func FuzzTextReader(f *testing.F) {
	f.Add([]byte("hello"), uint8(2))
	f.Add([]byte{}, uint8(1))
	f.Add(bytes.Repeat([]byte{0xff}, 100_000), uint8(7))
	f.Fuzz(func(t *testing.T, data []byte, piece uint8) {
		var text []byte
		for rest := data; len(rest) > 0; {
			n := min(len(rest), int(piece)+1)
			text = base64.StdEncoding.AppendEncode(text, rest[:n])
			rest = rest[n:]
		}
		for name, from := range map[string]io.Reader{
			"whole":        bytes.NewReader(text),
			"in halves":    iotest.HalfReader(bytes.NewReader(text)),
			"byte by byte": iotest.OneByteReader(bytes.NewReader(text[:min(len(text), 4000)/4*4])),
		} {
			got, err := io.ReadAll(newReader(webText, from))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !bytes.HasPrefix(data, got) || name != "byte by byte" && len(got) != len(data) {
				t.Fatalf("%s: got %d bytes of %d", name, len(got), len(data))
			}
		}
		if _, err := io.ReadAll(newReader(webText, bytes.NewReader(append(text, 'A')))); err == nil {
			t.Fatal("text that ends inside a group was accepted")
		}
		if _, err := io.ReadAll(newReader(webText, bytes.NewReader(append(text, "!!!!"...)))); err == nil {
			t.Fatal("text that is no base64 was accepted")
		}
	})
}

func TestTimeoutsAreReadAsTheProtocolWritesThem(t *testing.T) {
	for text, want := range map[string]string{
		"1H": "1h0m0s", "2M": "2m0s", "3S": "3s", "4m": "4ms", "5u": "5µs", "6n": "6ns", "99999999H": "99999999h",
		"": "", "5": "", "H": "", "5x": "", "-5S": "", "123456789S": "", "1.5S": "",
	} {
		d, err := parseTimeout(text)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q was read as %v", text, d)
		case want != "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && text != "99999999H" && d.String() != want:
			t.Errorf("%q was read as %v, want %s", text, d, want)
		case text == "99999999H" && d <= 0:
			t.Errorf("%q overflows to %v", text, d)
		}
	}
}
