package backend

import (
	"encoding/hex"
	"math"
	"slices"
	"sort"
)

// never is the event that is after every other.
const never = math.MaxInt

// logged is one identity update of one inbox, and what is known of whether it
// is stored.
type logged struct {
	intent   *IdentityUpdate
	identity Digest
	tries    []attempt
	// sequence is its id, 0 when nobody has seen one.
	sequence uint64
	// certain is the first event that proves it stored, possible the first at
	// which it may have been; never for neither.
	certain, possible int
	// position is its place among the stored entries of its inbox, -1 without one.
	position int
}

// world is one thing that an inbox may look like, with the entries that are in
// it though nobody knows that they are stored.
type world struct {
	state *Associations
	with  uint64
}

// inbox is what a history tells of one identity topic.
type inbox struct {
	topic   Bytes
	updates map[Digest]*logged
	// stored are the entries with a sequence id, ascending; after[n] is what the
	// inbox may look like behind the first n of them.
	stored []*logged
	after  [][]world
	// maybes may be stored: nobody has seen an answer for them, nor a row.
	maybes []*logged
	// floor is the highest id below which a read saw all there is.
	floor uint64
	// foreign is true when the topic may hold entries whose intent is not known.
	foreign bool
}

// Bounds on what is followed; past them nothing of the inbox is certain.
const (
	mostWorlds = 48
	mostMaybes = 8
)

// settle sorts what is stored and follows it through the log.
func (b *inbox) settle(c Conditions) {
	for _, e := range b.updates {
		switch {
		case e.sequence > 0:
			b.stored = append(b.stored, e)
		case e.possible < never:
			b.maybes = append(b.maybes, e)
		}
	}
	sort.Slice(b.stored, func(i, k int) bool { return b.stored[i].sequence < b.stored[k].sequence })
	sort.Slice(b.maybes, func(i, k int) bool {
		if b.maybes[i].possible != b.maybes[k].possible {
			return b.maybes[i].possible < b.maybes[k].possible
		}
		return string(b.maybes[i].identity[:]) < string(b.maybes[k].identity[:])
	})
	worlds := []world{{}}
	if b.foreign || len(b.maybes) > mostMaybes {
		worlds = b.unsure(0)
	}
	b.after = append(b.after, worlds)
	for n, e := range b.stored {
		e.position = n
		c.Sequence = e.sequence
		var next []world
		for _, w := range b.expanded(n, e.certain, e, c) {
			for _, s := range c.Apply(w.state, e.intent).After() {
				next = append(next, world{s, w.with})
			}
		}
		if len(next) == 0 {
			next = b.unsure(n + 1)
		}
		b.after = append(b.after, b.bounded(next, n+1))
	}
}

// unsure is what an inbox looks like when nobody can say.
func (b *inbox) unsure(entries int) []world {
	return []world{{state: unsureState(InboxRef{}, entries)}}
}

// bounded leaves worlds that differ, or one of which nothing is known.
func (b *inbox) bounded(worlds []world, entries int) []world {
	if len(worlds) > 1 {
		type key struct {
			state string
			with  uint64
		}
		seen := make(map[key]bool)
		worlds = slices.DeleteFunc(worlds, func(w world) bool {
			k := key{w.state.key(), w.with}
			double := seen[k]
			seen[k] = true
			return double
		})
	}
	if len(worlds) > mostWorlds {
		return b.unsure(entries)
	}
	return worlds
}

// expanded is what the inbox may look like behind its first n stored entries to
// a publish of e that ends at an event: with and without each update that may
// have been stored by then and before the next entry.
func (b *inbox) expanded(n, until int, e *logged, c Conditions) []world {
	worlds := slices.Clone(b.after[n])
	if n < len(b.stored) && b.stored[n].sequence <= b.floor {
		return worlds // a read saw everything before the next entry
	}
	c.Sequence = 0
	for from := 0; from < len(worlds); from++ {
		w := worlds[from]
		if w.state.Unsure() {
			continue
		}
		for m, maybe := range b.maybes {
			if maybe == e || maybe.possible >= until || w.with&(1<<m) != 0 {
				continue
			}
			for _, s := range c.Apply(w.state, maybe.intent).After() {
				worlds = append(worlds, world{s, w.with | 1<<m})
			}
		}
		if len(worlds) > 4*mostWorlds {
			break
		}
	}
	return b.bounded(worlds, n)
}

// snapshots bounds how many of the stored entries a call may have seen, or been
// validated against: at least what had returned before it began, at most what
// may have been committed before it returned (API-017, 051).
func (b *inbox) snapshots(x *exchange) (least, most int) {
	for n, e := range b.stored {
		if e.certain < x.invoked {
			least = n + 1
		}
		if e.possible < x.returned {
			most = n + 1
		}
	}
	return least, max(least, most)
}

// rivals are the other updates of the inbox that may have been committed while a
// publish ran: some of them certainly were stored.
func (b *inbox) rivals(p *publication, e *logged) (known []*logged, may bool) {
	for _, o := range b.updates {
		if o == e || o.possible >= p.returned || o.certain < p.invoked {
			continue
		}
		if o.sequence > 0 {
			known = append(known, o)
		} else {
			may = true
		}
	}
	sort.Slice(known, func(i, k int) bool { return known[i].sequence < known[k].sequence })
	return known, may || b.foreign
}

// id is the id of an inbox as an answer writes it: what stands behind the
// kind of its topic.
func (b *inbox) id() string {
	if len(b.topic) == 0 {
		return ""
	}
	return hex.EncodeToString([]byte(b.topic[1:]))
}
