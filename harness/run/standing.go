package run

import (
	"context"
	"errors"

	"assay/harness/gate"
)

// Standing is a gate that serves until it is closed.
type Standing struct {
	*gate.Gate
	ended chan error
}

// Stand opens a gate and serves it.
func Stand(c gate.Config) (*Standing, error) {
	g, err := gate.New(c)
	if err != nil {
		return nil, err
	}
	s := &Standing{g, make(chan error, 1)}
	go func() { s.ended <- g.Serve(context.Background()) }()
	return s, nil
}

// Close ends every session and waits for them. It is called once.
func (s *Standing) Close() error { return errors.Join(s.Gate.Close(), <-s.ended) }
