package backend_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"

	"assay/harness/postgres/pgtest"
	"assay/impl/backend"
	"assay/impl/backend/backendtest"
	"assay/impl/backend/config"
	"assay/impl/backend/store"
	"assay/impl/postgres"
	"assay/spec/gen/xmtp/identity/associations"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m, func() error { return goleak.Find() }))
}

// patience bounds every wait of a test.
const patience = 30 * time.Second

// rig is a store on a database of its own.
type rig struct {
	t     *testing.T
	store *store.Store
	url   string
}

func newRig(t *testing.T, change func(*postgres.Options)) *rig {
	t.Helper()
	o := postgres.Options{URL: pgtest.ForTest(t).URL(), MaxConnections: 10, Application: "assay-test",
		StatementTimeout: patience, TransactionTimeout: 2 * patience}
	if change != nil {
		change(&o)
	}
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &rig{t: t, store: s, url: o.URL}
}

// actor publishes through a store that stops it at points.
type actor struct {
	publisher *backend.Publisher
	reader    *backend.Reader
	// before runs in front of each statement.
	before func(backend.Point)
	trace  []backend.Point
}

// actor makes one; change may replace parts.
func (r *rig) actor(change func(*backend.Parts)) *actor {
	a := new(actor)
	c := config.Default()
	parts := backend.Standard(watched{r.store, a}, c)
	if change != nil {
		change(&parts)
	}
	a.publisher, a.reader = backend.NewPublisher(&parts, c.Limits), backend.NewReader(&parts, c.Limits)
	return a
}

func (a *actor) at(p backend.Point) {
	a.trace = append(a.trace, p)
	if a.before != nil {
		a.before(p)
	}
}

func (a *actor) publish(ctx context.Context, envelopes ...*backendv1.ClientEnvelope) ([]backend.Receipt, error) {
	b, err := a.publisher.Prepare(&backendv1.PublishRequest{Envelopes: envelopes})
	if err != nil {
		return nil, err
	}
	return a.publisher.Commit(ctx, b)
}

func (a *actor) read(t *testing.T, topic backend.Topic) []int64 {
	t.Helper()
	page, err := a.reader.Query(t.Context(), backend.QueryPlan{From: []backend.Position{{Topic: topic}}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	ids := []int64{}
	for _, e := range page.Entries {
		ids = append(ids, e.SequenceID)
	}
	return ids
}

// hold stops the actor in front of a point until release is called; reached is
// closed when it is there.
func (a *actor) hold(point backend.Point) (reached <-chan struct{}, release func()) {
	arrived, gate := make(chan struct{}), make(chan struct{})
	var once sync.Once
	a.before = func(p backend.Point) {
		if p == point {
			once.Do(func() { close(arrived) })
			<-gate
		}
	}
	return arrived, sync.OnceFunc(func() { close(gate) })
}

// outcome is what a publish came to.
type outcome struct {
	receipts []backend.Receipt
	err      error
}

func (a *actor) start(ctx context.Context, envelopes ...*backendv1.ClientEnvelope) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		receipts, err := a.publish(ctx, envelopes...)
		done <- outcome{receipts, err}
	}()
	return done
}

func await[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not happen within %v", what, patience)
		panic("unreachable")
	}
}

// blocked waits until n sessions wait for a lock, as Postgres itself says.
func (r *rig) blocked(n int) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.url)
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(r.t.Context()))
	for deadline := time.Now().Add(patience); ; {
		var waiting int
		if err := conn.QueryRow(r.t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting); err != nil {
			r.t.Fatal(err)
		}
		if waiting >= n {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%d sessions wait for a lock, not %d", waiting, n)
		}
	}
}

func TestAPublishStopsAtThesePointsInThisOrder(t *testing.T) {
	r := newRig(t, nil)
	a := r.actor(func(p *backend.Parts) { p.Identity = acceptAll{} })
	for _, test := range []struct {
		name      string
		envelopes []*backendv1.ClientEnvelope
		want      string
	}{
		{"a welcome", []*backendv1.ClientEnvelope{backendtest.Welcome(1, "a")},
			"publish.lookup begin publish.lock publish.recheck publish.allocate publish.insert commit"},
		{"the same again", []*backendv1.ClientEnvelope{backendtest.Welcome(1, "a")}, "publish.lookup"},
		{"an identity update", []*backendv1.ClientEnvelope{update(1, 1)},
			"publish.lookup publish.history begin publish.lock-identity publish.lock publish.recheck publish.heads publish.allocate publish.insert publish.project commit"},
		{"what does not parse", []*backendv1.ClientEnvelope{{}}, ""},
		{"a refusal beside a new envelope", []*backendv1.ClientEnvelope{{}, backendtest.Welcome(1, "b")},
			"publish.lookup begin publish.lock publish.recheck rollback"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a.trace = nil
			_, _ = a.publish(t.Context(), test.envelopes...) // the trace is the question
			var got []string
			for _, p := range a.trace {
				got = append(got, string(p))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got  %v\nwant %s", got, test.want)
			}
		})
	}
}

