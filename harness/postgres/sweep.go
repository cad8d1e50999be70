package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// sweepTimeout bounds a whole sweep: tidying up after others must not keep a run waiting.
const sweepTimeout = 30 * time.Second

// sweepDatabases drops the databases of dead runs on a shared server. What goes wrong is told, and stops nothing: the
// next sweep will meet it again.
func sweepDatabases(ctx context.Context, s *Server) {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	conn, err := s.Admin(ctx)
	if err != nil {
		s.log.Warn("sweep of databases", "error", err)
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	// Only databases that our role may drop; those of other roles are for runs with their URL.
	rows, err := conn.Query(ctx, `SELECT datname FROM pg_database
		WHERE datname ~ $1 AND NOT datistemplate AND datallowconn AND pg_has_role(datdba, 'USAGE') ORDER BY datname`, databasePattern)
	if err != nil {
		s.log.Warn("sweep of databases", "error", err)
		return
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		s.log.Warn("sweep of databases", "error", err)
		return
	}
	for _, name := range names {
		switch dropped, err := sweepDatabase(ctx, s, conn, name); {
		case err != nil:
			s.log.Warn("sweep of databases", "database", name, "error", err)
		case dropped:
			s.log.Info("dropped the database of a run that is gone", "database", name)
		}
	}
}

// sweepDatabase drops one database if its owner's lock is free, holding the lock meanwhile: an owner that comes late
// fails to take it, and a second sweep too.
func sweepDatabase(ctx context.Context, s *Server, admin *pgx.Conn, name string) (dropped bool, err error) {
	conn, err := lockOnce(ctx, s.address.at(name))
	if errors.Is(err, errHeld) || isGone(err) { // its owner lives, or another sweep is at it
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for the owner of database %s: %w", name, err)
	}
	// The drop ends this session as well; until then it holds the lock.
	defer conn.Close(context.WithoutCancel(ctx))
	if err := dropDatabase(ctx, admin, name); err != nil {
		return false, err
	}
	return true, nil
}
