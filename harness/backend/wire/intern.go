package wire

import (
	"sync"

	"assay/model/backend"
)

// interner gives equal bytes one value, because the same row comes in on many
// subscriptions and its topic with every row. It forgets what was not seen for a
// while, so that it holds no more than two generations. The zero value is ready.
type interner struct {
	mu         sync.Mutex
	young, old map[backend.Bytes]backend.Bytes
}

// generation is the number of values after which the older half is forgotten.
const generation = 1 << 16

// of returns a value equal to b.
func (i *interner) of(b backend.Bytes) backend.Bytes {
	if b == "" {
		return ""
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if v, ok := i.young[b]; ok {
		return v
	}
	if v, ok := i.old[b]; ok {
		b = v
	}
	if len(i.young) >= generation {
		i.old, i.young = i.young, nil
	}
	if i.young == nil {
		i.young = make(map[backend.Bytes]backend.Bytes)
	}
	i.young[b] = b
	return b
}
