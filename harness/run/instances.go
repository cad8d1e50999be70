package run

import (
	"context"

	"assay/harness/subject"
)

// OnInstances returns the suite with connections that reach further instances of
// the same backend beside the one that a run starts or is given.
func OnInstances(s Suite, others []subject.Endpoint) Suite {
	if len(others) == 0 {
		return s
	}
	return &onInstances{s, others}
}

type onInstances struct {
	Suite
	others []subject.Endpoint
}

// Connect opens a client of all instances.
func (s *onInstances) Connect(ctx context.Context, c Connection) (Client, error) {
	c.Others = append(c.Others, s.others...)
	return s.Suite.Connect(ctx, c)
}
