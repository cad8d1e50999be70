package backend

import (
	"context"
	"fmt"
	"time"

	"assay/harness/history"
	"assay/harness/run"
	rules "assay/model/backend"
)

var _ run.Claimer = (*Client)(nil)

// claimLimit bounds the calls that claim a seed and nonce.
const claimLimit = 10 * time.Second

// Claim looks for the mark of an earlier run with the same seed and nonce, and
// leaves one: a welcome on a topic that derives from them. A subject that does not
// store or show it is left to the scenarios.
func (c *Client) Claim(ctx context.Context) error {
	began := time.Now()
	recorder := history.NewRecorder(history.Header{Scenario: "claim"}, func() time.Duration { return time.Since(began) })
	opened, err := c.Session(run.SessionInfo{Header: history.Header{Scenario: "claim"}, Recorder: recorder})
	if err != nil {
		return err
	}
	s, ok := opened.(*Session)
	if !ok {
		return fmt.Errorf("claim the seed and nonce: a session of type %T", opened)
	}
	defer s.Close()
	s = s.WithTimeout(claimLimit)
	mark := rules.Log{Kind: rules.Welcome, Name: "claimed"}
	r, err := s.Query(ctx, "A", 0, rules.Read{Log: mark})
	if err != nil {
		return fmt.Errorf("claim the seed and nonce: %w", err)
	}
	if r.Query != nil && len(r.Query.Rows) > 0 {
		return fmt.Errorf("this subject has what an earlier run with seed %d and nonce %s stored: its topics are not fresh, and nothing could be judged; leave --nonce out, or give another",
			c.connection.Seed, c.connection.Nonce)
	}
	if _, err := s.Publish(ctx, "A", rules.Envelope{Log: mark, Content: "claimed"}); err != nil {
		return fmt.Errorf("claim the seed and nonce: %w", err)
	}
	return nil
}
