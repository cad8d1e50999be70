package stream

import (
	"context"
	"sync"

	"assay/impl/backend"
)

// Feed is the shared reader: it tells every session of every new envelope on the
// session's topics, with one read for all of them. It has no goroutine and no
// clock; somebody calls Turn when it may be worth looking.
//
// What it promises to a member that registers a topic: for every envelope of the
// topic, either the head that the member reads afterwards is at or above it, or
// the member is told of it. What it tells of one topic in Arrived events is
// ascending and without a gap since what it told of that topic before.
type Feed struct {
	log Log

	mu     sync.Mutex
	topics map[backend.Topic]*followed
	// since is the snapshot up to which the log has been looked at.
	since Snapshot
	// lost says that what happened since is not known but by reading heads.
	lost bool
	// backlog has the topics that moved and were not read, in their order.
	backlog []*followed
	// touched are the members that were told something and not yet that it is
	// Ready.
	touched []Member
}

// Member is a session as the feed knows it. Neither method may wait.
type Member interface {
	// Tell queues an event for the session.
	Tell(e Event)
	// Ready says that what was told may be looked at: all of it that one read
	// brought belongs into as few frames as possible.
	Ready()
}

// followed is a topic that somebody registered.
type followed struct {
	topic   backend.Topic
	members []Member
	// told is the id up to which members need nothing from the feed: they were
	// told of it, or the head that they read is not below it. -1 is unknown.
	told int64
	// spoken says that members were told something, so that told no longer
	// rests on the heads that they read.
	spoken bool
	// head is the highest id that the topic is known to have.
	head   int64
	queued bool
}

const unknown = -1

// NewFeed returns a feed without members.
func NewFeed(log Log) *Feed {
	return &Feed{log: log, topics: make(map[backend.Topic]*followed)}
}

// Register begins to tell m of topics. A member registers a topic once.
func (f *Feed) Register(m Member, topics []backend.Topic) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range topics {
		e := f.topics[t]
		if e == nil {
			e = &followed{topic: t, told: unknown}
			f.topics[t] = e
		}
		e.members = append(e.members, m)
	}
}

// Unregister ends that. Events that are on their way may still come.
func (f *Feed) Unregister(m Member, topics []backend.Topic) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range topics {
		e := f.topics[t]
		if e == nil {
			continue
		}
		for i := range e.members {
			if e.members[i] == m {
				last := len(e.members) - 1
				e.members[i], e.members[last] = e.members[last], nil
				e.members = e.members[:last]
				break
			}
		}
		if len(e.members) == 0 {
			delete(f.topics, t)
		}
	}
}

// Report says which heads a member read after it had registered topics, before
// the member itself is told. They are where the feed begins to read a topic: the
// lowest of them, as long as it has not told anybody anything.
func (f *Feed) Report(topics []backend.Topic, heads []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, t := range topics {
		if e := f.topics[t]; e != nil && !e.spoken && (e.told == unknown || heads[i] < e.told) {
			e.told = heads[i]
		}
	}
}

// Idle says that nobody is registered.
func (f *Feed) Idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.topics) == 0
}

// Lose tells every member that it is told nothing more.
func (f *Feed) Lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	lost := make(map[Member]bool)
	for _, e := range f.topics {
		for _, m := range e.members {
			if !lost[m] {
				lost[m] = true
				m.Tell(FeedLost{})
				m.Ready()
			}
		}
	}
}

