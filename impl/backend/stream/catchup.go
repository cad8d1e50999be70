package stream

import (
	"time"

	"google.golang.org/grpc/codes"

	"assay/impl/backend"
)

// reading is a registration in the page read in flight.
type reading struct {
	*registration
	// goal is the mark that it had when the read began.
	goal int64
}

// place sends a registration where its position and mark say.
func (s *Session) place(r *registration) {
	switch {
	case r.phase == removed:
	case s.closing:
		r.phase = removed
	case r.position >= r.mark:
		r.phase = current
	default:
		r.phase = behind
		s.history.push(r)
	}
}

// turn begins to read a page, if there is history to read and room for it. The
// topics that waited longest come first.
func (s *Session) turn() {
	if s.ended || s.closing || s.reading != nil || s.queuedFrames >= historyFrames || s.queuedBytes >= historyBytes {
		return
	}
	regs := s.history.take(turnTopics)
	if len(regs) == 0 {
		return
	}
	s.reading = make([]reading, len(regs))
	from := make([]backend.Position, len(regs))
	for i, r := range regs {
		s.reading[i] = reading{r, r.mark}
		from[i] = backend.Position{Topic: r.topic, After: r.position}
	}
	s.do(ReadPage{From: from, Rows: turnRows, Bytes: s.settings.messageBytes()})
}

// pageRead queues what a page brought as one frame. A topic with more to read
// goes to the back; topics that the budget did not reach keep the front.
func (s *Session) pageRead(now time.Time, e PageRead) {
	turn := s.reading
	s.reading = nil
	if e.Err != nil {
		s.fail(codes.Unavailable, "the history of the topics could not be read")
		return
	}
	if s.closing {
		return
	}
	rows := e.Page.Rows
	var messages []Row
	var unreached []*registration
	for i, r := range turn {
		n := 0
		for n < len(rows) && rows[n].Topic == r.topic {
			if row := rows[n]; r.phase == behind && row.ID > r.position {
				messages = append(messages, row)
				r.position = row.ID
			}
			n++
		}
		rows = rows[n:]
		whole := i < e.Page.Cut && n < turnRows
		switch {
		case r.phase == removed:
		case n == 0 && !whole:
			unreached = append(unreached, r.registration)
		default:
			if whole {
				// All that was visible has been read. An id of the mark that
				// did not come is of an envelope that is gone.
				r.position = max(r.position, r.goal)
			}
			s.place(r.registration)
		}
	}
	s.history.putBack(unreached)
	s.messages(now, messages)
}

// moved notes that a topic has an envelope that this session was not given. If
// the topic was current it reads history again.
func (s *Session) moved(e Moved) {
	r := s.active[e.Topic]
	if r == nil || e.Head <= r.mark {
		return
	}
	r.mark = e.Head
	if r.phase == current {
		s.place(r)
	}
}

// arrived delivers what is new on topics that are current. For the others it is
// a wake-up: history will bring it.
func (s *Session) arrived(now time.Time, rows []Row) {
	var messages []Row
	for _, row := range rows {
		r := s.active[row.Topic]
		if r == nil || r.phase == removed {
			continue
		}
		if r.phase == current && row.ID > r.position {
			messages = append(messages, row)
			r.position = row.ID
		}
		r.mark = max(r.mark, row.ID)
	}
	s.messages(now, messages)
}

// messages queues rows in frames that keep to the budget.
func (s *Session) messages(now time.Time, rows []Row) {
	budget := int(s.settings.messageBytes())
	for len(rows) > 0 && !s.ended {
		n, size := 1, rowSize(rows[0])
		for n < len(rows) && size+rowSize(rows[n]) <= budget {
			size += rowSize(rows[n])
			n++
		}
		s.send(now, Messages{Rows: rows[:n:n]})
		rows = rows[n:]
	}
}

// history is a queue of registrations that are behind.
type history struct {
	waiting []*registration
	// dropped counts those that were removed while they waited.
	dropped int
}

func (h *history) push(r *registration) { h.waiting = append(h.waiting, r) }

// drop notes that a registration is being removed. Its place is given up when
// removed ones are the majority, so a client that adds and removes for ever
// costs no memory.
func (h *history) drop(r *registration) {
	if r.phase != behind {
		return
	}
	h.dropped++
	if h.dropped <= len(h.waiting)/2 || h.dropped < turnTopics {
		return
	}
	r.phase = removed
	kept := h.waiting[:0]
	for _, w := range h.waiting {
		if w.phase != removed {
			kept = append(kept, w)
		}
	}
	clear(h.waiting[len(kept):])
	h.waiting, h.dropped = kept, 0
}

// take takes up to n from the front.
func (h *history) take(n int) []*registration {
	var out []*registration
	i := 0
	for ; i < len(h.waiting) && len(out) < n; i++ {
		if h.waiting[i].phase != removed {
			out = append(out, h.waiting[i])
		}
		h.waiting[i] = nil
	}
	h.waiting = h.waiting[i:]
	if len(h.waiting) == 0 {
		h.waiting, h.dropped = nil, 0
	}
	return out
}

// putBack returns registrations to the front, in their order.
func (h *history) putBack(rs []*registration) {
	if len(rs) > 0 {
		h.waiting = append(rs, h.waiting...)
	}
}
