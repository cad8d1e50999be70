package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Parking stops statements inside: after they took their snapshot and before
// their effect, where no proxy can hold them. It changes the database for as long
// as it lasts, so the gate must have been given the right to ([Config.Alter]).
type Parking struct {
	gate *Gate
	conn *pgx.Conn
	pid  uint32
	what string
	// open lets everybody go on, remove takes away what was installed.
	open, remove []string

	mu       sync.Mutex
	isOpen   bool
	released bool
}

const (
	// parkClass is the first half of the advisory locks of a Parking; the other
	// half is a server process, 0 for all.
	parkClass = 0x41535359
	// lockPatience bounds one attempt to change a table that somebody uses: who
	// waits for longer makes everybody wait who comes later.
	lockPatience = "SET lock_timeout = '50ms'"
	// parkLeaving bounds the removal of what is left when the gate ends.
	parkLeaving = 10 * time.Second
)

// ParkInserts parks inserts into a table, row by row, where BEFORE triggers run:
// what INSERT … WHERE NOT EXISTS has looked at is looked at by then. It stops the
// sessions with these numbers, or all when there are none.
func (g *Gate) ParkInserts(ctx context.Context, table string, sessions ...uint64) (*Parking, error) {
	keys := []uint32{0}
	if len(sessions) > 0 {
		keys = keys[:0]
	}
	g.mu.Lock()
	for _, id := range sessions {
		s := g.live[id]
		if s == nil || s.pid.Load() == 0 {
			g.mu.Unlock()
			return nil, fmt.Errorf("gate: session %d is over, or the server has not yet named its process", id)
		}
		keys = append(keys, s.pid.Load())
	}
	g.mu.Unlock()
	p, err := g.parking(ctx, "inserts into "+table)
	if err != nil {
		return nil, err
	}
	var schema, name string
	if err := p.conn.QueryRow(ctx, `SELECT quote_ident(nspname), quote_ident(relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
		WHERE c.oid = $1::text::regclass AND relkind IN ('r', 'p')`, table).Scan(&schema, &name); err != nil {
		return nil, p.failed(fmt.Errorf("no table %.80q: %w", table, err))
	}
	if err := p.sweep(ctx); err != nil {
		return nil, p.failed(err)
	}
	trigger := fmt.Sprintf("assay_park_%d", p.pid)
	// Dropping the function drops its trigger, wherever that is.
	p.remove = []string{fmt.Sprintf("DROP FUNCTION IF EXISTS %s.%s() CASCADE", schema, trigger)}
	install := []string{fmt.Sprintf(`CREATE OR REPLACE FUNCTION %[1]s.%[2]s() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			PERFORM pg_catalog.pg_advisory_lock_shared(%[3]d, k) FROM pg_catalog.unnest(ARRAY[0, pg_catalog.pg_backend_pid()]) k;
			PERFORM pg_catalog.pg_advisory_unlock_shared(%[3]d, k) FROM pg_catalog.unnest(ARRAY[0, pg_catalog.pg_backend_pid()]) k;
			RETURN NEW;
		END $$`, schema, trigger, parkClass)}
	for _, key := range keys {
		install = append(install, fmt.Sprintf("SELECT pg_advisory_lock(%d, %d)", parkClass, key))
		p.open = append(p.open, fmt.Sprintf("SELECT pg_advisory_unlock(%d, %d)", parkClass, key))
	}
	// A name that sorts last: other triggers have had their say.
	install = append(install, fmt.Sprintf(`CREATE TRIGGER "~%[2]s" BEFORE INSERT ON %[1]s.%[3]s FOR EACH ROW EXECUTE FUNCTION %[1]s.%[2]s()`, schema, trigger, name))
	if err := p.insist(ctx, install); err != nil {
		return nil, p.failed(err)
	}
	return p, nil
}

// ParkSequence parks whoever takes the next value of a sequence, inside of an
// insert with such a default too. The side transaction that does it is rolled
// back, so the sequence stays as it is.
func (g *Gate) ParkSequence(ctx context.Context, sequence string) (*Parking, error) {
	p, err := g.parking(ctx, "sequence "+sequence)
	if err != nil {
		return nil, err
	}
	var alter string
	if err := p.conn.QueryRow(ctx, `SELECT format('ALTER SEQUENCE %I.%I CACHE %s', nspname, relname, seqcache) FROM pg_sequence
		JOIN pg_class c ON c.oid = seqrelid JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = $1::text::regclass`, sequence).Scan(&alter); err != nil {
		return nil, p.failed(fmt.Errorf("no sequence %.80q: %w", sequence, err))
	}
	p.open = []string{"ROLLBACK"}
	for {
		if _, err = p.conn.Exec(ctx, "BEGIN"); err == nil {
			if _, err = p.conn.Exec(ctx, alter); err == nil {
				return p, nil
			}
			if _, again := p.conn.Exec(ctx, "ROLLBACK"); again != nil {
				return nil, p.failed(errors.Join(err, again))
			}
		}
		if !busy(err) || ctx.Err() != nil {
			return nil, p.failed(err)
		}
	}
}

