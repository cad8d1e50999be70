package backend

// Terms is what the subject of a history was told and says about itself: the
// limits it publishes, or the specification's defaults where it publishes none.
// A history opens with one, as a mark.
type Terms struct {
	// Limits holds every limit and retention by its catalogue name; durations
	// are in the unit the name ends with.
	Limits map[string]uint64 `json:"limits"`
	// Published is true when Limits came from the subject's own configuration call.
	Published bool `json:"published"`
	// Configured holds the limits that the harness set at the subject's start.
	Configured map[string]uint64 `json:"configured,omitempty"`
	// NoReplica is true when the harness knows that every read is served by the
	// primary, because it gave the subject its only database (API-018).
	NoReplica bool `json:"no_replica,omitempty"`
}

// Limit returns the named limit, or 0 when the terms do not hold it.
func (t Terms) Limit(name string) uint64 { return t.Limits[name] }
