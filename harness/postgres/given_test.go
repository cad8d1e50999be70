package postgres

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// withUser is a URL with another user.
func withUser(t *testing.T, raw, user, password string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(user, password)
	return u.String()
}

// createRole makes a role with attributes for one test.
func createRole(t *testing.T, admin *pgx.Conn, name, attributes string) {
	t.Helper()
	for _, sql := range []string{`DROP ROLE IF EXISTS ` + name, `CREATE ROLE ` + name + ` LOGIN PASSWORD 'secret' ` + attributes} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if _, err := admin.Exec(context.Background(), `DROP ROLE `+name); err != nil {
			t.Error(err)
		}
	})
}

func TestAGivenServerIsUsedAsItIsAndLeftAsItWas(t *testing.T) {
	given, admin := givenServer(t)
	temp := tempFolder(t)
	s := open(t, Options{URL: given, TempDir: temp, Settings: map[string]string{"max_connections": "7"}})
	if !strings.HasPrefix(s.Source(), "given URL postgres://postgres@127.0.0.1:") {
		t.Errorf("source is %q", s.Source())
	}
	d, err := s.CreateDatabase(t.Context(), "Backend/publish: a scenario's name that is far longer than a database's name may be")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), d.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var name, encoding, collation string
	if err := conn.QueryRow(t.Context(), `SELECT datname, pg_encoding_to_char(encoding), datcollate FROM pg_database WHERE datname = current_database()`).
		Scan(&name, &encoding, &collation); err != nil {
		t.Fatal(err)
	}
	if name != d.Name() || encoding != "UTF8" || collation != "C" {
		t.Errorf("connected to %s, %s, %s", name, encoding, collation)
	}
	if !databaseExists(t, admin, d.Name()) {
		t.Errorf("database %s is not there", d.Name())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if databaseExists(t, admin, d.Name()) {
		t.Errorf("database %s is still there, though somebody was connected", d.Name())
	}
	if err := admin.Ping(t.Context()); err != nil {
		t.Errorf("the given server is gone: %v", err)
	}
}

func TestDropMayBeCalledAgainAndAfterClose(t *testing.T) {
	given, admin := givenServer(t)
	for name, o := range map[string]Options{"on a given server": {URL: given}, "on a private server": {Sources: []Kind{Local}}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, o)
			first, err := s.CreateDatabase(t.Context(), "first")
			if err != nil {
				t.Fatal(err)
			}
			second, err := s.CreateDatabase(t.Context(), "second")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := first.Drop(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := second.Drop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if databaseExists(t, admin, first.Name()) || databaseExists(t, admin, second.Name()) {
				t.Error("a database is still there")
			}
		})
	}
}

func TestARoleThatMayCreateDatabasesIsEnough(t *testing.T) {
	given, admin := givenServer(t)
	createRole(t, admin, "modest", "CREATEDB")
	s := open(t, Options{URL: withUser(t, given, "modest", "secret")})
	d, err := s.CreateDatabase(t.Context(), "modest")
	if err != nil {
		t.Fatal(err)
	}
	if d.User() != "modest" || d.Password() != "secret" {
		t.Errorf("user %q", d.User())
	}
	if err := d.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // before its role goes
		t.Fatal(err)
	}
}

func TestAGivenServerThatWillNotDo(t *testing.T) {
	given, admin := givenServer(t)
	createRole(t, admin, "bystander", "")
	closed, err := net.Listen("tcp4", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	_ = closed.Close()
	silent := accepting(t, func(net.Conn) {})
	page := accepting(t, func(c net.Conn) {
		_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
		_ = c.Close()
	})
	const secret = "s3cr3t-w0rd"
	for _, c := range []struct {
		name, url string
		want      []string
	}{
		{"because its role may not create databases: the grant to give is named", withUser(t, given, "bystander", "secret"), []string{"may not create databases", `ALTER ROLE "bystander" CREATEDB`}},
		{"because the password is wrong", withUser(t, given, "postgres", secret), []string{"password authentication failed"}},
		{"because nobody listens there", "postgres://u:" + secret + "@" + nobody + "/d", []string{nobody, "refused"}},
		{"because it accepts and says nothing", "postgres://u:" + secret + "@" + silent + "/d", []string{silent, "deadline"}},
		{"because a web server answers", "postgres://u:" + secret + "@" + page + "/d?sslmode=disable", []string{page}},
		{"because the URL has another scheme", "mysql://u:" + secret + "@h/d", []string{"expected postgres://"}},
		{"because the password's percent sign is not encoded", "postgres://u:" + secret + "%zz@h/d", []string{"percent-encoded"}},
		{"because the port is no number", "postgres://u:pw@h:" + secret + "/d", []string{"expected postgres://"}},
		{"because a parameter is unknown to the client", "postgres://u:" + secret + "@127.0.0.1/d?sslmode=" + secret, []string{"expected postgres://"}},
		{"because it is no URL at all", "host=h password=" + secret, []string{"expected postgres://"}},
		{"because it names several hosts", "postgres://u:" + secret + "@h1,h2/d", []string{"several hosts"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			s, err := Open(ctx, Options{URL: c.url})
			if err == nil {
				_ = s.Close()
				t.Fatal("it was accepted")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q says nothing of %q", err, want)
				}
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("error %q gives the password away", err)
			}
			var all *NoServerError
			if errors.As(err, &all) {
				t.Errorf("something else was tried: %v", err)
			}
		})
	}
}

