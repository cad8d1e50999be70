package backend

import (
	"fmt"
	"hash/fnv"
	"time"

	"assay/harness/generate"
	"assay/harness/run"
	rules "assay/model/backend"
)

// Mix is a weighted concurrent load. What each actor means to do follows from
// the load's seed and the actor's number, and from nothing that a subject
// answers; see Script.
type Mix struct {
	// Topics are the topics that everybody shares. A topic earlier in the list is
	// not likelier than a later one: name it twice to make it hot.
	Topics []rules.Log
	// Weights say how often each verb is drawn, by all actors or, where Roles is
	// not empty, by the actors of each role in turn.
	Weights Weights
	// Roles replace Weights: actor n has role n modulo their number.
	Roles []Weights
	// Wave is the number of operations between two meetings of all actors; 0
	// lets them run freely after the start.
	Wave int
	// Most is the number of envelopes of the larger publishes, at least 1, and
	// Spread the number of topics of the wider ones.
	Most, Spread int
	// Pages are the page limits that readers draw from; 0 leaves the limit out.
	Pages []uint32
	// Redeem makes every actor send again, at the end, what it got no answer for
	// (API-037), so that less is left unknown.
	Redeem bool
	// Patience is after how long a hasty publish is given up.
	Patience []time.Duration
}

// Weights is how often each verb is drawn; zero is never.
type Weights struct {
	// Publish stores fresh envelopes; Atomic does so on several topics at once;
	// Copy sends what others of the same wave send as well; Refused sends a sound
	// envelope beside a flawed one.
	Publish, Atomic, Copy, Refused int
	// Cut publishes and cuts the connection at the answer, Hasty publishes and
	// does not wait long: both leave the outcome unknown. Retry sends the last
	// envelopes of the actor again.
	Cut, Hasty, Retry int
	// Query reads from the start or from where the actor is, Page follows
	// has_more to the end, Newest reads heads, Own publishes and reads it back.
	Query, Page, Newest, Own int
	// Update sends an identity update of an inbox that others update differently
	// at the same time, Alone one of an inbox that nobody else updates; Inbox reads
	// the updates of several inboxes at once.
	Update, Alone, Inbox int
	// Churn changes the topics of the actor's own subscription, several times in
	// one breath; Reopen goes away and comes back where it was.
	Churn, Reopen int
}

func (w Weights) list() []int {
	return []int{w.Publish, w.Atomic, w.Copy, w.Refused, w.Cut, w.Hasty, w.Retry, w.Query, w.Page, w.Newest, w.Own, w.Update, w.Alone, w.Inbox, w.Churn, w.Reopen}
}

// verb is what an operation does, in the order of Weights.
type verb int

const (
	verbPublish verb = iota
	verbAtomic
	verbCopy
	verbRefused
	verbCut
	verbHasty
	verbRetry
	verbQuery
	verbPage
	verbNewest
	verbOwn
	verbUpdate
	verbAlone
	verbInbox
	verbChurn
	verbReopen
)

// Intent is one operation of an actor, before any of it is bytes.
type Intent struct {
	verb      verb
	envelopes []rules.Envelope
	logs      []rules.Log
	// forward reads from where the actor is on each topic instead of the start.
	forward  bool
	limit    uint32
	full     bool
	patience time.Duration
	changes  []change
}

// Script draws what one actor of a load means to do. Equal loads give equal
// scripts, and fewer operations give the beginning of the same script.
func (m Mix) Script(l run.Load, actor int) []Intent {
	d := drawing{mix: m, load: l, actor: actor, choice: generate.FromSeed(seedOf(l.Seed, actor))}
	weights := m.Weights
	if len(m.Roles) > 0 {
		weights = m.Roles[actor%len(m.Roles)]
	}
	out := make([]Intent, l.Operations)
	for i := range out {
		d.operation, d.wave = i, i
		if m.Wave > 0 {
			d.wave = i / m.Wave
		}
		out[i] = d.intent(weights)
	}
	return out
}

// seedOf gives every actor a seed of its own.
func seedOf(seed uint64, actor int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/actor %d", seed, actor)
	return h.Sum64()
}

// drawing draws the operations of one actor.
type drawing struct {
	mix             Mix
	load            run.Load
	actor           int
	operation, wave int
	choice          generate.Choice
	last            []rules.Envelope
	// created is 1 + the era in which the actor last created its own inbox.
	created int
}

