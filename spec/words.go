package spec

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Level is how strongly a requirement binds. The zero value is invalid.
type Level uint8

const (
	_ Level = iota
	// Must marks a requirement: breaking it is a violation.
	Must
	// Should marks a recommendation: a subject may have a reason to differ.
	Should
)

var levelWords = vocabulary{"level", []string{"", "must", "should"}}

// ParseLevel reads "must" or "should".
func ParseLevel(s string) (Level, error) { n, err := levelWords.parse(s); return Level(n), err }

// String returns the word, or "invalid".
func (l Level) String() string { return levelWords.word(uint8(l)) }

// MarshalText writes the word of String; an invalid level is an error.
func (l Level) MarshalText() ([]byte, error) { return levelWords.text(uint8(l)) }

// UnmarshalText reads what MarshalText writes.
func (l *Level) UnmarshalText(t []byte) (err error) { *l, err = ParseLevel(string(t)); return err }

// Party is somebody a requirement binds. The zero value is invalid.
type Party uint8

const (
	_ Party = iota
	// Server is the backend: the subject of a verification.
	Server
	// Client is the library that speaks to a server on an application's behalf.
	Client
	// Application is the program that uses a client and chooses what to ask for.
	Application
	// Operator deploys and configures a server and what stands before it.
	Operator
	// Project is the work around the protocol: its tests, phases and releases.
	Project
)

var partyWords = vocabulary{"party", []string{"", "server", "client", "application", "operator", "project"}}

// ParseParty reads one word, such as "server".
func ParseParty(s string) (Party, error) { n, err := partyWords.parse(s); return Party(n), err }

// String returns the word, or "invalid".
func (p Party) String() string { return partyWords.word(uint8(p)) }

// MarshalText writes the word of String; an invalid party is an error.
func (p Party) MarshalText() ([]byte, error) { return partyWords.text(uint8(p)) }

// UnmarshalText reads what MarshalText writes.
func (p *Party) UnmarshalText(t []byte) (err error) { *p, err = ParseParty(string(t)); return err }

// PartySet is whom a requirement binds. Some requirements have two halves, one
// for the server and one for the client, and only one of them can be seen.
type PartySet uint8

// Parties makes a set. A value that is no party adds nothing.
func Parties(members ...Party) PartySet {
	var s PartySet
	for _, p := range members {
		s |= PartySet(partyWords.bit(uint8(p)))
	}
	return s
}

// Has reports whether p is bound.
func (s PartySet) Has(p Party) bool { return uint8(s)&partyWords.bit(uint8(p)) != 0 }

// List returns the members in the order of their constants.
func (s PartySet) List() []Party { return members[Party](uint8(s), partyWords) }

// String joins the words with " and ": "server and client". The empty set is "nobody".
func (s PartySet) String() string {
	if s == 0 {
		return "nobody"
	}
	return strings.Join(words(s.List()), " and ")
}

// MarshalJSON writes a list of words.
func (s PartySet) MarshalJSON() ([]byte, error) { return json.Marshal(words(s.List())) }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *PartySet) UnmarshalJSON(b []byte) error {
	var list []Party
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*s = Parties(list...)
	return nil
}

// Access is one thing a run was given to work with. The zero value is invalid.
type Access uint8

const (
	_ Access = iota
	// Wire is an address that answers the protocol.
	Wire
	// Gate means that the subject's database traffic passes through us.
	Gate
	// Chain means that the subject's chain RPC is ours.
	Chain
	// Replica means that we control a standby the subject reads from.
	Replica
	// Control means that we can start, stop and configure the subject.
	Control
	// Watch means that we see traffic between others, and send nothing.
	Watch
)

var accessWords = vocabulary{"access", []string{"", "wire", "gate", "chain", "replica", "control", "watch"}}

// ParseAccess reads one word, such as "gate".
func ParseAccess(s string) (Access, error) { n, err := accessWords.parse(s); return Access(n), err }

