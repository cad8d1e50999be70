package check

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// A history of the tests is a few operations in a small text form, one a line:
//
//	1-4  append a.x b.y ok 10 11
//	5-?  append a.z unknown
//	5-6  append a.z if a:create contended
//	5-6  append a.z partial refused
//	7-8  page a>0 b>0 limit 2: a.x@10 b.y@11 more
//	7-8  lag page a>10: end
//	7-8  heads: a.x@10 b@11 c none
//	1    register r a>0
//	2    answer r 10
//	3    frame r a.x@10
//	4    removed r
//
// The numbers before a line are the moments of its invocation and its return;
// of two at the same moment the invocation is first, so that they overlap. An
// entry is a log's letter and a name; "@10" is its position and "/m" its
// metadata, which is "m" of nothing else when left out. "sequences many" says
// that positions are not shared by the logs, and "series a b" that these logs
// are serialized.
type hist struct {
	many   bool
	series []string
	ops    []hop
}

type hop struct {
	kind     string // append, page, heads, register, answer, frame, removed
	from, to int    // to is 0 when it never returned
	lag      bool
	entries  []string
	rows     []hrow // what is answered
	outcome  string
	tokens   []string
	spans    []hspan
	limit    int
	more     bool
	stream   string
	partial  bool // the request held more than its entries
}

type hrow struct {
	log, entry string // entry is "" when only a position is named
	pos        uint64
	meta       string
}

type hspan struct {
	log   string
	after uint64
}

func (r hrow) String() string {
	s := r.log
	if r.entry != "" {
		s += "." + r.entry
	}
	if r.pos == 0 {
		return s + " none"
	}
	s += "@" + strconv.FormatUint(r.pos, 10)
	if r.meta != "" {
		s += "/" + r.meta
	}
	return s
}

func parseRow(s string) (hrow, error) {
	s, meta, _ := strings.Cut(s, "/")
	name, at, ok := strings.Cut(s, "@")
	if !ok {
		return hrow{}, fmt.Errorf("row %q: want log.entry@position", s)
	}
	pos, err := strconv.ParseUint(at, 10, 64)
	if err != nil {
		return hrow{}, fmt.Errorf("row %q: %w", s, err)
	}
	log, entry, _ := strings.Cut(name, ".")
	return hrow{log: log, entry: entry, pos: pos, meta: meta}, nil
}

func (o hop) String() string {
	var b strings.Builder
	switch {
	case o.kind == "answer" || o.kind == "frame" || o.kind == "removed" || o.kind == "register":
		fmt.Fprintf(&b, "%d ", o.from)
	case o.to == 0:
		fmt.Fprintf(&b, "%d-? ", o.from)
	default:
		fmt.Fprintf(&b, "%d-%d ", o.from, o.to)
	}
	if o.lag {
		b.WriteString("lag ")
	}
	b.WriteString(o.kind)
	if o.stream != "" {
		b.WriteString(" " + o.stream)
	}
	for _, e := range o.entries {
		b.WriteString(" " + e)
	}
	for _, t := range o.tokens {
		b.WriteString(" if " + t)
	}
	if o.kind == "append" {
		if o.partial {
			b.WriteString(" partial")
		}
		b.WriteString(" " + o.outcome)
		for _, r := range o.rows {
			b.WriteString(" " + strconv.FormatUint(r.pos, 10))
			if r.meta != "" {
				b.WriteString("/" + r.meta)
			}
		}
		return b.String()
	}
	for _, s := range o.spans {
		fmt.Fprintf(&b, " %s>%d", s.log, s.after)
	}
	if o.limit > 0 {
		fmt.Fprintf(&b, " limit %d", o.limit)
	}
	if o.kind == "page" || o.kind == "heads" {
		b.WriteString(":")
	}
	for _, r := range o.rows {
		if o.kind == "answer" {
			fmt.Fprintf(&b, " %d", r.pos)
		} else {
			b.WriteString(" " + r.String())
		}
	}
	if o.kind == "page" {
		if o.more {
			b.WriteString(" more")
		} else {
			b.WriteString(" end")
		}
	}
	return b.String()
}

