package backend

import (
	"fmt"
	"slices"
	"strings"

	"assay/model"
)

// The witnesses of calls: some call of the kind was answered with content that
// was checked.
const (
	callPublish       = "call:publish"
	callQuery         = "call:query"
	callNewest        = "call:newest"
	callConfiguration = "call:configuration"
	callHealth        = "call:health"
)

func topicWitness(t Bytes) string { return "topic:" + t.String() }

// legalCode reports whether a defect of the request explains the code: it is
// INVALID_ARGUMENT, or a size code of the transport for a message it found too
// long (API-130).
func (j *judge) legalCode(x *exchange) bool {
	return x.answer.Code == InvalidArgument || x.answer.Code == OutOfRange && slices.ContainsFunc(x.defects, func(d defect) bool { return d.transport })
}

// mute reports an answer by which a subject says nothing of the request: it, or
// what stands before it, is not available just now.
func (j *judge) mute(x *exchange) bool {
	r := x.answer
	if r.Garbled != "" && r.Code == Unknown {
		return true // no answer of the protocol, such as a proxy's page
	}
	switch r.Code {
	case Unavailable, DeadlineExceeded, Canceled:
		return !x.wrong() || !j.evades(r.Code)
	case ResourceExhausted:
		if j.bySize() {
			return false
		}
		return !x.wrong() || j.subject.general[r.Code]
	case Unauthenticated, PermissionDenied:
		// A code for everybody says nothing; one for this request alone is its answer.
		return !x.wrong() || j.subject.general[r.Code]
	default:
		return false
	}
}

// evades reports a code of unavailability that came time and again to requests
// with a defect, between sound ones that succeeded, while no sound one met any
// trouble: that is not bad luck but the subject's answer to them.
func (j *judge) evades(c Code) bool {
	const persistent = 2
	trouble := j.subject.general[Unavailable] || j.subject.general[DeadlineExceeded] || j.subject.general[Canceled]
	return j.subject.works && !trouble && j.subject.flawed[c] >= persistent
}

// bySize reports that the subject answers RESOURCE_EXHAUSTED to long requests
// and to no other: that is a limit of its own and no want of resources. Nothing
// in the specification allows it before rate limits exist (API-130, 133).
func (j *judge) bySize() bool {
	const long = 1 << 20
	k := j.subject
	return k.largest > 0 && k.exhausted > k.largest && k.exhausted > long
}

// refusedSound judges the absence of a success where nothing is wrong with the
// request. The assertions are those that its acceptance is evidence for.
func (j *judge) refusedSound(x *exchange, expected string, assertions ...model.Assertion) {
	r := x.answer
	denied := r.Code == Unauthenticated || r.Code == PermissionDenied
	absent := r.Code == Unimplemented && !j.subject.served[x.call.Method]
	if len(x.call.Headers) > 0 && !absent && !j.subject.bare[r.Code] && (!j.mute(x) || denied && j.subject.plain) {
		// Nothing is special about the call but its headers, and no call without
		// them was answered so.
		j.breached(headersAccepted, x, expected+", whatever client headers the call carries", r.Code.String()+detailText(r)+text(r))
		return
	}
	for _, a := range assertions {
		if j.mute(x) {
			j.doubt(a, x, "a sound request was answered "+r.Code.String()+text(r))
		} else {
			j.breached(a, x, expected, r.Code.String()+detailText(r)+text(r))
		}
	}
}

// headers records that the client headers of a call were accepted (API-161).
func (j *judge) headers(x *exchange, witness string) {
	for _, name := range []string{"authorization", "x-app-version", "x-libxmtp-version"} {
		if !slices.ContainsFunc(x.call.Headers, func(h string) bool { return strings.EqualFold(h, name) }) {
			return
		}
	}
	j.held(headersAccepted, x, witness)
}

// published lists the limits of section 11 that the configuration response has
// a field for (API-135).
func published() []string {
	return []string{"max_envelope_bytes", "max_request_bytes", "max_response_bytes", "max_publish_topics", "max_query_topics", "max_query_limit",
		"default_query_limit", "max_newest_metadata_topics", "max_newest_full_topics", "max_update_adds", "max_update_removes", "max_stream_topics",
		"max_static_topics", "max_lookup_identifiers", "max_scw_signatures", "max_identity_entries", "max_update_frames_per_second",
		"max_update_burst", "max_ping_frames_per_second", "max_ping_burst"}
}

