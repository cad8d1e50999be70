package mls

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestAMessageIsRefusedAtEveryLengthShortOfItsOwn takes every prefix of every accepted message: those that end inside
// the message are refused (API-041, the whole must parse), those that end in its tail are the same message.
func TestAMessageIsRefusedAtEveryLengthShortOfItsOwn(t *testing.T) {
	for _, v := range messageVectors(t) {
		if !v.Accept {
			continue
		}
		data := unhex(t, v.Hex)
		whole, err := ParseGroupMessage(data)
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		for n := range len(data) + 1 {
			got, err := ParseGroupMessage(data[:n:n])
			if n < whole.Len {
				var decode *DecodeError
				if !errors.As(err, &decode) {
					t.Fatalf("%s: %d of %d bytes gave %+v, %v; expected a decode error", v.Name, n, whole.Len, got, err)
				}
				continue
			}
			if err != nil || !sameMessage(got, whole) {
				t.Fatalf("%s: with a tail of %d bytes got %+v, %v; expected %+v", v.Name, n-whole.Len, got, err, whole)
			}
		}
	}
}

func sameMessage(a, b GroupMessage) bool {
	return bytes.Equal(a.GroupID, b.GroupID) && a.Epoch == b.Epoch && a.ContentType == b.ContentType &&
		a.WireFormat == b.WireFormat && a.Len == b.Len
}

// TestNoChangedByteMakesTheReaderPanic changes every byte of every vector in a few ways. It also holds the reader to
// its own account: a message that is accepted is no longer than the input.
func TestNoChangedByteMakesTheReaderPanic(t *testing.T) {
	for _, v := range messageVectors(t) {
		data := unhex(t, v.Hex)
		if len(data) > 4096 {
			data = data[:4096]
		}
		for i := range data {
			for _, mask := range []byte{0x01, 0x40, 0x80, 0xc0, 0xff} {
				changed := slices.Clone(data)
				changed[i] ^= mask
				if m, err := ParseGroupMessage(changed); err == nil && (m.Len > len(data) || len(m.GroupID) > len(data)) {
					t.Fatalf("%s: byte %d changed by %#x: %+v is longer than the input", v.Name, i, mask, m)
				}
			}
		}
	}
	vectors, now := keyPackageVectors(t)
	for _, v := range vectors {
		data := unhex(t, v.Hex)
		for i := range data {
			changed := slices.Clone(data)
			changed[i] ^= 0xff
			if k, err := ParseKeyPackage(changed); err == nil && i%16 == 0 {
				_ = k.Validate(now)
			}
		}
	}
}

var (
	aLeaf       = goodPackage().leaf()
	updatedLeaf = aPackageWith(func(p *aPackage) { p.source, p.sourceFields = 2, nil }).leaf()
	commitLeaf  = aPackageWith(func(p *aPackage) { p.source, p.sourceFields = 3, str("parent") }).leaf()
)

func aPackageWith(change func(*aPackage)) aPackage {
	p := goodPackage()
	change(&p)
	return p
}