func (d *drawing) intent(w Weights) Intent {
	in := Intent{verb: verb(generate.Weighted(d.choice, "verb", w.list()...))}
	switch in.verb {
	case verbPublish, verbCut, verbHasty, verbOwn:
		in.envelopes, in.full = d.fresh(d.topic()), d.choice.Intn(2, "whole topic") == 1
	case verbAtomic:
		in.envelopes = d.across()
	case verbCopy:
		in.envelopes = d.shared()
	case verbRefused:
		in.envelopes = d.flawed()
	case verbRetry:
		in.envelopes = d.last
		if in.envelopes == nil {
			in.verb, in.envelopes = verbPublish, d.fresh(d.topic())
		}
	case verbQuery, verbPage, verbNewest:
		in.logs, in.forward = d.topics(), d.choice.Intn(2, "forward") == 1
		if len(d.mix.Pages) > 0 {
			in.limit = generate.Pick(d.choice, "page limit", d.mix.Pages...)
		}
		in.full = d.choice.Intn(2, "full") == 1
	case verbUpdate:
		in.envelopes = []rules.Envelope{d.update()}
	case verbAlone:
		in.envelopes = []rules.Envelope{d.alone()}
	case verbInbox:
		in.logs = d.inboxes()
	case verbChurn, verbReopen:
		in.changes = d.changes()
	}
	if len(d.mix.Patience) > 0 {
		in.patience = generate.Pick(d.choice, "patience", d.mix.Patience...)
	}
	if len(in.envelopes) > 0 {
		d.last = in.envelopes
	}
	return in
}

func (d *drawing) topic() rules.Log { return generate.Pick(d.choice, "topic", d.mix.Topics...) }

