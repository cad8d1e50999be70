package backend

import "sort"

// outcome is what a publish certainly did, as far as its answer tells.
type outcome uint8

const (
	unsettled outcome = iota // no answer, or one that does not prove rollback (API-037)
	committed                // a success whose metadata tells what was stored
	refused                  // nothing of it may ever be stored (API-030, 031, 051)
)

// publication is one publish of the history with its interval and effect.
type publication struct {
	*exchange
	outcome outcome
	// landed is the event that proved an unsettled publish stored after all; 0
	// when none did. Event 0 proves nothing, because an invoke comes before it.
	landed int
	// owed counts the envelopes that must be stored since then and that no read
	// has shown yet.
	owed int
}

// request is what the publish asked to store.
func (p *publication) request() []Sent { return p.call.Publish.Envelopes }

// attempt is one publish that may have stored an envelope, and the envelope's
// first index in it.
type attempt struct {
	*publication
	index int
}

// unknowable reports a publish that reached the subject and of which its client
// cannot know what it did (API-037).
func (p *publication) unknowable() bool {
	if p.outcome != unsettled || p.answer == nil || p.answer.Lost == LostRefused {
		return false
	}
	return p.answer.Lost != Answered || p.answer.Code != OK
}

// entry is one envelope known to be stored.
type entry struct {
	identity Digest
	intent   Envelope
	meta     Meta
	// event is the index of the event that proved it stored, and proof the
	// invoke event of the publish it belongs to.
	event, proof int
	// by is the publish whose answer proved it, nil while only a read has shown it.
	by *publication
	// size is the canonical length of the envelope in bytes.
	size int
	// repeats counts the requests that published it again, twins the times that
	// one request held it more than once.
	repeats, twins int
	// reencoded is true when it was published in more than one encoding, retried
	// when it was published again after an attempt without an answer, shown when
	// a read returned it as it is known.
	reencoded, retried, shown bool
}

// pending is an unsettled publish as one topic sees it.
type pending struct {
	*publication
	// next is the first envelope that is not known to be stored; settled the
	// event by which all before it were.
	next, settled int
}

// coverage is what one query saw of a topic: everything visible above cursor, up to top.
type coverage struct {
	event       int
	cursor, top uint64
}

// sighting is a sequence id that a read returned.
type sighting struct {
	event    int
	sequence uint64
}

// topicLog is what is known of one topic.
type topicLog struct {
	topic   Bytes
	log     Log
	stored  map[Digest]*entry
	ordered []*entry // ascending by sequence id
	// attempts are the publishes that may have stored an envelope, in the order
	// in which they began; turnedDown are those that promised not to.
	attempts   map[Digest][]attempt
	turnedDown map[Digest]*publication
	// refusals are the answered publishes in turnedDown, in the order in which they began.
	refusals []refusedEntry
	// writers are the publishes that committed here, in the order in which they
	// began, and latest[i] the last event at which one of the first i+1 returned.
	writers []*publication
	latest  []int
	pending []*pending
	// owed are envelopes of a publish that landed without an answer: they are
	// stored, under an id that nobody has seen.
	owed []debt
	// seen holds the growing highest sequence id that reads returned; covered the
	// stretches that queries saw whole, and reach the highest end of one.
	seen    []sighting
	covered []coverage
	reach   uint64
	// rows and bytes bound what the topic can hold at most, largest its longest envelope.
	rows, bytes, largest uint64
}

// refusedEntry is an envelope that a refused publish tried to store.
type refusedEntry struct {
	identity Digest
	by       *publication
}

// debt is an envelope that must be stored because its publish landed.
type debt struct {
	identity Digest
	by       *publication
	proof    []int
}

func (l *topicLog) insert(e *entry) {
	l.stored[e.identity] = e
	i := sort.Search(len(l.ordered), func(i int) bool { return l.ordered[i].meta.Sequence >= e.meta.Sequence })
	l.ordered = append(l.ordered, nil)
	copy(l.ordered[i+1:], l.ordered[i:])
	l.ordered[i] = e
}

