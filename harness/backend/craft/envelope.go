package craft

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Envelope makes the encoded ClientEnvelope of an intent, as it goes on the wire,
// and says what it is. The artefact has no topic when the payload's flaw leaves
// none to derive; it has another inbox's when an update claims that. It fails for
// an intent that has no bytes: a form or flaw of another kind, a size that no
// encoding of the payload has, a contract's signature without a chain.
func (c *Crafter) Envelope(e backend.Envelope) ([]byte, backend.Artefact, error) {
	fields, topic, err := c.fields(e)
	if err != nil {
		return nil, backend.Artefact{}, err
	}
	w := writerFor(fields, e.Encoding)
	wire := w.append(make([]byte, 0, w.size(fields)), fields)

	// The identity is that of the bytes as sent, read back, so that a slip of the
	// writer shows as an unequal identity and not as a subject's mistake.
	var decoded backendv1.ClientEnvelope
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(wire, &decoded); err != nil {
		return nil, backend.Artefact{}, fmt.Errorf("envelope on %s does not read back: %w", e.Log, err)
	}
	a := backend.Artefact{
		Topic:        topic,
		Identity:     Identity(&decoded),
		WireLen:      len(wire),
		CanonicalLen: canonicalSize(fields),
	}
	return wire, a, nil
}

// fields builds the envelope's fields in the wanted size, and finds its topic.
func (c *Crafter) fields(e backend.Envelope) (fields []field, topic backend.Bytes, err error) {
	if err := check(e); err != nil {
		return nil, "", err
	}
	switch {
	case e.Update != nil:
		fields, topic, err = c.update(e.Update)
	case e.Package != nil:
		fields, topic, err = c.keyPackage(e.Package)
	default:
		d := c.draw(e)
		a := amounts{pad: natural(e, d.shape)}
		if e.Size > 0 {
			if a, err = fit(e, d); err != nil {
				return nil, "", err
			}
		}
		fields = payload(e, d, a)
		if e.Flaw == backend.Sound {
			topic = c.Topic(e.Log)
		}
	}
	if err != nil {
		return nil, "", fmt.Errorf("envelope on %s: %w", e.Log, err)
	}
	if n := canonicalSize(fields); e.Size > 0 && n != e.Size {
		return nil, "", fmt.Errorf("envelope on %s is %d bytes long and cannot be %d: leave the size out", e.Log, n, e.Size)
	}
	return fields, topic, nil
}

// fit searches the amounts that give the wanted size. A payload that is too long
// at its shortest loses what it can do without.
func fit(e backend.Envelope, d draw) (amounts, error) {
	d.zeros = make([]byte, e.Size+512)
	for _, bare := range []bool{false, true} {
		if canonicalSize(payload(e, d, amounts{bare: bare})) > e.Size {
			continue
		}
		for extra := range extraMost + 1 {
			a := amounts{extra: extra, bare: bare}
			if reach(e, d, &a) {
				return a, nil
			}
		}
	}
	return amounts{}, fmt.Errorf("envelope on %s with flaw %q cannot be %d bytes long: choose another size", e.Log, e.Flaw, e.Size)
}

// reach moves pad until the size fits. Each step lands as close as the growth of
// length headers allows, so a pad that fits is found in a few.
func reach(e backend.Envelope, d draw, a *amounts) bool {
	const steps = 6
	for range steps {
		missing := e.Size - canonicalSize(payload(e, d, *a))
		if missing == 0 {
			return true
		}
		a.pad += missing
		if a.pad < 0 {
			return false
		}
	}
	return false
}

// PublishRequest makes a PublishRequest of the envelopes. canonicalLen is the
// length of the request when every envelope is encoded canonically, which is
// what the byte limit of API-031 counts.
func (c *Crafter) PublishRequest(es []backend.Envelope) (request []byte, call backend.PublishCall, canonicalLen int, err error) {
	call.Envelopes = make([]backend.Sent, len(es))
	type made struct {
		wire     []byte
		artefact backend.Artefact
	}
	// Equal intents give equal bytes, and a large request is often one envelope
	// many times over.
	known := make(map[backend.Envelope]made)
	for i, e := range es {
		m, found := known[e]
		if !found {
			if m.wire, m.artefact, err = c.Envelope(e); err != nil {
				return nil, backend.PublishCall{}, 0, fmt.Errorf("envelope %d of %d: %w", i, len(es), err)
			}
			known[e] = m
		}
		call.Envelopes[i] = backend.Sent{Intent: e, Artefact: m.artefact}
		request = protowire.AppendTag(request, 1, protowire.BytesType)
		request = protowire.AppendBytes(request, m.wire)
		canonicalLen += protowire.SizeTag(1) + protowire.SizeBytes(m.artefact.CanonicalLen)
	}
	return request, call, canonicalLen, nil
}
