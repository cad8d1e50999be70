package backend

import (
	"fmt"
	"strings"

	"assay/model"
	rules "assay/model/backend"
)

// mostNamed bounds how many envelopes, topics or ids a description names.
const mostNamed = 6

// Describe says in a few words what an event of a history is, for people who
// look at one. It holds no bytes of a subject but escaped text.
func (s *Suite) Describe(e model.Event) string {
	switch v := e.Value.(type) {
	case *rules.Call:
		return describeCall(v)
	case *rules.Return:
		return describeReturn(v)
	case *rules.Terms:
		return "the terms"
	default:
		return e.Phase.String()
	}
}

// listed writes a few items of many.
func listed[T any](items []T, text func(T) string) string {
	var out []string
	for i, item := range items {
		if i == mostNamed {
			out = append(out, fmt.Sprintf("and %d more", len(items)-mostNamed))
			break
		}
		out = append(out, text(item))
	}
	return strings.Join(out, ", ")
}

func describeCall(c *rules.Call) string {
	if c == nil {
		return "a call"
	}
	asked := func(a rules.Asked) string {
		text := a.Log.String()
		if a.Cursor != nil {
			text += fmt.Sprintf(" after %d", *a.Cursor)
		}
		return text
	}
	switch {
	case c.Publish != nil:
		return "publish " + listed(c.Publish.Envelopes, func(s rules.Sent) string {
			text := fmt.Sprintf("%s %q", s.Intent.Log, s.Intent.Content)
			if s.Intent.Flaw != rules.Sound {
				text += " (" + string(s.Intent.Flaw) + ")"
			}
			return text
		})
	case c.Query != nil:
		text := "query " + listed(c.Query.Entries, asked)
		if c.Query.Limit > 0 {
			text += fmt.Sprintf(" limit %d", c.Query.Limit)
		}
		return text
	case c.Newest != nil:
		return "newest " + listed(c.Newest.Entries, asked)
	default:
		return string(c.Method)
	}
}

func describeReturn(r *rules.Return) string {
	id := func(m rules.Meta) string { return fmt.Sprint(m.Sequence) }
	row := func(w rules.Row) string { return id(w.Meta) }
	switch {
	case r == nil:
		return "a return"
	case r.Lost != rules.Answered:
		return string(r.Lost)
	case r.Garbled != "":
		return "an answer that does not decode"
	case r.Code != rules.OK:
		return r.Code.String() + " " + r.Text
	case r.Publish != nil:
		return "stored as " + listed(r.Publish.Metas, id)
	case r.Query != nil:
		text := "ids " + listed(r.Query.Rows, row)
		if len(r.Query.Rows) == 0 {
			text = "nothing"
		}
		if r.Query.HasMore {
			text += " and more"
		}
		return text
	case r.Newest != nil:
		if len(r.Newest.Rows) == 0 {
			return "no heads"
		}
		return "heads " + listed(r.Newest.Rows, row)
	default:
		return "OK"
	}
}
