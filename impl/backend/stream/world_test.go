package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"assay/impl/backend"
	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// world is a database, a feed and some clients, in one goroutine. Whatever may
// happen at the same time in a server happens here in an order that is drawn:
// also between two statements of the feed, and between what a read saw and when
// its reader hears.
type world struct {
	t    *rapid.T
	feed *Feed
	// commits counts transactions that became visible; it is the snapshot.
	commits int
	lastID  int64
	stored  []storedRow
	open    []*transaction
	clients []*client
	// inside says that a statement of the feed is running.
	inside bool
	fails  bool
	// quiet says that nobody does anything any more.
	quiet bool
}

type storedRow struct {
	topic  backend.Topic
	id     int64
	commit int
}

type transaction struct{ rows []storedRow }

const letters = "abcd"

func (w *world) locked(t backend.Topic) bool {
	return slices.ContainsFunc(w.open, func(x *transaction) bool {
		return slices.ContainsFunc(x.rows, func(r storedRow) bool { return r.topic == t })
	})
}

// begin opens a transaction that holds the locks of its topics and has its ids.
func (w *world) begin() {
	x := new(transaction)
	for range rapid.IntRange(1, 3).Draw(w.t, "rows") {
		if t := w.letter(); !w.locked(t) {
			w.lastID++
			x.rows = append(x.rows, storedRow{topic: t, id: w.lastID})
		}
	}
	w.open = append(w.open, x)
}

func (w *world) settle() {
	if len(w.open) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.open)-1).Draw(w.t, "which transaction")
	x := w.open[i]
	w.open = slices.Delete(w.open, i, i+1)
	if rapid.IntRange(0, 9).Draw(w.t, "abort") > 0 {
		w.commit(x)
	}
}

func (w *world) commit(x *transaction) {
	w.commits++
	for _, r := range x.rows {
		r.commit = w.commits
		w.stored = append(w.stored, r)
	}
}

func (w *world) letter() backend.Topic {
	return topic(letters[rapid.IntRange(0, len(letters)-1).Draw(w.t, "topic")])
}

