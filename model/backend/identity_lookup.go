package backend

import (
	"fmt"
	"slices"
	"strings"

	"assay/model"
)

// callLookup is the witness that a lookup found an inbox.
const callLookup = "call:lookup"

// sought is what one entry of a lookup asks for.
type sought struct {
	id identifier
	// found is false for what names nobody: a text under another kind than its
	// own, an installation, or nonsense.
	found bool
	// refusable is true when the whole call may be refused for the entry, open
	// when it may find the party or not.
	refusable, open bool
}

// seeks tells what an entry asks for (API-122; what no sentence says is open:
// kind 0, unknown kinds, and identifiers that are malformed).
func (l Lookup) seeks() sought {
	id := identifier{party: l.Party}
	passkey := l.Party.Kind == Passkey
	switch l.Spelling {
	case NonsenseSpelling, EmptySpelling, OtherKindSpelling:
		return sought{refusable: true}
	case KindUnknownSpelling:
		return sought{refusable: true, open: true, id: id, found: true}
	case KindZeroSpelling:
		return sought{refusable: true, open: l.Party.Kind == Wallet || l.Party.Kind == Contract, id: id, found: !passkey && l.Party.Kind != Installation}
	case PrefixedSpelling:
		return sought{refusable: true, open: true, id: id, found: true}
	case CompressedSpelling:
		return sought{id: identifier{l.Party, compressedForm}, found: true}
	default:
		return sought{id: id, found: l.Party.Kind != Installation, refusable: l.Party.Kind == Installation}
	}
}

// has reports whether an inbox lists the identifier for lookups, and since when.
// An address is found whatever its letter case.
func (s *Associations) has(id identifier) (span64, bool) {
	if s == nil {
		return span64{}, false
	}
	if m, ok := s.members[id]; ok {
		return m.since, true
	}
	if id.party.Kind != Passkey {
		id.form = checksummedForm
		m, ok := s.members[id]
		return m.since, ok
	}
	return span64{}, false
}

// listing is what one inbox may say of an identifier during a call.
type listing struct {
	inbox *inbox
	// may and must tell whether it may be listed and is under all circumstances;
	// the span is that of the association.
	may, must bool
	since     span64
	// once is true when it was listed at some time before, latest the highest id
	// with which.
	once   bool
	latest uint64
}

// listings looks an identifier up in every inbox that ever named its party; known
// is false when one of them holds what nobody can read.
func (j *judge) listings(x *exchange, id identifier) (out []listing, known bool) {
	for _, b := range j.identity.mentions[id.party] {
		l := listing{inbox: b, must: true}
		least, most := b.snapshots(x)
		for n := range most + 1 {
			for _, w := range b.expanded(n, x.returned, nil, j.conditions(x)) {
				if w.state.Unsure() {
					return nil, false
				}
				since, ok := w.state.has(id)
				if ok {
					l.once, l.latest = true, max(l.latest, min(since.low, since.high))
				}
				if n < least {
					continue
				}
				switch {
				case ok && !l.may:
					l.may, l.since = true, since
				case ok:
					l.since = span64{min(l.since.low, since.low), max(l.since.high, since.high)}
				default:
					l.must = false
				}
			}
		}
		l.must = l.must && l.may
		out = append(out, l)
	}
	return out, true
}

// latest are the listings that may be the answer; none tells whether no inbox
// may be.
func latest(all []listing) (inboxes []listing, none bool) {
	none = true
	for i, l := range all {
		if l.must {
			none = false
		}
		if !l.may {
			continue
		}
		beaten := false
		for k, o := range all {
			beaten = beaten || k != i && o.must && o.since.low > l.since.high
		}
		if !beaten {
			inboxes = append(inboxes, l)
		}
	}
	return inboxes, none
}

// lookup judges one answered lookup (section 10).
func (j *judge) lookup(x *exchange) {
	c, r := x.call.Lookup, x.answer
	switch {
	case r.Code == Unimplemented && !j.subject.served[MethodLookup]:
		j.out.Unimplemented["lookup"]++
		return
	case len(x.defects) > 0:
		j.readRefusal(x, callLookup)
		return
	}
	full := uint64(len(c.Entries)) == j.terms.Limit(limitLookup)
	refusable := slices.ContainsFunc(c.Entries, func(e LookedUp) bool { return e.seeks().refusable })
	switch {
	case j.tooLong(x):
	case r.Code == InvalidArgument && refusable, r.Code != OK && len(c.Entries) == 0:
		return // no requirement says what becomes of it
	case r.Code != OK && full:
		j.refusedSound(x, "OK: nothing is wrong with the lookup", lookupCountOK)
	case r.Code != OK:
		j.refusedSound(x, "OK: nothing is wrong with the lookup", lookupEcho)
	case r.InboxIDs == nil:
		j.breached(lookupEcho, x, "a lookup response", "an answer that does not decode"+text(r))
	case j.echoes(x):
		for i, e := range c.Entries {
			j.found(x, i, e, r.InboxIDs.Entries[i].Inbox)
		}
		if full {
			j.held(lookupCountOK, x, callLookup)
		}
	}
}

