package identity

import "maps"

// State is an inbox after some updates. A nil *State is an inbox that nobody
// has created. States are values: [Rules.Apply] makes a new one.
type State struct {
	inboxID  string
	members  map[Identifier]Member
	recovery Identifier
	// used holds the keys of all signatures of the updates behind this state,
	// those of revoked members too: a revocation must not make the signatures
	// of the addition it undid good again.
	used map[string]struct{}
}

// Member is what an inbox remembers about one of its members.
type Member struct {
	// AddedBy is the signer that allowed the addition; the zero Identifier
	// for the creator. Revoking it takes the installations it added along.
	AddedBy Identifier
	// AddedNS is the client's timestamp of the update that added the member,
	// and 0 for the creator.
	AddedNS uint64
	// Chain is where the member's contract lived when it joined.
	Chain ChainID
}

// InboxID is the id derived at creation, in lowercase.
func (s *State) InboxID() string { return s.inboxID }

// Recovery is who may revoke and hand on this role. It need not be a member.
func (s *State) Recovery() Identifier { return s.recovery }

// Member looks up one member.
func (s *State) Member(id Identifier) (Member, bool) {
	if s == nil {
		return Member{}, false
	}
	m, ok := s.members[id]
	return m, ok
}

// Members returns a copy of all members.
func (s *State) Members() map[Identifier]Member {
	if s == nil {
		return nil
	}
	return maps.Clone(s.members)
}

func (s *State) hasUsed(sig Signed) bool {
	if s == nil {
		return false
	}
	_, ok := s.used[sig.Used]
	return ok
}

func (s *State) clone() *State {
	if s == nil {
		return nil
	}
	c := *s
	c.members = maps.Clone(s.members)
	c.used = maps.Clone(s.used)
	return &c
}

// projected lists the members that lookups can find: everyone but
// installations. A recovery identifier that is no member is not among them.
func (s *State) projected() map[LookupKey]struct{} {
	keys := make(map[LookupKey]struct{})
	if s == nil {
		return keys
	}
	for id := range s.members {
		if key, ok := id.LookupKey(); ok {
			keys[key] = struct{}{}
		}
	}
	return keys
}
