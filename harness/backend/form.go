package backend

import (
	"errors"
	"fmt"
	"sync"

	"assay/harness/backend/wire"
	"assay/harness/subject"
)

// Form is a form of the transport. One port serves all of them (API-160).
type Form int

// The forms. AsTarget is what the scheme of the target says: gRPC for grpc and
// grpcs, gRPC-Web over HTTP/1.1 for http and https.
const (
	AsTarget Form = iota
	Native
	Web
	WebHTTP2
)

// Over returns a session whose calls go in the given form of the transport. It
// records into the same history. A line keeps its own form.
func (s *Session) Over(f Form) *Session {
	c := *s
	c.form = f
	return &c
}

// forms are connections in other forms than the target's own, opened at first use.
type forms struct {
	mu   sync.Mutex
	open map[formOf]*wire.Client
}

type formOf struct {
	address string
	form    Form
}

// of returns the connection to the endpoint in the form.
func (f *forms) of(e subject.Endpoint, form Form) (*wire.Client, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := formOf{e.Address, form}
	if w := f.open[key]; w != nil {
		return w, nil
	}
	secure := e.Scheme == "grpcs" || e.Scheme == "https"
	switch {
	case form == Native && secure:
		e.Scheme = "grpcs"
	case form == Native:
		e.Scheme = "grpc"
	case secure:
		e.Scheme = "https"
	default:
		e.Scheme = "http"
	}
	w, err := wire.Dial(e, wire.Options{WebHTTP2: form == WebHTTP2})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", e, err)
	}
	if f.open == nil {
		f.open = make(map[formOf]*wire.Client)
	}
	f.open[key] = w
	return w, nil
}

func (f *forms) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, w := range f.open {
		errs = append(errs, w.Close())
	}
	f.open = nil
	return errors.Join(errs...)
}
