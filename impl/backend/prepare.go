package backend

import (
	"slices"

	"google.golang.org/protobuf/proto"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Batch is a publish request after the stages that look at it alone. It never
// changes once [Publisher.Prepare] returned it, and may be committed again.
type Batch struct {
	// items are the distinct envelopes that parsed, in request order.
	items []item
	// keys are the items' keys, in the same order.
	keys []Key
	// slots has, for every envelope of the request, the item it became, or -1.
	slots []int
	// locks are the lock keys of all topics, ascending, none twice.
	locks []int64
	// identities says that there is an identity update among the items.
	identities bool
	// refused is the first envelope that did not get this far, or nil.
	refused *Refusal
}

// item is one envelope to store.
type item struct {
	Payload
	key       Key
	canonical []byte
	// index is its first place in the request, in the request's own numbering
	// (API-036).
	index int
}

// Envelopes returns how many envelopes the request had.
func (b *Batch) Envelopes() int { return len(b.slots) }

// Keys returns the keys of the distinct envelopes that parsed. The caller must
// not change them.
func (b *Batch) Keys() []Key { return b.keys }

// Prepare parses, encodes, hashes and counts (API-031, API-034, API-040,
// API-047, API-050). An error refuses the request as a whole; what is wrong with
// a single envelope is kept in the batch, because a request that also loses a
// race may have to say so instead.
func (p *Publisher) Prepare(request *backendv1.PublishRequest) (*Batch, error) {
	if n := uint64(proto.Size(request)); n > p.limits.MaxRequestBytes {
		return nil, refusePublish(backendv1.PublishError_REASON_TOO_LARGE,
			"the request is %d bytes, more than the %d allowed", n, p.limits.MaxRequestBytes)
	}
	n := len(request.GetEnvelopes())
	b := &Batch{slots: make([]int, n), items: make([]item, 0, n)}
	seen := make(map[Key]int, n)
	topics := make(map[Topic]int, 1) // the first item of each topic
	for i, envelope := range request.GetEnvelopes() {
		b.slots[i] = -1
		it, refusal := p.prepareOne(i, envelope)
		if refusal != nil {
			b.refuse(refusal)
			continue
		}
		if same, ok := seen[it.key]; ok {
			b.slots[i] = same
			continue
		}
		first, known := topics[it.Topic]
		if known && it.Update != nil {
			b.refuse(refuseEnvelope(i, backendv1.PublishError_REASON_INVALID_IDENTITY_UPDATE,
				"envelope %d already updates this inbox; send one update per request", b.items[first].index))
			continue
		}
		if !known {
			if len(topics) == int(p.limits.MaxPublishTopics) {
				return nil, refusePublish(backendv1.PublishError_REASON_TOO_LARGE,
					"the request names more than the %d topics allowed", p.limits.MaxPublishTopics)
			}
			topics[it.Topic] = len(b.items)
			b.locks = append(b.locks, p.parts.LockKey(it.Topic))
		}
		seen[it.key] = len(b.items)
		b.slots[i] = len(b.items)
		b.items = append(b.items, it)
		b.keys = append(b.keys, it.key)
		b.identities = b.identities || it.Update != nil
	}
	// Everybody takes locks in this order, so nobody waits in a circle.
	slices.Sort(b.locks)
	b.locks = slices.Compact(b.locks)
	return b, nil
}

// prepareOne brings one envelope as far as it gets alone.
func (p *Publisher) prepareOne(index int, envelope *backendv1.ClientEnvelope) (item, *Refusal) {
	canonical, err := p.parts.Encode(envelope)
	if err != nil {
		return item{}, refuseEnvelope(index, backendv1.PublishError_REASON_MALFORMED_PAYLOAD, "the envelope cannot be encoded")
	}
	if n := uint64(len(canonical)); n > p.limits.MaxEnvelopeBytes {
		return item{}, refuseEnvelope(index, backendv1.PublishError_REASON_TOO_LARGE,
			"the envelope is %d bytes, more than the %d allowed", n, p.limits.MaxEnvelopeBytes)
	}
	payload, err := p.parts.Decode(envelope)
	if err != nil {
		return item{}, refuseEnvelope(index, backendv1.PublishError_REASON_MALFORMED_PAYLOAD, "%v", err)
	}
	key := Key{Topic: payload.Topic, Hash: p.parts.Hash(canonical)}
	return item{Payload: payload, key: key, canonical: canonical, index: index}, nil
}

// refuse keeps the first refusal. Envelopes are looked at in order, so it is
// also the one of the lowest index.
func (b *Batch) refuse(r *Refusal) {
	if b.refused == nil {
		b.refused = r
	}
}
