package identity

// Verified is an update whose signatures have all been verified.
type Verified struct {
	InboxID     string
	TimestampNS uint64
	Steps       []Step
}

// Apply applies one verified update to a state and returns the state after
// it; s stays as it is. An update applies as a whole or not at all. The error
// is an *[Error] of class InvalidUpdate.
func (r Rules) Apply(s *State, u Verified) (*State, error) {
	next, err := r.advance(s.clone(), u)
	if err != nil {
		return nil, err
	}
	return next, nil
}

// advance is Apply on a state that the caller owns and throws away on an error.
func (r Rules) advance(s *State, u Verified) (*State, *Error) {
	for i, step := range u.Steps {
		for _, p := range r.preconditions(step.Verb) {
			if found := p.Breaks(s, step); found != "" {
				return nil, refuse(InvalidUpdate, p.Rule, "%s", found).atAction(i)
			}
		}
		s = r.take(s, step, u.TimestampNS)
	}
	if s == nil {
		return nil, refuse(InvalidUpdate, RuleInboxRemains, "there was no inbox before and no action created one")
	}
	if s.inboxID != u.InboxID {
		return nil, refuse(InvalidUpdate, RuleInboxMatches, "the update names inbox %s, the actions belong to %s", quote(u.InboxID), s.inboxID)
	}
	// Only now: inside its own update a signature may serve several actions.
	for _, step := range u.Steps {
		for _, sig := range step.signed() {
			s.used[sig.Used] = struct{}{}
		}
	}
	return s, nil
}

func (r Rules) preconditions(v Verb) []Precondition {
	switch v {
	case Create:
		return r.Create
	case Add:
		return r.Add
	case Revoke:
		return r.Revoke
	case ChangeRecovery:
		return r.ChangeRecovery
	default:
		return nil
	}
}

// take performs a step whose preconditions hold.
func (r Rules) take(s *State, step Step, timestampNS uint64) *State {
	switch step.Verb {
	case Create:
		return &State{
			inboxID:  InboxID(step.Subject, step.Nonce),
			members:  map[Identifier]Member{step.Subject: {Chain: step.By.Chain}},
			recovery: step.Subject,
			used:     make(map[string]struct{}),
		}
	case Add:
		s.members[step.Subject] = Member{AddedBy: step.By.By, AddedNS: timestampNS, Chain: step.Joining.Chain}
	case Revoke:
		for _, id := range r.Revoked(s, step.Subject) {
			delete(s.members, id)
		}
	case ChangeRecovery:
		s.recovery = step.Subject
	}
	return s
}
