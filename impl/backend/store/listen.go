package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"assay/impl/backend"
	"assay/impl/backend/stream"
)

// closeTimeout bounds the good-bye to a server that may be gone.
const closeTimeout = time.Second

// Listen implements [stream.Log]. Its connection is its own.
func (l *feedLog) Listen(ctx context.Context, wake func()) error {
	if l.from.replica {
		<-ctx.Done()
		return ctx.Err()
	}
	config, err := pgx.ParseConfig(l.from.url)
	if err != nil {
		// The parser's error quotes what it was given.
		return listenError(errors.New("the database url does not parse"))
	}
	config.RuntimeParams["application_name"] = l.from.application + "-listen"
	config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { wake() }
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return listenError(err)
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = conn.Close(closing) // it is of no use whatever closing it says
	}()
	if _, err := conn.Exec(ctx, streaming.listen.String()); err != nil {
		return listenError(err)
	}
	// What was stored before it listened was not heard.
	wake()
	for {
		if err := conn.PgConn().WaitForNotification(ctx); err != nil {
			return listenError(err)
		}
	}
}

func listenError(err error) error {
	return &backend.StoreError{Kind: backend.Unavailable, Point: stream.PointListen, Err: err}
}

// announcer tells every server of the database that envelopes were stored. It
// does so behind the publish and not in it: Postgres lets transactions that
// notify commit only one by one. Publishes that come together share one
// notification.
type announcer struct {
	wake chan struct{}
	stop context.CancelFunc
	done sync.WaitGroup
}

// Between two notifications of one server there is a pause: at least this long,
// and nine times as long as the last one took, so that on a database at its
// limit they are a tenth of one connection's work and publishing is not held up
// by what only saves others a poll.
const (
	leastPause = 2 * time.Millisecond
	mostPause  = 50 * time.Millisecond
)

func announce(s *Store) *announcer {
	ctx, stop := context.WithCancel(context.Background())
	a := &announcer{wake: make(chan struct{}, 1), stop: stop}
	a.done.Go(func() {
		pause := time.NewTimer(0)
		defer pause.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-pause.C:
			}
			select {
			case <-ctx.Done():
				return
			case <-a.wake:
			}
			began := time.Now()
			// A notification that fails is one that is lost: others poll.
			_ = s.pool.Read(ctx, streaming.notify, nil)
			pause.Reset(min(max(leastPause, 9*time.Since(began)), mostPause))
		}
	})
	return a
}

// stored says that envelopes were stored.
func (a *announcer) stored() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *announcer) close() {
	a.stop()
	a.done.Wait()
}