// Turn looks what moved and tells of it. After an error it may be called again,
// and nothing is lost.
func (f *Feed) Turn(ctx context.Context) error {
	f.mu.Lock()
	since, idle := f.since, len(f.topics) == 0
	f.mu.Unlock()
	if idle {
		since = ""
	}
	tail, err := f.log.Tail(ctx, since)
	if err != nil {
		return err
	}
	f.note(since, tail)
	if err := f.recover(ctx); err != nil {
		return err
	}
	for {
		more, err := f.read(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// note takes over what a tail brought.
func (f *Feed) note(since Snapshot, tail Tail) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if since == "" {
		// Only a snapshot was asked for, as nobody was there. If somebody came
		// since, it is too young for them: the one before is kept, and if there
		// is none, their heads have to be read.
		if len(f.topics) > 0 {
			f.lost = f.lost || f.since == ""
			if f.since != "" {
				return
			}
		}
	}
	f.since = tail.Snapshot
	f.lost = f.lost || tail.Overflow
	for _, p := range tail.Moved {
		if e := f.topics[p.Topic]; e != nil {
			f.rise(e, p.After)
		}
	}
	f.ready()
}

// rise notes that a topic has an envelope.
func (f *Feed) rise(e *followed, head int64) {
	e.head = max(e.head, head)
	if e.head <= e.told {
		return
	}
	if e.told == unknown {
		// Nobody has read a head yet, so nobody is current: a wake-up does.
		f.tell(e, Moved{Topic: e.topic, Head: e.head})
		e.told, e.spoken = e.head, true
		return
	}
	if !e.queued {
		e.queued = true
		f.backlog = append(f.backlog, e)
	}
}

func (f *Feed) tell(e *followed, event Event) {
	for _, m := range e.members {
		m.Tell(event)
	}
	f.touched = append(f.touched, e.members...)
}

// ready ends a batch of telling.
func (f *Feed) ready() {
	for _, m := range f.touched {
		m.Ready()
	}
	clear(f.touched)
	f.touched = f.touched[:0]
}

// resyncTopics is how many heads are read at once when too much moved.
const resyncTopics = 10_000

// recover reads the heads of everything that is registered, after more moved
// than a tail lists.
func (f *Feed) recover(ctx context.Context) error {
	f.mu.Lock()
	if !f.lost {
		f.mu.Unlock()
		return nil
	}
	topics := make([]backend.Topic, 0, len(f.topics))
	for t := range f.topics {
		topics = append(topics, t)
	}
	f.mu.Unlock()
	for len(topics) > 0 {
		n := min(resyncTopics, len(topics))
		heads, err := f.log.Heads(ctx, topics[:n])
		if err != nil {
			return err
		}
		f.mu.Lock()
		for i, t := range topics[:n] {
			if e := f.topics[t]; e != nil && heads[i] > 0 {
				f.rise(e, heads[i])
			}
		}
		f.ready()
		f.mu.Unlock()
		topics = topics[n:]
	}
	f.mu.Lock()
	f.lost = false
	f.mu.Unlock()
	return nil
}

// read reads one page of the backlog and tells of it, and says whether there is
// more. The rows of a topic go to every member alike; those that are behind take
// them as a wake-up.
func (f *Feed) read(ctx context.Context) (more bool, err error) {
	f.mu.Lock()
	turn, from := f.next()
	f.mu.Unlock()
	if len(turn) == 0 {
		return false, nil
	}
	page, err := readPage(ctx, f.log, ReadPage{From: from, Rows: turnRows, Bytes: frameTarget})
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		for _, e := range turn {
			f.again(e)
		}
		return false, err
	}
	f.hand(turn, from, page)
	f.ready()
	return len(f.backlog) > 0, nil
}

// next takes the topics of a turn from the backlog.
func (f *Feed) next() ([]*followed, []backend.Position) {
	var turn []*followed
	var from []backend.Position
	for len(f.backlog) > 0 && len(turn) < turnTopics {
		e := f.backlog[0]
		f.backlog[0], f.backlog = nil, f.backlog[1:]
		e.queued = false
		if f.topics[e.topic] != e || e.head <= e.told {
			continue
		}
		turn = append(turn, e)
		from = append(from, backend.Position{Topic: e.topic, After: e.told})
	}
	if len(f.backlog) == 0 {
		f.backlog = nil
	}
	return turn, from
}

// hand tells members what a page brought.
func (f *Feed) hand(turn []*followed, from []backend.Position, page Page) {
	rows := page.Rows
	for i, e := range turn {
		n := 0
		for n < len(rows) && rows[n].Topic == e.topic {
			n++
		}
		mine := rows[:n:n]
		rows = rows[n:]
		if f.topics[e.topic] != e {
			// Everybody left while it was read. Who registered since reads a
			// head that is not below it.
			continue
		}
		if e.told != from[i].After {
			// A member reported a lower head while it was read.
			f.again(e)
			continue
		}
		if n > 0 {
			f.tell(e, Arrived{Rows: mine})
			e.told, e.spoken = mine[n-1].ID, true
		}
		if i < page.Cut && n < turnRows {
			// Read to its end: a head above that is of an envelope that is gone.
			e.head = min(e.head, e.told)
			continue
		}
		f.again(e)
	}
}

// again puts a topic back if there is more of it.
func (f *Feed) again(e *followed) {
	if e.head > e.told && !e.queued && f.topics[e.topic] == e {
		e.queued = true
		f.backlog = append(f.backlog, e)
	}
}
