package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options say which database, and how long it may take.
type Options struct {
	// URL is a Postgres URL or a key=value string. It may hold a password and
	// never appears in an error.
	URL string
	// MaxConnections is how many connections the pool may hold; at least 1.
	MaxConnections int
	// StatementTimeout bounds one statement, on every connection.
	StatementTimeout time.Duration
	// TransactionTimeout bounds a transaction from its BEGIN. Servers before
	// 17 cannot do so themselves; there the bound is made of four: the client
	// gives each statement only what is left and cancels it on the server when
	// that is used up; the server bounds each statement, ends a transaction
	// that stays idle, and gives up a statement whose client is gone.
	TransactionTimeout time.Duration
	// AcquireTimeout bounds the wait for a free connection; 0 is
	// StatementTimeout.
	AcquireTimeout time.Duration
	// Application names the program in pg_stat_activity.
	Application string
}

// Pool is a set of connections to one database. Its methods may be called from
// many goroutines at once.
type Pool struct {
	pool    *pgxpool.Pool
	acquire time.Duration
	budget  time.Duration
	begin   string
}

// openPatience bounds the wait for the first connection.
const openPatience = 30 * time.Second

// Open connects to the database and checks that it answers.
func Open(ctx context.Context, o Options) (*Pool, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		// The parser's error quotes what it was given.
		return nil, errors.New("database url does not parse: want postgres://user:password@host:port/database or key=value pairs")
	}
	if o.MaxConnections < 1 || o.StatementTimeout <= 0 || o.TransactionTimeout <= 0 {
		return nil, fmt.Errorf("postgres options: %d connections, statement timeout %v, transaction timeout %v: all must be positive",
			o.MaxConnections, o.StatementTimeout, o.TransactionTimeout)
	}
	config.MaxConns = int32(min(o.MaxConnections, 1<<20))
	config.MinConns = 0
	session := config.ConnConfig.RuntimeParams
	session["application_name"] = o.Application
	session["timezone"] = "UTC"
	// Statements are few, fixed, and meant as index probes. Plan each once and
	// compile none; and never scan a table, which is the cheapest plan while it
	// is empty and stays the plan of a connection while it grows.
	session["plan_cache_mode"] = "force_generic_plan"
	session["jit"] = "off"
	session["enable_seqscan"] = "off"
	session["enable_hashjoin"] = "off"
	session["enable_mergejoin"] = "off"
	session["statement_timeout"] = milliseconds(o.StatementTimeout)
	session["idle_in_transaction_session_timeout"] = milliseconds(o.TransactionTimeout)
	session["client_connection_check_interval"] = milliseconds(time.Second)
	config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &interrupter{conn: conn}
	}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		useByteaArrays(conn)
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database pool: %w", err)
	}
	// The first connection may take longer than one in the middle of a call.
	p := &Pool{pool: pool, acquire: openPatience, budget: o.TransactionTimeout}
	if p.begin, err = p.beginCommand(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	if p.acquire = o.AcquireTimeout; p.acquire == 0 {
		p.acquire = o.StatementTimeout
	}
	return p, nil
}

// beginCommand returns the BEGIN that this server understands.
func (p *Pool) beginCommand(ctx context.Context) (string, error) {
	const begin = "/*point='begin'*/ BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	var version string
	err := p.Read(ctx, serverVersion, func(rows pgx.Rows) error { return rows.Scan(&version) })
	if err != nil {
		return "", fmt.Errorf("the database does not answer: %w", err)
	}
	if n, err := strconv.Atoi(version); err != nil || n < 170000 {
		return begin, nil
	}
	// Still one message and one point: the simple protocol carries both.
	return begin + "; SET LOCAL transaction_timeout = " + milliseconds(p.budget), nil
}

var serverVersion = NewStatement("open", "SELECT current_setting('server_version_num')")

func milliseconds(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 1), 10) }

// Close closes every connection, waiting for those in use.
func (p *Pool) Close() { p.pool.Close() }

// Read runs one statement on its own and calls scan for each row. It is also
// the way to run a single statement that writes.
func (p *Pool) Read(ctx context.Context, s Statement, scan func(pgx.Rows) error, args ...any) error {
	conn, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer release(conn)
	return run(ctx, ctx, conn, s, scan, args)
}

// take waits for a connection, but not longer than the pool's own patience.
func (p *Pool) take(ctx context.Context) (*pgxpool.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, p.acquire)
	defer cancel()
	conn, err := p.pool.Acquire(waiting)
	if err == nil {
		return conn, nil
	}
	kind := Unavailable
	if errors.Is(ctx.Err(), context.Canceled) {
		kind = Canceled
	} else if ctx.Err() != nil {
		kind = Timeout
	}
	return nil, &Error{Kind: kind, Point: "acquire", Err: err}
}

// run sends one statement. limited is asked with the deadline of a transaction,
// if there is one.
func run(asked, limited context.Context, conn *pgxpool.Conn, s Statement, scan func(pgx.Rows) error, args []any) error {
	rows, err := conn.Query(limited, s.sql, args...)
	if err == nil {
		for err == nil && rows.Next() {
			if scan != nil {
				err = scan(rows)
			}
		}
		rows.Close()
		if err == nil {
			err = rows.Err()
		}
	}
	if err != nil && limited.Err() != nil {
		interrupted(conn)
	}
	return classify(asked, s.point, err)
}

// release gives a connection back, or drops it when it is in doubt.
func release(conn *pgxpool.Conn) { conn.Release() }

// interrupted closes a connection whose statement was cut short: a cancellation
// that is still under way would hit whatever ran on it next, and after an
// interrupted BEGIN nobody knows whether a transaction is open.
func interrupted(conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// The connection is of no use whatever closing it says.
	_ = conn.Conn().Close(ctx)
}

// interrupter ends a statement whose context ended: it asks the server to stop,
// so that locks are let go, and gives the answer a moment to arrive.
type interrupter struct{ conn *pgconn.PgConn }

const cancelWait = time.Second

func (i *interrupter) HandleCancel(context.Context) {
	// A failed SetDeadline or CancelRequest leaves what the server's own
	// timeouts end.
	_ = i.conn.Conn().SetDeadline(time.Now().Add(cancelWait))
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), cancelWait)
		defer cancel()
		_ = i.conn.CancelRequest(ctx)
	}()
}

func (i *interrupter) HandleUnwatchAfterCancel() { _ = i.conn.Conn().SetDeadline(time.Time{}) }
