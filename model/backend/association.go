package backend

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Associations is what one inbox holds after some of its identity updates: who
// is a member, who may recover it, and which signatures are used up. It is a
// value; nil is an inbox that nobody has created.
//
// Parties stand for keys and texts for themselves, so nothing here is a byte:
// two signatures are one when the same party made them over the same text in
// the same way.
type Associations struct {
	inbox   InboxRef
	members map[identifier]member
	// recovery may revoke and hand on this role; it need not be a member.
	recovery identifier
	// recoveryChain is where recovery's contract was when it got the role as a member.
	recoveryChain chainMark
	used          *usedUp
	entries       int
	// wallets is true when an entry carries a contract signature, so that a
	// subject that looks at the whole log needs the chain for every later one.
	wallets bool
	// unsure is true once the log holds something of which nobody can say what
	// a subject makes of it; then nothing of the state is certain.
	unsure bool
}

// form is how an identifier is spelt.
type form string

// The forms. Two forms of one party are two identifiers, but some subjects take
// them for one: no sentence of the specification says which.
const (
	plainForm       form = ""
	checksummedForm form = "checksummed"
	compressedForm  form = "compressed"
)

// identifier names a party in one spelling.
type identifier struct {
	party Party
	form  form
}

func (i identifier) String() string {
	if i.form == plainForm {
		return i.party.String()
	}
	return i.party.String() + " (" + string(i.form) + ")"
}

// alike reports two spellings of one party.
func (i identifier) alike(o identifier) bool { return i.party == o.party && i.form != o.form }

// chainMark is the chain on which a contract signed, or none.
type chainMark struct {
	known bool
	chain Chain
}

func (c chainMark) String() string {
	switch {
	case !c.known:
		return "no chain"
	case c.chain == RunChain:
		return "the run's chain"
	default:
		return "a " + string(c.chain)
	}
}

// member is what an inbox knows of a member.
type member struct {
	adder identifier // zero for the creator
	chain chainMark
	since span64
}

// span64 is a sequence id of which only bounds may be known.
type span64 struct{ low, high uint64 }

// exactly is a known sequence id, or any for 0.
func exactly(sequence uint64) span64 {
	if sequence == 0 {
		return span64{0, math.MaxUint64}
	}
	return span64{sequence, sequence}
}

// usedKey names a signature: equal bases are encodings of one signature, equal
// keys are one encoding of it.
type usedKey struct{ base, writing string }

// usedUp is the list of signatures that stored updates carry. States share its tail.
type usedUp struct {
	keys   []usedKey
	before *usedUp
}

// of reports whether a signature was used, and whether in this very encoding.
func (l *usedUp) of(k usedKey) (used, same bool) {
	for ; l != nil; l = l.before {
		for _, o := range l.keys {
			if o.base == k.base {
				used = true
				same = same || o == k
			}
		}
	}
	return used, same
}

// clone copies what a step changes.
func (s *Associations) clone() *Associations {
	if s == nil {
		return nil
	}
	c := *s
	c.members = maps.Clone(s.members)
	return &c
}

// Created reports whether the inbox exists.
func (s *Associations) Created() bool { return s != nil }

// Inbox is the inbox that was created.
func (s *Associations) Inbox() InboxRef { return s.inbox }

// Entries is the number of updates in the log (API-148).
func (s *Associations) Entries() int {
	if s == nil {
		return 0
	}
	return s.entries
}

// Unsure reports that the log holds something of which nobody can say what a
// subject makes of it.
func (s *Associations) Unsure() bool { return s != nil && s.unsure }

// Recovery is who may revoke members and hand on this role, in its plain
// spelling; ok is false for an inbox that was not created.
func (s *Associations) Recovery() (p Party, ok bool) {
	if s == nil {
		return Party{}, false
	}
	return s.recovery.party, true
}

// Members lists the members under their plain spelling, in a fixed order.
func (s *Associations) Members() []Party {
	if s == nil {
		return nil
	}
	var out []Party
	for id := range s.members {
		if id.form == plainForm {
			out = append(out, id.party)
		}
	}
	slices.SortFunc(out, func(a, b Party) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(string(a.Behaviour), string(b.Behaviour)))
	})
	return out
}

// Member reports whether a party is a member under its plain spelling, and on
// which chain it joined as a contract.
func (s *Associations) Member(p Party) (chain Chain, onChain, ok bool) {
	if s == nil {
		return "", false, false
	}
	m, ok := s.members[identifier{party: p}]
	return m.chain.chain, m.chain.known, ok
}

// Adder is who allowed a member in, zero for the creator.
func (s *Associations) Adder(p Party) Party {
	if s == nil {
		return Party{}
	}
	return s.members[identifier{party: p}].adder.party
}

// standing is what an inbox says about one identifier.
type standing uint8

const (
	absent standing = iota
	present
	resembling // another spelling of it is there
)

// standing looks up an identifier among the members.
func (s *Associations) standing(id identifier) standing {
	if s == nil {
		return absent
	}
	if _, ok := s.members[id]; ok {
		return present
	}
	for m := range s.members {
		if m.alike(id) {
			return resembling
		}
	}
	return absent
}

// key is equal for two states that nothing can tell apart but their used
// signatures, which follow from the log.
func (s *Associations) key() string {
	if s == nil {
		return ""
	}
	lines := make([]string, 0, len(s.members)+1)
	for id, m := range s.members {
		lines = append(lines, fmt.Sprintf("%v by %v on %v since %v", id, m.adder, m.chain, m.since))
	}
	slices.Sort(lines)
	return fmt.Sprintf("%v %v %v %d %v %v %p %v", s.inbox, s.recovery, s.recoveryChain, s.entries, s.wallets, s.unsure, s.used, lines)
}

// unsureState stands for a log of which nobody can say what it means.
func unsureState(inbox InboxRef, entries int) *Associations {
	return &Associations{inbox: inbox, entries: entries, unsure: true, wallets: true, members: make(map[identifier]member)}
}