// topics draws one or a few different topics.
func (d *drawing) topics() []rules.Log {
	n := 1
	if d.mix.Spread > 1 {
		n += d.choice.Intn(d.mix.Spread, "topics")
	}
	var out []rules.Log
	seen := make(map[rules.Log]bool)
	for range n {
		if l := d.topic(); !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	return out
}

// fresh draws envelopes that nobody has published, on one topic.
func (d *drawing) fresh(l rules.Log) []rules.Envelope {
	n := 1
	if d.mix.Most > 1 && d.choice.Intn(2, "several envelopes") == 1 {
		n += d.choice.Intn(d.mix.Most, "envelopes")
	}
	out := make([]rules.Envelope, n)
	for i := range out {
		out[i] = d.envelope(l, fmt.Sprintf("a%d.%d.%d", d.actor, d.operation, i))
	}
	return out
}

// envelope makes an envelope of the content; one in four is long where the load
// asks for long payloads.
func (d *drawing) envelope(l rules.Log, content string) rules.Envelope {
	e := rules.Envelope{Log: l, Content: content}
	long := d.choice.Intn(4, "long payload") == 0
	if long && d.load.Bytes > 0 && l.Kind != rules.CommitLog {
		e.Size = d.load.Bytes
	}
	return e
}

// across draws one publish on several topics, in any order.
func (d *drawing) across() []rules.Envelope {
	logs := d.topics()
	for len(logs) < 2 && len(d.mix.Topics) > 1 {
		logs = append(logs, d.topics()...)
	}
	out := make([]rules.Envelope, len(logs))
	for i, l := range logs {
		out[i] = d.envelope(l, fmt.Sprintf("x%d.%d.%d", d.actor, d.operation, i))
	}
	return out
}

// shared draws an envelope that others of the same wave draw as well, alone,
// twice, or beside an envelope of the actor's own.
func (d *drawing) shared() []rules.Envelope {
	k := d.choice.Intn(2, "which shared envelope")
	l := d.mix.Topics[(d.wave+k)%len(d.mix.Topics)]
	e := rules.Envelope{Log: l, Content: fmt.Sprintf("s%d.%d", d.wave, k)}
	own := func() rules.Envelope { return d.envelope(l, fmt.Sprintf("b%d.%d", d.actor, d.operation)) }
	switch d.choice.Intn(6, "company") {
	case 0:
		return []rules.Envelope{e, e}
	case 1:
		return []rules.Envelope{own(), e}
	case 2:
		return []rules.Envelope{e, own(), e}
	default:
		return []rules.Envelope{e}
	}
}

// flawed draws a sound envelope, fresh or shared, beside one that does not parse.
func (d *drawing) flawed() []rules.Envelope {
	sound := d.shared()
	if d.choice.Intn(2, "fresh") == 0 {
		sound = d.fresh(d.topic())
	}
	bad := rules.Envelope{Log: rules.Log{Kind: rules.Welcome, Name: "flawed"}, Content: fmt.Sprint("f", d.actor, ".", d.operation), Flaw: rules.WelcomeKey31}
	if d.choice.Intn(2, "flawed first") == 0 {
		return append([]rules.Envelope{bad}, sound...)
	}
	return append(sound, bad)
}

const (
	// inboxWaves is how many waves share inboxes: the first creates them, the
	// others change them.
	inboxWaves = 4
	// inboxesAtOnce is how many inboxes are worked on at the same time, so that
	// their order over all inboxes can be seen (API-014).
	inboxesAtOnce = 2
	// mostUpdaters is above every actor's number.
	mostUpdaters = 1000
)

func (d *drawing) era() int { return d.wave / inboxWaves }

// inboxOf is one of the inboxes that everybody works on in an era.
func inboxOf(era, k int) rules.InboxRef {
	return rules.InboxRef{Creator: rules.Party{Kind: rules.Wallet, Name: fmt.Sprintf("w%d.%d", era, k)}}
}

// ownInbox is the inbox that one actor alone works on in an era.
func ownInbox(era, actor int) rules.InboxRef {
	return rules.InboxRef{Creator: rules.Party{Kind: rules.Wallet, Name: fmt.Sprintf("o%d.%d", era, actor)}}
}

// inboxes draws which inboxes of the era to read: the shared ones, and as many
// of those that somebody works on alone.
func (d *drawing) inboxes() (out []rules.Log) {
	for k := range inboxesAtOnce {
		if k == 0 || d.choice.Intn(4, "one inbox") > 0 {
			out = append(out, inboxOf(d.era(), k).Log())
		}
	}
	const most = 16
	for i, a := range d.load.Actors {
		if i < most {
			out = append(out, ownInbox(d.era(), a).Log())
		}
	}
	return out
}

// alone makes the next update of the actor's own inbox.
func (d *drawing) alone() rules.Envelope {
	ref := ownInbox(d.era(), d.actor)
	u := rules.IdentityUpdate{Inbox: ref, Second: int64(1_700_000_000 + d.operation)}
	if d.created != d.era()+1 {
		d.created = d.era() + 1
		u.Actions = []rules.Action{{Kind: rules.CreateInbox, Subject: ref.Creator}}
	} else {
		member := rules.Party{Kind: rules.Wallet, Name: fmt.Sprintf("p%d.%d", d.actor, d.operation)}
		u.Actions = []rules.Action{{Kind: rules.AddAssociation, Subject: member, By: rules.Signing{Party: ref.Creator}}}
	}
	return rules.Envelope{Log: ref.Log(), Content: fmt.Sprintf("o%d.%d", d.actor, d.operation), Update: &u}
}

// update draws an identity update of one of the inboxes of the era, signed in a
// second of its own. In the first wave of an era updates create the inbox, in
// the third they hand on its recovery: of such updates one can win. In the
// others they add members. One in three is one that others send as well.
func (d *drawing) update() rules.Envelope {
	ref := inboxOf(d.era(), d.choice.Intn(inboxesAtOnce, "inbox"))
	who := d.actor
	if d.choice.Intn(3, "a copy") == 0 {
		who = mostUpdaters
	}
	phase := d.wave % inboxWaves
	if d.choice.Intn(8, "out of turn") == 0 {
		phase = d.choice.Intn(inboxWaves, "phase")
	}
	other := rules.Party{Kind: rules.Wallet, Name: fmt.Sprintf("m%d.%d", who, d.wave)}
	action := rules.Action{Kind: rules.AddAssociation, Subject: other, By: rules.Signing{Party: ref.Creator}}
	switch phase {
	case 0:
		action = rules.Action{Kind: rules.CreateInbox, Subject: ref.Creator}
	case 2:
		action = rules.Action{Kind: rules.ChangeRecovery, Subject: other, By: rules.Signing{Party: ref.Creator}}
	}
	u := rules.IdentityUpdate{Inbox: ref, Actions: []rules.Action{action}, Second: int64(1_700_000_000 + d.wave*2*mostUpdaters + who)}
	return rules.Envelope{Log: ref.Log(), Content: fmt.Sprintf("u%d.%d.%d", phase, who, d.wave), Update: &u}
}
