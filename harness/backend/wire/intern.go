package wire

import (
	"crypto/sha256"
	"sync"

	"assay/model/backend"
)

// interner gives equal bytes one value, because the same row comes in on many
// subscriptions and its topic with every row. It forgets what was not seen for a
// while, so that it holds no more than two generations. The zero value is ready.
type interner struct {
	mu         sync.Mutex
	young, old map[backend.Bytes]backend.Bytes
	// rows are decoded ones by the digest of their bytes: decoding takes several
	// times as long as finding them.
	rows, oldRows map[[sha256.Size]byte]backend.Row
}

// generation is the number of values after which the older half is forgotten,
// rowGeneration that of rows.
const (
	generation    = 1 << 16
	rowGeneration = 1 << 13
)

// row returns what a row of these bytes was decoded to, if it is remembered.
func (i *interner) row(raw [sha256.Size]byte) (backend.Row, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if r, ok := i.rows[raw]; ok {
		return r, true
	}
	r, ok := i.oldRows[raw]
	if ok {
		i.remember(raw, r)
	}
	return r, ok
}

func (i *interner) decoded(raw [sha256.Size]byte, r backend.Row) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.remember(raw, r)
}

// remember wants mu held.
func (i *interner) remember(raw [sha256.Size]byte, r backend.Row) {
	if len(i.rows) >= rowGeneration {
		i.oldRows, i.rows = i.rows, nil
	}
	if i.rows == nil {
		i.rows = make(map[[sha256.Size]byte]backend.Row)
	}
	i.rows[raw] = r
}

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
