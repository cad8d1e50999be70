package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// applicationAdmin and applicationOwner are our application_name values, so that who reads pg_stat_activity can
	// tell our sessions from a subject's.
	applicationAdmin = "assay"
	applicationOwner = "assay owner"

	// closeTimeout bounds the removal of one database or server: by then a server that still answers has answered.
	closeTimeout = 20 * time.Second
)

// Server is a Postgres server in which a run may create databases. All methods may be called by several goroutines.
type Server struct {
	address address // of the database we connect to for administration
	source  string
	shared  bool // others may use it too: our databases need an owner's lock, and must be dropped
	log     *slog.Logger
	version int

	stop   func() error // ends what we started; nil for a given server
	detach func() bool  // stops waiting for the end of the context of Open

	mu        sync.Mutex
	closed    bool
	databases map[*Database]struct{}

	once     sync.Once
	closeErr error
}

// newServer checks that a reachable server is one we can work with, and ties it to ctx. On error nothing was stopped.
func newServer(ctx context.Context, o Options, a address, source string, stop func() error) (*Server, error) {
	s := &Server{
		address: a, source: source, shared: stop == nil, stop: stop, log: o.Log,
		databases: map[*Database]struct{}{},
	}
	conn, err := s.Admin(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var readOnly bool
	var role string
	var creates bool
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, pg_is_in_recovery(), current_user,
		(SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user)`).
		Scan(&s.version, &readOnly, &role, &creates)
	switch {
	case err != nil:
		return nil, fmt.Errorf("asking %s for its version: %w", a, err)
	case s.version < minVersion:
		return nil, fmt.Errorf("%s runs Postgres %d.%d: 13 or newer is needed", a, s.version/10000, s.version%10000)
	case readOnly:
		return nil, fmt.Errorf("%s is a standby: give the URL of its primary", a)
	case !creates:
		return nil, fmt.Errorf("role %q at %s may not create databases: as a superuser run ALTER ROLE %s CREATEDB",
			role, a, pgx.Identifier{role}.Sanitize())
	}
	s.detach = context.AfterFunc(ctx, func() {
		if err := s.shut(); err != nil {
			s.log.Error("closing the postgres server at the end of the run", "error", err)
		}
	})
	return s, nil
}

// Source tells in a few words where the server came from, for a report. It never holds a password.
func (s *Server) Source() string { return s.source }

// Version is the server's version as Postgres counts it: 150004 is 15.4.
func (s *Server) Version() int { return s.version }

// String is the source, so that a server printed by accident gives nothing away.
func (s *Server) String() string { return s.source }

// GoString keeps %#v from looking inside.
func (s *Server) GoString() string { return "postgres.Server(" + s.source + ")" }

// Admin opens a connection beside all databases of the run, to read pg_locks and pg_stat_activity. On a server we
// started it is a superuser's; on a given one it has the rights of the given role. The caller closes it.
func (s *Server) Admin(ctx context.Context) (*pgx.Conn, error) {
	conn, err := s.address.connect(ctx, applicationAdmin)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", s.address, err)
	}
	return conn, nil
}

// Close ends what we started and removes what we made: our databases on a given server, the whole of a private one.
// It may be called again; each call waits until all is removed and returns the same error.
func (s *Server) Close() error {
	s.detach()
	return s.shut()
}

func (s *Server) shut() error {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		databases := slices.Collect(maps.Keys(s.databases))
		s.mu.Unlock()

		// The run's context may be over, which is often why we are here.
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		var errs []error
		if s.stop == nil {
			for _, d := range databases {
				errs = append(errs, d.Drop(ctx))
			}
		} else {
			errs = append(errs, s.stop())
		}
		s.closeErr = errors.Join(errs...)
	})
	return s.closeErr
}
