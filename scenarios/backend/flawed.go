package backend

import (
	"context"
	"fmt"
	"strings"

	suite "assay/harness/backend"
	"assay/harness/run"
	rules "assay/model/backend"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// flawed makes one scenario for each way in which a payload can be wrong: the
// flawed envelope stands between two sound ones, the request is refused with
// its index, neither neighbour is stored, and the topic takes the next sound one.
func flawed() []run.Scenario {
	var out []run.Scenario
	for _, kind := range []rules.Kind{rules.Unset, rules.Group, rules.Welcome, rules.CommitLog, rules.Identity, rules.KeyPackage} {
		for _, flaw := range rules.Flaws(kind) {
			out = append(out, run.Scenario{
				Name:    "backend/publish/refuses-" + strings.ReplaceAll(string(flaw), " ", "-"),
				Summary: "A " + string(flaw) + " is refused, and nothing published with it is stored.",
				Decides: append([]spec.ID{backendreq.API030}, flaw.Requirements()...),
				Body: body(func(ctx context.Context, s *suite.Session) error {
					return refuses(ctx, s, kind, flaw)
				}),
			})
		}
	}
	return out
}

func refuses(ctx context.Context, s *suite.Session, kind rules.Kind, flaw rules.Flaw) error {
	log := rules.Log{Kind: rules.Welcome, Name: "neighbours"}
	sound := func(content string) rules.Envelope { return rules.Envelope{Log: log, Content: content} }
	bad := rules.Envelope{Log: rules.Log{Kind: kind, Name: "x"}, Content: "bad", Flaw: flaw}
	for _, envelopes := range [][]rules.Envelope{
		{sound("before")},
		{bad},
		{sound("left"), bad, sound("right")},
		{sound("after")},
	} {
		if _, err := s.Publish(ctx, "A", envelopes...); err != nil {
			return err
		}
	}
	r, err := s.Query(ctx, "A", 0, rules.Read{Log: log})
	if err != nil {
		return err
	}
	if r.Query == nil || len(r.Query.Rows) == 0 {
		return &run.Unmet{File: "scenarios/backend/flawed.go", Err: fmt.Errorf("the sound neighbours cannot be read: %s", r.Code)}
	}
	return nil
}
