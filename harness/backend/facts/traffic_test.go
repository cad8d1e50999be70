package facts_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"assay/model"
	rules "assay/model/backend"
)

// server is a correct backend on which every call takes effect at one moment:
// it takes ids when it begins to store, and hides what is above an id that is
// not settled.
type server struct {
	r       *rand.Rand
	next    uint64
	stored  map[rules.Bytes][]rules.Row // by topic, ascending
	pending map[uint64]rules.Bytes      // ids that are not settled
	old     map[rules.Bytes]rules.Row   // what a replica still answers
}

func (s *server) visible(t rules.Bytes) (out []rules.Row) {
	for _, r := range s.stored[t] {
		hidden := false
		for id, p := range s.pending {
			hidden = hidden || p == t && id < r.Meta.Sequence
		}
		if hidden {
			break
		}
		out = append(out, r)
	}
	return out
}

func (s *server) find(i item) *rules.Row {
	for k, r := range s.stored[topic(i.log)] {
		if r.Identity == i.identity() {
			return &s.stored[topic(i.log)][k]
		}
	}
	return nil
}

// under is a call on its way.
type under struct {
	call  int
	step  int
	c     *rules.Call
	items []item
	ids   []uint64
	head  int
	ret   *rules.Return
}

// traffic is a history of clients that publish and read at once.
func traffic(seed uint64, clients, calls int) []model.Event {
	r := rand.New(rand.NewPCG(seed, 1))
	srv := &server{r: r, next: 5, stored: make(map[rules.Bytes][]rules.Row), pending: make(map[uint64]rules.Bytes), old: make(map[rules.Bytes]rules.Row)}
	s := newStory(seed%2 == 0)
	logs := []rules.Log{group("g"), group("h"), commitLog("c"), inbox("i"), inbox("j")}
	slots := make([]*under, clients)
	var used []item
	for begun := 0; begun < calls || slices.ContainsFunc(slots, func(u *under) bool { return u != nil }); {
		k := r.IntN(clients)
		switch u := slots[k]; {
		case u == nil && begun < calls:
			begun++
			u = &under{}
			switch n := r.IntN(10); {
			case n < 5:
				for range 1 + r.IntN(2) {
					i := item{log: logs[r.IntN(len(logs))], content: fmt.Sprint(begun, len(u.items))}
					if len(used) > 0 && r.IntN(5) == 0 {
						i = used[r.IntN(len(used))]
					}
					if i.log.Kind == rules.Identity && len(u.items) > 0 {
						continue // one update of one inbox is enough here
					}
					u.items = append(u.items, i)
					used = append(used, i)
				}
				u.c = publish(u.items...)
			case n < 9:
				var asked []rules.Asked
				for _, l := range logs {
					if r.IntN(3) == 0 || len(asked) == 0 {
						asked = append(asked, from(l, uint64(r.IntN(int(srv.next))*r.IntN(2))))
					}
				}
				u.c = query([]uint32{0, 1, 2, 3}[r.IntN(4)], asked...)
			default:
				u.c = newest(logs[r.IntN(len(logs))])
			}
			u.call = s.begin(u.c)
			slots[k] = u
		case u != nil && u.ret == nil:
			srv.step(u, seed%2 == 0)
		case u != nil:
			if u.c.Method == rules.MethodPublish && r.IntN(12) == 0 {
				u.ret = lost()
			}
			s.end(u.call, u.ret)
			slots[k] = nil
		}
	}
	return s.events
}

func (s *server) step(u *under, noReplica bool) {
	switch u.c.Method {
	case rules.MethodPublish:
		s.publish(u)
	case rules.MethodQuery:
		u.ret = s.query(u.c.Query)
	default:
		t := u.c.Newest.Entries[0].Topic
		v := s.visible(t)
		if old, ok := s.old[t]; ok && !noReplica && s.r.IntN(2) == 0 {
			u.ret = heads(old)
			return
		}
		if len(v) == 0 {
			u.ret = heads()
			return
		}
		s.old[t] = v[len(v)-1]
		u.ret = heads(v[len(v)-1])
	}
}

func (s *server) publish(u *under) {
	u.step++
	switch u.step {
	case 1: // validate: an update is valid against the head it read
		for _, i := range u.items {
			if i.log.Kind == rules.Identity {
				u.head = len(s.stored[topic(i.log)])
			}
		}
	case 2: // take ids
		for k, i := range u.items {
			if i.log.Kind == rules.Identity && s.find(i) == nil && len(s.stored[topic(i.log)]) != u.head {
				s.release(u)
				u.ret = code(rules.Aborted)
				return
			}
			if s.find(i) == nil && !slices.ContainsFunc(u.items[:k], func(o item) bool { return o.identity() == i.identity() }) {
				if i.log.Kind == rules.Identity && s.busy(topic(i.log)) {
					u.step-- // the lock of identity updates
					s.release(u)
					return
				}
				s.next += 1 + uint64(s.r.IntN(2))
				s.pending[s.next] = topic(i.log)
				u.ids = append(u.ids, s.next)
			}
		}
	default: // commit
		at := 0
		var metas []rules.Meta
		for _, i := range u.items {
			r := s.find(i)
			if r == nil {
				if at == len(u.ids) {
					s.next++
					u.ids = append(u.ids, s.next)
				}
				row := i.row(u.ids[at])
				at++
				t := topic(i.log)
				s.stored[t] = append(s.stored[t], row)
				slices.SortFunc(s.stored[t], func(a, b rules.Row) int { return int(a.Meta.Sequence) - int(b.Meta.Sequence) })
				r = s.find(i)
			}
			metas = append(metas, r.Meta)
		}
		s.release(u)
		u.ret = published(metas...)
	}
}

// busy reports whether an identity topic, any of them, is being written.
func (s *server) busy(t rules.Bytes) bool {
	for _, p := range s.pending {
		if p[0] == t[0] {
			return true
		}
	}
	return false
}

func (s *server) release(u *under) {
	for _, id := range u.ids {
		delete(s.pending, id)
	}
	u.ids = nil
}

func (s *server) query(q *rules.QueryCall) *rules.Return {
	var rows []rules.Row
	for _, e := range q.Entries {
		for _, r := range s.visible(e.Topic) {
			if r.Meta.Sequence > *e.Cursor {
				rows = append(rows, r)
			}
		}
	}
	slices.SortFunc(rows, func(a, b rules.Row) int { return int(a.Meta.Sequence) - int(b.Meta.Sequence) })
	if q.Limit > 0 && len(rows) > int(q.Limit) {
		return page(true, rows[:q.Limit]...)
	}
	return page(false, rows...)
}
