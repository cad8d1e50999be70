package backend

import (
	"fmt"
	"slices"
	"strings"

	"assay/model"
)

// publish judges one answered publish (section 5).
func (j *judge) publish(p *publication) {
	r, envelopes := p.answer, p.request()
	if slices.ContainsFunc(envelopes, stateful) && r.Code == Unimplemented && !j.serves(envelopes) {
		j.out.Unimplemented["publish of identity updates and key packages"]++
		return
	}
	if slices.ContainsFunc(envelopes, unsupported) || j.updatesAnswered(p) {
		return
	}
	switch {
	case r.Code == Unimplemented && !j.serves(envelopes):
		j.out.Unimplemented["publish"]++
	case r.Code != OK && (p.wrong() || len(p.defects) > 0 && j.legalCode(p.exchange)):
		j.refusal(p)
	case r.Code != OK:
		j.unexpected(p)
	case p.wrong():
		j.accepted(p.exchange)
	case r.Publish == nil:
		j.breached(metaPerEntry, p.exchange, "a publish response", "an answer that does not decode"+text(r))
	default:
		j.stored(p)
	}
}

// serves reports whether the subject stored envelopes of every kind in the
// request at some time, so that it cannot be said to lack the call.
func (j *judge) serves(envelopes []Sent) bool {
	return len(j.subject.kinds) > 0 && !slices.ContainsFunc(envelopes, func(s Sent) bool {
		return s.Intent.Log.Kind != Unset && !j.subject.kinds[s.Intent.Log.Kind]
	})
}

// refusal judges the answer to a request that has something wrong with it.
func (j *judge) refusal(p *publication) {
	if j.mute(p.exchange) {
		j.doubt(p.defects[0].breaks[0], p.exchange, "answered "+p.answer.Code.String()+", which says nothing of the request")
		return
	}
	if !j.wrongCode(p.exchange) {
		return
	}
	j.demonstrated(p.exchange, callPublish)
	j.wording(p.exchange, callPublish)
	if p.answer.Code == InvalidArgument {
		j.detail(p)
		j.updatesRefused(p)
	}
}

// option is one legal content of a publish error.
type option struct {
	index   int // -1 for none
	reasons []Reason
	about   model.Assertion
	what    string
}

// options lists what may answer the defects: of each kind the first, and of
// what need not count as a defect each, up to one that must (API-047).
func options(defects []defect) []option {
	var out []option
	for kind := parseDefect; kind <= requestDefect; kind++ {
		for _, d := range defects {
			if d.kind != kind && (kind != parseDefect || !d.loose) {
				continue
			}
			if d.loose && slices.ContainsFunc(out, func(o option) bool { return o.index == d.index && o.what == d.what }) {
				continue
			}
			out = append(out, option{d.index, d.reasons, d.reasonOf, d.what})
			if d.certain && kind != requestDefect && !d.loose {
				break // the first failing envelope of this kind; those after it cannot answer
			}
		}
	}
	return out
}

func (o option) indexed(d Detail) bool {
	if o.index < 0 {
		return d.Index == nil
	}
	return d.Index != nil && int64(*d.Index) == int64(o.index)
}

func (o option) reasoned(d Detail) bool {
	if o.reasons == nil {
		return d.Reason != ReasonUnspecified
	}
	return slices.Contains(o.reasons, d.Reason)
}

// detail judges the publish error of an INVALID_ARGUMENT (API-036, 040, 047).
func (j *judge) detail(p *publication) {
	x := p.exchange
	if len(p.answer.Details) == 0 {
		j.breached(errorDetail, x, "a publish-error detail for "+describe(p.defects), "none"+text(p.answer))
		return
	}
	got := p.answer.Details[0]
	legal := options(p.defects)
	for _, o := range legal {
		if !o.indexed(got) || !o.reasoned(got) {
			continue
		}
		j.held(errorDetail, x, callPublish)
		if collapsedIndex(p.request(), o.index) != o.index {
			j.held(originalIndex, x, callPublish)
		}
		if len(legal) == 1 && onlyMalformed(o.reasons) {
			j.held(malformedReason, x, callPublish)
		}
		if len(legal) == 1 && o.reasons != nil && o.about.Name != "" {
			j.held(o.about, x, updateWitness)
		}
		return
	}
	j.wrongDetail(x, p.request(), legal, got)
}

// wrongDetail names the requirement that a publish error breaks: the index
// counted after collapse is API-036, the reason of a payload that does not parse
// API-040, everything else API-047.
func (j *judge) wrongDetail(x *exchange, request []Sent, legal []option, got Detail) {
	var expected []string
	for i, o := range legal {
		if i == 3 {
			expected = append(expected, "another")
			break
		}
		expected = append(expected, indexText(o.index)+" with "+reasonText(o.reasons)+" ("+o.what+")")
	}
	want, have := strings.Join(expected, ", or "), "no index with "+got.Reason.String()
	if got.Index != nil {
		have = fmt.Sprintf("index %d with %s", *got.Index, got.Reason)
	}
	at := slices.IndexFunc(legal, func(o option) bool { return o.indexed(got) })
	if at < 0 {
		a := errorDetail
		for _, o := range legal {
			if c := collapsedIndex(request, o.index); c != o.index && got.Index != nil && int64(*got.Index) == int64(c) {
				a = originalIndex
			}
		}
		j.breached(a, x, want, have)
		return
	}
	if got.Reason == ReasonUnspecified {
		j.breached(errorDetail, x, want, have)
	}
	if a := legal[at].about; a.Name != "" {
		j.breached(a, x, want, have)
	} else if onlyMalformed(legal[at].reasons) {
		j.breached(malformedReason, x, want, have)
	} else {
		j.breached(errorDetail, x, want, have)
	}
}