// above returns the ids of a topic above a cursor, ascending.
func (w *world) above(t backend.Topic, after int64) []int64 {
	var ids []int64
	for _, r := range w.stored {
		if r.topic == t && r.id > after {
			ids = append(ids, r.id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (w *world) head(t backend.Topic) int64 {
	ids := w.above(t, 0)
	if len(ids) == 0 {
		return 0
	}
	return ids[len(ids)-1]
}

var errWorld = errors.New("the connection was lost")

// statement lets others go on before and after a statement of the feed.
func (w *world) statement(f func()) error {
	w.others()
	if w.fails && rapid.IntRange(0, 9).Draw(w.t, "fails") == 0 {
		return errWorld
	}
	f()
	w.others()
	return nil
}

func (w *world) others() {
	if w.quiet {
		return
	}
	for range rapid.IntRange(0, 3).Draw(w.t, "others") {
		w.act()
	}
}

// Heads, Page, Tail and Listen are the feed's log.
func (w *world) Heads(_ context.Context, topics []backend.Topic) (heads []int64, err error) {
	err = w.statement(func() {
		for _, t := range topics {
			heads = append(heads, w.head(t))
		}
	})
	return heads, err
}

func (w *world) Page(_ context.Context, from []backend.Position, rows int, _ int64) (page EntryPage, err error) {
	err = w.statement(func() { page = w.page(from, rows) })
	return page, err
}

// page cuts at a drawn place, but has a row if there is one.
func (w *world) page(from []backend.Position, rows int) EntryPage {
	budget := 1 << 20
	if rapid.Bool().Draw(w.t, "cut") {
		budget = rapid.IntRange(1, 4).Draw(w.t, "budget")
	}
	page := EntryPage{Cut: len(from)}
	for i, p := range from {
		ids := w.above(p.Topic, p.After)
		for _, id := range ids[:min(rows, len(ids))] {
			if len(page.Entries) == budget {
				page.Cut = i
				return page
			}
			page.Entries = append(page.Entries, backend.Entry{Key: backend.Key{Topic: p.Topic}, Stored: backend.Stored{SequenceID: id}})
		}
	}
	return page
}

func (w *world) Tail(_ context.Context, since Snapshot) (tail Tail, err error) {
	err = w.statement(func() {
		tail.Snapshot = Snapshot(fmt.Sprintf("at %d", w.commits))
		if since == "" {
			return
		}
		var seen int
		if _, err := fmt.Sscanf(string(since), "at %d", &seen); err != nil {
			w.t.Fatal(err)
		}
		seen -= rapid.IntRange(0, 2).Draw(w.t, "told again")
		tail.Overflow = rapid.IntRange(0, 9).Draw(w.t, "overflow") == 0
		moved := make(map[backend.Topic]int64)
		for _, r := range w.stored {
			if r.commit > seen && !tail.Overflow {
				moved[r.topic] = max(moved[r.topic], r.id)
			}
		}
		for i := range letters {
			if t := topic(letters[i]); moved[t] > 0 {
				tail.Moved = append(tail.Moved, backend.Position{Topic: t, After: moved[t]})
			}
		}
	})
	return tail, err
}

func (w *world) Listen(context.Context, func()) error { return nil }

func (w *world) turn() {
	if w.inside {
		return
	}
	w.inside = true
	if err := w.feed.Turn(context.Background()); err != nil && !errors.Is(err, errWorld) {
		w.t.Fatal(err)
	}
	w.inside = false
}

// act does one thing that somebody does at any time.
func (w *world) act() {
	c := w.clients[rapid.IntRange(0, len(w.clients)-1).Draw(w.t, "client")]
	switch rapid.IntRange(0, 9).Draw(w.t, "act") {
	case 0:
		w.begin()
	case 1, 2:
		w.settle()
	case 3:
		c.change()
	case 4, 5:
		c.look()
	case 6:
		c.see()
	case 7:
		c.hear()
	case 8:
		c.take()
	case 9:
		w.turn()
	}
}

// client is a session, what it waits for, and what it sent.
type client struct {
	w    *world
	s    Machine
	box  *mailbox
	now  time.Time
	id   uint64
	want map[uint64]*backendv1.SubscribeRequest_Update
	// asked are reads that saw nothing yet; seen are answers on their way.
	asked  []func() func()
	seen   []func()
	frames []Send
	taken  int
}

func newClient(w *world, mutate func(Machine) Machine) *client {
	cfg := config.Default()
	cfg.Limits.MaxUpdateBurst = 1 << 30
	settings := Settings{Limits: cfg.Limits, Streams: cfg.Streams}
	c := &client{w: w, s: mutate(NewSession(settings)), box: newMailbox(), now: time.Unix(0, 0), want: make(map[uint64]*backendv1.SubscribeRequest_Update)}
	c.step(Opened{})
	return c
}

func (c *client) step(e Event) {
	for _, f := range c.s.Step(c.now, e) {
		switch f := f.(type) {
		case Send:
			c.frames = append(c.frames, f)
		case Register:
			c.w.feed.Register(c.box, f.Topics)
		case Unregister:
			c.w.feed.Unregister(c.box, f.Topics)
		case ReadHeads:
			c.asked = append(c.asked, func() func() {
				heads := make([]int64, len(f.Topics))
				for i, t := range f.Topics {
					heads[i] = c.w.head(t)
				}
				return func() {
					c.w.feed.Report(f.Topics, heads)
					c.box.put(HeadsRead{Heads: heads})
				}
			})
		case ReadPage:
			c.asked = append(c.asked, func() func() {
				page := c.w.page(f.From, f.Rows)
				return func() {
					p := Page{Cut: page.Cut}
					for _, e := range page.Entries {
						p.Rows = append(p.Rows, Row{Topic: e.Topic, ID: e.SequenceID})
					}
					c.box.put(PageRead{Page: p})
				}
			})
		case End:
			c.w.t.Fatalf("the session ended: %v", f.Err)
		}
	}
}

// change sends an update.
func (c *client) change() {
	c.id++
	u := &backendv1.SubscribeRequest_Update{Id: c.id}
	for i := range letters {
		wire := &backendv1.Topic{Topic: []byte(topic(letters[i]))}
		switch rapid.IntRange(0, 3).Draw(c.w.t, "change") {
		case 0:
			u.Removes = append(u.Removes, wire)
		case 1:
			cursor := uint64(0)
			if rapid.Bool().Draw(c.w.t, "from a cursor") {
				cursor = uint64(rapid.Int64Range(0, c.w.lastID+3).Draw(c.w.t, "cursor"))
			}
			u.Adds = append(u.Adds, &backendv1.TopicQuery{Topic: wire, Cursor: &backendv1.Cursor{SequenceId: cursor}})
		}
	}
	c.want[c.id] = u
	c.box.put(Received{&backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Update_{Update: u}}})
}

// look has the session look at one event.
func (c *client) look() {
	if len(c.box.events) > 0 {
		e := c.box.events[0]
		c.box.events = c.box.events[1:]
		c.step(e)
	}
}

// see has the oldest read see the database, and hear has the oldest answer come.
func (c *client) see() {
	if len(c.asked) > 0 {
		c.seen = append(c.seen, c.asked[0]())
		c.asked = c.asked[1:]
	}
}

func (c *client) hear() {
	if len(c.seen) > 0 {
		c.seen[0]()
		c.seen = c.seen[1:]
	}
}

func (c *client) take() {
	for ; c.taken < len(c.frames); c.taken++ {
		c.step(Taken{Frames: 1, Bytes: c.frames[c.taken].Size})
	}
}

// judge holds what the client got against what was stored, registration by
// registration. quiet says that nothing is on its way any more.
func (c *client) judge(quiet bool) error {
	type open struct{ owed []int64 }
	active := make(map[backend.Topic]*open)
	var applied uint64
	for i, f := range c.frames {
		switch f := f.Frame.(type) {
		case Started:
			if i != 0 {
				return fmt.Errorf("frame %d is Started", i)
			}
		case Applied:
			if f.ID != applied+1 {
				return fmt.Errorf("Applied %d comes after Applied %d", f.ID, applied)
			}
			applied = f.ID
			for _, r := range c.want[f.ID].GetRemoves() {
				delete(active, backend.Topic(r.GetTopic()))
			}
			targets := f.Targets
			for _, a := range c.want[f.ID].GetAdds() {
				t := backend.Topic(a.GetTopic().GetTopic())
				if active[t] != nil {
					continue
				}
				if len(targets) == 0 || targets[0].Topic != t {
					return fmt.Errorf("Applied %d lacks the target of %s", f.ID, name(t))
				}
				if through := targets[0].Through; through != 0 && !slices.Contains(c.w.above(t, 0), through) {
					return fmt.Errorf("target %d of %s was never its head", through, name(t))
				}
				targets = targets[1:]
				active[t] = &open{owed: c.w.above(t, int64(a.GetCursor().GetSequenceId()))}
			}
			if len(targets) > 0 {
				return fmt.Errorf("Applied %d has a target too many", f.ID)
			}
		case Messages:
			for _, r := range f.Rows {
				o := active[r.Topic]
				if o == nil {
					return fmt.Errorf("%s%d is of no registration (frame %d)", name(r.Topic), r.ID, i)
				}
				if len(o.owed) == 0 || o.owed[0] != r.ID {
					return fmt.Errorf("%s%d came, owed are %v (frame %d)", name(r.Topic), r.ID, o.owed, i)
				}
				o.owed = o.owed[1:]
			}
		}
	}
	if !quiet {
		return nil
	}
	if applied != c.id {
		return fmt.Errorf("update %d of %d was the last to be applied", applied, c.id)
	}
	for t, o := range active {
		if len(o.owed) > 0 {
			return fmt.Errorf("%s owes %v", name(t), o.owed)
		}
	}
	return nil
}

// play draws a world's life and returns what was wrong with it.
func play(t *rapid.T, mutate func(Machine) Machine, mutateLog func(Log) Log) error {
	w := &world{t: t, fails: rapid.Bool().Draw(t, "statements fail")}
	w.feed = NewFeed(mutateLog(w))
	for range rapid.IntRange(1, 3).Draw(t, "clients") {
		w.clients = append(w.clients, newClient(w, mutate))
	}
	for range rapid.IntRange(1, 120).Draw(t, "acts") {
		w.act()
	}
	for _, x := range w.open {
		w.commit(x)
	}
	w.open, w.fails, w.quiet = nil, false, true
	for busy := true; busy; {
		before := w.size()
		w.turn()
		for _, c := range w.clients {
			for len(c.box.events)+len(c.asked)+len(c.seen) > 0 || c.taken < len(c.frames) {
				c.look()
				c.see()
				c.hear()
				c.take()
			}
		}
		busy = w.size() != before
	}
	for _, c := range w.clients {
		if err := c.judge(true); err != nil {
			return err
		}
	}
	return nil
}

// size changes whenever something happened.
func (w *world) size() string {
	s := fmt.Sprint(w.commits)
	for _, c := range w.clients {
		s += fmt.Sprint(" ", len(c.frames), c.id)
	}
	return s
}

func same[T any](v T) T { return v }

// Whatever the order of commits, looks, reads, updates and removals: every
// registration gets what it is owed, in order, once, and only between its
// Applied and that of its removal.
func TestNoOrderOfEventsLosesOrRepeatsAnEnvelope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := play(t, same[Machine], same[Log]); err != nil {
			t.Fatal(err)
		}
	})
}