// parking opens a connection that does nothing else.
func (g *Gate) parking(ctx context.Context, what string) (*Parking, error) {
	if !g.alter {
		return nil, fmt.Errorf("gate: parking %s changes the database for a while, and the gate was not given the right to", what)
	}
	config := g.side.config.Copy()
	config.RuntimeParams["application_name"] = "assay gate, parking"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("gate: parking %s: %w", what, err)
	}
	p := &Parking{gate: g, conn: conn, pid: conn.PgConn().PID(), what: what}
	g.mu.Lock()
	g.parkings = append(g.parkings, p)
	g.mu.Unlock()
	if _, err := conn.Exec(ctx, lockPatience); err != nil {
		return nil, p.failed(err)
	}
	return p, nil
}

// failed takes away what there is of a parking that did not come about.
func (p *Parking) failed(cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), parkLeaving)
	defer cancel()
	return errors.Join(fmt.Errorf("gate: parking %s: %w", p.what, cause), p.Release(ctx))
}

// sweep removes what a gate left behind that was killed.
func (p *Parking) sweep(ctx context.Context) error {
	rows, err := p.conn.Query(ctx, `SELECT format('DROP FUNCTION IF EXISTS %I.%I() CASCADE', nspname, proname) FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace
		WHERE proname ~ '^assay_park_[0-9]+$' AND substr(proname, 12) NOT IN (SELECT pid::text FROM pg_stat_activity)`)
	if err != nil {
		return err
	}
	drops, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	return p.insist(ctx, drops)
}

// insist runs statements one by one, each until nobody is in its way.
func (p *Parking) insist(ctx context.Context, statements []string) error {
	for _, s := range statements {
		for {
			_, err := p.conn.Exec(ctx, s)
			if err == nil {
				break
			}
			if !busy(err) || ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

// busy reports whether somebody else had the lock for too long.
func busy(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "55P03"
}

// Await waits until a session is parked here, as the server's lock tables say.
func (p *Parking) Await(ctx context.Context, session uint64) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		w, err := p.gate.Blocked(ctx, session)
		if err != nil {
			return err
		}
		if slices.Contains(w.By, p.pid) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gate: session %d did not park at %s: %w: it is %s, waiting for %s %s", session, p.what, context.Cause(ctx), w.State, w.Kind, w.Event)
		case <-tick.C:
		}
	}
}

// Open lets everybody go on, at once. What was installed stays, and stops nobody
// any more, until Release.
func (p *Parking) Open(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.openUp(ctx)
}

func (p *Parking) openUp(ctx context.Context) error {
	if p.isOpen || p.released {
		return nil
	}
	if err := p.insist(ctx, p.open); err != nil {
		return fmt.Errorf("gate: opening the parking of %s: %w", p.what, err)
	}
	p.isOpen = true
	return nil
}

// Release opens and removes what was installed. Removing a trigger waits for
// transactions that have used its table; when ctx ends first, the gate's end does
// it.
func (p *Parking) Release(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.released {
		return nil
	}
	err := p.openUp(ctx)
	if err == nil || p.conn.IsClosed() {
		err = p.takeAway(ctx)
	}
	if err != nil {
		return fmt.Errorf("gate: removing the parking of %s: %w", p.what, err)
	}
	p.released = true
	p.gate.mu.Lock()
	p.gate.parkings = slices.DeleteFunc(p.gate.parkings, func(o *Parking) bool { return o == p })
	p.gate.mu.Unlock()
	return nil
}

// takeAway removes what was installed, over a new connection when a cancelled
// statement has cost the first.
func (p *Parking) takeAway(ctx context.Context) error {
	if p.conn.IsClosed() && len(p.remove) > 0 {
		conn, err := pgx.ConnectConfig(ctx, p.gate.side.config.Copy())
		if err != nil {
			return err
		}
		p.conn = conn
		if _, err := conn.Exec(ctx, lockPatience); err != nil {
			return err
		}
	}
	if err := p.insist(ctx, p.remove); err != nil {
		return err
	}
	return p.conn.Close(ctx)
}

// clear releases every parking that is left.
func (g *Gate) clear() error {
	ctx, cancel := context.WithTimeout(context.Background(), parkLeaving)
	defer cancel()
	g.mu.Lock()
	left := slices.Clone(g.parkings)
	g.mu.Unlock()
	var errs []error
	for _, p := range left {
		errs = append(errs, p.Release(ctx))
	}
	return errors.Join(errs...)
}
