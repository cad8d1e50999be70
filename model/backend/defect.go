package backend

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/model"
	"assay/spec"
)

// defectKind groups what can be wrong with a request. Within one kind the lowest
// index answers; between kinds any applicable answer is legal, because API-047
// gives no order between them.
type defectKind uint8

const (
	parseDefect defectKind = iota
	sizeDefect
	validationDefect
	requestDefect
)

// defect is one thing wrong with a request.
type defect struct {
	kind defectKind
	// index is the original index of the envelope; -1 for the whole request.
	index int
	// breaks is what a success would breach, the most telling first.
	breaks []model.Assertion
	// limit is the name of the limit that is passed, "" when none is.
	limit string
	// reasons are the legal reasons; nil means any but UNSPECIFIED.
	reasons []Reason
	// certain is false when the request sits in the zone where encoded and
	// re-encoded lengths fall on both sides of a limit: then both answers are legal.
	certain bool
	// transport is true when a transport may refuse it, with a size code and no detail.
	transport bool
	// reasonOf is what a wrong reason breaches where it is not API-040 or 047;
	// needs names the witness of a refusal where it is not that of its call.
	reasonOf model.Assertion
	needs    string
	// loose is true when it may count as a failure to parse or to validate.
	loose bool
	what  string
}

// refusal tells what the specification says of a flawed payload: the assertion
// that accepting it breaches and the reasons it may be refused with. The
// specification fixes no reason for a payload that parses and has an identifier
// of another length.
func (f Flaw) refusal() (model.Assertion, []Reason) {
	malformed := []Reason{ReasonMalformedPayload}
	switch f {
	case GroupEmpty, GroupOneByte, GroupHeaderOnly, GroupNoHeader, GroupVersion, GroupWireFormat, GroupHoldsWelcome, GroupHoldsGroupInfo,
		GroupHoldsKeyPackage, GroupContentType, GroupCutAfterType, GroupCutLastByte, GroupLongLength, GroupHugeLength:
		return groupRefused, malformed
	case GroupID0, GroupID15, GroupID17, GroupID32, WelcomeKey0, WelcomeKey31, WelcomeKey33, CommitLogID15, CommitLogID17:
		return idLengthRefused, nil
	case CommitLogGarbage:
		return logEntryRefused, malformed
	case CommitLogNoGroup:
		return logEntryRefused, nil
	case IdentityInboxShort, IdentityInboxText:
		return malformedRefused, []Reason{ReasonMalformedPayload, ReasonInvalidIdentityUpdate}
	default:
		return malformedRefused, malformed
	}
}

// Requirements lists what a refusal of the flaw is evidence for.
func (f Flaw) Requirements() []spec.ID {
	a, reasons := f.refusal()
	ids := []spec.ID{a.Requirement}
	if onlyMalformed(reasons) && a.Requirement != malformedReason.Requirement {
		ids = append(ids, malformedReason.Requirement)
	}
	return append(ids, errorDetail.Requirement)
}

func onlyMalformed(reasons []Reason) bool {
	return len(reasons) == 1 && reasons[0] == ReasonMalformedPayload
}

// defects lists everything wrong with a request, in request order.
func (j *judge) defects(c *Call) []defect {
	switch c.Method {
	case MethodPublish:
		return j.publishDefects(c)
	case MethodQuery:
		out := append(j.oversized(c, sizeCode), j.queryCount(c.Query.Entries)...)
		return append(out, entryDefects(c.Query.Entries, true)...)
	case MethodNewest:
		out := append(j.oversized(c, sizeCode), j.newestCount(c.Newest)...)
		return append(out, entryDefects(c.Newest.Entries, false)...)
	case MethodLookup:
		return append(j.oversized(c, sizeCode), j.above(len(c.Lookup.Entries), limitLookup, lookupCount)...)
	case MethodVerify:
		return append(j.oversized(c, sizeCode), j.above(len(c.Verify.Entries), limitWallets, verifyCount)...)
	case MethodStatic:
		return staticDefects(j.terms, c)
	default:
		return nil
	}
}

