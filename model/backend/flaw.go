package backend

import (
	"fmt"

	"assay/model"
	"assay/spec"
)

// defectKind groups what can be wrong with a publish. Within one kind the
// lowest index answers; between kinds any applicable answer is legal, because
// API-047 gives no order between them.
type defectKind uint8

const (
	parseDefect defectKind = iota
	sizeDefect
	validationDefect
	requestDefect
)

// defect is one thing wrong with a publish request.
type defect struct {
	kind defectKind
	// index is the original index of the envelope; -1 for the whole request.
	index int
	// assertion is what a success would breach.
	assertion model.Assertion
	// reasons are the legal reasons; nil means any but UNSPECIFIED.
	reasons []Reason
	// certain is false when the request sits in the zone where encoded and
	// re-encoded lengths fall on both sides of a limit: then both answers are legal.
	certain bool
	// transport is true when a transport may refuse it, with a size code and no detail.
	transport bool
	what      string
}

// refusal tells what the specification says of a flawed payload: the assertion
// that accepting it breaches and the reasons it may be refused with. LOCAL fixes
// no reason for a payload that parses and has an identifier of another length.
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
	case KeyPackageEmpty, KeyPackageGarbage, KeyPackageWrapped:
		return malformedRefused, malformed
	default:
		return malformedRefused, malformed
	}
}

// Requirements lists what a refusal of the flaw is evidence for.
func (f Flaw) Requirements() []spec.ID {
	a, reasons := f.refusal()
	ids := []spec.ID{a.Requirement}
	if len(reasons) == 1 && reasons[0] == ReasonMalformedPayload && a.Requirement != malformedReason.Requirement {
		ids = append(ids, malformedReason.Requirement)
	}
	return append(ids, errorDetail.Requirement)
}

// defects lists everything wrong with a publish, in request order.
func (j *judge) defects(c *Call) []defect {
	var out []defect
	request := uint64(min(c.WireLen, c.CanonicalLen))
	if limit := j.terms.Limit(limitRequestBytes); limit > 0 {
		if most := uint64(max(c.WireLen, c.CanonicalLen)); most > limit {
			out = append(out, defect{kind: requestDefect, index: -1, assertion: publishLimit, certain: request > limit, transport: true,
				what: fmt.Sprintf("a request of %d bytes where %d are allowed", most, limit)})
		}
	}
	topics, sound := make(map[Bytes]bool), make(map[Bytes]bool)
	for i, s := range c.Publish.Envelopes {
		a := s.Artefact
		if a.Topic != "" {
			topics[a.Topic] = true
		}
		low, high := uint64(min(a.WireLen, a.CanonicalLen)), uint64(max(a.WireLen, a.CanonicalLen))
		limit := j.terms.Limit(limitEnvelopeBytes)
		switch {
		case limit > 0 && high > limit:
			out = append(out, defect{kind: sizeDefect, index: i, assertion: publishLimit, certain: low > limit,
				what: fmt.Sprintf("envelope %d of %d bytes where %d are allowed", i, high, limit)})
		case s.Intent.Flaw != Sound:
			assertion, reasons := s.Intent.Flaw.refusal()
			out = append(out, defect{kind: parseDefect, index: i, assertion: assertion, reasons: reasons, certain: true,
				what: fmt.Sprintf("envelope %d: %s", i, s.Intent.Flaw)})
		default:
			sound[a.Topic] = true
		}
	}
	if limit := j.terms.Limit(limitPublishTopics); limit > 0 && uint64(len(topics)) > limit {
		out = append(out, defect{kind: requestDefect, index: -1, assertion: publishLimit, certain: uint64(len(sound)) > limit,
			what: fmt.Sprintf("%d distinct topics where %d are allowed", len(topics), limit)})
	}
	return out
}

// unsupported reports a kind of payload that this model does not judge yet, so
// that it neither accuses nor acquits a subject of anything about it.
func unsupported(s Sent) bool {
	return s.Intent.Flaw == Sound && (s.Intent.Log.Kind == Identity || s.Intent.Log.Kind == KeyPackage)
}
