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
	// RetentionAssumed is true when the subject publishes no retention, so that
	// Limits holds defaults that it may have been configured away from (API-021).
	RetentionAssumed bool `json:"retention_assumed,omitempty"`
	// Configured holds the limits that the harness set at the subject's start.
	Configured map[string]uint64 `json:"configured,omitempty"`
	// NoReplica is true when the harness knows that every read is served by the
	// primary, because it gave the subject its only database (API-018).
	NoReplica bool `json:"no_replica,omitempty"`
	// Direct is true when the harness knows that nothing stands between it and
	// the subject: a proxy's HTTP/2 settings are the proxy's.
	Direct bool `json:"direct,omitempty"`
}

// Names of limits the rules use, as the catalogue spells them.
const (
	limitEnvelopeBytes  = "max_envelope_bytes"
	limitRequestBytes   = "max_request_bytes"
	limitResponseBytes  = "max_response_bytes"
	limitPublishTopics  = "max_publish_topics"
	limitQueryTopics    = "max_query_topics"
	limitQueryMost      = "max_query_limit"
	limitQueryDefault   = "default_query_limit"
	limitNewestMetadata = "max_newest_metadata_topics"
	limitNewestFull     = "max_newest_full_topics"

	limitAdds        = "max_update_adds"
	limitRemoves     = "max_update_removes"
	limitTopics      = "max_stream_topics"
	limitStatic      = "max_static_topics"
	limitUpdateRate  = "max_update_frames_per_second"
	limitUpdateBurst = "max_update_burst"
	limitPingRate    = "max_ping_frames_per_second"
	limitPingBurst   = "max_ping_burst"

	retentionGroup      = "group_message_seconds"
	retentionWelcome    = "welcome_seconds"
	retentionKeyPackage = "key_package_seconds"
)

// byteCeiling is the most that an operator may publish for requests and
// responses: 25 MiB (section 11, API-135).
const byteCeiling = 25 << 20

// standard is the value that sections 4 and 11 give a limit, 0 for a name the
// rules do not use. It holds for a subject that publishes no other.
func standard(name string) uint64 {
	switch name {
	case limitEnvelopeBytes:
		return 1 << 20
	case limitRequestBytes, limitResponseBytes:
		return byteCeiling
	case limitPublishTopics, limitQueryTopics, limitQueryMost, limitNewestMetadata:
		return 1000
	case limitIdentityEntries:
		return standardEntries
	case limitWallets:
		return standardWallets
	case limitLookup:
		return 250
	case limitQueryDefault, limitNewestFull, limitUpdateBurst, limitPingBurst:
		return 100
	case limitAdds, limitRemoves, limitTopics:
		return 100_000
	case limitStatic:
		return 10_000
	case limitUpdateRate, limitPingRate:
		return 10
	case retentionGroup, retentionWelcome, retentionKeyPackage:
		return 90 * 24 * 60 * 60
	default:
		return 0
	}
}

// Limit returns the named limit: the one in the terms, or the specification's
// when they hold none.
func (t Terms) Limit(name string) uint64 {
	if v := t.Limits[name]; v > 0 {
		return v
	}
	return standard(name)
}

// moved reports whether the subject is held to another value than the
// specification's, so that a literal in its code would show (API-131).
func (t Terms) moved(name string) bool { return t.Limit(name) != standard(name) }

// named reports whether the harness gave the limit a value of its own, so that
// enforcing it says something about the configuration (API-131): a subject that
// publishes what it has in its code would enforce that as well.
func (t Terms) named(name string) bool {
	_, set := t.Configured[name]
	return set && t.moved(name)
}

// retention returns the retention of an envelope in seconds (API-021); ok is
// false for a payload that never expires.
func (t Terms) retention(e Envelope) (seconds uint64, ok bool) {
	switch e.Log.Kind {
	case Group:
		return t.Limit(retentionGroup), !e.Form.Handshake()
	case Welcome:
		return t.Limit(retentionWelcome), true
	case KeyPackage:
		return t.Limit(retentionKeyPackage), true
	default:
		return 0, false
	}
}

// pageLimit is the number of rows a query may return (API-071). It is not known
// when a subject publishes a default above its maximum.
func (t Terms) pageLimit(asked uint32) (limit uint64, known bool) {
	most, usual := t.Limit(limitQueryMost), t.Limit(limitQueryDefault)
	switch {
	case asked == 0:
		return usual, usual <= most
	case uint64(asked) > most:
		return most, true
	default:
		return uint64(asked), true
	}
}