func parseHop(line string) (hop, error) {
	words := strings.Fields(strings.ReplaceAll(line, ":", " : "))
	// "a:create" is one word; only a page's and heads' colon stands alone.
	words = strings.Fields(line)
	o := hop{}
	next := func() string {
		if len(words) == 0 {
			return ""
		}
		w := words[0]
		words = words[1:]
		return w
	}
	from, to, interval := strings.Cut(next(), "-")
	var err error
	if o.from, err = strconv.Atoi(from); err != nil {
		return o, fmt.Errorf("line %q: want a moment first", line)
	}
	if interval && to != "?" {
		if o.to, err = strconv.Atoi(to); err != nil {
			return o, fmt.Errorf("line %q: want from-to", line)
		}
	}
	o.kind = next()
	if o.kind == "lag" {
		o.lag = true
		o.kind = next()
	}
	o.kind = strings.TrimSuffix(o.kind, ":")
	switch o.kind {
	case "append":
		for {
			switch w := next(); w {
			case "if":
				o.tokens = append(o.tokens, next())
			case "partial":
				o.partial = true
			case "ok", "refused", "contended", "unknown":
				o.outcome = w
				for i, w := range words {
					if i >= len(o.entries) {
						return o, fmt.Errorf("line %q: more positions than entries", line)
					}
					r, err := parseRow(o.entries[i] + "@" + w)
					if err != nil {
						return o, err
					}
					o.rows = append(o.rows, r)
				}
				if w == "ok" && len(o.rows) != len(o.entries) {
					return o, fmt.Errorf("line %q: want a position for each entry", line)
				}
				return o, nil
			case "":
				return o, fmt.Errorf("line %q: want ok, refused, contended or unknown", line)
			default:
				o.entries = append(o.entries, w)
			}
		}
	case "page", "heads":
		asked := o.kind == "heads"
		for len(words) > 0 {
			w := next()
			switch {
			case !asked && w == "limit":
				w = next()
				asked = strings.HasSuffix(w, ":")
				if o.limit, err = strconv.Atoi(strings.TrimSuffix(w, ":")); err != nil {
					return o, fmt.Errorf("line %q: %w", line, err)
				}
			case !asked:
				asked = strings.HasSuffix(w, ":")
				s, err := parseSpan(strings.TrimSuffix(w, ":"))
				if err != nil {
					return o, err
				}
				o.spans = append(o.spans, s)
			case w == "more":
				o.more = true
			case w == "end":
			case len(words) > 0 && words[0] == "none":
				next()
				o.rows = append(o.rows, hrow{log: w})
			default:
				r, err := parseRow(w)
				if err != nil {
					return o, err
				}
				o.rows = append(o.rows, r)
			}
		}
	case "register":
		o.stream = next()
		s, err := parseSpan(next())
		if err != nil {
			return o, err
		}
		o.spans = append(o.spans, s)
	case "answer":
		o.stream = next()
		pos, err := strconv.ParseUint(next(), 10, 64)
		if err != nil {
			return o, fmt.Errorf("line %q: %w", line, err)
		}
		o.rows = []hrow{{pos: pos}}
	case "frame":
		o.stream = next()
		for len(words) > 0 {
			r, err := parseRow(next())
			if err != nil {
				return o, err
			}
			o.rows = append(o.rows, r)
		}
	case "removed":
		o.stream = next()
	default:
		return o, fmt.Errorf("line %q: unknown operation %q", line, o.kind)
	}
	return o, nil
}

func parseSpan(s string) (hspan, error) {
	log, after, ok := strings.Cut(s, ">")
	if !ok {
		return hspan{}, fmt.Errorf("span %q: want log>cursor", s)
	}
	pos, err := strconv.ParseUint(after, 10, 64)
	return hspan{log, pos}, err
}

func parseHist(lines []string) (hist, error) {
	var h hist
	for _, l := range lines {
		words := strings.Fields(l)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case words[0] == "sequences":
			h.many = true
		case words[0] == "series":
			h.series = words[1:]
		default:
			o, err := parseHop(l)
			if err != nil {
				return h, err
			}
			h.ops = append(h.ops, o)
		}
	}
	return h, nil
}

func (h hist) String() string {
	var b strings.Builder
	if h.many {
		b.WriteString("sequences many\n")
	}
	if len(h.series) > 0 {
		b.WriteString("series " + strings.Join(h.series, " ") + "\n")
	}
	for _, o := range h.ops {
		b.WriteString(o.String() + "\n")
	}
	return b.String()
}

