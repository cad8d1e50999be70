package backend

import (
	"context"
	"fmt"
	"time"

	suite "assay/harness/backend"
	"assay/harness/backend/facts"
	"assay/harness/run"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// mix is a named concurrent load and its size.
type mix struct {
	name, summary string
	load          suite.Mix
	actors        int
	// operations and rounds are by profile: quick, default, exhaustive.
	operations, rounds [3]int
	bytes              int
	storm              bool
	decides            []spec.ID
}

// mixes are the concurrent loads, judged by what their histories show.
func mixes() []run.Scenario {
	var out []run.Scenario
	for _, m := range allMixes() {
		out = append(out, run.Scenario{
			Name:    "backend/mix/" + m.name,
			Summary: m.summary,
			Decides: m.decides,
			Touches: everything(),
			Stress:  m.storm,
			Body:    m.body,
		})
	}
	return out
}

// body performs the mix round by round and settles each round with reads of
// everything.
func (m mix) body(ctx context.Context, p *run.Play) error {
	return p.Storm(ctx, m.size(p, func(ctx context.Context, s *suite.Session, l run.Load) error {
		return m.load.Perform(ctx, s, l)
	}))
}

// size makes a storm of the mix at the profile's size. drive performs the load;
// what it left behind is read afterwards.
func (m mix) size(p *run.Play, drive func(ctx context.Context, s *suite.Session, l run.Load) error) run.Storm {
	at := func(sizes [3]int) int { return p.Effort(sizes[0], sizes[1], sizes[2]) }
	return run.Storm{
		Load:   run.Load{Actors: run.Everyone(m.actors), Operations: at(m.operations), Bytes: m.bytes},
		Rounds: at(m.rounds),
		Within: time.Duration(p.Effort(3, 10, 100)) * time.Second,
		Reduce: run.Budget{Runs: p.Effort(20, 60, 200), Time: time.Duration(p.Effort(2, 5, 20)) * time.Second},
		Perform: func(ctx context.Context, session run.Session, l run.Load) error {
			s, ok := session.(*suite.Session)
			if !ok {
				return fmt.Errorf("mix %s needs the backend suite, not %T", m.name, session)
			}
			if err := drive(ctx, s, l); err != nil {
				return err
			}
			return m.load.Settle(ctx, s, l)
		},
	}
}

func topics(kind rules.Kind, n int) []rules.Log {
	out := make([]rules.Log, n)
	for i := range out {
		out[i] = rules.Log{Kind: kind, Name: fmt.Sprint("t", i)}
	}
	return out
}

func together(lists ...[]rules.Log) (out []rules.Log) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// ordering are the requirements that every mix of publishes and reads decides.
func ordering(more ...spec.ID) []spec.ID {
	return append([]spec.ID{backendreq.API010, backendreq.API011, backendreq.API016, backendreq.API072}, more...)
}

// everything lists what a load of ordinary calls may happen to judge.
func everything() []spec.ID {
	var out []spec.ID
	for _, a := range rules.Assertions() {
		out = append(out, a.Requirement)
	}
	return append(out, facts.Requirements()...)
}

func allMixes() []mix {
	group, welcome, log := rules.Group, rules.Welcome, rules.CommitLog
	return []mix{
		{
			name:    "hot-topic",
			summary: "Many clients write and read one topic and its commit log at once.",
			load: suite.Mix{
				Topics:  together(topics(group, 1), topics(log, 1)),
				Weights: suite.Weights{Publish: 6, Own: 14, Query: 4, Newest: 4, Page: 1, Copy: 2, Retry: 1},
				Wave:    8, Most: 8, Spread: 2, Pages: []uint32{0, 1000, 3},
			},
			actors: 8, operations: [3]int{12, 24, 60}, rounds: [3]int{1, 2, 40}, bytes: 4096, storm: true,
			decides: ordering(backendreq.API033, backendreq.API066, backendreq.API083),
		},
		{
			name:    "fan-in",
			summary: "Many clients write to a few topics while some read all of them in one page.",
			load: suite.Mix{
				Topics: topics(welcome, 4),
				Roles:  []suite.Weights{{Publish: 8, Own: 2, Atomic: 1}, {Publish: 8, Copy: 2}, {Query: 6, Newest: 2, Page: 2}},
				Wave:   8, Most: 4, Spread: 4, Pages: []uint32{0, 0, 0, 7},
			},
			actors: 9, operations: [3]int{12, 24, 60}, rounds: [3]int{1, 2, 40},
			decides: ordering(backendreq.API030, backendreq.API083),
		},
		{
			name:    "many-topics",
			summary: "Clients write and read dozens of topics of three kinds at random, and send requests that are refused.",
			load: suite.Mix{
				Topics:  together(topics(group, 8), topics(welcome, 8), topics(log, 8)),
				Weights: suite.Weights{Publish: 6, Atomic: 3, Refused: 1, Copy: 1, Cut: 1, Retry: 1, Query: 4, Newest: 2, Page: 1, Own: 2},
				Most:    2, Spread: 8, Pages: []uint32{0, 0, 5, 20},
			},
			actors: 8, operations: [3]int{10, 20, 60}, rounds: [3]int{1, 1, 40}, bytes: 2048,
			decides: ordering(backendreq.API030, backendreq.API066, backendreq.API083),
		},
		{
			name:    "atomic-publishes",
			summary: "Publishes across topics, in any order of topics, appear whole or not at all in every page.",
			load: suite.Mix{
				Topics: together(topics(group, 2), topics(welcome, 2)),
				Roles:  []suite.Weights{{Atomic: 8, Cut: 1, Refused: 1, Query: 1}, {Atomic: 1, Query: 10, Newest: 1}},
				Wave:   6, Most: 2, Spread: 4, Pages: []uint32{0, 0, 0, 1000},
			},
			actors: 8, operations: [3]int{12, 24, 60}, rounds: [3]int{1, 2, 40},
			decides: ordering(backendreq.API030, backendreq.API077),
		},
		{
			name:    "stream-churn",
			summary: "Subscriptions open, change and close while others publish to their topics at full speed.",
			load: suite.Mix{
				Topics: together(topics(group, 2), topics(welcome, 2), topics(log, 1)),
				Roles:  []suite.Weights{{Churn: 6, Reopen: 1, Publish: 1}, {Publish: 6, Atomic: 3, Copy: 1}, {Churn: 5, Reopen: 2, Query: 1}, {Publish: 8, Atomic: 1, Cut: 1, Query: 1}},
				Most:   3, Spread: 4,
			},
			actors: 8, operations: [3]int{14, 28, 60}, rounds: [3]int{1, 2, 40}, bytes: 4096,
			decides: ordering(backendreq.API030, backendreq.API094, backendreq.API095, backendreq.API096),
		},
		{
			name:    "stream-storm",
			summary: "Many subscriptions change without rest while as many clients publish to a few topics as fast as they can.",
			load: suite.Mix{
				Topics: together(topics(group, 3), topics(welcome, 3)),
				Roles:  []suite.Weights{{Churn: 8, Reopen: 1}, {Publish: 8, Atomic: 2}, {Churn: 8, Reopen: 1}, {Publish: 8, Atomic: 2}},
				Most:   3, Spread: 3,
			},
			actors: 12, operations: [3]int{40, 120, 200}, rounds: [3]int{1, 3, 40}, bytes: 20_000, storm: true,
			decides: ordering(backendreq.API094, backendreq.API095, backendreq.API096, backendreq.API100),
		},
		{
			name:    "retry-storm",
			summary: "Clients send the same envelopes at the same moment, twice in a request, beside others, and again when no answer came.",
			load: suite.Mix{
				Topics:  together(topics(group, 1), topics(log, 1)),
				Weights: suite.Weights{Copy: 16, Retry: 3, Cut: 1, Hasty: 1, Refused: 1, Publish: 1, Query: 2},
				Wave:    1, Most: 2, Spread: 2, Redeem: true, Patience: []time.Duration{time.Millisecond, 3 * time.Millisecond, 8 * time.Millisecond},
			},
			actors: 8, operations: [3]int{10, 20, 60}, rounds: [3]int{1, 2, 40}, storm: true,
			decides: ordering(backendreq.API030, backendreq.API033, backendreq.API034, backendreq.API035, backendreq.API036, backendreq.API037),
		},
		{
			name:    "paging-under-fire",
			summary: "Readers follow has_more with small pages while writers add to the same topics.",
			load: suite.Mix{
				Topics: topics(welcome, 3),
				Roles:  []suite.Weights{{Publish: 6, Atomic: 1, Own: 1}, {Page: 3, Query: 6}, {Query: 8, Newest: 1}},
				Wave:   4, Most: 3, Spread: 3, Pages: []uint32{1, 2, 3, 5, 8, 13},
			},
			actors: 9, operations: [3]int{8, 16, 40}, rounds: [3]int{1, 2, 40}, bytes: 1024,
			decides: ordering(backendreq.API073, backendreq.API076, backendreq.API077),
		},
		{
			name:    "identity-storm",
			summary: "Clients create and change the same inboxes differently at the same moment: one wins, the others learn it.",
			load: suite.Mix{
				Topics:  topics(welcome, 1),
				Weights: suite.Weights{Update: 9, Inbox: 5},
				Wave:    1,
			},
			actors: 6, operations: [3]int{8, 12, 32}, rounds: [3]int{1, 2, 40}, storm: true,
			decides: ordering(backendreq.API014, backendreq.API017, backendreq.API043, backendreq.API051),
		},
		{
			name:    "identity-order",
			summary: "Clients update inboxes of their own at the same moment while others read all of them: what is visible follows the order of ids.",
			load: suite.Mix{
				Topics: topics(welcome, 1),
				Roles:  []suite.Weights{{Alone: 1}, {Alone: 1}, {Inbox: 1}},
				Wave:   4,
			},
			actors: 9, operations: [3]int{8, 16, 32}, rounds: [3]int{1, 2, 40}, storm: true,
			decides: ordering(backendreq.API014, backendreq.API043),
		},
		{
			name:    "lost-answers",
			summary: "Clients cut their connections and give up early; what they lost is there whole or not at all, and sending it again is safe.",
			load: suite.Mix{
				Topics:  together(topics(group, 2), topics(log, 1)),
				Weights: suite.Weights{Hasty: 5, Cut: 4, Retry: 5, Atomic: 3, Publish: 2, Query: 4, Newest: 2},
				Wave:    6, Most: 3, Spread: 3, Redeem: true, Patience: []time.Duration{time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond, 10 * time.Millisecond},
			},
			actors: 8, operations: [3]int{10, 18, 60}, rounds: [3]int{1, 1, 40}, storm: true,
			decides: ordering(backendreq.API030, backendreq.API033, backendreq.API037),
		},
	}
}