// at returns the entry with the sequence id, or nil.
func (l *topicLog) at(sequence uint64) *entry {
	i := sort.Search(len(l.ordered), func(i int) bool { return l.ordered[i].meta.Sequence >= sequence })
	if i < len(l.ordered) && l.ordered[i].meta.Sequence == sequence {
		return l.ordered[i]
	}
	return nil
}

// above returns the entries after the cursor, ascending.
func (l *topicLog) above(cursor uint64) []*entry {
	i := sort.Search(len(l.ordered), func(i int) bool { return l.ordered[i].meta.Sequence > cursor })
	return l.ordered[i:]
}

// head returns the highest entry known to be stored before the event, or nil.
func (l *topicLog) head(before int) *entry {
	for i := len(l.ordered) - 1; i >= 0; i-- {
		if l.ordered[i].event < before {
			return l.ordered[i]
		}
	}
	return nil
}

// quiet reports whether everything that the topic could hold during a call was
// settled before it: no publish could have committed meanwhile, and none of
// unknown outcome can still land.
func (l *topicLog) quiet(x *exchange) bool {
	if i := sort.Search(len(l.writers), func(i int) bool { return l.writers[i].invoked >= x.returned }); i > 0 && l.latest[i-1] > x.invoked {
		return false
	}
	for _, p := range l.pending {
		if p.invoked < x.returned && !p.settledBefore(l, x.invoked) {
			return false
		}
	}
	return true
}

// settledBefore reports whether all that the publish may store on the topic was
// known to be stored before the event. What a read proved only later may have
// landed in between.
func (p *pending) settledBefore(l *topicLog, event int) bool {
	if p.landed > 0 {
		return p.landed < event
	}
	for ; p.next < len(p.request()); p.next++ {
		a := p.request()[p.next].Artefact
		if a.Topic != l.topic {
			continue
		}
		e := l.stored[a.Identity]
		if e == nil {
			return false
		}
		p.settled = max(p.settled, e.event)
	}
	return p.settled < event
}

// unsettle takes a publish that was thought committed for one of unknown outcome.
func (l *topicLog) unsettle(p *publication) {
	l.pending = append(l.pending, &pending{publication: p})
}

// seenBefore returns the highest sequence id that a read had returned before
// the event.
func (l *topicLog) seenBefore(event int) (sighting, bool) {
	i := sort.Search(len(l.seen), func(i int) bool { return l.seen[i].event >= event })
	if i == 0 {
		return sighting{}, false
	}
	return l.seen[i-1], true
}

// saw notes the highest id that a read returned.
func (l *topicLog) saw(event int, sequence uint64) {
	if n := len(l.seen); n == 0 || sequence > l.seen[n-1].sequence {
		l.seen = append(l.seen, sighting{event: event, sequence: sequence})
	}
}

// cover notes a stretch that a query saw whole.
func (l *topicLog) cover(c coverage) {
	l.covered = append(l.covered, c)
	l.reach = max(l.reach, c.top)
}

// covers returns a query that saw past a sequence id without seeing it.
func (l *topicLog) covers(sequence uint64) (coverage, bool) {
	if sequence >= l.reach {
		return coverage{}, false
	}
	for _, c := range l.covered {
		if c.cursor < sequence && sequence < c.top {
			return c, true
		}
	}
	return coverage{}, false
}

// alone reports whether p is the only publish that can have stored the envelope
// by the time it returned, so that the row is p's own and no older one.
func (l *topicLog) alone(identity Digest, p *publication) bool {
	tries := l.attempts[identity]
	return len(tries) > 0 && tries[0].publication == p && (len(tries) == 1 || tries[1].invoked > p.returned)
}

// owes reports whether the topic holds an envelope under an id nobody has seen.
// What has been seen meanwhile is forgotten.
func (l *topicLog) owes() []debt {
	left := l.owed[:0]
	for _, d := range l.owed {
		if l.stored[d.identity] == nil {
			left = append(left, d)
		}
	}
	l.owed = left
	return left
}
