package postgres_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"assay/harness/postgres/pgtest"
	"assay/impl/postgres"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m, func() error { return goleak.Find() }))
}

const patience = 30 * time.Second

func open(t *testing.T, change func(*postgres.Options)) *postgres.Pool {
	t.Helper()
	o := postgres.Options{URL: pgtest.ForTest(t).URL(), MaxConnections: 4, Application: "assay-test",
		StatementTimeout: patience, TransactionTimeout: 2 * patience}
	if change != nil {
		change(&o)
	}
	p, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func statement(sql string) postgres.Statement { return postgres.NewStatement("test", sql) }

// number reads one number.
func number(into *int64) func(pgx.Rows) error {
	return func(rows pgx.Rows) error { return rows.Scan(into) }
}

func begin(t *testing.T, p *postgres.Pool) *postgres.Tx {
	t.Helper()
	tx, err := p.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback(context.WithoutCancel(t.Context())) })
	return tx
}

func exec(t *testing.T, p *postgres.Pool, sql string) {
	t.Helper()
	if err := p.Read(t.Context(), statement(sql), nil); err != nil {
		t.Fatal(err)
	}
}

func kindOf(err error) postgres.Kind {
	if failed, ok := errors.AsType[*postgres.Error](err); ok {
		return failed.Kind
	}
	return 0
}

func TestOnlyACommittedTransactionIsVisible(t *testing.T) {
	p := open(t, nil)
	exec(t, p, `CREATE TABLE n (v bigint)`)
	count := func() (n int64) {
		if err := p.Read(t.Context(), statement(`SELECT count(*) FROM n`), number(&n)); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i, commit := range []bool{false, true} {
		tx := begin(t, p)
		if err := tx.Run(t.Context(), statement(`INSERT INTO n VALUES ($1)`), nil, int64(i)); err != nil {
			t.Fatal(err)
		}
		if n := count(); n != 0 {
			t.Errorf("%d rows before the end", n)
		}
		if commit {
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		tx.Rollback(t.Context())
	}
	if n := count(); n != 1 {
		t.Errorf("%d rows, want the committed one", n)
	}
}

func TestFailuresHaveTheKindThatTellsWhatToDo(t *testing.T) {
	p := open(t, func(o *postgres.Options) {
		o.StatementTimeout, o.TransactionTimeout = 400*time.Millisecond, 600*time.Millisecond
	})
	exec(t, p, `CREATE TABLE n (v bigint PRIMARY KEY CHECK (v < 10))`)
	exec(t, p, `INSERT INTO n VALUES (1)`)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name string
		ctx  context.Context
		sql  string
		want postgres.Kind
	}{
		{"a row that is there already", t.Context(), `INSERT INTO n VALUES (1)`, postgres.Invariant},
		{"a row that breaks a check", t.Context(), `INSERT INTO n VALUES (10)`, postgres.Invariant},
		{"a number out of range", t.Context(), `SELECT 9223372036854775807 + 1::bigint`, postgres.Invariant},
		{"a statement that takes too long", t.Context(), `SELECT pg_sleep(30)`, postgres.Timeout},
		{"a caller that went away", canceled, `SELECT 1`, postgres.Canceled},
		{"anything else", t.Context(), `SELECT * FROM nothing`, postgres.Unavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := p.Read(test.ctx, statement(test.sql), nil); kindOf(err) != test.want {
				t.Errorf("got %v, want kind %v", err, test.want)
			}
		})
	}
	t.Run("statements that together take too long", func(t *testing.T) {
		tx := begin(t, p)
		started := time.Now()
		var err error
		for err == nil {
			err = tx.Run(t.Context(), statement(`SELECT pg_sleep(0.1)`), nil)
		}
		if kindOf(err) != postgres.Timeout || time.Since(started) < 500*time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(started))
		}
	})
	t.Run("the commit of a transaction that failed", func(t *testing.T) {
		tx := begin(t, p)
		if err := tx.Run(t.Context(), statement(`SELECT * FROM nothing`), nil); err == nil {
			t.Fatal("a missing table was read")
		}
		if err := tx.Commit(t.Context()); kindOf(err) != postgres.Invariant {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no connection is free", func(t *testing.T) {
		one := open(t, func(o *postgres.Options) { o.MaxConnections, o.AcquireTimeout = 1, 100*time.Millisecond })
		begin(t, one)
		err := one.Read(t.Context(), statement(`SELECT 1`), nil)
		if failed, ok := errors.AsType[*postgres.Error](err); !ok || failed.Kind != postgres.Unavailable || failed.Point != "acquire" {
			t.Errorf("got %v", err)
		}
	})
}

