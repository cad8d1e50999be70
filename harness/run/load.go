package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Load is the size of one concurrent run. What every actor means to do follows
// from it alone, so it is what a violation's bundle keeps as its choices; how
// the actors interleave does not, and is in the history.
type Load struct {
	Seed uint64
	// Actors are the numbers of those that take part, ascending. An actor means
	// to do the same whoever else is there.
	Actors []int
	// Operations is how many operations every actor performs, of the ones its
	// seed gives it the first.
	Operations int
	// Bytes is the length of the larger payloads; 0 leaves payloads at their
	// natural length.
	Bytes int
}

// Everyone lists the actors 0 to n-1.
func Everyone(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Bounds on a load that is read from a file.
const (
	mostActors     = 1000
	mostOperations = 100_000
	mostBytes      = 1 << 20
	loadVersion    = 1
)

// Encode writes the load as the choices of a bundle.
func (l Load) Encode() []byte {
	out := binary.AppendUvarint(nil, loadVersion)
	out = binary.AppendUvarint(out, l.Seed)
	out = binary.AppendUvarint(out, uint64(l.Operations))
	out = binary.AppendUvarint(out, uint64(l.Bytes))
	for _, a := range l.Actors {
		out = binary.AppendUvarint(out, uint64(a))
	}
	return out
}

// DecodeLoad reads what Encode wrote.
func DecodeLoad(data []byte) (Load, error) {
	var l Load
	var numbers []uint64
	for len(data) > 0 {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return l, errors.New("choices of a concurrent run do not decode: a number is cut short")
		}
		numbers, data = append(numbers, v), data[n:]
	}
	if len(numbers) < 5 || numbers[0] != loadVersion {
		return l, fmt.Errorf("choices of a concurrent run do not decode: want version %d, a seed, operations, bytes and at least one actor", loadVersion)
	}
	if numbers[2] < 1 || numbers[2] > mostOperations || numbers[3] > mostBytes || len(numbers)-4 > mostActors {
		return l, fmt.Errorf("a concurrent run of %d actors, %d operations and %d bytes: at most %d, %d and %d are supported",
			len(numbers)-4, numbers[2], numbers[3], mostActors, mostOperations, mostBytes)
	}
	l = Load{Seed: numbers[1], Operations: int(numbers[2]), Bytes: int(numbers[3])}
	for _, v := range numbers[4:] {
		if v >= mostActors || len(l.Actors) > 0 && int(v) <= l.Actors[len(l.Actors)-1] {
			return l, fmt.Errorf("actor %d of a concurrent run: actors ascend and are below %d", v, mostActors)
		}
		l.Actors = append(l.Actors, int(v))
	}
	return l, nil
}

// smaller lists loads to try in place of l, the boldest first. None is as large
// as l.
func (l Load) smaller() []Load {
	var out []Load
	add := func(change func(*Load)) {
		c := l
		c.Actors = slices.Clone(l.Actors)
		change(&c)
		out = append(out, c)
	}
	n := len(l.Actors)
	if l.Operations > 1 {
		add(func(c *Load) { c.Operations = (l.Operations + 1) / 2 })
	}
	if n > 3 {
		add(func(c *Load) { c.Actors = c.Actors[:n/2] })
		add(func(c *Load) { c.Actors = c.Actors[n/2:] })
	}
	if l.Bytes > 0 {
		add(func(c *Load) { c.Bytes = 0 })
	}
	if n > 2 {
		for i := range l.Actors {
			add(func(c *Load) { c.Actors = slices.Delete(c.Actors, i, i+1) })
		}
	}
	if l.Operations > 2 {
		add(func(c *Load) { c.Operations = l.Operations * 3 / 4 })
		add(func(c *Load) { c.Operations-- })
	}
	return out
}