// API-011: whoever comes second on a topic gets its id only once the first is
// settled, so nothing below a visible envelope can still appear.
func TestASecondPublisherOfATopicWaitsBeforeItTakesAnID(t *testing.T) {
	r := newRig(t, nil)
	first, second, reader := r.actor(nil), r.actor(nil), r.actor(nil)
	reached, release := first.hold(backend.PointCommit)
	defer release()
	a := first.start(t.Context(), backendtest.Welcome(1, "first"))
	await(t, "the first publisher reaching its commit", reached)
	b := second.start(t.Context(), backendtest.Welcome(1, "second"))
	r.blocked(1)
	topic, err := backend.NewTopic(backend.KindWelcome, backendtest.Key(1))
	if err != nil {
		t.Fatal(err)
	}
	if ids := reader.read(t, topic); len(ids) != 0 {
		t.Errorf("%v is visible before the first publisher committed", ids)
	}
	release()
	x, y := await(t, "the first publish", a), await(t, "the second publish", b)
	if x.err != nil || y.err != nil {
		t.Fatalf("%v, %v", x.err, y.err)
	}
	want := []int64{x.receipts[0].SequenceID, y.receipts[0].SequenceID}
	if got := reader.read(t, topic); !slices.Equal(got, want) || want[0] > want[1] {
		t.Errorf("read %v, published %v", got, want)
	}
}

// API-035, API-036: a copy that commits while the lock is waited for is found by
// the second look, although the first had not seen it.
func TestACopyThatCommitsMeanwhileIsADuplicate(t *testing.T) {
	for _, point := range []backend.Point{backend.PointBegin, backend.PointLock, backend.PointRecheck} {
		t.Run("held before "+string(point), func(t *testing.T) {
			r := newRig(t, nil)
			slow, quick := r.actor(nil), r.actor(nil)
			reached, release := slow.hold(point)
			defer release()
			slowDone := slow.start(t.Context(), backendtest.Welcome(1, "same"), backendtest.Welcome(1, "own"))
			await(t, "the slow publisher reaching its point", reached)
			quickDone := quick.start(t.Context(), backendtest.Welcome(1, "same"))
			if point == backend.PointRecheck {
				r.blocked(1) // the slow one has the lock already, so it is the first to store
				release()
			}
			y := await(t, "the quick publish", quickDone)
			release()
			x := await(t, "the slow publish", slowDone)
			if x.err != nil || y.err != nil {
				t.Fatalf("%v, %v", x.err, y.err)
			}
			if x.receipts[0] != y.receipts[0] {
				t.Errorf("the copies got %+v and %+v", x.receipts[0], y.receipts[0])
			}
		})
	}
}