// configuration judges a configuration response (API-131, 135, 162).
func (j *judge) configuration(x *exchange) {
	r := x.answer
	if j.credentialsAsked(x, configServed) {
		return
	}
	if r.Code != OK || r.Configuration == nil {
		j.refusedSound(x, "the configuration", configServed)
		return
	}
	c := r.Configuration
	if c.Identifier != "" || c.Version != "" || slices.ContainsFunc(published(), func(name string) bool { return c.Limits[name] > 0 }) {
		j.held(configServed, x, "")
		j.witness(callConfiguration)
		j.headers(x, callConfiguration)
	}
	for _, name := range published() {
		v := c.Limits[name]
		j.check(v > 0, limitPublished, x, "", "a value for "+name, "none")
		if set, ok := j.terms.Configured[name]; ok && v > 0 {
			j.check(v == set, limitPublished, x, "", fmt.Sprintf("%s %d as configured", name, set), fmt.Sprint(v))
		}
	}
	for _, name := range []string{limitRequestBytes, limitResponseBytes} {
		if v := c.Limits[name]; v > 0 {
			j.check(v <= byteCeiling, limitCeiling, x, "", fmt.Sprintf("%s of at most %d", name, byteCeiling), fmt.Sprint(v))
		}
	}
}

// credentialsAsked judges a refusal for want of credentials of a call that needs
// none (API-162).
func (j *judge) credentialsAsked(x *exchange, a model.Assertion) bool {
	c := x.answer.Code
	if len(x.call.Headers) > 0 || c != Unauthenticated && c != PermissionDenied {
		return false
	}
	j.breached(a, x, "an answer without credentials", c.String()+text(x.answer))
	return true
}

// The statuses of the standard health protocol that a rule tells apart.
const (
	serving    = 1
	notServing = 2
)

// health judges a health check of the empty name (API-162). Which other names
// a subject knows is free.
func (j *judge) health(x *exchange) {
	r := x.answer
	switch {
	case x.call.Service != "" || j.credentialsAsked(x, healthServed):
		return
	case r.Code == OK && r.Garbled == "" && r.Serving == serving:
		j.held(healthServed, x, "")
		j.witness(callHealth)
		j.headers(x, callHealth)
	case r.Code == OK && r.Garbled == "" && r.Serving == notServing && !j.subject.works:
		j.doubt(healthServed, x, "the subject says that it does not serve")
	case r.Code == OK:
		j.breached(healthServed, x, "OK and SERVING", fmt.Sprintf("OK, status %d", r.Serving)+text(r))
	default:
		j.refusedSound(x, "OK and SERVING", healthServed)
	}
}

// RetiredGet is the path of the read that the specification removed (API-152).
const RetiredGet = "/xmtp.backend.v1.QueryService/Get"

// other judges a method that the specification retired or never had.
func (j *judge) other(x *exchange) {
	r := x.answer
	if x.call.Path != RetiredGet {
		if r.Code != Unimplemented {
			j.remark(retiredMethod, model.Upstream, "answers "+r.Code.String()+" for a method that the specification does not name")
		}
		return
	}
	if j.mute(x) {
		j.doubt(retiredMethod, x, "answered "+r.Code.String()+text(r))
		return
	}
	j.check(r.Code == Unimplemented, retiredMethod, x, callQuery, "UNIMPLEMENTED", r.Code.String()+text(r))
}

// settings judges the HTTP/2 settings of a connection (API-132). Behind what may
// be a proxy they are nobody's we know.
func (j *judge) settings(x *exchange) {
	s := x.answer.Settings
	switch {
	case s == nil:
		j.doubt(streamBound, x, "the connection announced nothing"+text(x.answer))
	case !j.terms.Direct && s.Streams != nil && *s.Streams <= streamsMost:
		j.held(streamBound, x, "")
	case !j.terms.Direct:
		j.remark(streamBound, model.Binding, "announces more than 100 concurrent streams or no bound, itself or a proxy before it")
	case s.Streams == nil:
		j.breached(streamBound, x, fmt.Sprintf("at most %d concurrent streams announced", streamsMost), "no bound")
	default:
		j.check(*s.Streams <= streamsMost, streamBound, x, "", fmt.Sprintf("at most %d concurrent streams announced", streamsMost), fmt.Sprint(*s.Streams))
	}
}

// streamsMost is the most concurrent HTTP/2 streams a connection may announce
// (section 11, API-132).
const streamsMost = 100

func detailText(r *Return) string {
	if len(r.Details) == 0 {
		return ""
	}
	out := " " + r.Details[0].Reason.String()
	if i := r.Details[0].Index; i != nil {
		out += fmt.Sprintf(" at index %d", *i)
	}
	return out
}