// TestEveryProposalHasItsLayout gives each proposal type a body that fits and one that does not.
func TestEveryProposalHasItsLayout(t *testing.T) {
	unknownSuite := aPackageWith(func(p *aPackage) { p.suite = 0x0a0a }).bytes()
	p256 := aPackageWith(func(p *aPackage) { p.suite, p.signatureKey = 2, make([]byte, 65) }).bytes()
	groupExtensions := vec(ext(0x0001, str("app")), ext(0xff00, []byte{1}))
	cases := []struct {
		name    string
		body    []byte
		problem Problem // zero: accepted
		field   string
	}{
		{"an add carries a key package", join(u16(1), goodPackage().bytes()), 0, ""},
		{"an add takes a key package whose key makes no topic", join(u16(1), p256), 0, ""},
		{"an add with an unknown suite is refused", join(u16(1), unknownSuite), UnknownValue, "cipher_suite"},
		{"an update carries a leaf", join(u16(2), updatedLeaf), 0, ""},
		{"an update with a leaf of no source is refused", join(u16(2), aPackageWith(func(p *aPackage) { p.source = 4 }).leaf()), UnknownValue, "leaf_node_source"},
		{"a remove carries an index", join(u16(3), u32(1)), 0, ""},
		{"an external psk has an id and a nonce", join(u16(4), u8(1), str("id"), str("nonce")), 0, ""},
		{"a resumption psk has usage, group, epoch and a nonce", join(u16(4), u8(2), u8(3), str("group"), u64(1), str("nonce")), 0, ""},
		{"a resumption psk with usage 0 is refused", join(u16(4), u8(2), u8(0), str("group"), u64(1), str("nonce")), UnknownValue, "usage"},
		{"a resumption psk with usage 4 is refused", join(u16(4), u8(2), u8(4), str("group"), u64(1), str("nonce")), UnknownValue, "usage"},
		{"a psk of type 0 is refused", join(u16(4), u8(0), str("id"), str("nonce")), UnknownValue, "psktype"},
		{"a psk of type 3 is refused", join(u16(4), u8(3), str("id"), str("nonce")), UnknownValue, "psktype"},
		{"a reinit has group, version, suite and extensions", join(u16(5), str("group"), u16(1), u16(3), groupExtensions), 0, ""},
		{"a reinit with an unknown suite is refused", join(u16(5), str("group"), u16(1), u16(0), groupExtensions), UnknownValue, "cipher_suite"},
		{"an external init carries a kem output", join(u16(6), str("output")), 0, ""},
		{"group context extensions are a list", join(u16(7), groupExtensions), 0, ""},
		{"group context extensions may be empty", join(u16(7), vec()), 0, ""},
		{"one extension type twice in a group context is refused", join(u16(7), vec(ext(0xff00, nil), ext(0xff00, nil))), DuplicateExtension, "extension_type"},
		{"an extension that runs past its list is refused", join(u16(7), u8(3), u16(0xff00), u8(1), u8(0)), Truncated, "extension_data"},
		{"a self remove carries nothing", u16(10), 0, ""},
		{"an unknown type carries one vector", join(u16(0xf00d), str("body")), 0, ""},
		{"type 0 carries one vector as any unknown type", join(u16(0), str("body")), 0, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			data := public(2, c.body)
			checkFraming(t, data, Proposal, c.problem, c.field)
			inline := public(3, join(vec(u8(1), c.body), u8(0)))
			checkFraming(t, inline, Commit, c.problem, c.field)
		})
	}
}

func checkFraming(t *testing.T, data []byte, content ContentType, problem Problem, field string) {
	t.Helper()
	m, err := ParseGroupMessage(data)
	if problem == 0 {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		if !bytes.Equal(m.GroupID, groupID) || m.Epoch != 9 || m.ContentType != content || m.Len != len(data) {
			t.Fatalf("read as %+v; expected %v of %d bytes", m, content, len(data))
		}
		return
	}
	var decode *DecodeError
	if !errors.As(err, &decode) || decode.Problem != problem || decode.Field != field {
		t.Fatalf("got %+v, %v; expected %s: %s", m, err, field, problem)
	}
}

func TestCommitsAndTheirPaths(t *testing.T) {
	node := join(str("key"), vec(str("kem"), str("secret"), str("kem"), str("secret")))
	cases := []struct {
		name    string
		body    []byte
		problem Problem
		field   string
	}{
		{"an empty commit has no proposals and no path", join(vec(), u8(0)), 0, ""},
		{"a path has a leaf and nodes", join(vec(), u8(1), commitLeaf, vec(node, node)), 0, ""},
		{"a path may have no nodes", join(vec(), u8(1), commitLeaf, vec()), 0, ""},
		{"proposals may be carried and named in one commit", join(vec(u8(2), str("ref"), u8(1), u16(3), u32(0)), u8(0)), 0, ""},
		{"a path flag of 2 is refused", join(vec(), u8(2)), UnknownValue, "path"},
		{"a proposal that is neither carried nor named is refused", join(vec(u8(0), str("ref")), u8(0)), UnknownValue, "proposal_or_ref"},
		{"a node that runs past its list is refused", join(vec(), u8(1), commitLeaf, u8(uint8(len(node)-1)), node), Truncated, "encrypted_path_secret"},
		{"a path whose leaf has a ratchet tree is refused", join(vec(), u8(1), aPackageWith(func(p *aPackage) {
			p.leafExtensions = [][]byte{ext(2, vec())}
		}).leaf(), vec()), MisplacedExtension, "extension_type"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { checkFraming(t, public(3, c.body), Commit, c.problem, c.field) })
	}
}

