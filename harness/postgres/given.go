package postgres

import (
	"context"
	"fmt"
	"time"
)

// givenTimeout bounds how long a given server may take to answer, so that a black hole is an error, not a hang.
const givenTimeout = 15 * time.Second

// openGiven uses the server of a URL, after making sure that it is reachable and lets us create databases.
func openGiven(ctx context.Context, o Options) (*Server, error) {
	a, err := parseAddress(o.URL)
	if err != nil {
		return nil, err
	}
	check, cancel := context.WithTimeout(ctx, givenTimeout)
	defer cancel()
	conn, err := a.connect(check, applicationAdmin)
	if err != nil {
		return nil, fmt.Errorf("the given Postgres at %s cannot be used: %w; check host, port, user and password, and that pg_hba.conf lets this machine in", a, err)
	}
	_ = conn.Close(check)
	s, err := newServer(ctx, o, a, "given URL "+a.String(), nil)
	if err != nil {
		return nil, err
	}
	sweepDatabases(ctx, s)
	return s, nil
}
