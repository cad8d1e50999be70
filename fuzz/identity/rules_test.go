package identity_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/impl/identity"
)

// FuzzRules turns bytes into updates of verified steps and compares the state
// machine with log, which is written from the rules in another shape.
func FuzzRules(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0})
	f.Add([]byte("\x00\x00\x00\x00\x01\x03\x00\x00\x02\x01\x00\x00\x02\x00\x00\x00\x03\x02\x00\x00\x01\x01\x02\x00"))
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		b := make([]byte, 100+r.IntN(200))
		for i := 4; i < len(b); i++ { // the first update creates the inbox
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	rules := identity.ReferenceRules()

	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 300 {
			return // the log looks at everything again for every step
		}
		var state *identity.State
		var l log
		for c := (choices{bytes: data}); len(c.bytes) > 0; {
			u := c.update()
			next, err := rules.Apply(state, u)
			after, ok := l.then(u)
			if (err == nil) != ok {
				t.Fatalf("after %d updates: the rules say %v, the log says %v, of %+v", len(l.updates), err, ok, u)
			}
			if err != nil {
				continue
			}
			state, l = next, after
			if got, want := describe(state.Members()), describe(l.members()); got != want {
				t.Fatalf("members are %s, the log says %s", got, want)
			}
			if state.Recovery() != l.recovery() || state.InboxID() != l.id() {
				t.Fatalf("recovery %v of %s, the log says %v of %s", state.Recovery(), state.InboxID(), l.recovery(), l.id())
			}
		}
	})
}

func describe(members map[identity.Identifier]identity.Member) string {
	ids := slices.SortedFunc(maps.Keys(members), func(a, b identity.Identifier) int {
		return slices.Compare([]string{a.String()}, []string{b.String()})
	})
	var lines []string
	for _, id := range ids {
		lines = append(lines, fmt.Sprintf("%v %+v", id, members[id]))
	}
	return fmt.Sprint(lines)
}

// choices hands out bytes; where none is left it hands out zero. Zero is always
// the choice that leads on, so that long sessions of accepted updates are easy
// to reach.
type choices struct {
	bytes  []byte
	signed int // how many signatures there are so far
}

func (c *choices) next(n int) int {
	if len(c.bytes) == 0 {
		return 0
	}
	b := c.bytes[0]
	c.bytes = c.bytes[1:]
	return int(b) % n
}

// rarely is true for one byte in eight.
func (c *choices) rarely() bool { return c.next(8) == 7 }

func parties() []identity.Identifier {
	return []identity.Identifier{
		identity.EthereumAddress("0x00000000000000000000000000000000000000aa"),
		identity.EthereumAddress("0x00000000000000000000000000000000000000bb"),
		identity.EthereumAddress("none"),
		identity.InstallationKey([]byte{1}),
		identity.InstallationKey([]byte{2}),
		identity.PasskeyKey([]byte{3}),
	}
}

// sign makes a signature that was verified to be by a party.
func (c *choices) sign(by identity.Identifier) identity.Signed {
	s := identity.Signed{By: by}
	switch by.Kind {
	case identity.Ethereum:
		s.Scheme = identity.ByAddressKey
		if c.rarely() {
			s.Scheme = []identity.Scheme{identity.ByContract, identity.ByDelegatedKey}[c.next(2)]
		}
		if s.Scheme == identity.ByContract {
			s.Chain = identity.ChainID{Known: true, Number: uint64(c.next(2))}
		}
	case identity.Installation:
		s.Scheme = identity.ByInstallationKey
	default:
		s.Scheme = identity.ByPasskey
	}
	c.signed++
	s.Used = fmt.Sprint(c.signed)
	if c.rarely() {
		s.Used = fmt.Sprint(1 + c.next(c.signed))
	}
	return s
}

func (c *choices) party() identity.Identifier { return parties()[c.next(len(parties()))] }

func (c *choices) update() identity.Verified {
	u := identity.Verified{TimestampNS: uint64(c.next(4))}
	owner, nonce := parties()[0], uint64(0)
	for n := 1 + c.next(3); len(u.Steps) < n; {
		step := identity.Step{
			Verb:    []identity.Verb{identity.Create, identity.Add, identity.Add, identity.Add, identity.Revoke, identity.ChangeRecovery}[c.next(6)],
			Subject: owner,
		}
		if step.Verb == identity.Create {
			if c.rarely() {
				step.Subject, step.Nonce = c.party(), uint64(c.next(2))
			}
			owner, nonce = step.Subject, step.Nonce
			step.By = c.sign(step.Subject)
		} else {
			step.Subject = c.party()
			step.By = c.sign(c.party())
		}
		if step.Verb == identity.Add {
			step.Joining = c.sign(step.Subject)
		}
		if c.rarely() {
			step.Subject = c.party()
		}
		u.Steps = append(u.Steps, step)
	}
	u.InboxID = identity.InboxID(owner, nonce)
	return u
}

