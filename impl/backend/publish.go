package backend

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend/config"
	"assay/spec/gen/xmtp/identity/associations"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Publisher stores envelopes (section 5).
type Publisher struct {
	parts  *Parts
	limits config.Limits
}

// NewPublisher returns a publisher made of parts, which must not change while
// it is in use.
func NewPublisher(parts *Parts, limits config.Limits) *Publisher {
	return &Publisher{parts: parts, limits: limits}
}

// Receipt is what was assigned to one envelope of a request.
type Receipt struct {
	Key
	Stored
}

// attempt is one try to store a batch. Slices run parallel to the batch's items.
type attempt struct {
	batch *Batch
	// stored has what is known of an item; SequenceID 0 is nothing yet.
	stored []Stored
	// missing counts the items of which nothing is known.
	missing int
	// refusals are what validation found, nil for what passed. A copy that
	// commits meanwhile makes one void (API-036).
	refusals []*Refusal
	// heads are, for identity updates, the sequence id of the last update in
	// the history they were judged by (API-051).
	heads []int64
	// changes are what identity updates change in the lookup of inboxes.
	changes [][]Association
}

// Commit stores the batch, all of it or nothing (API-030), and returns a receipt
// for every envelope of the request, in its order (API-032).
//
// The order below is the design. Duplicates are looked for before validation,
// because a stored envelope may be one that would not pass today, and again
// under the locks, because a copy may have committed meanwhile (API-035). Ids
// are taken after the locks, so that whoever has the lower id on a topic also
// commits first (API-011).
func (p *Publisher) Commit(ctx context.Context, b *Batch) ([]Receipt, error) {
	a := &attempt{batch: b, stored: make([]Stored, len(b.items)), missing: len(b.items)}
	if a.missing > 0 {
		known, err := p.parts.Store.Lookup(ctx, b.keys)
		if err != nil {
			return nil, err
		}
		a.note(known, nil)
	}
	if a.missing == 0 {
		return a.receipts(b.refused)
	}
	if err := p.validate(ctx, a); err != nil {
		return nil, err
	}
	tx, err := p.parts.Store.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(ctx)
	if b.identities {
		if err := tx.LockIdentity(ctx); err != nil {
			return nil, err
		}
	}
	if err := tx.Lock(ctx, b.locks); err != nil {
		return nil, err
	}
	if err := a.recheck(ctx, tx); err != nil {
		return nil, err
	}
	if err := a.compareHeads(ctx, tx); err != nil {
		return nil, err
	}
	if refusal := p.resolve(a); refusal != nil {
		return nil, refusal
	}
	if a.missing > 0 {
		if err := p.insert(ctx, tx, a); err != nil {
			return nil, err
		}
		if err := tx.Commit(ctx); err != nil {
			return nil, err
		}
	}
	return a.receipts(nil)
}

// note records which items are stored. among translates an index of the lookup
// into one of items; nil when they are the same.
func (a *attempt) note(known []Known, among []int) {
	for _, k := range known {
		i := k.Index
		if among != nil {
			i = among[i]
		}
		if a.stored[i].SequenceID == 0 {
			a.missing--
		}
		a.stored[i] = k.Stored
	}
}

// recheck looks again for what was missing.
func (a *attempt) recheck(ctx context.Context, tx Tx) error {
	keys, among := a.batch.keys, []int(nil)
	if a.missing < len(keys) {
		keys, among = make([]Key, 0, a.missing), make([]int, 0, a.missing)
		for i, key := range a.batch.keys {
			if a.stored[i].SequenceID == 0 {
				keys, among = append(keys, key), append(among, i)
			}
		}
	}
	known, err := tx.Recheck(ctx, keys)
	if err != nil {
		return err
	}
	a.note(known, among)
	return nil
}

// compareHeads refuses the request when an inbox moved on since its update was
// judged. That beats every other refusal: they were made on old history.
func (a *attempt) compareHeads(ctx context.Context, tx Tx) error {
	if !a.batch.identities {
		return nil
	}
	var topics []Topic
	var judged []int64
	for i, it := range a.batch.items {
		if it.Update != nil && a.stored[i].SequenceID == 0 {
			topics, judged = append(topics, it.Topic), append(judged, a.heads[i])
		}
	}
	if len(topics) == 0 {
		return nil
	}
	heads, err := tx.Heads(ctx, topics)
	if err != nil {
		return err
	}
	for i := range topics {
		if heads[i] != judged[i] {
			return &Refusal{Code: codes.Aborted, Index: WholeRequest,
				Text: "the inbox was updated while this update was being checked; read it again, check, and resend"}
		}
	}
	return nil
}

