package backend

import (
	"encoding/hex"
	"fmt"
)

// Bytes is raw data of the wire kept as an immutable, comparable value. It is
// written in history files as lower-case hex.
type Bytes string

// MarshalText writes the data as hex.
func (b Bytes) MarshalText() ([]byte, error) {
	return []byte(hex.EncodeToString([]byte(b))), nil
}

// UnmarshalText reads hex.
func (b *Bytes) UnmarshalText(t []byte) error {
	raw, err := hex.DecodeString(string(t))
	if err != nil {
		return fmt.Errorf("%d characters of text are not hex bytes: %w", len(t), err)
	}
	*b = Bytes(raw)
	return nil
}

// String returns the data as hex, shortened in the middle when it is long.
func (b Bytes) String() string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%x…(%d bytes)", string(b[:most/2]), len(b))
	}
	return hex.EncodeToString([]byte(b))
}

// MarshalText writes the digest as hex.
func (d Digest) MarshalText() ([]byte, error) {
	return []byte(hex.EncodeToString(d[:])), nil
}

// UnmarshalText reads 64 hex characters.
func (d *Digest) UnmarshalText(t []byte) error {
	if len(t) != 2*len(d) {
		return fmt.Errorf("a digest has %d hex characters, not %d", 2*len(d), len(t))
	}
	if _, err := hex.Decode(d[:], t); err != nil {
		return fmt.Errorf("a digest is not hex: %w", err)
	}
	return nil
}
