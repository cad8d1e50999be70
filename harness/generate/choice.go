// Package generate draws intents and schedules from one recorded source of
// choice. Start with Choice, the only way anything above it rolls dice, and
// Check, which draws many times and shrinks what fails.
//
// It promises that the same seed, or the same recording, gives the same
// choices. It knows nothing of what is generated and judges nothing: a property
// says in ids what failed.
package generate

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// Choice is where every decision of a generated run comes from.
type Choice interface {
	// Intn returns a number from 0 to n-1; n is at least 1. what names the
	// decision for people and for nothing else.
	Intn(n int, what string) int
}

// Pick chooses one of the options.
func Pick[T any](c Choice, what string, options ...T) T { return options[c.Intn(len(options), what)] }

// Weighted chooses an index with the given weights, at least one of them positive.
func Weighted(c Choice, what string, weights ...int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	at := c.Intn(total, what)
	for i, w := range weights {
		if at < w {
			return i
		}
		at -= w
	}
	return len(weights) - 1
}

// FromSeed draws from a generator with the seed; equal seeds give equal choices.
func FromSeed(seed uint64) Choice { return seeded{rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))} }

type seeded struct{ r *rand.Rand }

func (s seeded) Intn(n int, _ string) int { return s.r.IntN(n) }

// Recording keeps the choices another source made, so that they can be saved
// with a violation and made again.
type Recording struct {
	source Choice
	data   []byte
}

// Record wraps a source.
func Record(c Choice) *Recording { return &Recording{source: c} }

// Intn draws from the source and remembers.
func (r *Recording) Intn(n int, what string) int {
	v := r.source.Intn(n, what)
	r.data = binary.AppendUvarint(r.data, uint64(v))
	return v
}

// Bytes returns what was recorded so far.
func (r *Recording) Bytes() []byte { return append([]byte(nil), r.data...) }

// FromBytes makes the recorded choices again. Any bytes are a legal recording,
// a fuzzer's too: a number that is too large is reduced, and an exhausted
// recording chooses 0 for ever.
func FromBytes(data []byte) Choice { return &replayed{data: data} }

type replayed struct{ data []byte }

func (r *replayed) Intn(n int, what string) int {
	if n < 1 {
		panic(fmt.Sprintf("generate: a choice of %q among %d options", what, n))
	}
	v, k := binary.Uvarint(r.data)
	if k <= 0 {
		if len(r.data) == 0 || k == 0 {
			r.data = nil
			return 0
		}
		k = -k
	}
	r.data = r.data[k:]
	return int(v % uint64(n))
}