func TestErrorsNameTheFieldAndTheByte(t *testing.T) {
	_, err := ParseGroupMessage(private(4, "", "", ""))
	const want = "mls: content_type at byte 29: the value has no meaning here"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, expected %s", err, want)
	}
}

// TestAWellFormedMessageReadsBackAsItWasWritten writes private messages with any fields and tails.
func TestAWellFormedMessageReadsBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytesUpTo := func(n int, label string) []byte { return rapid.SliceOfN(rapid.Byte(), 0, n).Draw(t, label) }
		want := GroupMessage{
			GroupID:     bytesUpTo(70, "group id"),
			Epoch:       rapid.Uint64().Draw(t, "epoch"),
			ContentType: ContentType(rapid.Uint8Range(1, 3).Draw(t, "content type")),
			WireFormat:  PrivateMessage,
		}
		data := join(u16(1), u16(2), vec(want.GroupID), u64(want.Epoch), u8(uint8(want.ContentType)),
			vec(bytesUpTo(70, "aad")), vec(bytesUpTo(70, "sender data")), vec(bytesUpTo(300, "ciphertext")))
		want.Len = len(data)
		got, err := ParseGroupMessage(append(data, bytesUpTo(20, "tail")...))
		if err != nil || !sameMessage(got, want) {
			t.Fatalf("got %+v, %v; expected %+v", got, err, want)
		}
		if got.CommitOrProposal() != (want.ContentType != Application) {
			t.Fatalf("commit or proposal is %t for %v", got.CommitOrProposal(), want.ContentType)
		}
	})
}

// TestALengthHeaderCostsNoMemory reads inputs that claim far more than they hold, and inputs that hold a mebibyte.
// Neither makes the reader allocate more than an error's worth.
func TestALengthHeaderCostsNoMemory(t *testing.T) {
	gibibyte := []byte{0xbf, 0xff, 0xff, 0xff}
	var manyExtensions [][]byte
	for i := range 0xe000 {
		manyExtensions = append(manyExtensions, ext(uint16(0x1000+i), []byte("sixteen bytes xx")))
	}
	cases := []struct {
		name string
		data []byte
	}{
		{"a group id claims a gibibyte", join(u16(1), u16(2), gibibyte, u8(0))},
		{"a ciphertext claims a gibibyte", join(private(1, "", ""), gibibyte, u8(0))},
		{"proposals claim a gibibyte", public(3, join(gibibyte, u8(0)))},
		{"an init key claims a gibibyte", join(u16(1), u16(3), gibibyte)},
		{"a group context has a mebibyte of extensions", public(2, join(u16(7), vec(manyExtensions...)))},
		{"a key package has a mebibyte of extensions", aPackageWith(func(p *aPackage) { p.extensions = manyExtensions }).bytes()},
		{"a path has a mebibyte of empty nodes", public(3, join(vec(), u8(1), commitLeaf, vec(make([]byte, 1<<20))))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if grown := leastAllocated(func() {
				_, _ = ParseGroupMessage(c.data)
				_, _ = ParseKeyPackage(c.data)
			}); grown > 1<<10 {
				t.Errorf("allocated %d bytes for %d bytes of input", grown, len(c.data))
			}
		})
	}
}

// leastAllocated returns the smallest number of bytes that a few calls allocate: what the runtime allocates beside
// them does not count.
func leastAllocated(call func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		call()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