// API-036: also when the copy would not have passed validation.
func TestACopyThatCommitsMeanwhileExcusesAFailedValidation(t *testing.T) {
	r := newRig(t, nil)
	strict := r.actor(func(p *backend.Parts) { p.Identity = refuseAll{} })
	lax := r.actor(func(p *backend.Parts) { p.Identity = acceptAll{} })
	// The strict one judged before the copy was there, so the head moved on; but
	// its update is a duplicate by then, and the head of a duplicate is no
	// matter.
	reached, release := strict.hold(backend.PointBegin)
	defer release()
	done := strict.start(t.Context(), update(1, 1))
	await(t, "the strict publisher reaching its transaction", reached)
	stored, err := lax.publish(t.Context(), update(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	release()
	if x := await(t, "the strict publish", done); x.err != nil || x.receipts[0] != stored[0] {
		t.Errorf("got %+v, %v; stored %+v", x.receipts, x.err, stored)
	}
	var refusal *backend.Refusal
	if _, err := strict.publish(t.Context(), update(1, 2)); !errors.As(err, &refusal) || refusal.Reason != backendv1.PublishError_REASON_INVALID_IDENTITY_UPDATE {
		t.Errorf("an update that nobody stored: %v", err)
	}
}

// API-051: an update judged by a history that is no longer the newest is
// aborted, whatever else is wrong with its request, and nothing is stored.
func TestAnUpdateThatLosesARaceIsAborted(t *testing.T) {
	r := newRig(t, nil)
	loser := r.actor(func(p *backend.Parts) { p.Identity = refuseAll{} })
	winner := r.actor(func(p *backend.Parts) { p.Identity = acceptAll{} })
	reached, release := loser.hold(backend.PointBegin)
	defer release()
	done := loser.start(t.Context(), &backendv1.ClientEnvelope{}, backendtest.Welcome(1, "beside"), update(1, 1))
	await(t, "the loser reaching its transaction", reached)
	if _, err := winner.publish(t.Context(), update(1, 2)); err != nil {
		t.Fatal(err)
	}
	release()
	x := await(t, "the loser", done)
	var refusal *backend.Refusal
	if !errors.As(x.err, &refusal) || refusal.Code != codes.Aborted {
		t.Errorf("got %v, want ABORTED", x.err)
	}
	topic, err := backend.NewTopic(backend.KindWelcome, backendtest.Key(1))
	if err != nil {
		t.Fatal(err)
	}
	if ids := winner.read(t, topic); len(ids) != 0 {
		t.Errorf("an aborted request stored %v", ids)
	}
}

// API-014: updates of different inboxes wait for each other too.
func TestIdentityUpdatesOfDifferentInboxesAreSerialized(t *testing.T) {
	r := newRig(t, nil)
	accept := func(p *backend.Parts) { p.Identity = acceptAll{} }
	first, second := r.actor(accept), r.actor(accept)
	reached, release := first.hold(backend.PointCommit)
	defer release()
	a := first.start(t.Context(), update(1, 1))
	await(t, "the first update reaching its commit", reached)
	b := second.start(t.Context(), update(2, 1))
	r.blocked(1)
	release()
	x, y := await(t, "the first update", a), await(t, "the second update", b)
	if x.err != nil || y.err != nil || x.receipts[0].SequenceID >= y.receipts[0].SequenceID {
		t.Errorf("%+v, %v and %+v, %v", x.receipts, x.err, y.receipts, y.err)
	}
}

// Two requests that name the same topics in opposite order do not deadlock.
func TestTopicsAreLockedInOneOrder(t *testing.T) {
	r := newRig(t, nil)
	var wait sync.WaitGroup
	for worker := range 6 {
		wait.Go(func() {
			a := r.actor(nil)
			for round := range 20 {
				envelopes := []*backendv1.ClientEnvelope{
					backendtest.Welcome(1, fmt.Sprint(worker, round)), backendtest.Welcome(2, fmt.Sprint(worker, round)), backendtest.Welcome(3, fmt.Sprint(worker, round)),
				}
				if worker%2 == 1 {
					slices.Reverse(envelopes)
				}
				if _, err := a.publish(t.Context(), envelopes...); err != nil {
					t.Errorf("worker %d, round %d: %v", worker, round, err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// A publisher that stalls inside its transaction loses it, and its locks.
func TestAStalledPublisherLetsGoOfItsTopics(t *testing.T) {
	r := newRig(t, func(o *postgres.Options) { o.StatementTimeout, o.TransactionTimeout = 5*time.Second, time.Second })
	stalled, other := r.actor(nil), r.actor(nil)
	reached, release := stalled.hold(backend.PointAllocate)
	defer release()
	a := stalled.start(t.Context(), backendtest.Welcome(1, "stalled"))
	await(t, "the publisher stalling", reached)
	b := other.start(t.Context(), backendtest.Welcome(1, "other"))
	if y := await(t, "the other publish", b); y.err != nil {
		// Its own budget is as short; what matters is that the next gets through.
		y = await(t, "the other publish, again", other.start(t.Context(), backendtest.Welcome(1, "other")))
		if y.err != nil {
			t.Errorf("the topic is still locked: %v", y.err)
		}
	}
	release()
	if x := await(t, "the stalled publish", a); x.err == nil {
		t.Error("a publish succeeded after its transaction was ended")
	}
}

// A client that goes away while it waits for a lock does not keep its place.
func TestACanceledPublisherStopsWaitingForItsLock(t *testing.T) {
	r := newRig(t, nil)
	first, canceled, next := r.actor(nil), r.actor(nil), r.actor(nil)
	reached, release := first.hold(backend.PointCommit)
	defer release()
	a := first.start(t.Context(), backendtest.Welcome(1, "first"))
	await(t, "the first publisher reaching its commit", reached)
	ctx, cancel := context.WithCancel(t.Context())
	b := canceled.start(ctx, backendtest.Welcome(1, "canceled"))
	r.blocked(1)
	cancel()
	y := await(t, "the canceled publish", b)
	failed, ok := errors.AsType[*backend.StoreError](y.err)
	if !ok || failed.Kind != backend.Canceled {
		t.Errorf("got %v, want a canceled statement", y.err)
	}
	release()
	if x := await(t, "the first publish", a); x.err != nil {
		t.Error(x.err)
	}
	if _, err := next.publish(t.Context(), backendtest.Welcome(1, "next")); err != nil {
		t.Errorf("the connection pool is poisoned: %v", err)
	}
}

// update is an identity update of the inbox whose id is 32 times inbox. It means
// nothing: the validators of these tests look at no signature.
func update(inbox byte, timestamp uint64) *backendv1.ClientEnvelope {
	return &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_IdentityUpdate{IdentityUpdate: &associations.IdentityUpdate{
		InboxId: fmt.Sprintf("%x", bytes.Repeat([]byte{inbox}, 32)), ClientTimestampNs: timestamp}}}
}

type acceptAll struct{}

func (acceptAll) ValidateIdentityUpdate(_ context.Context, history []*associations.IdentityUpdate, u *associations.IdentityUpdate) ([]backend.Association, error) {
	return []backend.Association{{Identifier: fmt.Sprint(len(history)), Kind: 1, Inbox: sha256.Sum256([]byte(u.InboxId))}}, nil
}

type refuseAll struct{}

func (refuseAll) ValidateIdentityUpdate(context.Context, []*associations.IdentityUpdate, *associations.IdentityUpdate) ([]backend.Association, error) {
	return nil, &backend.Refusal{Reason: backendv1.PublishError_REASON_INVALID_IDENTITY_UPDATE, Text: "refused by the test"}
}
