// Package backend is the executable specification of the backend API: what a
// call may legally answer, given what a history shows to be stored. Start with
// Judge, and read publish.go beside section 5 of the specification, query.go
// beside section 6, newest.go beside section 7.
//
// It judges intents, lengths and observations, and never a byte: craft says
// which identity an artefact has, and equal identity means equal envelope.
// Message hashes are judged by length and by relation, never recomputed. The
// package does not check what a client must do, nor how a subject words its
// errors. Where the specification leaves room it accepts every legal outcome.
package backend

import (
	"fmt"
	"slices"

	"assay/model"
)

// Judge evaluates every rule on a history of this suite. It is a pure function
// of the events; the same events give the same judgements in the same order.
func Judge(events []model.Event) model.Judged {
	j := &judge{events: events, topics: make(map[Bytes]*topicLog), ids: make(map[uint64]*entry), pubs: make(map[int]*publication), invokes: make(map[int]int)}
	j.out.Witnesses = make(map[string]bool)
	j.out.Unimplemented = make(map[string]int)
	j.survey()
	for i, e := range events {
		r, ok := e.Value.(*Return)
		if !ok || e.Phase != model.Return {
			continue
		}
		invoked, ok := j.invokes[e.Call]
		if !ok {
			continue
		}
		c, ok := events[invoked].Value.(*Call)
		if !ok {
			continue
		}
		j.call(e.Call, invoked, i, c, r)
	}
	return j.out
}

func (j *judge) call(call, invoked, returned int, c *Call, r *Return) {
	if r.Lost == Answered && r.Code == OK && len(c.Headers) > 0 {
		j.held(headersAccepted, call, "")
	} else if r.Lost == Answered && len(c.Headers) > 0 && r.Code == Unauthenticated {
		j.doubt(headersAccepted, call, "answered UNAUTHENTICATED")
	}
	switch {
	case c.Method == MethodPublish && c.Publish != nil:
		j.publish(call, c, r)
	case c.Method == MethodQuery && c.Query != nil:
		j.query(call, invoked, returned, c, r)
	case c.Method == MethodNewest && c.Newest != nil:
		j.newest(call, invoked, returned, c, r)
	case c.Method == MethodConfiguration:
		j.configuration(call, r)
	case c.Method == MethodHealth:
		j.health(call, c, r)
	case c.Method == MethodOther:
		j.other(call, c, r)
	}
}

// published lists the limits of section 11 that the configuration response has
// a field for (API-135).
func published() []string {
	return []string{"max_envelope_bytes", "max_request_bytes", "max_response_bytes", "max_publish_topics", "max_query_topics", "max_query_limit",
		"default_query_limit", "max_newest_metadata_topics", "max_newest_full_topics", "max_update_adds", "max_update_removes", "max_stream_topics",
		"max_static_topics", "max_lookup_identifiers", "max_scw_signatures", "max_identity_entries", "max_update_frames_per_second",
		"max_update_burst", "max_ping_frames_per_second", "max_ping_burst"}
}

// byteCeiling is the most that an operator may publish for requests and
// responses: 25 MiB (section 11, API-135).
const byteCeiling = 25 << 20

// configuration judges a configuration response (API-131, 135, 162).
func (j *judge) configuration(call int, r *Return) {
	switch {
	case r.Lost != Answered:
		return
	case r.Code == Unimplemented:
		j.breached(configServed, call, "the configuration", "UNIMPLEMENTED")
		return
	case r.Code != OK && transient(r.Code):
		j.doubt(configServed, call, "answered "+r.Code.String())
		return
	case r.Code != OK || r.Configuration == nil:
		j.breached(configServed, call, "the configuration", r.Code.String()+text(r)+r.Garbled)
		return
	}
	c := r.Configuration
	j.held(configServed, call, "")
	for _, name := range published() {
		if c.Limits[name] == 0 {
			j.breached(limitPublished, call, "a value for "+name, "none")
			return
		}
	}
	j.held(limitPublished, call, "")
	for _, name := range []string{limitRequestBytes, limitResponseBytes} {
		j.check(c.Limits[name] <= byteCeiling, limitCeiling, call, "", fmt.Sprintf("%s of at most %d", name, byteCeiling), fmt.Sprint(c.Limits[name]))
	}
	for name, set := range j.terms.Configured {
		if slices.Contains(published(), name) {
			j.check(c.Limits[name] == set, limitPublished, call, "", fmt.Sprintf("%s %d as configured", name, set), fmt.Sprint(c.Limits[name]))
		}
	}
}

// serving is the standard health status of a service that works.
const serving = 1

// health judges a health check of the empty name (API-162). Which other names
// a subject knows is free.
func (j *judge) health(call int, c *Call, r *Return) {
	switch {
	case r.Lost != Answered || c.Service != "":
		return
	case r.Code == OK && r.Serving == serving:
		j.held(healthServed, call, "")
	case transient(r.Code):
		j.doubt(healthServed, call, "answered "+r.Code.String())
	default:
		j.breached(healthServed, call, "OK and SERVING", fmt.Sprintf("%s, status %d", r.Code, r.Serving))
	}
}

// RetiredGet is the path of the read that the specification removed (API-152).
const RetiredGet = "/xmtp.backend.v1.QueryService/Get"

// other judges a method that the specification retired or never had.
func (j *judge) other(call int, c *Call, r *Return) {
	if r.Lost != Answered {
		return
	}
	if c.Path == RetiredGet {
		if transient(r.Code) {
			j.doubt(retiredMethod, call, "answered "+r.Code.String())
			return
		}
		j.check(r.Code == Unimplemented, retiredMethod, call, callQuery, "UNIMPLEMENTED", r.Code.String())
		return
	}
	if r.Code != Unimplemented {
		j.remark(retiredMethod, model.Upstream, "answers "+r.Code.String()+" for a method that the specification does not name")
	}
}
