package backend

import (
	"context"

	"assay/harness/run"
	rules "assay/model/backend"
)

// announce tells whoever holds calls at points what a call's statements are
// recognised by: its topics. Which statements of a transaction are a publish's
// shows by its being let in alone.
func announce(ctx context.Context, c *rules.Call) error {
	var content run.Content
	topic := func(t rules.Bytes) {
		if t != "" {
			content.Shared = append(content.Shared, []byte(t))
		}
	}
	asked := func(entries []rules.Asked) {
		for _, a := range entries {
			topic(a.Topic)
		}
	}
	switch {
	case c.Publish != nil:
		for _, e := range c.Publish.Envelopes {
			topic(e.Artefact.Topic)
		}
	case c.Query != nil:
		asked(c.Query.Entries)
	case c.Newest != nil:
		asked(c.Newest.Entries)
	case c.Static != nil:
		asked(c.Static.Entries)
	}
	return run.Announce(ctx, content)
}
