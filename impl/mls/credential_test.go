package mls

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestReadingTheInboxIDOfACredential(t *testing.T) {
	inbox := []byte("\x0a\x05inbox")
	nested := func(depth int) []byte { // groups of field 2, one inside the other
		return slices.Concat(bytes.Repeat([]byte{0x13}, depth), bytes.Repeat([]byte{0x14}, depth))
	}
	cases := []struct {
		name     string
		identity []byte
		want     string
		ok       bool
	}{
		{"one field", inbox, "inbox", true},
		{"no field", nil, "", true},
		{"an empty id", []byte{0x0a, 0}, "", true},
		{"text beyond ASCII", []byte("\x0a\x02\xc3\xa9"), "é", true},
		{"a zero byte is text", []byte{0x0a, 1, 0}, "\x00", true},
		{"the last of two ids", append(slices.Clone(inbox), "\x0a\x01b"...), "b", true},
		{"a length longer than it needs to be", append([]byte{0x0a, 0x81, 0x00}, 'a'), "a", true},
		{"a tag longer than it needs to be", []byte{0x8a, 0x80, 0x00, 1, 'a'}, "a", true},
		{"an unknown varint", append([]byte{0x10, 0xff, 0x01}, inbox...), "inbox", true},
		{"an unknown varint of ten bytes", append(append([]byte{0x10}, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"...), inbox...), "inbox", true},
		{"an unknown fixed64", append([]byte("\x1112345678"), inbox...), "inbox", true},
		{"an unknown fixed32", append([]byte("\x151234"), inbox...), "inbox", true},
		{"an unknown string", append([]byte("\x12\x01x"), inbox...), "inbox", true},
		{"an unknown group", append([]byte("\x13\x08\x01\x14"), inbox...), "inbox", true},
		{"a field 1 inside a group is not the id", append([]byte("\x13\x0a\x01x\x14"), inbox...), "inbox", true},
		{"a hundred groups", nested(100), "", true},
		{"the largest field number", append([]byte{0xf8, 0xff, 0xff, 0xff, 0x0f, 0}, inbox...), "inbox", true},

		{"an id that is not UTF-8", []byte{0x0a, 1, 0xff}, "", false},
		{"a surrogate", []byte("\x0a\x03\xed\xa0\x80"), "", false},
		{"an id that is not UTF-8 before one that is", append([]byte{0x0a, 1, 0xff}, inbox...), "", false},
		{"an id as a varint", []byte{0x08, 1}, "", false},
		{"an id as a fixed32", []byte("\x0d1234"), "", false},
		{"an id as a group", []byte{0x0b, 0x0c}, "", false},
		{"a length past the end", []byte{0x0a, 2, 'a'}, "", false},
		{"a length of 2^63", append([]byte{0x0a}, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"...), "", false},
		{"no length", []byte{0x0a}, "", false},
		{"a tag without end", []byte{0x80}, "", false},
		{"a tag of more than 64 bits", bytes.Repeat([]byte{0xff}, 11), "", false},
		{"a tag of more than 32 bits", []byte{0x80, 0x80, 0x80, 0x80, 0x10, 0}, "", false},
		{"field number 0", []byte{0x02, 0}, "", false},
		{"wire type 6", []byte{0x16, 0}, "", false},
		{"wire type 7", []byte{0x17, 0}, "", false},
		{"an unknown varint cut short", []byte{0x10, 0x80}, "", false},
		{"an unknown varint of more than 64 bits", append([]byte{0x10}, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"...), "", false},
		{"an unknown fixed64 cut short", []byte("\x111234567"), "", false},
		{"an unknown fixed32 cut short", []byte("\x15123"), "", false},
		{"an unknown string cut short", []byte("\x12\x02x"), "", false},
		{"the end of no group", []byte{0x14}, "", false},
		{"the end of another group", []byte{0x13, 0x1c}, "", false},
		{"a group without end", []byte{0x13, 0x08, 0x01}, "", false},
		{"a hundred and one groups", nested(101), "", false},
		{"a million groups", bytes.Repeat([]byte{0x13}, 1_000_000), "", false},
		{"plain text", []byte("0xabcdef"), "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := credentialInboxID(c.identity)
			if (err == nil) != c.ok || got != c.want {
				t.Fatalf("got %q, %v; expected %q, accepted %t", got, err, c.want, c.ok)
			}
		})
	}
}

func TestTheInboxIDOfAPackageNeedsAValidCredential(t *testing.T) {
	long := strings.Repeat("a", 60)
	for _, c := range []struct {
		name   string
		change func(*aPackage)
		want   string
	}{
		{"a basic credential", func(p *aPackage) { p.identity = identity(long) }, long},
		{"another credential type", func(p *aPackage) { p.credentialType = 2 }, ""},
		{"an identity that does not decode", func(p *aPackage) { p.identity = []byte{0x0a} }, ""},
	} {
		if got := mustParsePackage(t, aPackageWith(c.change)).InboxID(); got != c.want {
			t.Errorf("%s: inbox id %q, expected %q", c.name, got, c.want)
		}
	}
}