func TestStatementsCarryTheNameOfTheirPoint(t *testing.T) {
	p := open(t, nil)
	var query string
	err := p.Read(t.Context(), postgres.NewStatement("publish.lock-identity", `SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid()`),
		func(rows pgx.Rows) error { return rows.Scan(&query) })
	if err != nil || !strings.HasPrefix(query, "/*point='publish.lock-identity'*/ SELECT") {
		t.Errorf("the server saw %q, %v", query, err)
	}
	for _, bad := range []string{"", "Publish", "a'b", "a b"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was accepted as a point", bad)
				}
			}()
			postgres.NewStatement(bad, "SELECT 1")
		}()
	}
}

// A BEGIN whose answer is lost may have opened a transaction: its connection
// must not serve anybody else.
func TestAnInterruptedBeginPoisonsNobody(t *testing.T) {
	var proxy *stallingProxy
	p := open(t, func(o *postgres.Options) {
		proxy = newStallingProxy(t, o.URL)
		o.URL = proxy.url
		o.MaxConnections = 1
	})
	// The connection exists; now its answers stay away.
	proxy.stall()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := p.Begin(ctx); kindOf(err) != postgres.Timeout {
		t.Fatalf("got %v", err)
	}
	proxy.flow()
	tx := begin(t, p)
	var age int64
	if err := tx.Run(t.Context(), statement(`SELECT 1`), number(&age)); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestMigrationsRunOnceHoweverManyServersStart(t *testing.T) {
	shared := pgtest.ForTest(t).URL()
	files := fstest.MapFS{
		"0001_a.sql": {Data: []byte(`CREATE TABLE a (v int); INSERT INTO a VALUES (1);`)},
		"0002_b.sql": {Data: []byte(`INSERT INTO a VALUES (2)`)},
	}
	var wait sync.WaitGroup
	for range 4 {
		p := open(t, func(o *postgres.Options) { o.URL = shared })
		wait.Go(func() {
			if err := postgres.Migrate(t.Context(), p, "test", files); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	p := open(t, func(o *postgres.Options) { o.URL = shared })
	files["0003_c.sql"] = &fstest.MapFile{Data: []byte(`INSERT INTO a VALUES (3)`)}
	if err := postgres.Migrate(t.Context(), p, "test", files); err != nil {
		t.Fatal(err)
	}
	var sum int64
	if err := p.Read(t.Context(), statement(`SELECT sum(v) FROM a`), number(&sum)); err != nil || sum != 6 {
		t.Errorf("the rows sum up to %d, %v", sum, err)
	}
	files["0001_a.sql"] = &fstest.MapFile{Data: []byte(`CREATE TABLE b (v int)`)}
	if err := postgres.Migrate(t.Context(), p, "test", files); err == nil || !strings.Contains(err.Error(), "0001_a.sql") {
		t.Errorf("a changed migration: %v", err)
	}
	broken := fstest.MapFS{"0001_x.sql": {Data: []byte(`CREATE TABLE x (v int); CREATE TABLE x (v int)`)}}
	if err := postgres.Migrate(t.Context(), p, "broken", broken); err == nil {
		t.Error("a broken migration passed")
	}
	var there bool
	err := p.Read(t.Context(), statement(`SELECT to_regclass('x') IS NOT NULL`), func(rows pgx.Rows) error { return rows.Scan(&there) })
	if err != nil || there {
		t.Errorf("a broken migration left a table: %v, %v", there, err)
	}
}

func TestErrorsKeepPasswordsToThemselves(t *testing.T) {
	for _, dsn := range []string{
		"postgres://user:sesame@127.0.0.1:1/nowhere?connect_timeout=1",
		"postgres://user:sesame@127.0.0.1:port/nowhere",
		"host=127.0.0.1 port=1 password=sesame connect_timeout=1",
		"postgres://user:sesame%zz@127.0.0.1/x",
	} {
		_, err := postgres.Open(t.Context(), postgres.Options{URL: dsn, MaxConnections: 1, StatementTimeout: time.Second, TransactionTimeout: time.Second})
		if err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("got %v", err)
		}
	}
}

// stallingProxy passes a Postgres connection on, and can keep answers back.
type stallingProxy struct {
	url string
	mu  sync.Mutex
	// flowing is closed while answers pass.
	flowing chan struct{}
}

func newStallingProxy(t *testing.T, target string) *stallingProxy {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := u.Host
	u.Host = l.Addr().String()
	p := &stallingProxy{url: u.String(), flowing: make(chan struct{})}
	close(p.flowing)
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		l.Close()
		wait.Wait()
	})
	wait.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", host)
			if err != nil {
				client.Close()
				continue
			}
			context.AfterFunc(ctx, func() { client.Close(); server.Close() })
			wait.Go(func() {
				_, _ = io.Copy(server, client) // ends with the connection
				server.Close()
			})
			wait.Go(func() {
				p.answers(ctx, client, server)
				client.Close()
			})
		}
	})
	return p
}

func (p *stallingProxy) answers(ctx context.Context, client, server net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		flowing := p.flowing
		p.mu.Unlock()
		select {
		case <-flowing:
		case <-ctx.Done():
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *stallingProxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flowing = make(chan struct{})
}

func (p *stallingProxy) flow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.flowing)
}