// collapsedIndex is what an index becomes when equal envelopes before it are
// not counted (API-036).
func collapsedIndex(request []Sent, index int) int {
	type key struct {
		topic    Bytes
		identity Digest
	}
	seen := make(map[key]bool)
	out := index
	for i, s := range request {
		if i >= index {
			break
		}
		k := key{s.Artefact.Topic, s.Artefact.Identity}
		if k.topic != "" && seen[k] {
			out--
		}
		seen[k] = true
	}
	return out
}

// unexpected judges an answer other than OK to a request with nothing wrong.
func (j *judge) unexpected(p *publication) {
	x, r := p.exchange, p.answer
	if len(p.request()) == 0 {
		return // no requirement says what becomes of an empty publish
	}
	size := r.Code == OutOfRange || r.Code == ResourceExhausted
	if size && uint64(len(p.request()))*metaMost > j.terms.Limit(limitResponseBytes) {
		return // a response that may exceed its cap can be refused, after commit or before (API-037, 134)
	}
	j.refusedSound(x, "OK: nothing is wrong with the request", j.acceptance(p))
}

// metaMost bounds the encoded length of one metadata entry in a response, from
// the field widths of the wire schema.
const metaMost = 140

// acceptance names the requirement that makes a sound request acceptable: that
// of what is special about it, or else that of the payload a refusal points at.
func (j *judge) acceptance(p *publication) model.Assertion {
	r, envelopes := p.answer, p.request()
	if a, ok := j.statefulAcceptance(p); ok {
		return a
	}
	if r.Code == OutOfRange || r.Code == ResourceExhausted || len(r.Details) > 0 && r.Details[0].Reason == ReasonTooLarge {
		return publishInLimit
	}
	if len(r.Details) > 0 && r.Details[0].Index != nil {
		if i := int64(*r.Details[0].Index); i < int64(len(envelopes)) {
			s := envelopes[i]
			twin := slices.ContainsFunc(envelopes[:i], func(o Sent) bool { return o.Artefact.Identity == s.Artefact.Identity })
			if a, ok := j.special(p, s, twin); ok {
				return a
			}
			return accepts(s.Intent.Log.Kind)
		}
	}
	seen := make(map[Digest]bool)
	for _, s := range envelopes {
		if a, ok := j.special(p, s, seen[s.Artefact.Identity]); ok {
			return a
		}
		seen[s.Artefact.Identity] = true
	}
	if j.atLimit(p.call) {
		return publishInLimit
	}
	return accepts(envelopes[0].Intent.Log.Kind)
}

// special names the requirement by which an envelope must be accepted although,
// or because, it is not simply a new one. twin tells that an equal one stands
// before it in the request.
func (j *judge) special(p *publication, s Sent, twin bool) (model.Assertion, bool) {
	t := j.topic(s.Artefact.Topic, s.Intent.Log)
	e := t.stored[s.Artefact.Identity]
	overlapped := false
	for _, q := range t.attempts[s.Artefact.Identity] {
		switch {
		case q.publication == p || q.invoked > p.returned:
		case q.returned > p.invoked:
			overlapped = overlapped || q.outcome == committed
		case q.unknowable():
			return retryWorks, true
		}
	}
	switch {
	case e != nil && e.event < p.invoked && e.intent.Encoding != s.Intent.Encoding:
		return sameValue, true
	case e != nil && e.event < p.invoked:
		return duplicateMeta, true
	case overlapped:
		return copySucceeds, true
	case twin:
		return collapsed, true
	case s.Intent.Encoding != Canonical:
		return sameValue, true
	default:
		return model.Assertion{}, false
	}
}

func accepts(k Kind) model.Assertion {
	switch k {
	case Welcome:
		return welcomeAccepted
	case CommitLog:
		return logEntryAccepted
	case Identity:
		return updateAccepted
	case KeyPackage:
		return packageAccepted
	default:
		return groupAccepted
	}
}

// atLimit reports whether a request reaches a limit exactly or nearly.
func (j *judge) atLimit(c *Call) bool {
	const near = 64
	topics := make(map[Bytes]bool)
	for _, s := range c.Publish.Envelopes {
		topics[s.Artefact.Topic] = true
		if length(s.Artefact.CanonicalLen) == j.terms.Limit(limitEnvelopeBytes) {
			return true
		}
	}
	if uint64(len(topics)) == j.terms.Limit(limitPublishTopics) {
		return true
	}
	return length(c.CanonicalLen)+near > j.terms.Limit(limitRequestBytes)
}

func indexText(i int) string {
	if i < 0 {
		return "no index"
	}
	return fmt.Sprintf("index %d", i)
}

func reasonText(rs []Reason) string {
	if rs == nil {
		return "a reason"
	}
	var out []string
	for _, r := range rs {
		out = append(out, r.String())
	}
	return strings.Join(out, " or ")
}