// oversized finds a request above the byte limit (API-031, 130).
func (j *judge) oversized(c *Call, breaks model.Assertion) []defect {
	limit := j.terms.Limit(limitRequestBytes)
	low, high := spanOf(c.WireLen, c.CanonicalLen)
	if high <= limit {
		return nil
	}
	return []defect{{kind: requestDefect, index: -1, breaks: []model.Assertion{breaks}, limit: limitRequestBytes, certain: low > limit, transport: true,
		what: fmt.Sprintf("a request of %d bytes where %d are allowed", high, limit)}}
}

func spanOf(a, b int) (low, high uint64) {
	return min(length(a), length(b)), max(length(a), length(b))
}

// publishDefects lists everything wrong with a publish (sections 5.1 and 5.2).
func (j *judge) publishDefects(c *Call) []defect {
	out := j.oversized(c, publishLimit)
	topics, sound := make(map[Bytes]bool), make(map[Bytes]bool)
	envelope := j.terms.Limit(limitEnvelopeBytes)
	for i, s := range c.Publish.Envelopes {
		a := s.Artefact
		if a.Topic != "" {
			topics[a.Topic] = true
		}
		low, high := spanOf(a.WireLen, a.CanonicalLen)
		if high > envelope {
			out = append(out, defect{kind: sizeDefect, index: i, breaks: []model.Assertion{publishLimit}, limit: limitEnvelopeBytes, certain: low > envelope,
				what: fmt.Sprintf("envelope %d of %d bytes where %d are allowed", i, high, envelope)})
		}
		switch {
		case s.Intent.Flaw != Sound:
			assertion, reasons := s.Intent.Flaw.refusal()
			out = append(out, defect{kind: parseDefect, index: i, breaks: []model.Assertion{assertion}, reasons: reasons, certain: true,
				what: fmt.Sprintf("envelope %d: %s", i, s.Intent.Flaw)})
		case high <= envelope:
			sound[a.Topic] = true
		}
		out = append(out, j.packageDefects(i, s)...)
	}
	if limit := j.terms.Limit(limitPublishTopics); uint64(len(topics)) > limit {
		out = append(out, defect{kind: requestDefect, index: -1, breaks: []model.Assertion{publishLimit}, limit: limitPublishTopics, certain: uint64(len(sound)) > limit,
			what: fmt.Sprintf("%d distinct topics where %d are allowed", len(topics), limit)})
	}
	return out
}

// queryCount finds a query of too many pairs, counted before they coalesce (API-070, 077).
func (j *judge) queryCount(entries []Asked) []defect {
	return j.counted(entries, limitQueryTopics, queryCount, countedFirst)
}

// newestCount finds a newest read of too many topics for its mode (API-080, 084).
func (j *judge) newestCount(n *NewestCall) []defect {
	return j.counted(n.Entries, newestLimit(n), newestCount, newestCounted)
}

func newestLimit(n *NewestCall) string {
	if n.Full {
		return limitNewestFull
	}
	return limitNewestMetadata
}

func (j *judge) counted(entries []Asked, name string, count, first model.Assertion) []defect {
	limit := j.terms.Limit(name)
	if uint64(len(entries)) <= limit {
		return nil
	}
	d := defect{index: -1, breaks: []model.Assertion{count}, limit: name, certain: true, what: fmt.Sprintf("%d topics where %d are allowed", len(entries), limit)}
	distinct := make(map[Bytes]bool)
	for _, e := range entries {
		distinct[e.Topic] = true
	}
	if uint64(len(distinct)) <= limit {
		d.breaks = append(d.breaks, first)
	}
	return []defect{d}
}

// entryDefects lists what is wrong with the entries of a read (API-003, 004,
// 075). Only a query has cursors, and only a query bars key packages.
func entryDefects(entries []Asked, query bool) []defect {
	var out []defect
	add := func(what string, breaks ...model.Assertion) {
		out = append(out, defect{index: -1, breaks: breaks, certain: true, what: what})
	}
	legal := make(map[Bytes]bool)
	for _, e := range entries {
		if e.Flaw == SoundTopic && (e.Cursor == nil || *e.Cursor <= math.MaxInt64) {
			legal[e.Topic] = true
		}
	}
	for i, e := range entries {
		if e.Flaw != SoundTopic {
			add(fmt.Sprintf("entry %d: %s", i, e.Flaw), badTopicRefused)
		} else if query && e.Log.Kind == KeyPackage {
			add(fmt.Sprintf("entry %d: a key-package topic", i), keyPackageRead)
		}
		if !query || e.Cursor == nil || *e.Cursor <= math.MaxInt64 {
			continue
		}
		if legal[e.Topic] && e.Flaw == SoundTopic {
			add(fmt.Sprintf("entry %d: cursor %d beside a legal one for its topic", i, *e.Cursor), cursorRange, checkedFirst)
		} else {
			add(fmt.Sprintf("entry %d: cursor %d", i, *e.Cursor), cursorRange)
		}
	}
	return out
}

