package spec

// Coverage says how much of a catalogue a run reached. Every requirement of
// the catalogue is in exactly one of its three lists.
//
// The rule: a requirement counts as covered when the run's access can decide
// it and the run did decide it, for or against the subject. An inconclusive
// result, or a scenario that ran without evaluating an assertion of the
// requirement, covers nothing. What no access of the run decides is a gap of
// the access and not of the scenarios, so it is kept apart, with its reason.
type Coverage struct {
	// Covered are the requirements that were decided.
	Covered []ID `json:"covered"`
	// Uncovered could have been decided with the run's access and were not.
	Uncovered []ID `json:"uncovered"`
	// OutOfReach could not, whatever a scenario does.
	OutOfReach []Gap `json:"out_of_reach"`
}

// Gap is a requirement that a run's access cannot decide, and why.
type Gap struct {
	ID     ID     `json:"id"`
	Reason string `json:"reason"`
}

// Complete reports whether everything within the run's access was decided.
func (c Coverage) Complete() bool { return len(c.Uncovered) == 0 }

// Coverage applies the rule of [Coverage] to a run with this access. The
// function decided reports whether the run settled a requirement; it is asked
// once for each that is within reach, in id order. A requirement that was
// decided although the access should not have allowed it stays out of reach:
// the catalogue, not the run, says what counts as seen.
func (c *Catalogue) Coverage(have AccessSet, decided func(ID) bool) Coverage {
	var out Coverage
	for _, r := range c.requirements {
		switch {
		case !r.Decidable(have):
			out.OutOfReach = append(out.OutOfReach, Gap{r.ID, r.OutOfReach(have)})
		case decided(r.ID):
			out.Covered = append(out.Covered, r.ID)
		default:
			out.Uncovered = append(out.Uncovered, r.ID)
		}
	}
	return out
}