// log is the second state machine: what happened, and nothing derived from it.
type log struct {
	updates []identity.Verified
}

// then appends an update, if every step is allowed after those before it and
// the inbox it ends in is the one it names.
func (l log) then(u identity.Verified) (log, bool) {
	before := l.updates
	for i := range u.Steps {
		part := identity.Verified{InboxID: u.InboxID, TimestampNS: u.TimestampNS, Steps: u.Steps[:i]}
		if !(log{append(slices.Clone(before), part)}).allows(before, u.Steps[i]) {
			return l, false
		}
	}
	after := log{append(slices.Clone(before), u)}
	return after, after.exists() && after.id() == u.InboxID
}

func (l log) steps() (steps []identity.Step, at []uint64) {
	for _, u := range l.updates {
		for _, s := range u.Steps {
			steps, at = append(steps, s), append(at, u.TimestampNS)
		}
	}
	return steps, at
}

func (l log) first() (identity.Step, bool) {
	if steps, _ := l.steps(); len(steps) > 0 {
		return steps[0], true
	}
	return identity.Step{}, false
}

func (l log) exists() bool { _, ok := l.first(); return ok }

func (l log) id() string {
	s, _ := l.first()
	return identity.InboxID(s.Subject, s.Nonce)
}

// recovery is the subject of the last create or change of recovery.
func (l log) recovery() identity.Identifier {
	steps, _ := l.steps()
	for _, s := range slices.Backward(steps) {
		if s.Verb == identity.Create || s.Verb == identity.ChangeRecovery {
			return s.Subject
		}
	}
	return identity.Identifier{}
}

// members are the subjects whose last addition no later revocation undid.
func (l log) members() map[identity.Identifier]identity.Member {
	steps, at := l.steps()
	members := make(map[identity.Identifier]identity.Member)
	for _, id := range parties() {
		for i := len(steps) - 1; i >= 0; i-- {
			s := steps[i]
			if s.Subject != id || s.Verb != identity.Create && s.Verb != identity.Add {
				continue
			}
			member := identity.Member{Chain: s.By.Chain}
			if s.Verb == identity.Add {
				member = identity.Member{AddedBy: s.By.By, AddedNS: at[i], Chain: s.Joining.Chain}
			}
			revoked := slices.ContainsFunc(steps[i+1:], func(later identity.Step) bool {
				return later.Verb == identity.Revoke &&
					(later.Subject == id || id.Kind == identity.Installation && s.Verb == identity.Add && later.Subject == s.By.By)
			})
			if !revoked {
				members[id] = member
			}
			break
		}
	}
	return members
}

// allows answers for one step; stored are the updates before the running one.
func (l log) allows(stored []identity.Verified, s identity.Step) bool {
	if s.Verb == identity.Create {
		shaped := s.Subject.Kind != identity.Ethereum || s.Subject.Value != "none"
		return !l.exists() && s.By.By == s.Subject && shaped && (s.By.Scheme != identity.ByDelegatedKey || s.Nonce == 0)
	}
	if !l.exists() {
		return false
	}
	used := make(map[string]bool)
	for _, u := range stored {
		for _, old := range u.Steps {
			used[old.By.Used] = true
			if old.Verb == identity.Add {
				used[old.Joining.Used] = true
			}
		}
	}
	member, isMember := l.members()[s.By.By]
	if used[s.By.Used] || isMember && member.Chain != s.By.Chain {
		return false
	}
	isRecovery := s.By.By == l.recovery()
	if s.Verb != identity.Add {
		return isRecovery && s.By.Scheme != identity.ByDelegatedKey
	}
	if used[s.Joining.Used] || s.Joining.By != s.Subject || s.By.By == s.Subject || !isMember && !isRecovery {
		return false
	}
	bothInstallations := s.By.By.Kind == identity.Installation && s.Subject.Kind == identity.Installation
	byLegacy, joinsLegacy := s.By.Scheme == identity.ByDelegatedKey, s.Joining.Scheme == identity.ByDelegatedKey
	home := s.By.By
	if home.Kind == identity.Installation {
		home = s.Joining.By
	}
	atHome := !byLegacy && !joinsLegacy || identity.InboxID(home, 0) == l.id()
	return !bothInstallations && atHome && (isMember || !byLegacy)
}
