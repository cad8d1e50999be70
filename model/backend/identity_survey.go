package backend

import (
	"slices"
	"sort"
)

// identities is what a history tells of identity updates. It is gathered before
// the first call is judged: whether an update was legal depends on what other
// publishes stored, however late that shows.
type identities struct {
	inboxes map[Bytes]*inbox
	named   map[InboxRef]*inbox
	// mentions are the inboxes of which some update names a party.
	mentions map[Party][]*inbox
	// rulings are what may come of the identity updates of a publish.
	rulings map[*publication][]*judged
	nodes   []nodeMark
	// entries are the stored updates of all inboxes by the event that proves
	// them, highest[n] the highest id of the first n+1.
	entries []*logged
	highest []*logged
	places  map[*logged]*inbox
}

// nodeMark is the state of the chain from an event on.
type nodeMark struct {
	event int
	node  Node
}

// judged is one identity update of a publish and what may come of it.
type judged struct {
	index int
	entry *logged
	inbox *inbox
	// duplicate is true when the update was stored before the publish began;
	// then it succeeds, whatever would be said of it now (API-035).
	duplicate bool
	ruling    Ruling
	// least and most bound the log that it may have been validated against.
	least, most int
	// rivals were certainly stored while the publish ran, races is true when
	// another update may have been.
	rivals     []*logged
	races      bool
	conditions Conditions
}

// identities surveys every identity update of the history and judges what may
// come of each publish of one.
func (j *judge) identities(order []*exchange) {
	d := &identities{inboxes: make(map[Bytes]*inbox), named: make(map[InboxRef]*inbox), mentions: make(map[Party][]*inbox), rulings: make(map[*publication][]*judged), places: make(map[*logged]*inbox)}
	j.identity = d
	for i, e := range j.events {
		if n, ok := e.Value.(*Node); ok && n != nil {
			d.nodes = append(d.nodes, nodeMark{i, *n})
		}
	}
	for _, x := range order {
		if p := j.pubs[x]; p != nil {
			d.enroll(p)
		}
	}
	for _, x := range order {
		d.sight(x)
	}
	for _, b := range d.inboxes {
		b.settle(j.conditions(nil))
		for _, e := range b.stored {
			d.places[e] = b
			if e.certain < never {
				d.entries = append(d.entries, e)
			}
		}
	}
	d.order()
	for _, x := range order {
		if p := j.pubs[x]; p != nil {
			j.ruled(p)
		}
	}
	j.surveyPackages(order)
	j.surveyContracts(order)
}

// enroll notes the identity updates of a publish and what its answer says.
func (d *identities) enroll(p *publication) {
	stored := p.answered() && p.answer.Code == OK && p.answer.Publish != nil && len(p.answer.Publish.Metas) == len(p.request())
	may := !p.answered() || p.answer.Garbled != ""
	if !may {
		wrong := slices.ContainsFunc(p.defects, func(d defect) bool { return d.certain })
		switch p.answer.Code {
		case OK:
			may = true
		case InvalidArgument, Aborted:
		default:
			may = !wrong // no other code proves that nothing was stored (API-037)
		}
	}
	for i, s := range p.request() {
		topic := s.Artefact.Topic
		if topic == "" || s.Intent.Log.Kind != Identity {
			continue
		}
		b := d.inboxes[topic]
		if b == nil {
			b = &inbox{topic: topic, updates: make(map[Digest]*logged)}
			d.inboxes[topic] = b
		}
		if s.Intent.Update == nil {
			b.foreign = b.foreign || may
			continue
		}
		if !s.Intent.Update.Flaw.OtherTopic() {
			d.named[s.Intent.Update.Inbox] = b
		}
		e := b.updates[s.Artefact.Identity]
		if e == nil {
			e = &logged{intent: s.Intent.Update, identity: s.Artefact.Identity, certain: never, possible: never, position: -1}
			b.updates[s.Artefact.Identity] = e
			d.mention(b, e.intent)
		}
		if n := len(e.tries); n == 0 || e.tries[n-1].publication != p {
			e.tries = append(e.tries, attempt{p, i})
		}
		if may {
			e.possible = min(e.possible, p.invoked)
		}
		if stored {
			e.proved(p.answer.Publish.Metas[i], topic, p.returned, p.invoked)
		}
	}
}

// mention notes which parties an update is about.
func (d *identities) mention(b *inbox, u *IdentityUpdate) {
	for _, a := range u.Actions {
		if !slices.Contains(d.mentions[a.Subject], b) {
			d.mentions[a.Subject] = append(d.mentions[a.Subject], b)
		}
	}
}

// proved takes metadata that shows an update stored.
func (e *logged) proved(m Meta, topic Bytes, event, began int) {
	if !m.HasCursor || m.Sequence == 0 || m.HasTopic && m.Topic != topic {
		return
	}
	if e.sequence == 0 {
		e.sequence = m.Sequence
	}
	e.certain, e.possible = min(e.certain, event), min(e.possible, began)
}

// sight takes what a read shows of identity topics.
func (d *identities) sight(x *exchange) {
	if !x.answered() || x.answer.Code != OK {
		return
	}
	if n := x.answer.Newest; n != nil && x.call.Method == MethodNewest {
		for _, r := range n.Rows {
			d.row(x, r)
		}
	}
	q := x.answer.Query
	if q == nil || x.call.Method != MethodQuery {
		return
	}
	top := make(map[Bytes]uint64)
	for _, r := range q.Rows {
		d.row(x, r)
		if r.HasMeta && r.Meta.HasTopic {
			top[r.Meta.Topic] = max(top[r.Meta.Topic], r.Meta.Sequence)
		}
	}
	for _, a := range x.call.Query.Entries {
		if b := d.inboxes[a.Topic]; b != nil && (a.Cursor == nil || *a.Cursor == 0) {
			b.floor = max(b.floor, top[a.Topic])
		}
	}
}

func (d *identities) row(x *exchange, r Row) {
	b := d.inboxes[r.Meta.Topic]
	if b == nil || !r.HasMeta || !r.HasEnvelope {
		return
	}
	e := b.updates[r.Identity]
	if e == nil {
		return // somebody else's, or no update at all: other rules say so
	}
	e.proved(r.Meta, b.topic, x.returned, e.tries[0].invoked)
}

// order sorts what is stored by when it was known to be, for API-014.
func (d *identities) order() {
	sort.Slice(d.entries, func(i, k int) bool {
		if d.entries[i].certain != d.entries[k].certain {
			return d.entries[i].certain < d.entries[k].certain
		}
		return d.entries[i].sequence < d.entries[k].sequence
	})
	for n, e := range d.entries {
		if n > 0 && d.highest[n-1].sequence > e.sequence {
			e = d.highest[n-1]
		}
		d.highest = append(d.highest, e)
	}
}

// before returns the entry with the highest id of those that were stored before
// an event, and how many those are.
func (d *identities) before(event int) (*logged, int) {
	n := sort.Search(len(d.entries), func(i int) bool { return d.entries[i].certain >= event })
	if n == 0 {
		return nil, 0
	}
	return d.highest[n-1], n
}
