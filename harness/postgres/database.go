package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

const (
	// databasePrefix and databasePattern are the mark by which a sweep knows our databases: nobody names a database
	// this way by hand. The name is the mark because it is there from the first moment, unlike a comment.
	databasePrefix  = "assay_run_"
	databasePattern = `^assay_run_[a-z0-9_]+_[0-9a-f]{16}$`
)

// Database is one database of a run, empty when it is handed out.
type Database struct {
	server  *Server
	name    string
	address address
	owner   *owner // on a shared server

	mu      sync.Mutex // one Drop at a time
	dropped bool
}

// CreateDatabase makes an empty database: UTF-8, byte order, so that two servers sort alike. The purpose (a scenario's
// name, say) becomes part of its name, as far as its characters allow.
func (s *Server) CreateDatabase(ctx context.Context, purpose string) (*Database, error) {
	conn, err := s.Admin(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))

	// A sweep of another run may meet the database before its owner holds the lock, and take it for abandoned. It is
	// empty then: we make another. Nobody loses that race often.
	const attempts = 8
	for range attempts {
		d := &Database{server: s, name: databaseName(purpose)}
		d.address = s.address.at(d.name)
		quoted := pgx.Identifier{d.name}.Sanitize()
		// template0 because nobody can be connected to it, which would make the copy fail.
		if _, err := conn.Exec(ctx, `CREATE DATABASE `+quoted+` TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`); err != nil {
			return nil, fmt.Errorf("creating database %s: %w", d.name, err)
		}
		if s.shared {
			if d.owner, err = takeOwnership(ctx, d.address, s.log); err != nil {
				if errors.Is(err, errHeld) || isGone(err) {
					continue
				}
				return nil, errors.Join(err, dropDatabase(context.WithoutCancel(ctx), conn, d.name))
			}
		}
		s.mu.Lock()
		closed := s.closed
		if !closed {
			s.databases[d] = struct{}{}
		}
		s.mu.Unlock()
		if closed {
			return nil, errors.Join(errors.New("creating a database: the server is closed"), d.Drop(context.WithoutCancel(ctx)))
		}
		return d, nil
	}
	return nil, fmt.Errorf("creating a database: sweeps of other runs took it away %d times in a row", attempts)
}

// databaseName makes a name that needs no quoting and is never used twice. Postgres cuts names off at 63 bytes.
func databaseName(purpose string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, purpose)
	if len(clean) > 32 {
		clean = clean[:32]
	}
	if clean = strings.Trim(clean, "_"); clean == "" {
		clean = "x"
	}
	return databasePrefix + clean + "_" + randomHex(8)
}

// randomHex needs no seed handed in: what it names or protects is never part of what a run repeats.
func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails, says its documentation
	return hex.EncodeToString(b)
}

// URL is how a subject connects, password included: hand it to a process, never to a log.
func (d *Database) URL() string { return d.address.url.String() }

// Name of the database.
func (d *Database) Name() string { return d.name }

// Host is a name, an IP address, or a folder holding a Unix socket.
func (d *Database) Host() string {
	if config, err := d.address.config(); err == nil {
		return config.Host
	}
	return d.address.url.Hostname()
}

// Port of the server.
func (d *Database) Port() int {
	if config, err := d.address.config(); err == nil {
		return int(config.Port)
	}
	return 0
}

// User is the role that owns the database.
func (d *Database) User() string { return d.address.url.User.Username() }

// Password of User, empty when the server asks for none. Like URL, not for logs.
func (d *Database) Password() string {
	password, _ := d.address.url.User.Password()
	return password
}

// URLAt is URL with another host and port, for a proxy that stands in front of the server. The proxy speaks plain
// TCP, so TLS is off.
func (d *Database) URLAt(hostport string) string {
	u := d.address.url
	u.Host, u.RawQuery = hostport, url.Values{"sslmode": {"disable"}}.Encode()
	return u.String()
}

// Server that holds the database.
func (d *Database) Server() *Server { return d.server }

// String is the address without the password.
func (d *Database) String() string { return d.address.String() }

// GoString keeps %#v from looking inside.
func (d *Database) GoString() string { return "postgres.Database(" + d.address.String() + ")" }

// Drop removes the database and ends every session in it. Dropping it again, or after the server was closed, is fine.
func (d *Database) Drop(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dropped {
		return nil
	}
	s := d.server
	s.mu.Lock()
	gone := s.closed && !s.shared
	s.mu.Unlock()
	if !gone {
		conn, err := s.Admin(ctx)
		if err != nil {
			return fmt.Errorf("dropping database %s: %w", d.name, err)
		}
		defer conn.Close(context.WithoutCancel(ctx))
		d.owner.expectLoss()
		if err := dropDatabase(ctx, conn, d.name); err != nil {
			return err
		}
	}
	d.owner.release()
	d.dropped = true
	s.mu.Lock()
	delete(s.databases, d)
	s.mu.Unlock()
	return nil
}

// dropDatabase removes a database and whoever is connected to it. That it is gone already is no error.
func dropDatabase(ctx context.Context, conn *pgx.Conn, name string) error {
	_, err := conn.Exec(ctx, `DROP DATABASE IF EXISTS `+pgx.Identifier{name}.Sanitize()+` WITH (FORCE)`)
	if err != nil && !isMissing(err) { // another may have dropped it while we waited for our turn
		return fmt.Errorf("dropping database %s: %w", name, err)
	}
	return nil
}