// orders gives every invocation and return its place in the history.
func (h hist) orders() (invoked, returned []Order) {
	type event struct{ at, phase, op int }
	var all []event
	for i, o := range h.ops {
		all = append(all, event{o.from, 0, i})
		if o.to != 0 {
			all = append(all, event{o.to, 1, i})
		}
	}
	slices.SortStableFunc(all, func(a, b event) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return a.phase - b.phase
	})
	invoked, returned = make([]Order, len(h.ops)), make([]Order, len(h.ops))
	for i := range returned {
		returned[i] = Never
	}
	for n, e := range all {
		if e.phase == 0 {
			invoked[e.op] = Order(n + 1)
		} else {
			returned[e.op] = Order(n + 1)
		}
	}
	return invoked, returned
}

// facts reads the history as facts. The call of operation i is i+1.
func (h hist) facts() *Facts {
	f := New(Sizes{})
	f.OneSequence = !h.many
	logs, entries, streams, tokens := map[string]Log{}, map[string]Entry{}, map[string]Stream{}, map[string]uint32{}
	log := func(name string) Log {
		if logs[name] == 0 {
			series := uint32(0)
			if slices.Contains(h.series, name) {
				series = 1
			}
			logs[name] = f.Log(name, series)
		}
		return logs[name]
	}
	entry := func(name string) Entry {
		if entries[name] == 0 {
			l, _, _ := strings.Cut(name, ".")
			entries[name] = f.Entry(log(l))
		}
		return entries[name]
	}
	row := func(r hrow) Row {
		if r.entry == "" || r.pos == 0 {
			return 0
		}
		d := fnv.New64a()
		d.Write([]byte("m" + r.meta))
		return f.Row(entry(r.log+"."+r.entry), r.pos, d.Sum64())
	}
	invoked, returned := h.orders()
	for i, o := range h.ops {
		var rows []Row
		for _, r := range o.rows {
			if r := row(r); r != 0 {
				rows = append(rows, r)
			}
		}
		switch o.kind {
		case "append":
			a := Append{Call: i + 1, Invoked: invoked[i], Returned: returned[i], Rows: rows, Partial: o.partial,
				Outcome: map[string]Outcome{"ok": Stored, "refused": Refused, "contended": Contended, "unknown": Unknown}[o.outcome]}
			for _, e := range o.entries {
				a.Entries = append(a.Entries, entry(e))
			}
			for _, t := range o.tokens {
				l, token, _ := strings.Cut(t, ":")
				c := Condition{Log: log(l)}
				if token != "" {
					if tokens[token] == 0 {
						tokens[token] = uint32(len(tokens) + 1)
					}
					c.Token = tokens[token]
				}
				a.Conditions = append(a.Conditions, c)
			}
			f.Append(a)
		case "page":
			p := Page{Call: i + 1, Invoked: invoked[i], Returned: returned[i], Lag: o.lag, Limit: uint32(o.limit), More: o.more, Rows: rows}
			for _, s := range o.spans {
				p.Spans = append(p.Spans, Span{log(s.log), s.after})
			}
			f.Page(p)
		case "heads":
			r := Heads{Call: i + 1, Invoked: invoked[i], Returned: returned[i], Lag: o.lag}
			for _, x := range o.rows {
				r.Heads = append(r.Heads, Head{Log: log(x.log), Position: x.pos, Row: row(x)})
			}
			f.Heads(r)
		case "register":
			streams[o.stream] = f.Register(Registration{Call: i + 1, Invoked: invoked[i], Log: log(o.spans[0].log), After: o.spans[0].after, Lag: o.lag})
		case "answer":
			f.Answered(streams[o.stream], invoked[i], o.rows[0].pos)
		case "frame":
			for _, r := range rows {
				f.Framed(streams[o.stream], invoked[i], r)
			}
		case "removed":
			f.Removed(streams[o.stream], invoked[i])
		}
	}
	return f
}

// proof names the operations that events belong to, by their line, from 1.
func (h hist) proof(events []Order) string {
	invoked, returned := h.orders()
	var out []string
	for i, o := range h.ops {
		if slices.Contains(events, invoked[i]) || returned[i] != Never && slices.Contains(events, returned[i]) {
			out = append(out, o.String())
		}
	}
	return strings.Join(out, "\n          ")
}
