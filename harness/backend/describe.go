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
	case *rules.Request:
		return describeFrame(v)
	case *rules.Response:
		return describeAnswer(v)
	case *rules.Terms:
		return "the terms"
	case *rules.Awaited:
		return "awaited in vain"
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

// asked writes one topic of a read, with its cursor.
func asked(a rules.Asked) string {
	text := a.Log.String()
	if a.Flaw != rules.SoundTopic {
		text += " (" + string(a.Flaw) + ")"
	}
	if a.Cursor != nil {
		text += fmt.Sprintf(" after %d", *a.Cursor)
	}
	return text
}

func describeCall(c *rules.Call) string {
	if c == nil {
		return "a call"
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
	case c.Static != nil:
		return "subscribe statically to " + listed(c.Static.Entries, asked)
	default:
		return string(c.Method)
	}
}

// describeFrame says what a frame asks for.
func describeFrame(r *rules.Request) string {
	switch {
	case r == nil:
		return "a frame"
	case r.Update != nil:
		text := fmt.Sprintf("update %d", r.Update.ID)
		if len(r.Update.Adds) > 0 {
			text += " adds " + listed(r.Update.Adds, asked)
		}
		if len(r.Update.Removes) > 0 {
			text += " removes " + listed(r.Update.Removes, asked)
		}
		return text
	case r.Ping != nil:
		return fmt.Sprintf("ping %d", *r.Ping)
	case r.Pong != nil:
		return fmt.Sprintf("pong %d", *r.Pong)
	case r.Close:
		return "half-close"
	case r.Cancel:
		return "cancel"
	default:
		return "a frame without an alternative"
	}
}

// describeAnswer says what a frame of a subject brings.
func describeAnswer(r *rules.Response) string {
	targets := func(targets []rules.Target) string {
		if len(targets) == 0 {
			return ""
		}
		return " with targets " + listed(targets, func(t rules.Target) string { return fmt.Sprint(t.Through) })
	}
	switch {
	case r == nil:
		return "a frame"
	case r.Started != nil:
		return fmt.Sprintf("started, keepalive %d ms", r.Started.KeepaliveMS) + targets(r.Started.Targets)
	case r.Applied != nil:
		return fmt.Sprintf("applied %d", r.Applied.ID) + targets(r.Applied.Targets)
	case r.Messages != nil:
		return "ids " + listed(r.Messages.Rows, func(w rules.Row) string { return fmt.Sprint(w.Meta.Sequence) })
	case r.Ping != nil:
		return fmt.Sprintf("ping %d", *r.Ping)
	case r.Pong != nil:
		return fmt.Sprintf("pong %d", *r.Pong)
	case r.Keepalive:
		return "keepalive"
	default:
		return "a frame without an alternative"
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
