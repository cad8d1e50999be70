package backend

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
)

// Kind is the first byte of a topic: which sort of envelope it holds.
type Kind byte

// The kinds of API-002.
const (
	KindGroupMessage   Kind = 0x00
	KindWelcome        Kind = 0x01
	KindIdentityUpdate Kind = 0x02
	KindKeyPackage     Kind = 0x03
	KindCommitLogEntry Kind = 0x04
)

// idLength is how many bytes follow each kind.
var idLength = [...]int{
	KindGroupMessage:   16,
	KindWelcome:        32,
	KindIdentityUpdate: 32,
	KindKeyPackage:     32,
	KindCommitLogEntry: 16,
}

func (k Kind) String() string {
	switch k {
	case KindGroupMessage:
		return "group message"
	case KindWelcome:
		return "welcome"
	case KindIdentityUpdate:
		return "identity update"
	case KindKeyPackage:
		return "key package"
	case KindCommitLogEntry:
		return "commit-log entry"
	}
	return fmt.Sprintf("unknown kind 0x%02x", byte(k))
}

// Topic is a well-formed topic: kind byte and identifier, as on the wire. Make
// one with [NewTopic] or [ParseTopic]; it can be compared and be a map key.
type Topic string

// Kind returns the topic's kind.
func (t Topic) Kind() Kind { return Kind(t[0]) }

// Identifier returns the bytes behind the kind.
func (t Topic) Identifier() string { return string(t[1:]) }

// String writes the topic as hex.
func (t Topic) String() string { return hex.EncodeToString([]byte(t)) }

// NewTopic builds the topic of a payload (API-001). The length of id is checked,
// not its content.
func NewTopic(kind Kind, id []byte) (Topic, error) {
	if int(kind) >= len(idLength) {
		return "", fmt.Errorf("0x%02x is not a topic kind", byte(kind))
	}
	if len(id) != idLength[kind] {
		return "", fmt.Errorf("the identifier of a %v topic is %d bytes, not %d", kind, idLength[kind], len(id))
	}
	b := make([]byte, 1+len(id))
	b[0] = byte(kind)
	copy(b[1:], id)
	return Topic(b), nil
}

// ParseTopic reads the topic of a read request (API-003).
func ParseTopic(wire []byte) (Topic, error) {
	if len(wire) == 0 {
		return "", errors.New("the topic is empty")
	}
	return NewTopic(Kind(wire[0]), wire[1:])
}

// LockKey is the advisory lock that writers of a topic take: the first eight
// bytes of the topic's SHA-256, big-endian. Two topics with one key only wait
// for each other.
func LockKey(t Topic) int64 {
	sum := sha256.Sum256([]byte(t))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// ParseCursor reads a wire cursor (API-004).
func ParseCursor(wire uint64) (int64, error) {
	if wire > math.MaxInt64 {
		return 0, fmt.Errorf("cursor %d is above %d", wire, int64(math.MaxInt64))
	}
	return int64(wire), nil
}
