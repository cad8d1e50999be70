package craft

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/model/backend"
)

// reachable reports whether an envelope whose payload has the given nesting of
// messages can be n bytes long at all: each message around the payload adds a tag
// and a length, and where that length grows by a byte a total is stepped over.
func reachable(n, nesting int) bool {
	for inner := max(0, n-20); inner < n; inner++ {
		total := inner
		for range nesting {
			total = 1 + protowire.SizeBytes(total)
		}
		if total == n {
			return true
		}
	}
	return false
}

func TestASizeIsReachedExactlyWheneverThereIsSuchAnEnvelope(t *testing.T) {
	c := New(3, "n", "s")
	random := rand.New(rand.NewPCG(1, 2))
	kinds := []struct {
		log     backend.Log
		form    backend.Form
		nesting int
	}{
		{backend.Log{Kind: backend.Group, Name: "g"}, backend.Plain, 1},
		{backend.Log{Kind: backend.Group, Name: "g"}, backend.PrivateCommit, 1},
		{backend.Log{Kind: backend.Group, Name: "g"}, backend.PublicProposal, 1},
		{backend.Log{Kind: backend.Group, Name: "g"}, backend.PublicCommit, 1},
		{backend.Log{Kind: backend.Welcome, Name: "w"}, backend.Plain, 2},
		{backend.Log{Kind: backend.Welcome, Name: "w"}, backend.Pointer, 2},
		{backend.Log{Kind: backend.CommitLog, Name: "g"}, backend.Plain, 1},
	}
	// The sizes at which some header grows, and random ones between.
	var sizes []int
	for _, edge := range []int{1 << 6, 1 << 7, 1 << 14} {
		for n := edge - 60; n < edge+260; n++ {
			sizes = append(sizes, n)
		}
	}
	every := len(sizes) // these are asked of every kind, the others of one in turn
	for range 20_000 - len(sizes) {
		sizes = append(sizes, 230+random.IntN(4000))
	}
	sizes = append(sizes, 1<<20-1, 1<<20, 1<<20+1, 1<<21+2, 1<<21+3, 1<<21+4, 1<<21+5, 1<<21+6, 1<<21+7)
	const always = 230 // every form can be this long or longer
	for i, size := range sizes {
		for j, k := range kinds {
			if i%len(kinds) != j && i > every && size < 1<<20-1 {
				continue
			}
			e := backend.Envelope{Log: k.log, Form: k.form, Content: fmt.Sprint(i), Size: size}
			wire, a, err := c.Envelope(e)
			switch {
			case err != nil && size >= always && reachable(size, k.nesting):
				t.Fatalf("%s %s of %d bytes: %v", k.log, k.form, size, err)
			case err == nil && (len(wire) != size || a.CanonicalLen != size || a.WireLen != size):
				t.Fatalf("%s %s: asked for %d bytes, got %d, artefact %+v", k.log, k.form, size, len(wire), a)
			}
		}
	}
}

func TestTheSmallestEnvelopesAreThePayloadsThatCanDoWithoutMost(t *testing.T) {
	c := New(3, "n", "s")
	for _, e := range []backend.Envelope{
		{Log: backend.Log{Kind: backend.Welcome, Name: "w"}, Size: 38},   // its key alone
		{Log: backend.Log{Kind: backend.Group, Name: "g"}, Size: 37},     // 33 bytes of MLS
		{Log: backend.Log{Kind: backend.CommitLog, Name: "g"}, Size: 24}, // its group id alone
	} {
		if _, a, err := c.Envelope(e); err != nil || a.CanonicalLen != e.Size || a.Topic != c.Topic(e.Log) {
			t.Errorf("%s of %d bytes: %+v, %v", e.Log, e.Size, a, err)
		}
		e.Size--
		if _, _, err := c.Envelope(e); err == nil {
			t.Errorf("%s of %d bytes: no error", e.Log, e.Size)
		}
	}
}

func TestASizeIsCanonicalWhateverTheEncoding(t *testing.T) {
	c := New(3, "n", "s")
	e := backend.Envelope{Log: backend.Log{Kind: backend.Group, Name: "g"}, Size: 1 << 20, Encoding: backend.Padded}
	wire, a, err := c.Envelope(e)
	if err != nil || a.CanonicalLen != 1<<20 || len(wire) <= 1<<20 {
		t.Fatalf("%d bytes, artefact %+v: %v", len(wire), a, err)
	}
}
