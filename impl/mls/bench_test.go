package mls

import (
	"crypto/ed25519"
	"testing"
	"time"
)

// BenchmarkKeyPackageValidation measures decoding and validating a package of this protocol's usual shape beside its
// two bare signature checks, in one run on one goroutine. `ratio` is bare time over whole time: 1 would be free.
func BenchmarkKeyPackageValidation(b *testing.B) {
	vectors, now := keyPackageVectors(b)
	data := unhex(b, vectors[0].Hex)
	k, err := ParseKeyPackage(data)
	if err != nil {
		b.Fatal(err)
	}
	leaf, outer := signedContent("LeafNodeTBS", k.Leaf.signed), signedContent("KeyPackageTBS", k.signed)

	var whole, bare time.Duration
	for b.Loop() {
		start := time.Now()
		k, err := ParseKeyPackage(data)
		if err == nil {
			err = k.Validate(now)
		}
		middle := time.Now()
		ok := ed25519.Verify(k.Leaf.SignatureKey, leaf, k.Leaf.Signature) && ed25519.Verify(k.Leaf.SignatureKey, outer, k.Signature)
		bare += time.Since(middle)
		whole += middle.Sub(start)
		if err != nil || !ok {
			b.Fatal(err, ok)
		}
	}
	b.ReportMetric(0, "ns/op") // both halves together mean nothing
	b.ReportMetric(float64(b.N)/whole.Seconds(), "packages/s")
	b.ReportMetric(float64(b.N)/bare.Seconds(), "signature-pairs/s")
	b.ReportMetric(bare.Seconds()/whole.Seconds(), "ratio")
}

// BenchmarkParseGroupMessage measures framing alone, for the usual private message and for the longest public one
// among the vectors.
func BenchmarkParseGroupMessage(b *testing.B) {
	inputs := map[string][]byte{"private": private(1, "", "twenty-eight bytes of sender", string(make([]byte, 400)))}
	for _, v := range messageVectors(b) {
		if v.Accept && v.WireFormat == "public_message" && len(v.Hex)/2 > len(inputs["public"]) {
			inputs["public"] = unhex(b, v.Hex)
		}
	}
	for _, name := range []string{"private", "public"} {
		b.Run(name, func(b *testing.B) {
			data := inputs[name]
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseGroupMessage(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