// String returns the word, or "invalid".
func (a Access) String() string { return accessWords.word(uint8(a)) }

// MarshalText writes the word of String; an invalid access is an error.
func (a Access) MarshalText() ([]byte, error) { return accessWords.text(uint8(a)) }

// UnmarshalText reads what MarshalText writes.
func (a *Access) UnmarshalText(t []byte) (err error) { *a, err = ParseAccess(string(t)); return err }

// AccessSet is everything a run was given, or everything a decision needs. The
// zero value is the empty set.
type AccessSet uint8

// AccessOf makes a set.
func AccessOf(members ...Access) AccessSet { return AccessSet(0).With(members...) }

// ParseAccessSet reads words joined by "+", as String writes them. The empty
// set is written "none"; an empty text is an error.
func ParseAccessSet(s string) (AccessSet, error) {
	if s == "none" {
		return 0, nil
	}
	var set AccessSet
	for _, w := range strings.Split(s, "+") {
		a, err := ParseAccess(w)
		if err != nil {
			return 0, err
		}
		set = set.With(a)
	}
	return set, nil
}

// Has reports whether a is a member.
func (s AccessSet) Has(a Access) bool { return uint8(s)&accessWords.bit(uint8(a)) != 0 }

// With returns the set with more members. A value that is no access adds nothing.
func (s AccessSet) With(more ...Access) AccessSet {
	for _, a := range more {
		s |= AccessSet(accessWords.bit(uint8(a)))
	}
	return s
}

// Contains reports whether every member of other is a member of s.
func (s AccessSet) Contains(other AccessSet) bool { return other&^s == 0 }

// Without returns the members of s that other lacks.
func (s AccessSet) Without(other AccessSet) AccessSet { return s &^ other }

// List returns the members in the order of their constants.
func (s AccessSet) List() []Access { return members[Access](uint8(s), accessWords) }

// String joins the words with "+": "wire+chain". The empty set is "none".
func (s AccessSet) String() string {
	if s == 0 {
		return "none"
	}
	return strings.Join(words(s.List()), "+")
}

// MarshalJSON writes a list of words.
func (s AccessSet) MarshalJSON() ([]byte, error) { return json.Marshal(words(s.List())) }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *AccessSet) UnmarshalJSON(b []byte) error {
	var list []Access
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*s = AccessOf(list...)
	return nil
}

// vocabulary is the words of one enumeration. Invariant: list[0] stands for
// the invalid zero value and is never written or read.
type vocabulary struct {
	name string
	list []string
}

func (v vocabulary) parse(s string) (uint8, error) {
	for i, w := range v.list[1:] {
		if w == s {
			return uint8(i + 1), nil
		}
	}
	return 0, fmt.Errorf("%s %s is unknown: use one of %s", v.name, quote(s), strings.Join(v.list[1:], ", "))
}

func (v vocabulary) word(n uint8) string {
	if n == 0 || int(n) >= len(v.list) {
		return "invalid"
	}
	return v.list[n]
}

func (v vocabulary) text(n uint8) ([]byte, error) {
	if n == 0 || int(n) >= len(v.list) {
		return nil, fmt.Errorf("%s %d has no word: use one of %s", v.name, n, strings.Join(v.list[1:], ", "))
	}
	return []byte(v.list[n]), nil
}

// bit is the place of n in a set of such words; 0 when n is no word.
func (v vocabulary) bit(n uint8) uint8 {
	if n == 0 || int(n) >= len(v.list) {
		return 0
	}
	return 1 << n
}

func members[T ~uint8](bits uint8, v vocabulary) []T {
	var out []T
	for n := 1; n < len(v.list); n++ {
		if bits&v.bit(uint8(n)) != 0 {
			out = append(out, T(n))
		}
	}
	return out
}

func words[T fmt.Stringer](list []T) []string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.String()
	}
	return out
}