// above finds a call with more entries than a limit allows (API-120, 123).
func (j *judge) above(n int, limit string, breaks model.Assertion) []defect {
	if most := j.terms.Limit(limit); uint64(n) > most {
		return []defect{{index: -1, breaks: []model.Assertion{breaks}, limit: limit, certain: true, what: fmt.Sprintf("%d entries where %d are allowed", n, most)}}
	}
	return nil
}

// echoes judges that every entry is answered, in order and as it was sent (API-121).
func (j *judge) echoes(x *exchange) bool {
	asked, got := x.call.Lookup.Entries, x.answer.InboxIDs.Entries
	if len(asked) != len(got) {
		j.breached(lookupEcho, x, fmt.Sprintf("%d answers", len(asked)), fmt.Sprint(len(got)))
		return false
	}
	for i, e := range asked {
		if got[i].Identifier != e.Identifier || got[i].Kind != e.Kind {
			j.breached(lookupEcho, x, fmt.Sprintf("answer %d for %.80q of kind %d", i, e.Identifier, e.Kind), fmt.Sprintf("%.80q of kind %d", got[i].Identifier, got[i].Kind))
			return false
		}
	}
	if len(asked) > 0 {
		j.held(lookupEcho, x, callLookup)
		j.headers(x, callLookup)
	}
	return true
}

// found judges the inbox of one entry.
func (j *judge) found(x *exchange, i int, e LookedUp, got *string) {
	s := e.seeks()
	where := fmt.Sprintf("entry %d, %s %s: ", i, e.Party, e.Spelling)
	if !s.found {
		j.check(got == nil, lookupKind, x, callLookup, where+"no inbox", answerText(got))
		return
	}
	all, known := j.listings(x, s.id)
	if !known {
		return
	}
	inboxes, none := latest(all)
	answer := slices.IndexFunc(all, func(l listing) bool { return got != nil && strings.EqualFold(*got, l.inbox.id()) })
	legal := got == nil && (none || s.open) || slices.ContainsFunc(inboxes, func(l listing) bool { return got != nil && strings.EqualFold(*got, l.inbox.id()) })
	switch {
	case legal && s.open:
	case legal && got == nil && len(inboxes) == 0:
		j.held(lookupAbsent, x, callLookup)
	case legal && got != nil && !none && len(inboxes) == 1:
		j.witness(callLookup)
		j.resolved(x, e, all, inboxes[0])
	case legal:
	default:
		expected := where + expectedInbox(inboxes, none)
		// An answer that was right once may come from a replica (API-018).
		stale := got == nil || answer >= 0 && all[answer].once
		for _, a := range j.unfound(e, all, inboxes, got) {
			if stale && !j.terms.NoReplica {
				j.doubt(a, x, "an older answer, which a replica may give")
			} else {
				j.breached(a, x, expected, answerText(got), proofs(inboxes, all)...)
			}
		}
	}
}

// resolved records what an identifier that led to the right inbox shows.
func (j *judge) resolved(x *exchange, e LookedUp, all []listing, right listing) {
	j.held(lookupLatest, x, "")
	if e.Spelling == ChecksummedSpelling || e.Spelling == UpperSpelling {
		j.held(lookupSpelling, x, "")
	}
	for _, o := range all {
		switch {
		case o.inbox == right.inbox:
		case o.must:
			j.held(severalInbox, x, "")
		case !o.may && o.once && o.latest > right.since.high:
			j.held(lookupReveals, x, "")
		}
	}
}

// unfound names the requirements that a wrong answer breaks, the most telling one
// or two.
func (j *judge) unfound(e LookedUp, all, inboxes []listing, got *string) []model.Assertion {
	if len(inboxes) == 0 {
		return []model.Assertion{lookupAbsent}
	}
	if got == nil && (e.Spelling == ChecksummedSpelling || e.Spelling == UpperSpelling) {
		return []model.Assertion{lookupSpelling}
	}
	for _, o := range all {
		if o.inbox != inboxes[0].inbox && !o.may && o.once && o.latest > inboxes[0].since.high {
			return []model.Assertion{lookupReveals}
		}
	}
	for _, o := range all {
		if o.inbox != inboxes[0].inbox && o.must && got != nil {
			return []model.Assertion{severalInbox, lookupLatest}
		}
	}
	return []model.Assertion{lookupLatest}
}

func expectedInbox(inboxes []listing, none bool) string {
	var out []string
	for _, l := range inboxes {
		out = append(out, l.inbox.id())
	}
	if none {
		out = append(out, "no inbox")
	}
	return strings.Join(out, " or ")
}

func answerText(got *string) string {
	if got == nil {
		return "no inbox"
	}
	return fmt.Sprintf("%.80q", *got)
}

// proofs are the events that show the associations which an answer had to know.
func proofs(inboxes, all []listing) []int {
	if len(inboxes) == 0 {
		inboxes = all
	}
	var out []int
	for _, l := range inboxes {
		for _, e := range l.inbox.stored {
			if e.certain < never && e.possible < never {
				out = append(out, e.possible, e.certain)
			}
		}
	}
	return out
}