// stateful reports a payload whose validity is more than that it parses.
func stateful(s Sent) bool {
	return s.Intent.Flaw == Sound && (s.Intent.Log.Kind == Identity || s.Intent.Log.Kind == KeyPackage)
}

// unsupported reports such a payload whose intent is not known, so that a
// subject is neither accused nor acquitted of anything about it.
func unsupported(s Sent) bool {
	return stateful(s) && s.Intent.Update == nil && s.Intent.Package == nil
}

// accepted judges a success that a defect forbids. Where the limit was moved
// from the specification's value, what is wrong is that the value is not the
// configured one (API-131).
func (j *judge) accepted(x *exchange) {
	for _, d := range x.defects {
		if !d.certain {
			continue
		}
		blamed := d.breaks
		if len(blamed) > 1 && j.subject.lax[d.limit] {
			blamed = blamed[:1] // passed by distinct topics too, so not for their coalescing
		}
		if d.limit != "" && j.terms.moved(d.limit) && len(blamed) == 1 {
			blamed = []model.Assertion{limitEnforced}
		}
		for _, a := range blamed {
			j.breached(a, x, "a refusal of "+d.what, "OK")
		}
	}
}

// demonstrated records what the refusal of a request is evidence for. Only a
// request with one thing wrong shows that this one thing is refused.
func (j *judge) demonstrated(x *exchange, witness string) {
	first := x.defects[0]
	for _, d := range x.defects {
		if !d.certain || d.limit != first.limit || !slices.Equal(d.breaks, first.breaks) {
			return
		}
	}
	if first.needs != "" {
		witness = first.needs
	}
	for _, a := range first.breaks {
		j.held(a, x, witness)
	}
	if first.limit != "" && j.terms.named(first.limit) {
		j.held(limitEnforced, x, witness)
	}
	if first.transport {
		j.held(sizeCode, x, witness)
	}
}

// wrongCode judges the code of a refusal, which is INVALID_ARGUMENT, or a size
// code of the transport for a message it found too long (API-130). It reports
// whether the code was legal.
func (j *judge) wrongCode(x *exchange) bool {
	r := x.answer
	oversized := slices.ContainsFunc(x.defects, func(d defect) bool { return d.transport })
	if r.Code == InvalidArgument || r.Code == OutOfRange && oversized {
		return true
	}
	a, expected := x.defects[0].breaks[0], "INVALID_ARGUMENT"
	if oversized {
		a, expected = sizeCode, "INVALID_ARGUMENT or OUT_OF_RANGE"
	}
	j.breached(a, x, expected+" for "+describe(x.defects), r.Code.String()+text(r))
	return false
}

// wording judges that an application's refusal has a text (API-150); what it
// says is not judged. A transport words its own refusals.
func (j *judge) wording(x *exchange, witness string) {
	if x.answer.Code == InvalidArgument {
		j.check(strings.TrimSpace(x.answer.Text) != "", plainText, x, witness, "a status text that says what is wrong", fmt.Sprintf("%q", x.answer.Text))
	}
}

func describe(defects []defect) string {
	const most = 3
	var out []string
	for i, d := range defects {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(defects)-most))
			break
		}
		out = append(out, d.what)
	}
	return strings.Join(out, ", ")
}

func text(r *Return) string {
	switch {
	case r.Garbled != "":
		return fmt.Sprintf(" (%q)", r.Garbled)
	case r.Text != "":
		return fmt.Sprintf(" (%q)", r.Text)
	default:
		return ""
	}
}
