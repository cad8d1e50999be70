package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"assay/harness/gate/wire"
)

// Side says whether the request waits or the answer does.
type Side uint8

// The sides of a point.
const (
	// Before holds the request: the server has not seen the statement.
	Before Side = iota + 1
	// After holds the answer: the server has run it, the client does not know.
	After
)

// ParseSide reads the word of a schedule.
func ParseSide(s string) (Side, error) {
	switch s {
	case "before":
		return Before, nil
	case "after":
		return After, nil
	}
	return 0, fmt.Errorf("side %q of a point: want before or after", s)
}

// String is the word that ParseSide reads.
func (s Side) String() string {
	switch s {
	case Before:
		return "before"
	case After:
		return "after"
	}
	return fmt.Sprintf("Side(%d)", uint8(s))
}

// Statement is one statement of a client, as a rule sees it.
type Statement struct {
	Session
	// Transaction counts the session's transactions while they were looked at;
	// a statement outside of any has a number of its own.
	Transaction uint64 `json:"transaction"`
	// Position counts the statements of a transaction from 1, which is its
	// BEGIN; 0 outside of one, and where the beginning was not seen.
	Position int `json:"position,omitempty"`
	// Point is its name, "" when neither a tag nor the points file gives one.
	Point string `json:"point,omitempty"`
	// Call is the name of the call that it belongs to, "" when that is not
	// known; By says how it is known.
	Call string `json:"call,omitempty"`
	By   Reason `json:"by,omitempty"`
	// Text is the statement as it was sent, its beginning when it is long; ""
	// when it is not known.
	Text string `json:"text,omitempty"`
	// Digest is the beginning of the SHA-256 of the text without comments and
	// literals, in hex: the same for the same statement.
	Digest string `json:"digest"`
	// Values say what was bound without keeping it.
	Values []Value `json:"values,omitempty"`
	// Part and Parts say which of the statements of one unit this is, from 1.
	// All of a unit are held together.
	Part  int `json:"part,omitempty"`
	Parts int `json:"parts,omitempty"`

	execution wire.Execution
	plain     string
}

// Value is a bound value.
type Value struct {
	// Bytes is its length as it was sent, -1 for NULL.
	Bytes int `json:"bytes"`
	// Digest is the beginning of its SHA-256 in hex.
	Digest string `json:"digest,omitempty"`
}

// Contains reports whether the statement carries these bytes: in a bound value
// or in its text, as they are or in hex. It answers only within [Rule.Match];
// later the values are gone. An empty needle is in nothing.
func (s Statement) Contains(needle []byte) bool {
	if len(needle) == 0 {
		return false
	}
	inHex := []byte(hex.EncodeToString(needle))
	for _, v := range s.execution.Values {
		if bytes.Contains(v, needle) || bytes.Contains(v, inHex) {
			return true
		}
	}
	return strings.Contains(s.execution.Text, string(needle)) || strings.Contains(s.execution.Text, string(inHex))
}

// Tag returns what the statement's own comment says under a key, "" for nothing.
func (s Statement) Tag(key string) string { return tags(s.execution.Text)[key] }

// Bound returns the bound values as they were sent, nil for NULL, and whether
// they are all there. It answers only within [Rule.Match].
func (s Statement) Bound() (values [][]byte, whole bool) {
	return s.execution.Values, s.execution.Whole
}

// String is the statement in a few words, for a message.
func (s Statement) String() string {
	point := s.Point
	if point == "" {
		point = "a statement without a point"
	}
	return fmt.Sprintf("%s of session %d (process %d)", point, s.ID, s.PID)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// transaction is what statements of one transaction share: once one of them
// tells whose it is, all are.
type transaction struct {
	number uint64
	call   *Call
	by     Reason
}

// place is where a session is, as far as it was looked at.
type place struct {
	in       bool // in a transaction
	seen     uint64
	tx       *transaction
	position int // -1 when the beginning was not seen
	nth      map[int]int
	number   uint64
}

// enter moves to the transaction that the next unit is in.
func (p *place) enter(s *session) {
	sent := s.sent.Load()
	if s.done.Load() == sent {
		p.in = s.status.Load() != 'I'
	}
	switch {
	case p.in && p.tx != nil && p.seen == sent:
		return
	case p.in:
		p.position = -1
	default:
		p.position = 0
		s.requests.memory.Ended()
	}
	p.number++
	p.tx, p.nth = &transaction{number: p.number}, nil
}

// next makes the statement that runs next.
func (p *place) next(s *session, points *Points, x wire.Execution) Statement {
	st := Statement{Session: s.describe(), Transaction: p.number, Text: x.Text, execution: x, plain: plain(x.Text)}
	switch bounds(st.plain) {
	case opens:
		if !p.in {
			p.in, p.position = true, 0
		}
		p.step(&st)
	case ends:
		p.step(&st)
		p.in = false
	case within:
		p.step(&st)
	}
	if st.Point = tags(x.Text)["point"]; st.Point == "" && x.Known {
		st.Point = points.name(p, st)
	}
	st.Digest = digest([]byte(Shape(x.Text)))
	for _, v := range x.Values {
		if v == nil {
			st.Values = append(st.Values, Value{Bytes: -1})
			continue
		}
		st.Values = append(st.Values, Value{Bytes: len(v), Digest: digest(v)})
	}
	return st
}

func (p *place) step(st *Statement) {
	if p.in && p.position >= 0 {
		p.position++
		st.Position = p.position
	}
}
