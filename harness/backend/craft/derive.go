package craft

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"time"

	"assay/model/backend"
)

// Crafter makes the artefacts of one scope of a run. It is safe for concurrent
// use, and what it remembers changes no bytes.
type Crafter struct {
	key     [32]byte
	parties *parties
	// packages remembers when each key package was first made.
	packages *sync.Map
	clock    func() time.Time
	// chain is nil until WithChain gives one.
	chain Contracts
}

// New returns the crafter of one scope, usually the name of a scenario or
// session. Crafters that differ in seed, nonce or scope share no topic.
func New(seed uint64, nonce, scope string) *Crafter {
	h := sha256.New()
	h.Write([]byte("assay craft 1"))
	h.Write(binary.BigEndian.AppendUint64(nil, seed))
	for _, s := range []string{nonce, scope} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	c := &Crafter{parties: &parties{}, packages: &sync.Map{}, clock: time.Now}
	h.Sum(c.key[:0])
	return c
}

// root is the 32 bytes that belong to a list of names. Lengths stand before the
// names so that ("a", "bc") and ("ab", "c") differ.
func (c *Crafter) root(names ...string) [32]byte {
	buf := make([]byte, 0, 256)
	buf = append(buf, c.key[:]...)
	for _, s := range names {
		buf = binary.AppendUvarint(buf, uint64(len(s)))
		buf = append(buf, s...)
	}
	return sha256.Sum256(buf)
}

// expand returns n bytes that follow from root. Beyond one hash they come from
// ChaCha8, whose output is fixed by its published definition, because hashing a
// request of 25 MiB into being would cost more than sending it.
func expand(root [32]byte, n int) []byte {
	if n <= len(root) {
		return root[:n:n]
	}
	out := make([]byte, n)
	// Read of a ChaCha8 fills the slice and never fails.
	_, _ = rand.NewChaCha8(root).Read(out)
	return out
}

// identifier is the identifier in the topic of a log. It depends on the name
// alone: a group and a commit log of one name share their 16 bytes, an
// installation and an inbox theirs, so that a subject that keeps only the
// identifier and forgets the kind mixes topics up and shows it. Where the name
// is that of an inbox or an installation, the identifier is the inbox's id or the
// installation's key.
func (c *Crafter) identifier(l backend.Log) []byte {
	if id := c.named(l); id != nil {
		return id
	}
	root := c.root("topic", l.Name)
	return expand(root, l.Kind.IdentifierLength())
}

// Topic returns the topic of a log, kind byte and identifier (API-002); "" for a
// log whose kind is unset.
func (c *Crafter) Topic(l backend.Log) backend.Bytes {
	n := l.Kind.IdentifierLength()
	if n == 0 {
		return ""
	}
	t := make([]byte, 1, 1+n)
	t[0] = kindByte(l.Kind)
	return backend.Bytes(append(t, c.identifier(l)...))
}

// kindByte is the first byte of a topic (API-002).
func kindByte(k backend.Kind) byte { return byte(k) - byte(backend.Group) }

// draw hands out the random-looking bytes of one envelope.
type draw struct {
	c    *Crafter
	log  backend.Log
	base [32]byte
	// shape decides what varies between contents of one kind. It does not depend
	// on form, flaw, encoding or size, so equal names keep equal values.
	shape [32]byte
	// identifier is that of the envelope's topic.
	identifier []byte
	// zeros serves while a size is searched: only lengths matter then.
	zeros []byte
}

func (c *Crafter) draw(e backend.Envelope) draw {
	d := draw{c: c, log: e.Log, base: c.root("content", e.Log.Kind.String(), e.Log.Name, e.Content), identifier: c.identifier(e.Log)}
	d.shape = d.root("shape")
	return d
}

func (d draw) root(label string) [32]byte {
	var buf [64]byte
	return sha256.Sum256(append(append(buf[:0], d.base[:]...), label...))
}

func (d draw) bytes(label string, n int) []byte {
	if d.zeros != nil && n <= len(d.zeros) {
		return d.zeros[:n:n]
	}
	return expand(d.root(label), n)
}