// accepting is a listener on loopback that treats each connection in its own way.
func accepting(t *testing.T, serve func(net.Conn)) (hostport string) {
	t.Helper()
	l, err := net.Listen("tcp4", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var open []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range open {
					_ = c.Close()
				}
				return
			}
			open = append(open, c)
			serve(c)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

func TestTheEnvironmentCompletesAGivenURL(t *testing.T) {
	t.Setenv("PGUSER", "ursula")
	t.Setenv("PGPASSWORD", "p@ss/word")
	t.Setenv("PGPORT", "6000")
	for given, want := range map[string]string{
		"postgres://db.example/stock":                "postgres://ursula:p%40ss%2Fword@db.example/stock",
		"postgres:///stock?host=127.0.0.1":           "postgres://ursula:p%40ss%2Fword@/stock?host=127.0.0.1",
		"postgresql://ann:x@db.example:1/":           "postgresql://ann:x@db.example:1/ann",
		"postgres://ann:x@[::1]:1/a?sslmode=require": "postgres://ann:x@[::1]:1/a?sslmode=require",
	} {
		a, err := parseAddress(given)
		if err != nil {
			t.Errorf("%s: %v", given, err)
		} else if got := a.url.String(); got != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}

func TestAURLWithoutAHostMeansTheSocketOfTheEnvironment(t *testing.T) {
	t.Setenv("PGHOST", "/var/run/elsewhere")
	t.Setenv("PGPORT", "6000")
	a, err := parseAddress("postgres://ann@/stock")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := a.url.String(), "postgres://ann@/stock?host=%2Fvar%2Frun%2Felsewhere&port=6000"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if d := (&Database{address: a.at("other")}); d.Host() != "/var/run/elsewhere" || d.Port() != 6000 {
		t.Errorf("it is at %s, port %d", d.Host(), d.Port())
	}
}

func TestADatabaseReplacesTheOneOfAGivenURLWhereverThatIsWritten(t *testing.T) {
	a, err := parseAddress("postgres://h:1/stock?dbname=goods&user=ann&password=x")
	if err != nil {
		t.Fatal(err)
	}
	config, err := a.at("mine").config()
	if err != nil {
		t.Fatal(err)
	}
	if config.Database != "mine" || config.User != "ann" || config.Password != "x" {
		t.Errorf("database %s, user %s", config.Database, config.User)
	}
	if got, want := a.String(), "postgres://ann@h:1/goods"; got != want {
		t.Errorf("printed as %s, want %s", got, want)
	}
}

func TestAProxyInFrontOfADatabase(t *testing.T) {
	d := &Database{address: address{url.URL{Scheme: "postgres", User: url.UserPassword("u", "p"), Host: "db:1", Path: "/n", RawQuery: "sslmode=require"}}}
	if got, want := d.URLAt("127.0.0.1:99"), "postgres://u:p@127.0.0.1:99/n?sslmode=disable"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if d.Host() != "db" || d.Port() != 1 {
		t.Errorf("the server itself is at %s %d", d.Host(), d.Port())
	}
}

func TestDatabaseNames(t *testing.T) {
	for _, c := range []struct{ name, purpose, want string }{
		{"keep what a name may hold", "publish_2", "assay_run_publish_2_"},
		{"have the rest replaced", "API-011: Ünïcode 'x'; DROP", "assay_run_api_011___n_code__x___drop_"},
		{"are cut", strings.Repeat("x", 100), "assay_run_" + strings.Repeat("x", 32) + "_"},
		{"exist without a purpose", "", "assay_run_x_"},
		{"exist without a letter", "-/-", "assay_run_x_"},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, second := databaseName(c.purpose), databaseName(c.purpose)
			if !strings.HasPrefix(first, c.want) || len(first) != len(c.want)+16 {
				t.Errorf("got %s, want %s and sixteen digits", first, c.want)
			}
			if len(first) > 63 {
				t.Errorf("%s is too long", first)
			}
			if first == second {
				t.Errorf("%s came twice", first)
			}
		})
	}
}

func TestPasswordsReachNeitherLogsNorErrorsNorReports(t *testing.T) {
	given, _ := givenServer(t)
	var log strings.Builder
	handler := slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})
	for name, o := range map[string]Options{"given": {URL: given}, "private": {Sources: []Kind{Given, Local}}} {
		t.Run(name, func(t *testing.T) {
			o.Log = slog.New(handler)
			s := open(t, o)
			d, err := s.CreateDatabase(t.Context(), "secrets")
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Password()) < 16 {
				t.Fatalf("the password is short: this test would see it anywhere")
			}
			o.Log.Info("all", "server", s, "database", d)
			log.WriteString(s.Source() + spell(s) + spell(d) + spell(d.address))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Admin(t.Context()); err != nil {
				log.WriteString(err.Error())
			}
			if strings.Contains(log.String(), d.Password()) {
				t.Errorf("the password was told:\n%s", log.String())
			}
		})
	}
}