// resolve returns what the request is refused for, or nil.
func (p *Publisher) resolve(a *attempt) *Refusal {
	var all []*Refusal
	refused := a.batch.refused
	for i, it := range a.batch.items {
		if a.refusals == nil || a.refusals[i] == nil || a.stored[i].SequenceID != 0 {
			continue
		}
		if refused != nil && refused.Index < it.index {
			all, refused = append(all, refused), nil
		}
		all = append(all, a.refusals[i])
	}
	if refused != nil {
		all = append(all, refused)
	}
	if len(all) == 0 {
		return nil
	}
	return p.parts.Resolve(all)
}

// insert stores what is missing.
func (p *Publisher) insert(ctx context.Context, tx Tx, a *attempt) error {
	ids, err := tx.Allocate(ctx, a.missing)
	if err != nil {
		return err
	}
	if len(ids) != a.missing {
		return &StoreError{Kind: Conflict, Point: PointAllocate, Err: fmt.Errorf("got %d ids, wanted %d", len(ids), a.missing)}
	}
	rows := make([]Row, 0, a.missing)
	among := make([]int, 0, a.missing)
	var changes []Association
	for i := range a.batch.items {
		if a.stored[i].SequenceID != 0 {
			continue
		}
		it, id := &a.batch.items[i], ids[len(rows)]
		rows = append(rows, Row{Key: it.key, SequenceID: id, Retention: p.parts.Retention(it.Payload),
			CommitOrProposal: it.CommitOrProposal, Payload: it.canonical})
		among = append(among, i)
		if it.Update != nil {
			for _, c := range a.changes[i] {
				c.SequenceID = id
				changes = append(changes, c)
			}
		}
	}
	stored, err := tx.Insert(ctx, rows)
	if err != nil {
		return err
	}
	for i, s := range stored {
		a.stored[among[i]] = s
	}
	if len(changes) == 0 {
		return nil
	}
	return tx.Project(ctx, changes)
}

// receipts gives every envelope of the request what its item got.
func (a *attempt) receipts(refused *Refusal) ([]Receipt, error) {
	if refused != nil {
		return nil, refused
	}
	out := make([]Receipt, len(a.batch.slots))
	for i, slot := range a.batch.slots {
		out[i] = Receipt{Key: a.batch.keys[slot], Stored: a.stored[slot]}
	}
	return out, nil
}

// validate judges every item that is not stored. What it finds is kept and
// resolved under the locks; an error ends the publish.
func (p *Publisher) validate(ctx context.Context, a *attempt) error {
	for i := range a.batch.items {
		it := &a.batch.items[i]
		if a.stored[i].SequenceID != 0 {
			continue
		}
		var err error
		switch {
		case it.Update != nil:
			err = p.validateUpdate(ctx, a, i)
		case it.KeyPackage != nil:
			if p.parts.KeyPackages == nil {
				return unimplemented("key packages")
			}
			err = p.parts.KeyPackages.ValidateKeyPackage(ctx, it.KeyPackage)
		}
		if err == nil {
			continue
		}
		refusal, ok := errors.AsType[*Refusal](err)
		if !ok {
			return err
		}
		if a.refusals == nil {
			a.refusals = make([]*Refusal, len(a.batch.items))
		}
		a.refusals[i] = located(refusal, it.index)
	}
	return nil
}

// validateUpdate judges an identity update by the inbox's whole history. The
// head comes from that same history: one read later it could be another
// (API-051).
func (p *Publisher) validateUpdate(ctx context.Context, a *attempt, i int) error {
	if p.parts.Identity == nil {
		return unimplemented("identity updates")
	}
	if a.heads == nil {
		a.heads = make([]int64, len(a.batch.items))
		a.changes = make([][]Association, len(a.batch.items))
	}
	it := &a.batch.items[i]
	entries, err := p.parts.Store.History(ctx, it.Topic)
	if err != nil {
		return err
	}
	history := make([]*associations.IdentityUpdate, len(entries))
	for j, e := range entries {
		var stored backendv1.ClientEnvelope
		if err := proto.Unmarshal(e.Payload, &stored); err != nil {
			return &StoreError{Kind: Conflict, Point: PointHistory, Err: fmt.Errorf("stored update %d does not decode: %w", e.SequenceID, err)}
		}
		history[j] = stored.GetIdentityUpdate()
		a.heads[i] = e.SequenceID
	}
	if len(history) >= int(p.limits.MaxIdentityEntries) {
		return refuseEnvelope(it.index, backendv1.PublishError_REASON_INVALID_IDENTITY_UPDATE,
			"the inbox already has the %d updates allowed", p.limits.MaxIdentityEntries)
	}
	a.changes[i], err = p.parts.Identity.ValidateIdentityUpdate(ctx, history, it.Update)
	return err
}

// located returns a copy of r that names the envelope. A verdict that could not
// be reached concerns the call and names none.
func located(r *Refusal, index int) *Refusal {
	c := *r
	if c.Code == codes.OK {
		c.Code = codes.InvalidArgument
	}
	c.Index = index
	return &c
}

func unimplemented(what string) error {
	return &Refusal{Code: codes.Unimplemented, Index: WholeRequest, Text: "this backend does not accept " + what + " yet"}
}
