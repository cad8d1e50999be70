package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// address is where a database is reached, with the password. Nothing in this package prints one whole.
type address struct {
	url url.URL
}

// parseAddress reads a URL given by a user. Its errors never repeat any of the input: a password may stand anywhere in
// a mistyped URL.
func parseAddress(raw string) (address, error) {
	const expected = "expected postgres://user:password@host:port/database, special characters in the password percent-encoded"
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return address{}, errors.New("the given database URL cannot be read: " + expected)
	}
	config, err := pgx.ParseConfig(raw)
	if err != nil {
		return address{}, errors.New("the given database URL has a part that Postgres does not know: " + expected)
	}
	if len(config.Fallbacks) > 0 && strings.Contains(u.Host, ",") {
		return address{}, errors.New("the given database URL names several hosts: give the one that takes writes")
	}
	// What the environment filled in (PGUSER, PGPASSWORD and the like) is written down: the URL goes to programs that
	// have another environment.
	if config.Password != "" {
		u.User = url.UserPassword(config.User, config.Password)
	} else {
		u.User = url.User(config.User)
	}
	query := u.Query()
	for _, repeated := range []string{"user", "password", "dbname"} { // would win over what the URL says elsewhere
		query.Del(repeated)
	}
	if u.Host == "" && !query.Has("host") {
		if strings.HasPrefix(config.Host, "/") { // a folder that holds a Unix socket
			query.Set("host", config.Host)
			query.Set("port", strconv.Itoa(int(config.Port)))
		} else {
			u.Host = net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
		}
	}
	u.RawQuery = query.Encode()
	u.Path, u.RawPath = "/"+config.Database, ""
	if config.Database == "" {
		u.Path = "/" + config.User
	}
	return address{*u}, nil
}

// newAddress is where a server that we started is reached. Loopback needs no TLS.
func newAddress(host string, port int, user, password, database string) address {
	return address{url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(user, password),
		Host:     net.JoinHostPort(host, strconv.Itoa(port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}}
}

// at is the same server with another database.
func (a address) at(database string) address {
	a.url.Path, a.url.RawPath = "/"+database, ""
	return a
}

// String leaves the password out, and the query, where libpq allows one too.
func (a address) String() string {
	u := a.url
	u.User, u.RawQuery = url.User(u.User.Username()), ""
	return u.String()
}

// GoString keeps %#v from looking inside.
func (a address) GoString() string { return a.String() }

func (a address) config() (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(a.url.String())
	if err != nil {
		return nil, fmt.Errorf("the address of database %s cannot be read", a)
	}
	return config, nil
}

// connect opens one connection that pg_stat_activity shows under the given name.
func (a address) connect(ctx context.Context, application string) (*pgx.Conn, error) {
	config, err := a.config()
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["application_name"] = application
	return pgx.ConnectConfig(ctx, config)
}
